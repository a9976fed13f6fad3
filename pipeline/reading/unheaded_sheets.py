"""Sheets without headings that hold tickets all the same, as the second page of a table does.

They can't be read, and passing them over would leave tickets out that somebody believes to be issued.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.model.errors import InputProblem
from pipeline.model.message import SheetName
from pipeline.model.shown_cells import shown
from pipeline.reading.character_width import one_width
from pipeline.reading.sheet import Sheet, is_blank

_TICKET = re.compile(r"[0-9]{3}[- ]?[0-9]{10}")


def refuse_unheaded(path: Path, sheets: Collection[Sheet], tickets: Iterable[Any], columns: set[int]) -> None:
    """Raise InputProblem for a sheet without headings that holds a ticket which no other sheet holds.

    `tickets` are the cells of the tickets that were read, `columns` where they stood. A number of 13 digits elsewhere may
    be an order's; one that begins like a ticket of the same workbook is none.
    """
    if not sheets:
        return
    known = {number for cell in tickets if (number := _ticket(cell))}
    airlines = {number[:3] for number in known}
    for sheet in sheets:
        for row, at, number in _numbers(sheet):
            if number not in known and (at + sheet.first_column in columns or number[:3] in airlines):
                raise InputProblem(
                    "{file}: sheet {sheet} has no headings, but {cell} holds the ticket number {number}; put the headings above"
                    " its rows, or delete or hide the sheet if it is not to be read",
                    file=str(path),
                    sheet=SheetName(sheet.name),
                    cell=sheet.cell_name(row, at),
                    number=number,
                )


def _numbers(sheet: Sheet) -> Iterator[tuple[int, int, str]]:
    """The tickets on a sheet with their rows and columns, row by row."""
    found = [
        (row, at, _ticket(column[row]))
        for at, column in enumerate(sheet.columns)
        for row in np.flatnonzero(column.where(lambda cell: bool(_ticket(cell)))).tolist()
    ]
    return iter(sorted(found))


def _ticket(cell: Any) -> str:
    """A cell's ticket number without its hyphen, "" where it is none."""
    if is_blank(cell) or not isinstance(cell, str | float):
        return ""
    text = one_width(shown(cell)).strip()
    return text[:3] + text[-10:] if _TICKET.fullmatch(text) else ""
