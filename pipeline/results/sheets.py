"""Sheets of rows: headings, then data, then more sheets of the same name where one is full."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet

from pipeline.columns import COLUMN, RESULT_COLUMNS, Column, Lang
from pipeline.results.cells import Cells, text_cell
from pipeline.results.formats import Formats, Style, style_of
from pipeline.results.words import WORDS

#: Rows of data that one sheet takes below its headings.
ROOM = 1_048_575

#: Our own columns: how each is written, and its width in characters.
_OWN: dict[str, tuple[Style, int]] = {
    "status": (Style.STATUS, 15),
    "number": (Style.IDENTIFIER, 24),
    "reason": (Style.WRAP, 54),
    "what_to_do": (Style.WRAP, 42),
    "request": (Style.IDENTIFIER, 23),
    "attempt": (Style.COUNT, 9),
    "trace_id": (Style.IDENTIFIER, 26),
    "file": (Style.TEXT, 24),
    "sheet": (Style.TEXT, 12),
    "row": (Style.COUNT, 8),
    "charges": (Style.COUNT, 9),
    "ledger": (Style.IDENTIFIER, 18),
    "tickets": (Style.TEXT, 40),
    "currency": (Style.TEXT, 9),
    "resolution": (Style.ANSWER, 15),
    "resolved_by": (Style.ANSWER, 16),
    "evidence": (Style.ANSWER, 36),
}
_WIDEST = 40


@dataclass(frozen=True)
class Field:
    """One column of a result sheet."""

    name: str
    heading: str
    style: Style
    width: int


def field(name: str, lang: Lang, style: Style | None = None) -> Field:
    """A column of the vocabulary, or one of our own, as it stands on a result sheet."""
    if name in COLUMN:
        column = COLUMN[name]
        return Field(name, column.heading(lang), style or style_of(column), column.width)
    own, width = _OWN[name]
    return Field(name, _own_heading(name, lang), style or own, width)


def _own_heading(name: str, lang: Lang) -> str:
    return {**RESULT_COLUMNS, **WORDS[lang].headings}[name] if lang == "zh" else name


def vocabulary(columns: Iterable[Column], lang: Lang) -> list[Field]:
    """Columns of the vocabulary as fields."""
    return [field(column.name, lang) for column in columns]


def cells_wide(text: str) -> int:
    """A text's width in Latin characters: a Chinese character is as wide as two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def width_of(values: Iterable[Any]) -> int:
    """A width that fits a column of which nothing is known but some values."""
    return min(_WIDEST, max([10, *(cells_wide(str(value)) + 2 for value in values)]))


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
            text_cell(f"{letter}1", field.heading, look)
            for letter, field in zip(letters, fields, strict=True)
        ]
        sheet.add_row(1, "".join(headings), last, ' ht="22" customHeight="1"')
        columns = [
            (letter, self.cells.of(field.style), field.style is Style.ANSWER)
            for letter, field in zip(letters, fields, strict=True)
        ]
        number = 1
        for number, values in enumerate(rows, start=2):
            row = str(number)
            cells = [
                cell(letter + row, value)
                for (letter, cell, awaited), value in zip(columns, values, strict=True)
                if (value is not None and value != "") or awaited
            ]
            sheet.add_row(number, "".join(cells), last)
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
