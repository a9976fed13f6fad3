"""Headings that stand again below the first ones, as on every printed page: no input rows."""

from collections.abc import Sequence
from typing import Any

from pipeline.model.errors import InputProblem
from pipeline.model.message import Message, Private
from pipeline.reading.cell_words import folded
from pipeline.reading.heading_rows import Layout, Own, known_at
from pipeline.reading.sheet import Sheet, is_blank


def repeats(row: Sequence[Any], layout: Layout) -> bool:
    """Whether a row says the headings again: every cell of it that is filled, and the ticket's among them."""
    filled = 0
    for at, cell in enumerate(row):
        if is_blank(cell):
            continue
        if not isinstance(cell, str) or folded(cell) not in layout.words.get(at, ()):
            return False  # as nearly every row's first cell says
        filled += 1
    return filled > 1


def repeats_headings(place: Message, sheet: Sheet, index: int, layout: Layout, own: Own) -> bool:
    """Whether a row says the headings again, as every printed page does.

    Raises InputProblem where they name other columns than the headings above: what stands below would be
    taken for something else.
    """
    row = sheet.rows[index]
    at = layout.columns["ticket_no"]
    ticket = row[at] if at < len(row) else ""
    if not isinstance(ticket, str) or any(map(str.isdigit, ticket)):
        return False  # as nearly every row is: looked at first, because rows are many
    if repeats(row, layout):
        return True
    named = known_at(row, own)
    texts = all(isinstance(cell, str) for cell in row if not is_blank(cell))
    if "ticket_no" not in named.values() or len(named) < 2 or not texts:
        return False
    for at, name in named.items():
        if layout.columns.get(name) != at:
            raise InputProblem(
                "{place}: {cell} “{heading}” begins a second table, whose columns are not those above it; put each table on a"
                " sheet of its own",
                place=place,
                cell=sheet.cell_name(index, at),
                heading=Private(str(row[at])),
            )
    return True
