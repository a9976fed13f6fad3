"""Sheets of rows: headings, then data, then more sheets of the same name where one is full."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet

from pipeline.columns import Lang
from pipeline.results.cells import Cells, text_tail
from pipeline.results.fields import LINE_POINTS, Field, cells_wide, lines_of
from pipeline.results.formats import Formats, Style
from pipeline.results.words import WORDS

#: Rows of data that one sheet takes below its headings.
ROOM = 1_048_575

_MOST_LINES = 12  # a row is no higher than that, however much there is to say


def _height(lines: int) -> str:
    """A row's height: programs differ in whether they find it by themselves."""
    return f' ht="{3 + LINE_POINTS * min(lines, _MOST_LINES)}" customHeight="1"'


class StreamedSheet(Worksheet):  # type: ignore[misc]  # XlsxWriter has no types
    """A worksheet whose rows go straight into the file in which XlsxWriter keeps them (constant_memory).

    Its other features (widths, filters, checks, printing) stay as they are; `set_row` is none of them.
    """

    def add_row(self, number: int, cells: str, last_column: int, attributes: str = "") -> None:
        """Write row `number` (from 1, ascending) whose cells are given as XML."""
        self.row_data_fh.write(f'<row r="{number}"{attributes}>{cells}</row>')
        self.dim_rowmin, self.dim_colmin = 0, 0
        self.dim_rowmax, self.dim_colmax = number - 1, last_column

    def abandon(self) -> None:
        """Let go of the file; the workbook will not be finished."""
        self._opt_close()


class Book:
    """A workbook being written: XlsxWriter's, its formats and cells, and its language."""

    def __init__(self, workbook: Any, lang: Lang) -> None:
        self.workbook = workbook
        self.lang = lang
        self.formats = Formats(workbook)
        self.cells = Cells(self.formats, lang)

    def add_rows(
        self, name: str, fields: Sequence[Field], rows: Iterable[Sequence[Any]]
    ) -> list[tuple[StreamedSheet, int]]:
        """Write the sheet `name`, and "name 2" and so on where it is full; give each with its rows' count."""
        rest = iter(rows)
        sheets: list[tuple[StreamedSheet, int]] = []
        more: list[Sequence[Any]] = []
        while more or not sheets:
            title = f"{name} {len(sheets) + 1}" if sheets else name
            sheet = self.workbook.add_worksheet(title, worksheet_class=StreamedSheet)
            count = self._fill(sheet, fields, islice(chain(more, rest), ROOM))
            self._finish(sheet, fields, count)
            sheets.append((sheet, count))
            more = list(islice(rest, 1))
        return sheets

    def _fill(self, sheet: StreamedSheet, fields: Sequence[Field], rows: Iterator[Sequence[Any]]) -> int:
        """Write headings and rows; blank values make no cell, except where an answer is awaited."""
        letters = [xl_col_to_name(index) for index in range(len(fields))]
        look, last = self.formats.heading._get_xf_index(), len(fields) - 1  # noqa: SLF001 - see cells.Cells
        headings = [
            f'<c r="{letter}1{text_tail(one.heading, look)}'
            for letter, one in zip(letters, fields, strict=True)
        ]
        sheet.add_row(1, "".join(headings), last, ' ht="22" customHeight="1"')
        columns = [
            (f'<c r="{letter}', self.cells.of(one.style), one.style is Style.ANSWER)
            for letter, one in zip(letters, fields, strict=True)
        ]
        wrapped = [(at, one.width) for at, one in enumerate(fields) if one.style is Style.WRAP]
        number = 1
        for number, values in enumerate(rows, start=2):
            cells = [
                f"{head}{number}{tail}"
                for (head, tail_of, awaited), value in zip(columns, values, strict=True)
                if ((value is not None and value != "") or awaited) and (tail := tail_of(value))
            ]
            lines = max([lines_of(values[at], width) for at, width in wrapped if values[at]], default=1)
            sheet.add_row(number, "".join(cells), last, _height(lines) if lines > 1 else "")
        return number - 1

    def _finish(self, sheet: StreamedSheet, fields: Sequence[Field], count: int) -> None:
        """Widths, frozen headings, filter, and how the sheet is printed."""
        for index, one in enumerate(fields):
            width = max(one.width, cells_wide(one.heading) + 4)  # room for the filter's button
            sheet.set_column(index, index, width, self.formats.of_style[one.style])
        sheet.freeze_panes(1, 1)
        sheet.autofilter(0, 0, count, len(fields) - 1)
        sheet.ignore_errors({"number_stored_as_text": f"A1:{xl_col_to_name(len(fields) - 1)}{ROOM + 1}"})
        sheet.repeat_rows(0)
        print_setup(sheet, self.lang)


def print_setup(sheet: Any, lang: Lang) -> None:
    """A4, landscape, one page wide and as many long as it takes, with page numbers."""
    sheet.set_paper(9)
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)
    sheet.set_margins(left=0.4, right=0.4, top=0.6, bottom=0.6)
    sheet.set_footer(f"&L&A&R{WORDS[lang].page}")
