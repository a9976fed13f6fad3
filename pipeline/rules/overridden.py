"""What rows say of their buyer that the Buyers sheet says otherwise: the row's own is sent, and that is told."""

import numpy as np

from pipeline.model.table import Table
from pipeline.rules.rows import Rows


def overridden(rows: Rows, table: Table) -> tuple[str, ...]:
    """A line for each sheet of tickets and column, with the first row's cell and that of its buyer."""
    found: dict[tuple[str, str, str], dict[int, int]] = {}
    for at in np.flatnonzero(rows.own_instead != "").tolist():
        for column in rows.own_instead[at].split():
            of_sheet = found.setdefault((rows.file[at], rows.sheet[at], column), {})
            of_sheet.setdefault(int(rows.row[at]), at)
    return tuple(
        f"{file}, sheet {sheet}: {column} in {table.cell(file, sheet, line, column)} is not what"
        f" {table.buyer_place(int(rows.buyer_at[at]), column)} has for its buyer; the row's own is used (rows: {len(lines)})"
        for (file, sheet, column), lines in found.items()
        for line, at in [next(iter(lines.items()))]
    )
