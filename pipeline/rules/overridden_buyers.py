"""What rows say of their buyer that the Buyers sheet says otherwise: the row's own is sent, and that is told."""

import numpy as np

from pipeline.model.message import Message, Term, message
from pipeline.model.places import on_sheet
from pipeline.model.table import Table
from pipeline.rules.rows import Rows


def overridden(rows: Rows, table: Table) -> tuple[Message, ...]:
    """A line for each sheet of tickets and column, with the first row's cell and that of its buyer."""
    found: dict[tuple[str, str, str], dict[int, int]] = {}
    for at in np.flatnonzero(rows.whose.own_instead != "").tolist():
        for column in rows.whose.own_instead[at].split():
            of_sheet = found.setdefault((rows.file[at], rows.sheet[at], column), {})
            of_sheet.setdefault(int(rows.row[at]), at)
    return tuple(
        message(
            "{place}: {column} in {cell} is not what {buyer} has for its buyer; the row's own is used (rows: {count})",
            place=on_sheet(file, sheet),
            column=Term(column),
            cell=table.cell(file, sheet, line, column),
            buyer=table.buyer_place(int(rows.whose.at[at]), column),
            count=len(lines),
        )
        for (file, sheet, column), lines in found.items()
        for line, at in [next(iter(lines.items()))]
    )
