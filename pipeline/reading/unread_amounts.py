"""Columns that are not read, and that hold exactly what a total has beyond its components, such as an agency's service fee."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from pipeline.model.columns import COMPONENTS, FEES
from pipeline.model.table import Indices, Money, UnreadAmounts
from pipeline.reading import amount_cells, cells
from pipeline.reading.ambiguous_amounts import Tickets
from pipeline.reading.heading_rows import NOT_READ
from pipeline.reading.sheet import is_blank

#: Rows of a sheet whose total is off that are looked at for a column; the others are compared with those that are found.
_LOOKED_AT = 50


def unread_amounts(
    sheets: Sequence[Tickets], frame: pd.DataFrame, as_read: pd.DataFrame, currency: str
) -> tuple[UnreadAmounts, ...]:
    """The columns of each sheet that a total may be off by."""
    off = _off(frame)
    if not off.any():
        return ()
    found = list[UnreadAmounts]()
    for tickets in sheets:
        if "amount" not in tickets.layout.columns:
            continue
        mine = (frame["file"] == tickets.place) & (frame["sheet"] == tickets.sheet.name)
        rows = np.flatnonzero(mine.to_numpy(dtype=bool) & (off != 0))
        found += _of_sheet(tickets, rows, off, as_read, currency) if len(rows) else ()
    return tuple(found)


def _off(frame: pd.DataFrame) -> Money:
    """What each total has beyond the components of its row's charge, or of all charges where it names none."""
    given = frame["amount"].to_numpy()
    every = dict.fromkeys([*COMPONENTS["ticket_fare"], *COMPONENTS["refund"], *FEES.values()])
    if not any(frame[name].to_numpy().any() for name in every):
        return np.zeros(len(frame), dtype=np.int64)
    parts = frame[list(every)].to_numpy().sum(axis=1)
    for charge, names in COMPONENTS.items():
        mine = (frame["charge"] == charge).to_numpy(dtype=bool)
        parts = np.where(mine, frame[list(names)].to_numpy().sum(axis=1), parts)
    return np.where((given != 0) & (parts != 0), given - parts, 0)


def _of_sheet(
    tickets: Tickets, rows: Indices, off: Money, as_read: pd.DataFrame, currency: str
) -> Iterator[UnreadAmounts]:
    # What a result keeps for the program (model/buyer_source.py) is a heading of its sheet, and no column of the rows.
    for heading, at in tickets.layout.extra.items():
        # A column without a heading may be anything: half of a group of taxes, as likely as a service fee.
        if heading not in as_read.columns or not tickets.layout.words.get(at):
            continue
        column = as_read[heading].to_numpy(dtype=object)
        some = rows[:_LOOKED_AT]
        if any(_amount(column[row], currency) == off[row] for row in some):
            amounts = np.zeros(len(column), dtype=np.int64)
            amounts[rows] = [_amount(column[row], currency) for row in rows]
            total, _ = tickets.layout.headings["amount"]
            yield UnreadAmounts(heading.removeprefix(NOT_READ), total, amounts)


def _amount(cell: object, currency: str) -> int:
    """A cell's amount with its sign, 0 for what is none."""
    if is_blank(cell) or not isinstance(cell, str | float):
        return 0
    try:
        return amount_cells.signed_money(cells.value(cell), currency)
    except cells.Unreadable:
        return 0
