"""Charges to requests: which charges go together on one voucher.

An itinerary is one ticket's fare. An invoice holds charges of one buyer (remarks included), of one
market, and either ticket fares alone or no ticket fare (carrier-interface.md, Issue invoice, rule 3,
and Limits). Into as few invoices as possible: best fit decreasing, whose order is made of content
alone, so that the same rows give the same requests in whatever order they stand.
"""

import functools
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

import numpy as np

from pipeline.model.columns import HEADER_FIELDS
from pipeline.model.encoded_column import EncodedColumn, alike
from pipeline.model.known_charges import KnownCharges, Refusal
from pipeline.model.lazy import LazySequence
from pipeline.model.profile import Profile, Terms
from pipeline.model.request import (
    HEADER,
    Charge,
    Header,
    Identity,
    Request,
    as_json,
    content_id,
    listed,
)
from pipeline.model.result_values import RequestResult, UnknownAttempt
from pipeline.model.table import Indices, Mask, Money, Table, Texts, among
from pipeline.rules.judge import Verdicts
from pipeline.rules.rows import Rows
from pipeline.rules.rule import itinerary


@dataclass(frozen=True)
class Judged:
    """A Table's rows judged against what is known of their charges, and the requests that they come to.

    `doubts` are the unknown outcomes of earlier runs that hold rows of it, `issued_before` the requests that they had issued, and
    `refusals` what is not asked again by itself.
    """

    table: Table
    holdings: KnownCharges
    verdicts: Verdicts
    requests: Sequence[Request]
    doubts: Sequence[UnknownAttempt] = ()
    issued_before: Sequence[RequestResult] = ()
    refusals: Mapping[Identity, Refusal] = field(default_factory=dict)


def pack(amounts: Sequence[int], limit: int, most: int) -> list[list[int]]:
    """Positions of `amounts` (largest first, each at most `limit`) in as few bins as best fit finds.

    Each amount goes into the fullest bin that still takes it. `most` bounds a bin's members; 0: no bound.

    >>> pack([60, 50, 40, 30, 20], 100, 0)
    [[0, 2], [1, 3, 4]]
    >>> pack([5, 5, 5], 100, 2)
    [[0, 1], [2]]
    """
    if not amounts:
        return []
    bins: list[list[int]] = []
    # What still fits into a bin, and which it is, as one number: the first times `size` and the second. Ascending.
    room: list[int] = []
    size, least = len(amounts), amounts[-1] * len(amounts)
    for position, amount in enumerate(amounts):
        wanted = amount * size
        at = bisect_left(room, wanted)
        if at == len(room):
            left = limit * size + len(bins) - wanted
            members = [position]
            bins.append(members)
        else:
            left = room.pop(at) - wanted
            members = bins[left % size]
            members.append(position)
        if left >= least and (most == 0 or len(members) < most):
            insort(room, left, 0, at)
    return bins


class Requests(LazySequence[Request]):
    """All requests, in the order of their first rows; each is made when it is first looked at.

    `charges` are the positions of all their charges (Rows), request after request, and `starts` says where each
    request's begin, with the end behind them.
    """

    def __init__(self, rows: Rows, profile: Profile, charges: Indices, starts: Indices) -> None:
        super().__init__(len(starts) - 1, functools.cache(self._made))
        self._rows, self._wire = rows, functools.cache(profile.wire)
        self.charges, self.starts = charges, starts

    def _made(self, number: int) -> Request:
        members = self.charges[self.starts[number] : self.starts[number + 1]].tolist()
        voucher, market, *header = (column[members[0]] for column in self._of_requests)
        return Request(voucher, market, Header(*header), tuple(map(self._charge, members)))

    def _charge(self, row: int) -> Charge:
        ticket_no, charge, product, passenger_name, amount = self._of_charges[row]
        return Charge(
            Identity(ticket_no, charge, product), passenger_name, amount, row, self._wire(charge, product)
        )

    @functools.cached_property
    def _of_requests(self) -> list[list[str]]:
        """Voucher, market and header by row, as lists: a value of theirs is taken out in half the time."""
        return [self._rows.text(name).tolist() for name in ("voucher", "market", *HEADER)]

    @functools.cached_property
    def _of_charges(self) -> list[tuple[Any, ...]]:
        """What a charge is, its passenger and its amount, by row."""
        rows = self._rows
        columns = (rows.ticket_no, rows.charge, rows.product, rows.passenger_name, rows.amount)
        return [*zip(*(column.tolist() for column in columns), strict=True)]

    @functools.cached_property
    def ids(self) -> Sequence[str]:
        """The ID of each request, none of which is made for that."""
        rows, first = self._rows, self.charges[self.starts[:-1]]
        charges = _charges_as_json(rows, np.sort(self.charges))[self.charges].tolist()
        kinds = _listed(rows, ("voucher", "market"), first)
        buyers, remarks = _listed(rows, HEADER_FIELDS, first), _listed(rows, ("remarks",), first)
        each = zip(kinds, buyers, remarks, pairwise(self.starts.tolist()), strict=True)
        return [
            # A charge stands in it once, and JSON writes nothing otherwise of what it is: so the JSON has the order of the charges.
            content_id(kind, f"{buyer},{remark}", sorted(charges[start:end]))
            for kind, buyer, remark, (start, end) in each
        ]

    def texts(self, column: str) -> Texts:
        """What each request's charges have in common in a column such as voucher, market or header_name; none is made for that."""
        return self._rows.text(column)[self.charges[self.starts[:-1]]]

    @property
    def amounts(self) -> Money:
        """The total of each request, likewise."""
        totals: Money = np.add.reduceat(self._rows.amount[self.charges], self.starts[:-1])
        return totals

    def kinds(self) -> Iterator[tuple[str, str, int]]:
        """Voucher, market and total of each request."""
        what = (self.texts("voucher"), self.texts("market"), self.amounts)
        return zip(*(column.tolist() for column in what), strict=True)


def _listed(rows: Rows, columns: Sequence[str], at: Indices) -> list[str]:
    """What some rows say in some columns, in which many say the same, as JSON."""
    each = [rows.coded(name).spread(at) for name in columns]
    same = alike(each)
    texts = zip(*(column.spread(same.first).texts.tolist() for column in each), strict=True)
    found = np.array([*map(listed, texts)], dtype=object)
    return found[same.group].tolist()  # type: ignore[no-any-return]


def _charges_as_json(rows: Rows, those: Indices) -> Texts:
    """Of these rows each charge as JSON: what it is, its passenger and its amount."""
    tickets, names = (map(as_json, texts[those].tolist()) for texts in (rows.ticket_no, rows.passenger_name))
    each = zip(
        tickets, _listed(rows, ("charge", "product"), those), names, rows.amount[those].tolist(), strict=True
    )
    found = np.empty(len(rows), dtype=object)
    found[those] = [f"[{ticket},{kind},{name},{amount}]" for ticket, kind, name, amount in each]
    return found


def charges_of(requests: Sequence[Request]) -> tuple[Indices, Indices]:
    """The positions of all requests' charges, request after request, and where each request's begin."""
    if isinstance(requests, Requests):
        return requests.charges, requests.starts
    each = [[charge.row for charge in request.charges] for request in requests]
    charges = np.array(list(chain.from_iterable(each)), dtype=np.int64)
    return charges, np.cumsum([0, *map(len, each)])


def ids_of(requests: Sequence[Request]) -> Sequence[str]:
    """The ID of each request."""
    return requests.ids if isinstance(requests, Requests) else [one.request_id for one in requests]


def by_kind(requests: Sequence[Request]) -> list[tuple[str, str, int, int]]:
    """(voucher, market, requests, total in minor units) for each kind that there is, in alphabetical order."""
    kinds = (
        requests.kinds()
        if isinstance(requests, Requests)
        else ((one.voucher, one.market, one.amount) for one in requests)
    )
    found: dict[tuple[str, str], list[int]] = {}
    for voucher, market, total in kinds:
        found.setdefault((voucher, market), []).append(total)
    return [(*kind, len(totals), sum(totals)) for kind, totals in sorted(found.items())]


def _apart(rows: Rows, ready: Mask, holdings: KnownCharges) -> Mask:
    """The charges that must not share an invoice."""
    apart = np.zeros(len(rows), dtype=bool)
    if holdings.apart:
        of_their_tickets = among(rows.ticket_no, {identity.ticket_no for identity in holdings.apart})
        for row in np.flatnonzero(ready & of_their_tickets).tolist():
            apart[row] = Identity(rows.ticket_no[row], rows.charge[row], rows.product[row]) in holdings.apart
    return apart


def _ranks(column: EncodedColumn) -> Indices:
    """By row, the place of its value among all values in alphabetical order: the same in whatever order the rows stand."""
    place = np.empty(len(column.words), dtype=np.int64)
    place[np.argsort(column.words)] = np.arange(len(column.words))
    return place[column.codes]


def _packable(rows: Rows, at: Indices) -> tuple[Indices, Indices]:
    """These rows in groups that may share an invoice, each group's largest amounts first; and where each group begins."""
    buyers = alike([EncodedColumn.of(rows.text(name)[rows.same_buyer.first]) for name in HEADER_FIELDS])
    buyer = EncodedColumn(buyers.group[rows.same_buyer.group], np.arange(len(buyers), dtype=object))
    fare = EncodedColumn(
        rows.says("charge", "ticket_fare").astype(np.int64), np.array([False, True], dtype=object)
    )
    columns = (buyer, rows.coded("remarks"), rows.coded("market"), fare)
    group = alike([column.spread(at) for column in columns]).group
    charge, product = _ranks(rows.coded("charge"))[at], _ranks(rows.coded("product"))[at]
    order = np.lexsort((product, charge, rows.ticket[at], -rows.amount[at], group))
    return at[order], np.flatnonzero(np.diff(group[order], prepend=-1))


def _invoices(rows: Rows, at: Indices, terms: Terms) -> tuple[Indices, list[int]]:
    """The rows of invoices, invoice after invoice, and how many each invoice has."""
    limits = terms.profile.limits
    most = limits.max_charges_per_invoice
    packable, starts = _packable(rows, at)
    if not len(packable):
        return packable, []
    ends = np.append(starts, len(packable))[1:]
    amounts = rows.amount[packable]
    markets = rows.coded("market").spread(packable[starts])
    limit = np.array([limits.of_market(market) for market in markets.words], dtype=np.int64)[markets.codes]
    order, sizes = np.arange(len(packable)), ends - starts
    each = [[size] for size in sizes.tolist()]
    too_many = (np.add.reduceat(amounts, starts) > limit) | ((sizes > most) if most else False)
    for group in np.flatnonzero(too_many).tolist():  # the others are one invoice each
        start, end = starts[group], ends[group]
        bins = pack(amounts[start:end].tolist(), int(limit[group]), most)
        order[start:end] = start + np.fromiter(chain.from_iterable(bins), np.int64, end - start)
        each[group] = list(map(len, bins))
    return packable[order], list(chain.from_iterable(each))


def split(verdicts: Verdicts, holdings: KnownCharges, terms: Terms) -> Requests:
    """The requests for every ready row, each row in exactly one, in the order of their first rows."""
    rows, ready = verdicts.rows, verdicts.ready
    alone = ready & (itinerary(rows) | _apart(rows, ready, holdings))
    single = np.flatnonzero(alone)
    together, sizes = _invoices(rows, np.flatnonzero(ready & ~alone), terms)
    charges = np.concatenate([single, together])
    size = np.concatenate([np.ones(len(single), dtype=np.int64), np.array(sizes, dtype=np.int64)])
    start = np.cumsum(size) - size
    order = np.argsort(np.minimum.reduceat(charges, start)) if len(charges) else start
    starts = np.concatenate([[0], np.cumsum(size[order])])
    places = np.repeat(start[order] - starts[:-1], size[order]) + np.arange(len(charges))
    return Requests(rows, terms.profile, charges[places], starts)
