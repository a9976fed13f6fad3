"""Charges to requests: which charges go together on one voucher.

An itinerary is one ticket's fare. An invoice holds charges of one buyer (remarks included), of one
market, and either ticket fares alone or no ticket fare (carrier-interface.md, Issue invoice, rule 3,
and Limits). Into as few invoices as possible: best fit decreasing, whose order is made of content
alone, so that the same rows give the same requests in whatever order they stand.
"""

import bisect
from collections.abc import Sequence

import numpy as np
import pandas as pd

from pipeline.holdings import Holdings
from pipeline.request import Charge, Header, Identity, Request
from pipeline.rules.judging import Verdicts
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Terms

_HEADER = ("header_type", "header_name", "tax_no", "phone", "email", "remarks")


def pack(amounts: Sequence[int], limit: int, most: int) -> list[list[int]]:
    """Positions of `amounts` (largest first, each at most `limit`) in as few bins as best fit finds.

    Each amount goes into the fullest bin that still takes it. `most` bounds a bin's members; 0: no bound.

    >>> pack([60, 50, 40, 30, 20], 100, 0)
    [[0, 2], [1, 3, 4]]
    >>> pack([5, 5, 5], 100, 2)
    [[0, 1], [2]]
    """
    bins: list[list[int]] = []
    room: list[tuple[int, int]] = []  # (what still fits, bin), ascending
    for position, amount in enumerate(amounts):
        at = bisect.bisect_left(room, (amount, -1))
        if at == len(room):
            bins.append([position])
            left, number = limit - amount, len(bins) - 1
        else:
            left, number = room.pop(at)
            left -= amount
            bins[number].append(position)
        if most == 0 or len(bins[number]) < most:
            bisect.insort(room, (left, number))
    return bins


def lower_bound(amounts: Sequence[int], limit: int, most: int) -> int:
    """No packing has fewer bins: by the sum, by the count, and by amounts that exclude each other.

    >>> lower_bound([60, 60, 60], 100, 0)
    3
    """
    by_sum = -(-sum(amounts) // limit)
    by_count = -(-len(amounts) // most) if most else 0
    return max(by_sum, by_count, sum(2 * amount > limit for amount in amounts))


def _charges(rows: Rows, at: Sequence[int], terms: Terms) -> list[Charge]:
    return [
        Charge(
            Identity(rows.ticket_no[row], rows.charge[row], rows.product[row]),
            rows.passenger_name[row],
            int(rows.amount[row]),
            row,
            terms.profile.wire(rows.charge[row], rows.product[row]),
        )
        for row in at
    ]


def _header(rows: Rows, row: int) -> Header:
    return Header(*(rows.text(name)[row] for name in _HEADER))


def _apart(rows: Rows, at: Sequence[int], holdings: Holdings) -> np.ndarray:
    """A number of its own for each charge that must not share an invoice, 0 for all others."""
    return np.array(
        [
            place + 1
            if Identity(rows.ticket_no[row], rows.charge[row], rows.product[row]) in holdings.apart
            else 0
            for place, row in enumerate(at)
        ]
        if holdings.apart
        else np.zeros(len(at)),
        dtype=np.int64,
    )


def _invoices(rows: Rows, at: Sequence[int], holdings: Holdings, terms: Terms) -> list[Request]:
    """The invoice requests for the rows at these positions."""
    limits = terms.profile.limits
    frame = pd.DataFrame(
        {name: rows.text(name)[at] for name in (*_HEADER, "market", "ticket_no", "charge", "product")}
    )
    frame["fare"] = frame["charge"] == "ticket_fare"
    frame["apart"] = _apart(rows, at, holdings)
    frame["amount"] = rows.amount[at]
    frame["row"] = at
    frame = frame.sort_values(
        ["amount", "ticket_no", "charge", "product"], ascending=[False, True, True, True]
    )
    requests = []
    for _, group in frame.groupby([*_HEADER, "market", "fare", "apart"], sort=True):
        members = group["row"].tolist()
        market = str(rows.market[members[0]])
        charges = _charges(rows, members, terms)
        packed = pack(group["amount"].tolist(), limits.of_market(market), limits.max_charges_per_invoice)
        header = _header(rows, members[0])
        requests += [
            Request("invoice", market, header, tuple(charges[place] for place in one)) for one in packed
        ]
    return requests


def split(verdicts: Verdicts, holdings: Holdings, terms: Terms) -> list[Request]:
    """The requests for every ready row, each row in exactly one, in the order of their first rows."""
    rows = verdicts.rows
    as_itinerary = np.asarray(rows.voucher == "itinerary", dtype=bool)
    requests = [
        Request("itinerary", str(rows.market[charge.row]), _header(rows, charge.row), (charge,))
        for charge in _charges(rows, np.flatnonzero(verdicts.ready & as_itinerary).tolist(), terms)
    ]
    invoiced = np.flatnonzero(verdicts.ready & ~as_itinerary).tolist()
    if invoiced:
        requests += _invoices(rows, invoiced, holdings, terms)
    return sorted(requests, key=lambda request: min(charge.row for charge in request.charges))
