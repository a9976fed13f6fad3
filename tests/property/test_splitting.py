"""Splitting holds its promises for any table of charges that may be sent."""

import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.model.known_charges import KnownCharges
from pipeline.model.profile import Codes, Limits, Profile, Terms
from pipeline.model.request import Header, Identity, Request
from pipeline.rules.judge import Verdicts, judge
from pipeline.splitting import (
    Requests,
    pack,
    split,
)
from tests.benchmarks.packing import over_months
from tests.lower_bound import lower_bound

#: The fixtures that these tests use give functions and values that no test changes.
SETTINGS = settings(
    max_examples=min(60, settings().max_examples),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
CODES = Codes(
    fee_type={"ticket_fare": "T", "refund": "R", "ancillary": "A"},
    product_type={"flight": "F", "baggage": "B", "seat": "S", "upgrade": "U", "meal": "M", "lounge": "L"},
    header_type={"business": "C", "individual": "P"},
)
CHARGES: list[dict[str, str]] = [
    {"charge": "ticket_fare"},
    {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"},
    {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01"},
    {"charge": "ancillary", "product": "meal", "purchased_on": "2026-11-01"},
]
BUYERS: list[dict[str, str]] = [
    {},
    {"remarks": "PO 1"},
    {"email": "b@example.com"},
    {"phone": ""},
    {"header_name": "B"},
    {"tax_no": "110108600037341"},
    {"header_type": "individual"},
]


@st.composite
def _row(draw: st.DrawFn) -> dict[str, Any]:
    market = draw(st.sampled_from(["domestic", "international"]))
    limit = 100_000 if market == "domestic" else 300_000
    amount = draw(
        st.one_of(st.integers(1, limit), st.sampled_from([limit, limit // 2, limit // 2 + 1, limit // 3]))
    )
    charge = draw(st.sampled_from(CHARGES))
    voucher = (
        draw(st.sampled_from(["invoice", "invoice", "itinerary"])) if charge is CHARGES[0] else "invoice"
    )
    return {
        **charge,
        **draw(st.sampled_from(BUYERS)),
        "market": market,
        "amount": f"{amount // 100}.{amount % 100:02}",
        "voucher": voucher,
    }


@st.composite
def _case(draw: st.DrawFn) -> tuple[list[dict[str, Any]], frozenset[Identity], Profile]:
    """Rows of charges that may all be sent, some of which must go alone, and a profile."""
    rows = [
        {**row, "ticket_no": f"999{number:010}"}
        for number, row in enumerate(draw(st.lists(_row(), min_size=1, max_size=25)))
    ]
    apart = frozenset(
        Identity(row["ticket_no"], row["charge"], row.get("product", "flight"))
        for row in rows
        if draw(st.integers(0, 7)) == 0
    )
    limits = Limits(100_000, 300_000, draw(st.sampled_from([0, 0, 1, 2, 5])))
    return rows, apart, Profile(codes=CODES, limits=limits)


def _requests(
    table_of: Callable[..., Any],
    as_of: Any,
    rows: Sequence[dict[str, Any]],
    apart: frozenset[Identity],
    profile: Profile,
) -> tuple[Verdicts, Requests]:
    terms, holdings = Terms(as_of, profile), KnownCharges(apart=apart)
    verdicts = judge(table_of(rows), holdings, terms)
    return verdicts, split(verdicts, holdings, terms)


@SETTINGS
@given(case=_case())
def test_every_ready_row_is_in_exactly_one_request_as_itself(
    table_of: Callable[..., Any], as_of: Any, case: Any
) -> None:
    verdicts, requests = _requests(table_of, as_of, *case)
    rows = verdicts.rows
    assert verdicts.ready.all()
    assert sorted(charge.row for request in requests for charge in request.charges) == list(range(len(rows)))
    assert requests.ids == [request.request_id for request in requests]
    for request in requests:
        for charge in request.charges:
            at = charge.row
            assert charge.identity == Identity(rows.ticket_no[at], rows.charge[at], rows.product[at])
            assert (charge.amount, charge.passenger_name) == (rows.amount[at], rows.passenger_name[at])
            assert request.voucher == rows.voucher[at]


@SETTINGS
@given(case=_case())
def test_no_request_mixes_what_must_stay_apart_nor_breaks_a_limit(
    table_of: Callable[..., Any], as_of: Any, case: Any
) -> None:
    _, apart, profile = case
    most = profile.limits.max_charges_per_invoice
    verdicts, requests = _requests(table_of, as_of, *case)
    rows = verdicts.rows
    for request in requests:
        members = [charge.row for charge in request.charges]
        headers = {
            Header(
                rows.header_type[at], rows.header_name[at], rows.tax_no[at], rows.phone[at], rows.email[at], rows.remarks[at]
            )
            for at in members
        }  # fmt: skip
        assert headers == {request.header}
        assert {rows.market[at] for at in members} == {request.market}
        assert len({rows.charge[at] == "ticket_fare" for at in members}) == 1
        if request.voucher == "itinerary":
            assert [charge.identity.charge for charge in request.charges] == ["ticket_fare"]
        else:
            assert request.amount <= profile.limits.of_market(request.market)
            assert most == 0 or len(members) <= most
        assert len(members) == 1 or not apart & {charge.identity for charge in request.charges}


@SETTINGS
@given(case=_case(), seed=st.integers())
def test_the_same_rows_in_any_order_are_the_same_requests(
    table_of: Callable[..., Any], as_of: Any, case: Any, seed: int
) -> None:
    rows, apart, profile = case
    shuffled = list(rows)
    random.Random(seed).shuffle(shuffled)

    def contents(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        requests = _requests(table_of, as_of, rows, apart, profile)[1]
        made = {
            r.request_id: (r.voucher, r.market, r.header, {(c.identity, c.amount) for c in r.charges})
            for r in requests
        }
        assert len(made) == len(requests)
        return made

    assert contents(rows) == contents(shuffled)


@SETTINGS
@given(case=_case())
def test_no_two_invoices_could_have_been_one(table_of: Callable[..., Any], as_of: Any, case: Any) -> None:
    _, apart, profile = case
    limits = profile.limits
    groups: dict[Any, list[Request]] = defaultdict(list)
    for request in _requests(table_of, as_of, *case)[1]:
        if request.voucher == "invoice" and not any(charge.identity in apart for charge in request.charges):
            fare = request.charges[0].identity.charge == "ticket_fare"
            groups[request.market, request.header, fare].append(request)
    for (market, _, _), requests in groups.items():
        amounts = [charge.amount for request in requests for charge in request.charges]
        limit, most = limits.of_market(market), limits.max_charges_per_invoice
        assert len(requests) >= lower_bound(amounts, limit, most)
        for number, one in enumerate(requests):
            for other in requests[:number]:
                counted_out = most and len(one.charges) + len(other.charges) > most
                assert counted_out or one.amount + other.amount > limit


@settings(max_examples=2 * settings().max_examples, deadline=None)
@given(amounts=st.lists(st.integers(1, 1000), max_size=60), most=st.sampled_from([0, 0, 1, 3, 10]))
def test_packing_loses_nothing_and_is_within_its_bounds(amounts: list[int], most: int) -> None:
    limit = 1000
    amounts.sort(reverse=True)
    bins = pack(amounts, limit, most)
    assert sorted(place for one in bins for place in one) == list(range(len(amounts)))
    assert all(bins)
    assert all(sum(amounts[place] for place in one) <= limit for one in bins)
    assert all(most == 0 or len(one) <= most for one in bins)
    assert len(bins) >= lower_bound(amounts, limit, most)


@settings(max_examples=2 * settings().max_examples, deadline=None)
@given(
    cuts=st.lists(st.lists(st.integers(1, 999), max_size=6, unique=True), min_size=1, max_size=12),
)
def test_packing_takes_at_most_11_ninths_of_the_fewest_bins_and_one(cuts: list[list[int]]) -> None:
    # Full bins cut into pieces: the fewest bins are known, it is as many as were cut.
    amounts = []
    for places in cuts:
        ends = [0, *sorted(places), 1000]
        amounts += [end - start for start, end in itertools.pairwise(ends)]
    amounts.sort(reverse=True)
    assert lower_bound(amounts, 1000, 0) == len(cuts)
    assert 9 * len(pack(amounts, 1000, 0)) <= 11 * len(cuts) + 9


def test_the_invoices_of_random_months_are_within_a_hundredth_of_the_fewest() -> None:
    together, _ = over_months(months=60)
    assert together.invoices >= together.bound > 10_000
    assert together.over <= 0.01


def test_a_request_is_made_when_it_is_looked_at_and_the_same_every_time(
    table_of: Callable[..., Any], as_of: Any
) -> None:
    rows = [{"ticket_no": f"999{number:010}", "amount": "6000"} for number in range(3)]
    _, requests = _requests(table_of, as_of, rows, frozenset(), Profile(codes=CODES))
    assert [len(requests), requests[-1].charges[0].row] == [3, 2]
    assert requests[0] is next(iter(requests))
