"""Cells merged over several rows: what stands in them is said of every row, though a file holds it in the first alone.

A name or a date over two rows is that of both, and so is a currency or the number of a voucher that was issued, in a column that is
carried through. An amount may be of each or of all together, which is not guessed.
"""

from typing import Any

import numpy as np

from pipeline.model.columns import COLUMN, Kind
from pipeline.model.errors import InputProblem
from pipeline.model.message import Message, Private
from pipeline.model.shown_cells import shown
from pipeline.reading.heading_meanings import says_currency
from pipeline.reading.heading_rows import Layout
from pipeline.reading.said_issued import says_issued
from pipeline.reading.sheet import Sheet, is_blank


def unmerged(place: Message, sheet: Sheet, layout: Layout) -> Sheet:
    """The sheet with what is merged below its headings in each of its rows, where a column stands that is read or heeded.

    Raises InputProblem for an amount over several rows that hold something. A row that holds nothing of its own is none: some
    people give each ticket two rows and merge them all.
    """
    if not sheet.merged:
        return sheet
    heeded = {
        heading: at for heading, at in layout.extra.items() if says_currency(heading) or says_issued(heading)
    }
    names = {at: name for name, at in (heeded | layout.columns).items()}
    said: dict[int, dict[int, Any]] = {at: {} for at in names}
    filled = ~np.all([column.blank for column in sheet.columns], axis=0)
    reached: dict[int, int] = {}
    for above, left, below, _ in sorted(sheet.merged):
        top, at, bottom = above - sheet.first_row, left - sheet.first_column, below - sheet.first_row
        if top <= layout.heading_row or at not in names or top >= sheet.height:
            continue
        if top <= reached.get(at, -1):  # no program merges a cell twice
            continue
        reached[at] = bottom
        column = sheet.columns[at]
        cell = column[top]
        under = [
            row
            for row in range(top + 1, min(bottom + 1, sheet.height))
            if filled[row] and is_blank(column[row])
        ]
        if is_blank(cell) or not under:
            continue
        if names[at] in COLUMN and COLUMN[names[at]].kind is Kind.MONEY:
            raise InputProblem(
                "{place}: {first}:{last} is one merged cell, and its amount “{amount}” may be that of each row or of all"
                " together; split the cell and enter each row's own amount",
                place=place,
                first=sheet.cell_name(top, at),
                last=sheet.cell_name(bottom, at),
                amount=Private(shown(cell)),
            )
        said[at] |= dict.fromkeys(under, cell)
    return sheet.changed(said)
