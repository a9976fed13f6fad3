"""A bill's refund lines: what was paid for the ticket stands in them as less than zero, and the fee that is kept above it.

Such a line is the refund charge of that fee; its negative amounts are what was paid back, and no charge. A total is
either the fee, or what the line comes to in all.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pipeline.model.columns import COMPONENTS, FARE_ALONE, FEES
from pipeline.model.message import Message, counted
from pipeline.model.places import on_sheet
from pipeline.model.table import Finding, Mask, Money
from pipeline.reading import amount_cells, cells

#: What may have been paid back.
_PARTS = (*COMPONENTS["ticket_fare"], *FEES.values())


def take_refund_lines(
    frame: pd.DataFrame, as_read: pd.DataFrame, findings: Sequence[Finding], currency: str
) -> tuple[list[Finding], Money]:
    """The findings without those about what refund lines paid back, and by row what they did, in minor units below zero.

    A total that says what such a line comes to in all becomes, in `frame`, what it says of the fee.
    """
    negative = {
        name: amounts
        for name in (*_PARTS, "amount")
        if (amounts := _negative(name, as_read, findings, currency)) is not None
    }
    lines = _refund_lines(frame, negative, findings)
    paid_back = np.zeros(len(frame), dtype=np.int64)
    if not lines.any():
        return list(findings), paid_back
    for name in set(_PARTS) & negative.keys():
        paid_back += np.where(lines, negative[name], 0)
    given = frame["amount"].to_numpy() + negative.get("amount", 0)
    fee = frame[list(COMPONENTS["refund"])].to_numpy().sum(axis=1)
    of_fee = np.where(given == fee, given, given - paid_back)
    understood = lines & (given != 0) & (of_fee > 0)
    frame["amount"] = np.where(understood, of_fee, frame["amount"].to_numpy())
    return [
        kept
        for finding in findings
        if (kept := _without(finding, understood if finding.column == "amount" else lines)) is not None
    ], paid_back


def told_refund_lines(frame: pd.DataFrame, paid_back: Money) -> Iterator[Message]:
    """A note for each sheet with refund lines: nobody said that they are refund charges, so that somebody should see it."""
    lines = frame[paid_back < 0]
    for (file, sheet), rows in lines.groupby(["file", "sheet"], sort=False):
        yield counted(
            "{place}: {count} row read as a refund line (fares below zero, a refund fee above), which is the refund charge of that"
            " fee: row {first}",
            "{place}: {count} rows read as refund lines (fares below zero, a refund fee above), which are the refund charges of"
            " those fees, the first of them row {first}",
            len(rows),
            place=on_sheet(str(file), str(sheet)),
            first=int(rows["row"].iloc[0]),
        )


def _negative(
    column: str, as_read: pd.DataFrame, findings: Collection[Finding], currency: str
) -> Money | None:
    """A column's amounts below zero, by row, 0 elsewhere; None where it has none."""
    found = np.zeros(len(as_read), dtype=np.int64)
    for finding in findings:
        if finding.column == column:
            rows = finding.rows[_is_negative(finding)]
            found[rows] = [_signed(cell, currency) for cell in as_read[column].to_numpy()[rows]]
    return found if found.any() else None


def _signed(cell: Any, currency: str) -> int:
    return amount_cells.signed_money(cells.value(cell), currency)


def _is_negative(finding: Finding) -> Mask:
    if finding.code != "bad_amount":
        return np.zeros(len(finding.rows), dtype=bool)
    return np.array([finding.fact("hint", at) == "negative" for at in range(len(finding.rows))], dtype=bool)


def _refund_lines(frame: pd.DataFrame, negative: dict[str, Money], findings: Collection[Finding]) -> Mask:
    """The rows with fares or taxes below zero and none above, a fee above it, and no other charge's name."""
    fares = [negative[name] for name in FARE_ALONE if name in negative]
    if not fares:
        return np.zeros(len(frame), dtype=bool)
    lines = np.any([amounts < 0 for amounts in fares], axis=0) & (frame["refund_fee"].to_numpy() > 0)
    lines &= (frame[list(FARE_ALONE)].to_numpy() == 0).all(axis=1)
    lines &= (frame["charge"].isna() | (frame["charge"] == "refund")).to_numpy(dtype=bool)
    for finding in findings:
        if finding.column == "charge":
            lines[finding.rows] = False
    return np.asarray(lines, dtype=bool)


def _without(finding: Finding, lines: Mask) -> Finding | None:
    """A finding without what it says of amounts below zero in these rows; None where nothing is left."""
    if finding.column not in (*_PARTS, "amount"):
        return finding
    kept = np.flatnonzero(~(lines[finding.rows] & _is_negative(finding)))
    return finding.at(kept, finding.rows[kept]) if len(kept) else None
