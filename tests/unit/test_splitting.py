"""Charges to requests: which may stand together, how they are packed, which go alone."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.model.known_charges import KnownCharges
from pipeline.model.profile import Limits, Profile, Terms
from pipeline.model.request import Header, Identity, Request
from pipeline.rules.judge import judge
from pipeline.splitting import by_kind, ids_of, pack, split
from tests.lower_bound import lower_bound

REFUND = {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"}
SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01"}
MEAL = {**SEAT, "product": "meal"}


def _ticket(number: int) -> str:
    return f"999{number:010}"


@pytest.fixture
def requests(table_of: Callable[..., Any], terms: Terms) -> Callable[..., list[Request]]:
    """The requests for rows that each have a ticket of their own where they name none."""

    def requests(
        *rows: dict[str, Any], holdings: KnownCharges | None = None, profile: Profile | None = None
    ) -> list[Request]:
        table = table_of([{"ticket_no": _ticket(n), **row} for n, row in enumerate(rows)])
        judged_by = Terms(terms.as_of, profile or terms.profile)
        held = holdings or KnownCharges()
        return split(judge(table, held, judged_by), held, judged_by)

    return requests


def _rows(found: list[Request]) -> list[list[int]]:
    return [sorted(charge.row for charge in request.charges) for request in found]


def test_fares_of_one_buyer_and_market_share_an_invoice(requests: Any) -> None:
    (request,) = requests({"amount": "100.25"}, {"amount": "200"})
    assert request.voucher == "invoice"
    assert request.market == "domestic"
    assert request.amount == 30_025
    assert request.header == Header(
        "business", "Example Trading Co.", "91110000600037341L", "+86 10 8520 0000", "finance@example.com", ""
    )
    assert {charge.identity: charge.amount for charge in request.charges} == {
        Identity(_ticket(0), "ticket_fare", "flight"): 10_025,
        Identity(_ticket(1), "ticket_fare", "flight"): 20_000,
    }
    assert {charge.wire for charge in request.charges} == {("TICKET_FARE", "Flight")}


@pytest.mark.parametrize(
    "change",
    [
        {"market": "international"},
        {"remarks": "PO 7"},
        {"header_name": "Another Co."},
        {"header_type": "individual"},
        {"tax_no": "110108600037341"},
        {"phone": ""},
        {"email": "other@example.com"},
        REFUND,
        SEAT,
    ],
)
def test_charges_that_differ_in_buyer_market_or_fare_do_not_share_an_invoice(
    requests: Any, change: dict[str, str]
) -> None:
    assert _rows(requests({}, change, {})) == [[0, 2], [1]]


def test_refunds_and_ancillary_charges_may_share_an_invoice(requests: Any) -> None:
    assert _rows(requests(REFUND, SEAT, {}, {**MEAL, "ticket_no": _ticket(1)})) == [[0, 1, 3], [2]]


def test_each_itinerary_is_one_ticket_and_keeps_its_charge_s_amount(requests: Any) -> None:
    found = requests({"voucher": "itinerary"}, {"voucher": "itinerary"}, {})
    assert _rows(found) == [[0], [1], [2]]
    assert [request.voucher for request in found] == ["itinerary", "itinerary", "invoice"]
    assert found[0].amount == 100_000


def test_an_itinerary_may_be_of_a_fare_without_a_code(requests: Any) -> None:
    (request,) = requests({"voucher": "itinerary"}, profile=Profile())
    assert request.charges[0].wire is None


@pytest.mark.parametrize(
    ("market", "amounts", "groups"),
    [
        ("domestic", ["4000", "6000"], [[0, 1]]),
        ("domestic", ["4000", "6000.01"], [[0], [1]]),
        ("domestic", ["10000", "0.01"], [[0], [1]]),
        ("international", ["40000", "60000"], [[0, 1]]),
        ("international", ["40000", "60000.01"], [[0], [1]]),
    ],
)
def test_an_invoice_is_filled_up_to_exactly_its_market_s_limit(
    requests: Any, market: str, amounts: list[str], groups: list[list[int]]
) -> None:
    assert _rows(requests(*({"market": market, "amount": amount} for amount in amounts))) == groups


def test_no_invoice_holds_more_charges_than_the_profile_allows(requests: Any, full_profile: Profile) -> None:
    profile = dataclasses.replace(full_profile, limits=Limits(max_charges_per_invoice=2))
    found = requests(*({"amount": "1"} for _ in range(5)), profile=profile)
    assert sorted(len(request.charges) for request in found) == [1, 2, 2]


def test_rows_that_are_not_ready_are_in_no_request(requests: Any) -> None:
    found = requests({"ticket_status": "open"}, {}, {"amount": "x"}, {"amount": "20000"})
    assert _rows(found) == [[1]]
    assert not requests({"amount": "x"})


def test_requests_come_in_the_order_of_their_first_rows(requests: Any) -> None:
    found = requests(
        {"header_name": "B"}, {"voucher": "itinerary"}, {"header_name": "A"}, {"header_name": "B"}
    )
    assert _rows(found) == [[0, 3], [1], [2]]


def test_a_charge_whose_invoice_of_several_was_rejected_goes_alone(requests: Any) -> None:
    apart = frozenset({Identity(_ticket(n), "ticket_fare", "flight") for n in (1, 2)})
    assert _rows(requests({}, {}, {}, {}, holdings=KnownCharges(apart=apart))) == [[0, 3], [1], [2]]


def test_only_that_charge_of_its_ticket_goes_alone(requests: Any) -> None:
    apart = frozenset({Identity(_ticket(0), "ancillary", "seat")})
    found = requests(SEAT, {**MEAL, "ticket_no": _ticket(0)}, SEAT, holdings=KnownCharges(apart=apart))
    assert _rows(found) == [[0], [1, 2]]


def test_going_alone_does_not_change_what_the_others_share(requests: Any) -> None:
    rows = [{"amount": "5000"}, {"amount": "5000"}, {"amount": "5000"}]
    apart = frozenset({Identity(_ticket(0), "ticket_fare", "flight")})
    (alone, together) = requests(*rows, holdings=KnownCharges(apart=apart))
    assert alone.amount == 500_000
    assert together.amount == 1_000_000


@pytest.mark.parametrize(
    ("amounts", "limit", "most", "bins"),
    [
        ([], 100, 0, []),
        ([100], 100, 0, [[0]]),
        ([60, 50, 40, 30, 20], 100, 0, [[0, 2], [1, 3, 4]]),
        ([70, 60, 30], 100, 0, [[0, 2], [1]]),  # best fit: beside 70, whose room it fills
        ([60, 60, 40, 40], 100, 0, [[0, 2], [1, 3]]),
        ([51, 51, 51], 100, 0, [[0], [1], [2]]),
        ([1, 1, 1, 1], 100, 1, [[0], [1], [2], [3]]),
        ([50, 30, 20], 100, 2, [[0, 1], [2]]),
    ],
)
def test_pack_puts_each_amount_into_the_fullest_bin_that_takes_it(
    amounts: list[int], limit: int, most: int, bins: list[list[int]]
) -> None:
    assert sorted(pack(amounts, limit, most)) == sorted(bins)


@pytest.mark.parametrize(
    ("amounts", "limit", "most", "bound"),
    [
        ([], 100, 0, 0),
        ([100], 100, 0, 1),
        ([50, 50], 100, 0, 1),
        ([50, 50, 1], 100, 0, 2),
        ([51, 51], 100, 0, 2),
        ([1, 1, 1], 100, 2, 2),
        ([1, 1, 1], 100, 3, 1),
    ],
)
def test_the_lower_bound_is_by_sum_by_count_and_by_what_excludes_each_other(
    amounts: list[int], limit: int, most: int, bound: int
) -> None:
    assert lower_bound(amounts, limit, most) == bound


def test_ids_and_names_by_column_are_those_of_each_request(requests: Any) -> None:
    found = requests(
        {"ticket_no": _ticket(7), "passenger_name": "ZHANG/SAN"}, {"ticket_no": _ticket(6), "passenger_name": '欧阳/"四'},
        {"ticket_no": _ticket(6), **SEAT}, {"header_name": "示例贸易", "remarks": "PO 1"}, {"market": "international"},
    )  # fmt: skip
    assert len(found) == 4
    assert found.ids == ids_of(list(found)) == [request.request_id for request in found]
    assert found.texts("header_name").tolist() == [request.header.header_name for request in found]
    assert found.amounts.tolist() == [request.amount for request in found]


def test_the_requests_of_each_kind_are_counted_without_being_made(requests: Any) -> None:
    abroad = {"market": "international"}
    found = requests(
        {"amount": "100.25"}, {"amount": "200", **abroad}, {"amount": "1"}, {"amount": "4.75", "voucher": "itinerary"},
        {"amount": "7", "header_name": "B"},
    )  # fmt: skip
    kinds = [
        ("invoice", "domestic", 2, 10825),
        ("invoice", "international", 1, 20000),
        ("itinerary", "domestic", 1, 475),
    ]
    assert by_kind(found) == kinds
    assert by_kind(list(found)) == kinds
    assert by_kind(requests({"amount": ""})) == []
