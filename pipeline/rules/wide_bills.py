"""Wide bills: one input row that carries several charges, each in columns of its own.

A row that names no charge becomes the charges that carrier-interface.md, Terms, defines: a used ticket its fare (fare, change fee, taxes),
a refunded one its refund (refund fee, change fee), one that is used in part and refunded for the rest both (the change fee with the fare),
and each ancillary fee an ancillary charge. Every other row is the one charge that it names.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from pipeline.model.columns import COMPONENTS, FARE_ALONE, FEES
from pipeline.model.encoded_column import EncodedColumn
from pipeline.model.table import (
    Finding,
    Indices,
    Mask,
    Money,
    Table,
    Texts,
)


@dataclass(frozen=True)
class Charges:
    """All charges of a Table, in the order of its rows.

    `line` is each charge's input row, ascending. `amount` is the charge's own, in minor units, 0 where
    it is not known; `given` the amount that its row gives, and `parts` what that must add up to (0:
    nothing to compare it with). `left` is a refund fee beside the fare of a used ticket, which has no refund charge.
    """

    line: Indices
    charge: EncodedColumn
    product: EncodedColumn
    amount: Money
    given: Money
    parts: Money
    left: Money


def charges_of(table: Table, charge: EncodedColumn, product: EncodedColumn) -> Charges:
    """The charges of every row; `charge` and `product` as the rows name them."""
    frame, rows = table.frame, np.arange(len(table), dtype=np.int64)
    given = frame["amount"].to_numpy()
    parts = _components(frame, charge, product)
    plain = Charges(rows, charge, product, np.where(given != 0, given, parts), given, parts, 0 * given)
    # A product of an ancillary service names what the row's amount is for, though its column may be one of fares.
    wide = _wide(table, charge) & (product.says("") | product.says("flight"))
    if not wide.any():
        return plain
    alone = np.flatnonzero(~wide)
    found = [(alone, charge.texts[alone], product.texts[alone], plain.amount[alone])]
    for name, kind, amounts in _of_bills(frame, wide):
        at = np.flatnonzero(amounts)
        found.append((at, np.full(len(at), name, object), np.full(len(at), kind, object), amounts[at]))
    found += _without_fees(
        table, np.setdiff1d(np.flatnonzero(wide), np.concatenate([at for at, *_ in found]))
    )
    line, names, kinds, amount = (np.concatenate(column) for column in zip(*found, strict=True))
    total = np.zeros(len(table), dtype=np.int64)
    np.add.at(total, line, amount)
    order = np.argsort(line, kind="stable")
    sorted_line = line[order]
    left = np.where(wide & (frame["ticket_status"] == "used").to_numpy(dtype=bool), frame["refund_fee"], 0)
    return Charges(
        sorted_line, EncodedColumn.of(names[order]), EncodedColumn.of(kinds[order]), amount[order], given[sorted_line],
        np.where(wide, total, parts)[sorted_line],
        np.where(names[order] == "ticket_fare", left[sorted_line], 0).astype(np.int64),
    )  # fmt: skip


def _without_fees(table: Table, empty: Indices) -> list[tuple[Indices, Texts, Texts, Money]]:
    """The charges of refunded tickets without a fee: their fares, which are not to be issued; nothing else is.

    Where a fee can't be read, the charge is the refund that it belongs to, of an amount that is not known.
    """
    fees = [finding.rows for finding in table.findings if finding.column in COMPONENTS["refund"]]
    unknown = np.isin(empty, np.concatenate(fees)) if fees else np.zeros(len(empty), dtype=bool)
    fares = table.frame[list(COMPONENTS["ticket_fare"])].to_numpy().sum(axis=1)[empty]
    names = np.where(unknown, "refund", "ticket_fare").astype(object)
    return [(empty, names, np.full(len(empty), "flight", object), np.where(unknown, 0, fares))]


def _wide(table: Table, charge: EncodedColumn) -> Mask:
    """Rows that name no charge and carry one in a column of its own."""
    carried = table.frame[[*COMPONENTS["ticket_fare"], *COMPONENTS["refund"][:1], *FEES.values()]]
    wide = charge.says("") & (carried.to_numpy() != 0).any(axis=1)
    for finding in table.findings:
        if finding.column == "charge":
            wide[finding.rows] = False
    return np.asarray(wide, dtype=bool)


def _of_bills(frame: pd.DataFrame, wide: Mask) -> list[tuple[str, str, Money]]:
    """(charge, product, its amount in every row) of each charge that a bill may carry; 0: not in that row."""
    sums = {name: frame[list(parts)].to_numpy().sum(axis=1) for name, parts in COMPONENTS.items()}
    # A bill that does not say what became of its ticket, and has nothing but a refund's fees, is one.
    only_fees = (frame[list(FARE_ALONE)].to_numpy() == 0).all(axis=1) & (frame["refund_fee"].to_numpy() != 0)
    refunded = (frame["ticket_status"] == "refunded").to_numpy(dtype=bool) | only_fees
    partly = (frame["ticket_status"] == "partly_used").to_numpy(dtype=bool) & ~only_fees
    fee_of_rest = np.where(wide & partly, frame["refund_fee"].to_numpy(), 0)
    return [
        ("ticket_fare", "flight", np.where(wide & ~refunded, sums["ticket_fare"], 0)),
        ("refund", "flight", np.where(wide & refunded, sums["refund"], fee_of_rest)),
        *(("ancillary", product, np.where(wide, frame[fee].to_numpy(), 0)) for product, fee in FEES.items()),
    ]


def _components(frame: pd.DataFrame, charge: EncodedColumn, product: EncodedColumn) -> Money:
    """The sum of the components that a row's own charge has; an ancillary charge has its fee's column."""
    total = np.zeros(len(frame), dtype=np.int64)
    for name, parts in COMPONENTS.items():
        mine = charge.says(name)
        for part in parts:
            total += np.where(mine, frame[part].to_numpy(), 0)
    for name, fee in FEES.items():
        mine = charge.says("ancillary") & product.says(name)
        total = np.where(mine, frame[fee].to_numpy(), total)
    return total


def of_charges(finding: Finding, line: Indices) -> Finding:
    """A finding about input rows as one about their charges."""
    at = np.flatnonzero(np.isin(line, finding.rows))
    order = np.argsort(finding.rows, kind="stable")
    return finding.at(order[np.searchsorted(finding.rows, line[at], sorter=order)], at)
