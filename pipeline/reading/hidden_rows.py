"""Rows and sheets that are hidden, or filtered out: rows are read like the others, sheets are not, and both are told.

A hidden row of a visible sheet is a ticket like any other: whoever filtered the sheet to look at some did not mean to leave
the others out. `warnings` says it, in the plan, on the Summary and in the report, with --quiet too.
"""

from collections.abc import Iterable

from pipeline.model.message import Message, SheetName, message
from pipeline.model.places import on_sheet
from pipeline.model.table import Indices, SheetRows
from pipeline.reading.sheet import Sheet


def with_hidden_rows(file: str, sheet: Sheet, rows: Indices) -> SheetRows:
    """How many rows are read of a sheet, and how many of them nobody sees."""
    return SheetRows(file, sheet.name, len(rows), int(sheet.hidden[rows].sum()))


def hidden_sheets(file: str, sheets: Iterable[Sheet]) -> tuple[list[SheetRows], list[Message]]:
    """The hidden sheets that hold tickets, which has to be warned of, and a note of each of the others."""
    told, notes = list[SheetRows](), list[Message]()
    for sheet in sheets:
        if sheet.hidden_tickets:
            told.append(SheetRows(file, sheet.name, 0, sheet.hidden_tickets, hidden_sheet=True))
        else:
            notes.append(
                message(
                    "{file}: sheet {sheet} is hidden and was not read", file=file, sheet=SheetName(sheet.name)
                )
            )
    return told, notes


def warnings(sheets: Iterable[SheetRows]) -> tuple[Message, ...]:
    """What the sheets hold that nobody sees who opens the files."""
    return tuple(_warning(sheet) for sheet in sheets if sheet.hidden_rows or sheet.hidden_sheet)


def _warning(sheet: SheetRows) -> Message:
    if sheet.hidden_sheet:
        return message(
            "{file}: sheet {sheet} is hidden and was not read, though {hidden} of its rows hold ticket numbers; show it"
            " if they are to be issued",
            file=sheet.file,
            sheet=SheetName(sheet.sheet),
            hidden=sheet.hidden_rows,
        )
    return message(
        "{place}: hidden or filtered out in the file, and read all the same: {hidden} of {rows} rows",
        place=on_sheet(sheet.file, sheet.sheet),
        hidden=sheet.hidden_rows,
        rows=sheet.rows,
    )
