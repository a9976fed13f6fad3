"""Sheets of rows: headings, then data, then more sheets of the same name where one is full."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from xlsxwriter.utility import xl_col_to_name

from pipeline.columns import Lang
from pipeline.results import links
from pipeline.results.cells import Cells, write_cell, write_link
from pipeline.results.fields import LINE_POINTS, Field, cells_wide, lines_of
from pipeline.results.formats import Formats, Style
from pipeline.results.links import Cell, part
from pipeline.results.words import WORDS

_HEADING_POINTS = 22
_BUTTON = 4  # characters that a filter's button takes beside its heading
_PAGE_WIDTH = 200  # characters that can be read across a landscape page


class Book:
    """A workbook being written: XlsxWriter's, its formats and cells, its language, and its links so far."""

    def __init__(self, workbook: Any, lang: Lang) -> None:
        self.workbook = workbook
        self.lang = lang
        self.formats = Formats(workbook)
        self.cells = Cells(self.formats, lang)
        self._links: Counter[Any] = Counter()

    def add_rows(
        self, name: str, fields: Sequence[Field], rows: Iterable[Sequence[Any]]
    ) -> list[tuple[Any, int]]:
        """Write the sheet `name`, and "name 2" and so on where it is full; give each with its rows' count."""
        rest = iter(rows)
        sheets: list[tuple[Any, int]] = []
        more: list[Sequence[Any]] = []
        while more or not sheets:
            sheet = self.workbook.add_worksheet(part(name, len(sheets)))
            count = self._fill(sheet, fields, islice(chain(more, rest), links.ROOM))
            self._finish(sheet, fields, count)
            sheets.append((sheet, count))
            more = list(islice(rest, 1))
        return sheets

    def write_special(self, sheet: Any, row: int, column: int, cell: Cell, style: Style) -> None:
        """Write a value as a link or marked; beyond what a sheet holds of links, as the value alone."""
        value, look = self.cells.shown(cell.value, style)
        linked = bool(cell.link) and self._links[sheet] < links.MOST_LINKS
        look = self.formats.special(look, link=linked, marked=cell.marked)
        if linked:
            self._links[sheet] += 1
            write_link(sheet, row, column, cell.link, value, look)
        else:
            write_cell(sheet, row, column, None if value == "" else value, look)

    def _fill(self, sheet: Any, fields: Sequence[Field], rows: Iterator[Sequence[Any]]) -> int:
        """Write headings and rows; blank values make no cell, except where an answer is awaited."""
        sheet.set_row(0, _HEADING_POINTS)
        for column, field in enumerate(fields):
            write_cell(sheet, 0, column, field.heading, self.formats.heading_of(field.style))
        styles = [field.style for field in fields]
        sentences = [
            (column, field.width) for column, field in enumerate(fields) if field.style is Style.WRAP
        ]
        shown, number = self.cells.shown, 0
        for number, values in enumerate(rows, start=1):
            lines = [lines_of(text, width) for column, width in sentences if (text := _said(values[column]))]
            if lines and max(lines) > 1:  # programs differ in whether they find a row's height by themselves
                sheet.set_row(number, 3 + LINE_POINTS * max(lines))
            for column, value in enumerate(values):
                style = styles[column]
                if type(value) is Cell:
                    self.write_special(sheet, number, column, value, style)
                elif style is Style.ANSWER or (value is not None and value != ""):
                    write_cell(sheet, number, column, *shown(value, style))
        return number

    def _finish(self, sheet: Any, fields: Sequence[Field], count: int) -> None:
        """Widths, frozen headings, filter, and how the sheet is printed."""
        widths = [max(field.width, cells_wide(field.heading) + _BUTTON) for field in fields]
        for column, field in enumerate(fields):
            sheet.set_column(column, column, widths[column], self.formats.of_style[field.style])
        sheet.freeze_panes(1, 1)
        sheet.autofilter(0, 0, count, len(fields) - 1)
        sheet.ignore_errors(
            {"number_stored_as_text": f"A1:{xl_col_to_name(len(fields) - 1)}{links.ROOM + 1}"}
        )
        sheet.repeat_rows(0)
        print_setup(sheet, self.lang, across=math.ceil(sum(widths) / _PAGE_WIDTH))


def _said(value: Any) -> str:
    """A cell's text, whether it is shown in a special way or not."""
    return str(value.value or "") if type(value) is Cell else value


def print_setup(sheet: Any, lang: Lang, across: int = 1) -> None:
    """A4, landscape, that many pages wide and as many long as it takes, with page numbers."""
    sheet.set_paper(9)
    sheet.set_landscape()
    sheet.fit_to_pages(across, 0)
    sheet.print_across()
    sheet.set_margins(left=0.4, right=0.4, top=0.6, bottom=0.6)
    sheet.set_footer(f"&L&A&R{WORDS[lang].page}")
