"""The sheet of instructions: what to fill in, what happens then, and the table of all columns."""

from collections.abc import Iterable
from typing import Any

from pipeline.model.columns import BUYER_COLUMNS, BUYERS_SHEET, TICKET_COLUMNS, TICKETS_SHEET
from pipeline.model.message import Fact, Message, Term, message
from pipeline.model.status import STATUSES
from pipeline.model.template_version import STAMP, VERSION
from pipeline.model.text_width import lines_high
from pipeline.template.cell_formats import Drawing
from pipeline.template.input_sheets import permitted, print_setup

#: What a template is, on this sheet and among its properties.
TITLE = message("How to fill in this workbook")

_MOST_LINES = 12
_INSTRUCTION_WIDTHS = (20, 12, 70, 40)
_STEPS = (
    message(
        "{tickets}: one row is one charge on one ticket. A ticket may have several rows: its fare, a seat, a bag.",
        tickets=Term(TICKETS_SHEET, "sheet"),
    ),
    message(
        "{buyers}: each buyer once. A ticket row names its buyer in the column {buyer}; with a single buyer it may stay blank.",
        buyers=Term(BUYERS_SHEET, "sheet"),
        buyer=Term("buyer"),
    ),
    message(
        "Money: the total in {amount}, or its components (lighter headings), or both; both must add up. Two decimals at most.",
        amount=Term("amount"),
    ),
    message(
        "Ticket numbers, tax numbers and phone numbers are kept as text, so that no digit is lost. Paste values only."
    ),
    message(
        "Columns may stand in any order. Columns of your own may be added on the right; they come back untouched."
    ),
    message(
        "Point at a heading to read what belongs below it. The table at the end of this sheet has all of them."
    ),
)
_AFTER = message(
    "“voucher check” judges every row and sends nothing. “voucher issue” sends to the carrier what is ready,"
    " and writes a result workbook beside this one. Every row ends in exactly one status:"
)
_TABLE = (message("Heading"), message("Sheet"), message("Meaning"), message("Permitted values"))


def add_instructions(drawing: Drawing) -> None:
    """Write the last sheet: what to fill in, what happens then, and the table of all columns."""
    said = drawing.said
    sheet = drawing.book.add_worksheet(said(message("Instructions")))
    for index, width in enumerate(_INSTRUCTION_WIDTHS):
        sheet.set_column(index, index, width)
    sheet.hide_gridlines(2)
    sheet.write_string(0, 0, said(TITLE), drawing.title)
    sheet.set_row(0, 26)
    sheet.write_string(1, 0, said(Message(STAMP, {"version": VERSION})), drawing.stamp)
    steps = [f"{number}. {said(step)}" for number, step in enumerate(_STEPS, start=1)]
    row = _section(sheet, 3, message("What to fill in"), steps, drawing)
    row = _section(sheet, row, message("What happens then"), [_AFTER], drawing)
    row = _statuses(sheet, row, drawing)
    sheet.write_string(row, 0, said(message("The columns")), drawing.section)
    _columns_table(sheet, row + 1, drawing)
    sheet.set_portrait()
    print_setup(sheet, drawing)


def _section(sheet: Any, row: int, heading: Message, lines: Iterable[Fact], drawing: Drawing) -> int:
    """Write a heading and its lines over the sheet's whole width; give the next free row."""
    sheet.write_string(row, 0, drawing.said(heading), drawing.section)
    for line in map(drawing.said, lines):
        row += 1
        sheet.merge_range(row, 0, row, 3, line, drawing.text)
        # A merged cell does not find its height by itself.
        sheet.set_row(row, _height((line, sum(_INSTRUCTION_WIDTHS))))
    return row + 2


def _statuses(sheet: Any, row: int, drawing: Drawing) -> int:
    said = drawing.said
    sheet.write_string(row - 1, 0, said(message("Status")), drawing.heading)
    sheet.merge_range(row - 1, 1, row - 1, 3, said(message("Meaning, and what to do")), drawing.heading)
    for at, status in enumerate(STATUSES, row):
        sheet.write_string(at, 0, said(Term(status.name, "status")), drawing.name)
        sheet.merge_range(at, 1, at, 3, said(Message(status.advice)), drawing.boxed)
    return row + len(STATUSES) + 1


def _columns_table(sheet: Any, row: int, drawing: Drawing) -> None:
    said = drawing.said
    for index, title in enumerate(_TABLE):
        sheet.write_string(row, index, said(title), drawing.heading)
    for name, columns in ((TICKETS_SHEET, TICKET_COLUMNS), (BUYERS_SHEET, BUYER_COLUMNS)):
        for column in columns:
            row += 1
            meaning, values = said(column.meaning), said(permitted(column))
            sheet.write_string(row, 0, said(Term(column.name)), drawing.name)
            sheet.write_string(row, 1, said(Term(name, "sheet")), drawing.boxed)
            sheet.write_string(row, 2, meaning, drawing.boxed)
            sheet.write_string(row, 3, values, drawing.boxed)
            sheet.set_row(row, _height((meaning, _INSTRUCTION_WIDTHS[2]), (values, _INSTRUCTION_WIDTHS[3])))


def _height(*cells: tuple[str, int]) -> float:
    """Give the height in points of a row of texts that wrap, each in a column so many digits wide."""
    return 4 + 13.0 * max(lines_high(text, width, _MOST_LINES) for text, width in cells)
