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
        self, name: str, fields: Sequence[Field], rows: Iterable[Sequence[Any]], keys: int = 1
    ) -> list[tuple[Any, int]]:
        """Write the sheet `name`, and "name 2" and so on where it is full; give each with its rows' count.

        The first `keys` columns name a row: they stay in sight, and stand on every page that is printed.
        """
        rest = iter(rows)
        sheets: list[tuple[Any, int]] = []
        more: list[Sequence[Any]] = []
        while more or not sheets:
            sheet = self.workbook.add_worksheet(part(name, len(sheets)))
            count = self._fill(sheet, fields, islice(chain(more, rest), links.ROOM))
            self._finish(sheet, fields, count, keys)
            sheets.append((sheet, count))
            more = list(islice(rest, 1))
        return sheets

    def write_special(self, sheet: Any, row: int, column: int, cell: Cell, style: Style) -> None:
        """Write a value as a link or marked; beyond what a sheet holds of links, as the value alone."""
        value, look = self.cells.shown(cell.value, style)
        linked = bool(cell.link) and self._links[sheet] < links.MOST_LINKS
        look = self.formats.special(look, link=linked, marked=cell.marked)
        if cell.tone:
            look = self.formats.tones[cell.tone]
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
        widths = _widths(fields)
        shown, number = self.cells.shown, 0
        for number, values in enumerate(rows, start=1):
            lines = _lines(values, widths, styles)
            if lines > 1:  # programs differ in whether they find a row's height by themselves
                sheet.set_row(number, 3 + LINE_POINTS * lines)
            for column, value in enumerate(values):
                style = styles[column]
                if type(value) is Cell:
                    self.write_special(sheet, number, column, value, style)
                elif style is Style.ANSWER or (value is not None and value != ""):
                    write_cell(sheet, number, column, *shown(value, style))
        return number

    def _finish(self, sheet: Any, fields: Sequence[Field], count: int, keys: int) -> None:
        """Widths, frozen headings, filter, and how the sheet is printed."""
        widths = _widths(fields)
        for column, field in enumerate(fields):
            sheet.set_column(column, column, widths[column], self.formats.of_style[field.style])
        sheet.freeze_panes(1, keys)
        sheet.autofilter(0, 0, count, len(fields) - 1)
        sheet.ignore_errors(
            {"number_stored_as_text": f"A1:{xl_col_to_name(len(fields) - 1)}{links.ROOM + 1}"}
        )
        sheet.repeat_rows(0)
        sheet.repeat_columns(0, keys - 1)
        if count:  # on paper a long line is hard to follow without
            rule = {"type": "formula", "criteria": "=TRUE", "format": self.formats.below}
            lined = sum(
                field.style is not Style.ANSWER for field in fields
            )  # what is to be filled in has boxes
            sheet.conditional_format(1, 0, count, lined - 1, rule)
        repeated = sum(widths[:keys])
        print_setup(sheet, self.lang, across=math.ceil((sum(widths) - repeated) / (_PAGE_WIDTH - repeated)))


def _widths(fields: Sequence[Field]) -> list[int]:
    return [max(field.width, cells_wide(field.heading) + _BUTTON) for field in fields]


def _lines(values: Sequence[Any], widths: Sequence[int], styles: Sequence[Style]) -> int:
    """How many lines the longest of a row's texts takes."""
    most = 1
    for value, width, style in zip(values, widths, styles, strict=True):
        text = value.value if type(value) is Cell else value
        # Nearly all are short; what is not a text has no lines.
        if type(text) is str and (2 * len(text) > width or "\n" in text):
            most = max(most, lines_of(text, width, style))
    return most


def print_setup(sheet: Any, lang: Lang, across: int = 1) -> None:
    """A4, landscape, that many pages wide and as many long as it takes, with page numbers."""
    sheet.set_paper(9)
    sheet.set_landscape()
    sheet.fit_to_pages(across, 0)
    sheet.print_across()
    sheet.set_margins(left=0.4, right=0.4, top=0.6, bottom=0.6)
    sheet.set_footer(f"&L&A&C&F&R{WORDS[lang].page}")
