"""Rows that are to be sent though a column that is not ours says that they have their voucher: they are sent, and that is told.

The ledger knows what this program issued. What was issued by hand, or before the program came, only such a column says.
"""

import numpy as np

from pipeline.model.message import N_, Message, message
from pipeline.model.places import on_sheet
from pipeline.model.quoting import quoted
from pipeline.model.table import Mask, Table
from pipeline.rules.rows import Rows

#: What is told. Whoever asks before such rows are sent says it once more.
SAID = N_(
    "{place}: the column {column} says of rows that are to be sent that they have a voucher already (rows: {count}, the first of them row"
    " {row}). The ledger has no such voucher: where it is one of the same charge, take the row out, or it is issued twice"
)


def told_as_issued(rows: Rows, ready: Mask, table: Table) -> tuple[Message, ...]:
    """A line for each sheet and such column, with the first of the rows."""
    found: dict[tuple[str, str, str], dict[int, None]] = {}
    for heading, said in table.said_issued.items():
        for at in np.flatnonzero(ready & said[rows.line]).tolist():
            found.setdefault((rows.file[at], rows.sheet[at], heading), {})[int(rows.row[at])] = None
    return tuple(
        message(
            SAID,
            place=on_sheet(file, sheet),
            column=quoted(heading),
            row=next(iter(lines)),
            count=len(lines),
        )
        for (file, sheet, heading), lines in found.items()
    )
