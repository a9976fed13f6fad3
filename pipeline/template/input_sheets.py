"""The sheets to fill in: headings with notes, and cells that check what is typed."""

import math
from collections.abc import Sequence
from datetime import date
from typing import Any

from xlsxwriter.utility import quote_sheetname, xl_col_to_name, xl_range_abs, xl_rowcol_to_cell

from pipeline.messages.translate import choice_words, translated
from pipeline.model.columns import (
    BUYER_COLUMNS,
    BUYERS_SHEET,
    COMPONENTS,
    TICKET_COLUMNS,
    Column,
    Kind,
    Lang,
)
from pipeline.model.message import Fact, Term, message, terms
from pipeline.model.text_width import cells_wide
from pipeline.template.cell_formats import FONT, Drawing
from pipeline.template.example import Cells

#: Rows that have drop-downs and checks; rows below them are read just the same.
ROWS = 5000

_PAGE_WIDTH = 200  # characters that can be read across a landscape page
_FIRST_DAY, _LAST_DAY = date(2000, 1, 1), date(2099, 12, 31)
_MOST_MONEY = 99_999_999.99
_PERMITTED = {
    Kind.TEXT: message("text"),
    Kind.TICKET: message("13 digits, as text"),
    Kind.MONEY: message("number, two decimals at most"),
    Kind.DATE: message("date"),
}
_CHECKS = {
    Kind.TICKET: message(
        "A ticket number has 13 digits; a hyphen after the third is allowed. Keep leading zeros."
    ),
    Kind.MONEY: message("Enter a number such as 1234.50: not negative, no currency sign, no words."),
    Kind.DATE: message("Enter a date such as 2026-10-31, between 2000 and 2099."),
}
_COMPONENTS = {name for names in COMPONENTS.values() for name in names}


def add_input_sheet(drawing: Drawing, name: str, columns: tuple[Column, ...], rows: Sequence[Cells]) -> None:
    """Write one sheet to fill in: headings with notes, cells that check what is typed, and an example's rows."""
    said = drawing.said
    sheet = drawing.book.add_worksheet(said(Term(name, "sheet")))
    whole = 0
    for index, column in enumerate(columns):
        shown = said(Term(column.name))
        # Room for the filter's button, which would hide the end of a heading of the column's width.
        width = max(column.width, cells_wide(shown) + 4)
        whole += width
        sheet.set_column(index, index, width, drawing.cells[column.kind])
        sheet.write_string(0, index, shown, drawing.heading_of(column, light=column.name in _COMPONENTS))
        sheet.write_comment(
            0, index, _note(column, drawing), {"x_scale": 2, "font_size": 9, "font_name": FONT}
        )
        if check := _check(columns, index, drawing):
            title = {"error_title": said(message("Please check this cell"))}
            sheet.data_validation(1, index, ROWS, index, check | title)
    for number, cells in enumerate(rows, start=1):
        _write_row(sheet, number, columns, cells, drawing.lang)
    sheet.set_row(0, 24)
    sheet.freeze_panes(1, 1)
    sheet.autofilter(0, 0, ROWS, len(columns) - 1)
    sheet.repeat_rows(0)
    sheet.repeat_columns(0)  # a page of the right half says whose rows they are
    sheet.set_landscape()
    print_setup(sheet, drawing, across=math.ceil(whole / _PAGE_WIDTH))


def _write_row(sheet: Any, number: int, columns: tuple[Column, ...], cells: Cells, lang: Lang) -> None:
    """Write a row of the example, in the formats that the columns have."""
    for index, column in enumerate(columns):
        value = cells.get(column.name, "")
        words = choice_words(column, lang)
        if isinstance(value, float):
            sheet.write_number(number, index, value)
        elif isinstance(value, date):
            sheet.write_datetime(number, index, value)
        elif value:
            sheet.write_string(number, index, words.get(value) or translated(value, lang))


def _note(column: Column, drawing: Drawing) -> str:
    """Give the note on a heading: the meaning, then the words that may be chosen."""
    return "\n".join(
        map(drawing.said, (column.meaning, permitted(column)) if column.choices else (column.meaning,))
    )


def _check(columns: tuple[Column, ...], index: int, drawing: Drawing) -> dict[str, Any] | None:
    """Give the data validation of a column, in XlsxWriter's words."""
    column = columns[index]
    if column.choices:
        choices = [*choice_words(column, drawing.lang).values()]
        wrong = drawing.said(message("Choose one of: {choices}.", choices=permitted(column)))
        return {"validate": "list", "source": choices, "error_message": wrong}
    if column.name == "buyer" and columns is TICKET_COLUMNS:
        return _buyer_check(drawing)
    limits: dict[Kind, dict[str, Any]] = {
        Kind.MONEY: {"validate": "decimal", "criteria": "between", "minimum": 0, "maximum": _MOST_MONEY},
        Kind.DATE: {"validate": "date", "criteria": "between", "minimum": _FIRST_DAY, "maximum": _LAST_DAY},
        Kind.TICKET: {"validate": "custom", "value": _is_ticket_number(xl_rowcol_to_cell(1, index))},
    }
    if column.kind not in limits:
        return None
    return limits[column.kind] | {"error_message": drawing.said(_CHECKS[column.kind])}


def _is_ticket_number(cell: str) -> str:
    """Give a formula that holds where the cell has 13 digits, hyphens aside."""
    digits = f'SUBSTITUTE({cell},"-","")'
    return f"=AND(LEN({digits})=13,ISNUMBER(VALUE({digits})))"


def _buyer_check(drawing: Drawing) -> dict[str, Any]:
    """Offer the buyers that are filled in; anything else is a warning only.

    The list is as long as the names that are there: a fixed range would open on thousands of blank
    lines. A warning, because the buyers may be kept in a file of their own.
    """
    index = [column.name for column in BUYER_COLUMNS].index("buyer")
    buyers = Term(BUYERS_SHEET, "sheet")
    sheet = quote_sheetname(drawing.said(buyers))
    first = f"{sheet}!${xl_col_to_name(index)}$2"
    names = f"{sheet}!{xl_range_abs(1, index, ROWS, index)}"
    unknown = message(
        "This name is not in the column {buyer} of the sheet {buyers}. Keep it only if the buyers are in a file of their own.",
        buyer=Term("buyer"),
        buyers=buyers,
    )
    return {
        "validate": "list",
        "source": f"=OFFSET({first},0,0,MAX(1,COUNTA({names})),1)",
        "error_type": "warning",
        "error_message": drawing.said(unknown),
    }


def permitted(column: Column) -> Fact:
    """Give the permitted values of a column, for people to read."""
    if column.choices:
        return terms((choice.name for choice in column.choices), "choice")
    return _PERMITTED[column.kind]


def print_setup(sheet: Any, drawing: Drawing, across: int = 1) -> None:
    """A4, that many pages wide and as many long as it takes, with page numbers."""
    sheet.set_paper(9)  # A4
    sheet.fit_to_pages(across, 0)
    sheet.print_across()
    sheet.set_margins(left=0.4, right=0.4, top=0.6, bottom=0.6)
    number = drawing.said(message("Page &P of &N"))
    sheet.set_footer(f"&L&A&R{number}")
