"""Sheets of rows: headings, then data, then more sheets of the same name where one is full."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xlsxwriter.utility import xl_col_to_name

from pipeline.messages.translate import rendered
from pipeline.model.columns import Lang
from pipeline.model.message import message
from pipeline.model.text_width import cells_wide
from pipeline.reporting import links
from pipeline.reporting.links import part
from pipeline.reporting.xlsx.cell_values import Cells, write_cell
from pipeline.reporting.xlsx.column_specs import Field
from pipeline.reporting.xlsx.row_stream import Rows, SheetRows
from pipeline.reporting.xlsx.splice import fits, write_pattern
from pipeline.reporting.xlsx.styles import Formats, Style

#: At the top of a sandbox's first sheet and of every page, in both languages, whoever comes to see it.
SANDBOX = "SANDBOX 沙箱"
_HEADING_POINTS = 22
_BUTTON = 4  # characters that a filter's button takes beside its heading
_PAGE_WIDTH = 270  # characters that can be read across a landscape page


@dataclass(frozen=True)
class Cover:
    """What a workbook is: its title, in words of its language, and whether it is a sandbox's."""

    title: str
    lang: Lang
    sandbox: bool = False

    @property
    def shown(self) -> str:
        """The title as it stands at the top of the first sheet, and among the workbook's properties."""
        return f"{SANDBOX} · {self.title}" if self.sandbox else self.title


class Book:
    """A workbook being written: XlsxWriter's, what it is, its formats and cells, and the rows to be put into it."""

    def __init__(self, workbook: Any, cover: Cover) -> None:
        self.workbook = workbook
        self.cover = cover
        self.lang = cover.lang
        self.formats = Formats(workbook)
        self.cells = Cells(self.formats, self.lang)
        self.rows: dict[int, SheetRows] = {}  # by their sheet's place in the workbook
        self.spliced = fits()  # whether the rows are put in when XlsxWriter is done

    def write_rows(self) -> None:
        """Let XlsxWriter write the rows, once all sheets are there."""
        for place, rows in self.rows.items():
            rows.write(self.workbook.worksheets()[place], self.cells)

    def add_rows(
        self, name: str, fields: Sequence[Field], count: int, rows: Rows, keys: int = 1
    ) -> list[tuple[Any, int]]:
        """Add the sheet `name`, and "name 2" and so on where it is full; give each with its rows' count.

        The rows are asked for when all sheets are there. The first `keys` columns name a row: they stay in sight.
        """
        widths = [max(field.width, cells_wide(field.heading) + _BUTTON) for field in fields]
        sheets: list[tuple[Any, int]] = []
        for number, first in enumerate(range(0, max(count, 1), links.ROOM)):
            sheet = self.workbook.add_worksheet(part(name, number))
            part_count = min(count - first, links.ROOM)
            self._head(sheet, fields)
            if self.spliced:
                write_pattern(sheet, self.formats.of_values)
            self._finish(sheet, fields, widths, part_count, keys)
            self.rows[len(self.workbook.worksheets()) - 1] = SheetRows(
                fields, widths, rows, first, part_count
            )
            sheets.append((sheet, part_count))
        return sheets

    def _head(self, sheet: Any, fields: Sequence[Field]) -> None:
        sheet.set_row(0, _HEADING_POINTS)
        for column, field in enumerate(fields):
            write_cell(sheet, (0, column), field.heading, self.formats.heading_of(field.style))

    def _finish(
        self, sheet: Any, fields: Sequence[Field], widths: Sequence[int], count: int, keys: int
    ) -> None:
        """Widths, frozen headings, filter, and how the sheet is printed."""
        for column, field in enumerate(fields):
            look, more = self.formats.of_style[field.style], {"hidden": True} if field.hidden else {}
            sheet.set_column(column, column, widths[column], look, more)
        sheet.freeze_panes(1, keys)
        sheet.autofilter(0, 0, count, len(fields) - 1)
        sheet.ignore_errors(
            {"number_stored_as_text": f"A1:{xl_col_to_name(len(fields) - 1)}{links.ROOM + 1}"}
        )
        sheet.repeat_rows(0)
        if count:  # on paper a long line is hard to follow without
            rule = {"type": "formula", "criteria": "=TRUE", "format": self.formats.below}
            lined = sum(
                field.style is not Style.ANSWER for field in fields
            )  # what is to be filled in has boxes
            sheet.conditional_format(1, 0, count, lined - 1, rule)
        printed = sum(end <= _PAGE_WIDTH for end in itertools.accumulate(widths))
        if printed < len(fields):
            sheet.print_area(0, 0, count, printed - 1)
        self.print_setup(sheet, xl_col_to_name(printed - 1) if printed < len(fields) else "")
        if not count:  # else a page with headings alone looks as if something had not been printed
            nothing = rendered(message("no rows"), self.lang)
            sheet.set_header(f"&L&12&A: {nothing}{'&C' + SANDBOX if self.cover.sandbox else ''}")

    def print_side_by_side(self, sheet: Any, last: tuple[int, int], keys: int) -> None:
        """Print all of a sheet up to a cell, on two pages side by side, each with the first `keys` columns, which name a row."""
        sheet.print_area(0, 0, *last)
        self.print_setup(sheet)
        sheet.fit_to_pages(2, 0)
        sheet.print_across()
        sheet.repeat_columns(0, keys - 1)

    def print_setup(self, sheet: Any, last: str = "") -> None:
        """A4, landscape, one page wide and as many long as it takes, with page numbers; of a sandbox's every page says so.

        `last` is the last column that is printed, where there are more: the page says that too.
        """
        sheet.set_paper(9)
        sheet.set_landscape()
        sheet.fit_to_pages(1, 0)
        sheet.set_margins(left=0.4, right=0.4, top=0.6, bottom=0.6)
        if self.cover.sandbox:
            sheet.set_header(f"&C{SANDBOX}")
        number = rendered(message("Page &P of &N"), self.lang)
        rest = (
            rendered(message("columns A to {last}; the others are in the file", last=last), self.lang)
            if last
            else ""
        )
        sheet.set_footer(f"&L&A  {rest}&C&F&R{number}" if rest else f"&L&A&C&F&R{number}")
