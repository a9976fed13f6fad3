"""What a row carries and is not taken: fees of other charges than the one that it names."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from pipeline.model.columns import COMPONENTS, FEES
from pipeline.model.message import Message, message, terms
from pipeline.model.places import on_sheet
from pipeline.model.table import Mask

_CARRIED = tuple(dict.fromkeys([*COMPONENTS["ticket_fare"], *COMPONENTS["refund"], *FEES.values()]))


def untaken_fees(frame: pd.DataFrame) -> Iterator[Message]:
    """A note for each sheet in which rows that name their charge carry other charges' fees too."""
    if not any(_of_others(frame, name).any() for name in _CARRIED):
        return
    for (file, sheet), rows in frame.groupby(["file", "sheet"], sort=False):
        found = {name: at for name in _CARRIED if (at := _of_others(rows, name)).any()}
        if not found:
            continue
        lines = rows["row"][np.any(list(found.values()), axis=0)]
        first = int(lines.iloc[0])
        yield message(
            "{place}: {columns} not taken in {rows}: the row names its charge and is that charge alone; leave the charge"
            " blank, or give each charge a row of its own",
            place=on_sheet(str(file), str(sheet)),
            columns=terms(found),
            rows=message("row {row}", row=first)
            if len(lines) == 1
            else message("{count} rows, the first of them row {row}", count=len(lines), row=first),
        )


def _of_others(rows: pd.DataFrame, name: str) -> Mask:
    """Rows that name a charge which the column is no part of, and hold an amount in it."""
    given = (rows[name] != 0).to_numpy(dtype=bool)
    if not given.any():
        return given
    mine = np.zeros(len(rows), dtype=bool)
    for charge, parts in COMPONENTS.items():
        if name in parts:
            mine |= (rows["charge"] == charge).to_numpy(dtype=bool)
    for product, fee in FEES.items():
        if name == fee:
            mine |= ((rows["charge"] == "ancillary") & (rows["product"] == product)).to_numpy(dtype=bool)
    named = rows["charge"].notna().to_numpy(dtype=bool)
    return np.asarray(named & ~mine & given, dtype=bool)
