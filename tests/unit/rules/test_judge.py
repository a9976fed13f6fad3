"""The whole judgement: one status a row, and every reason."""

import dataclasses
import datetime
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.model.profile import Codes, Profile

Judged = Callable[..., Any]

NO_NAME = {"passenger_name": ""}  # invalid
TOO_MUCH = {"amount": "10000.01"}  # ineligible
OPEN = {"ticket_status": "open"}  # waiting
REFUND = {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"}
SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01"}


@pytest.mark.parametrize(
    ("cells", "status"),
    [
        ({}, "ready"),
        (OPEN, "waiting"),
        (TOO_MUCH, "ineligible"),
        (NO_NAME, "invalid"),
        ({**TOO_MUCH, **OPEN}, "ineligible"),
        ({**NO_NAME, **OPEN}, "invalid"),
        ({**NO_NAME, **TOO_MUCH}, "invalid"),
        ({**NO_NAME, **TOO_MUCH, **OPEN}, "invalid"),
    ],
)
def test_invalid_beats_ineligible_beats_waiting(judged: Judged, cells: dict[str, str], status: str) -> None:
    assert judged(cells).statuses == [status]


def test_a_row_carries_every_reason_those_of_its_status_first(judged: Judged) -> None:
    # Found in the other order: amounts before buyers, buyers before tickets.
    found = judged({**TOO_MUCH, **OPEN, "tax_no": "1234", "phone": "12"})
    (row,) = found.result().rows
    assert row.status == "invalid"
    assert [reason.code for reason in row.reasons] == [
        "bad_tax_no",
        "bad_phone",
        "amount_over_limit",
        "ticket_still_open",
    ]


def test_an_ineligible_row_tells_why_before_it_tells_what_it_waits_for(judged: Judged) -> None:
    found = judged(OPEN, {**OPEN, "remarks": "PO 77"})
    assert found.statuses == ["ineligible", "ineligible"]
    assert [r.code for r in found.result().rows[1].reasons] == ["duplicate_charge", "ticket_still_open"]


def test_one_row_s_finding_is_no_other_row_s(judged: Judged) -> None:
    tickets = [{"ticket_no": f"99900000000{n:02}"} for n in range(4)]
    found = judged(tickets[0], {**tickets[1], **NO_NAME}, {**tickets[2], **OPEN}, {**tickets[3], **TOO_MUCH})
    assert found.statuses == ["ready", "invalid", "waiting", "ineligible"]
    assert [found.codes(row) for row in range(4)] == [
        set(),
        {"missing_value"},
        {"ticket_still_open"},
        {"amount_over_limit"},
    ]


def test_a_refund_without_a_day_of_approval_waits_and_is_not_invalid(judged: Judged) -> None:
    found = judged({**REFUND, "refund_approved_on": ""})
    assert found.statuses == ["waiting"]
    assert found.found() == {("refund_not_approved", "refund_approved_on")}


def test_a_day_of_approval_that_can_t_be_read_is_invalid_and_nothing_else(judged: Judged) -> None:
    found = judged({**REFUND, "refund_approved_on": "soon"})
    assert found.statuses == ["invalid"]
    assert found.found() == {("bad_date", "refund_approved_on")}


def test_a_refund_approved_on_the_day_of_the_run_goes_and_the_day_before_it_does_not(
    judged: Judged, as_of: datetime.date
) -> None:
    approved = {**REFUND, "refund_approved_on": str(as_of)}
    assert judged(approved).statuses == ["ready"]
    assert judged(approved, as_of=as_of - datetime.timedelta(days=1)).statuses == ["waiting"]


@pytest.mark.parametrize(
    ("cells", "status"),
    [
        ({"ticket_status": "used"}, "ready"),
        ({"ticket_status": "open"}, "waiting"),
        ({"ticket_status": "refunded"}, "ineligible"),
        ({**REFUND, "ticket_status": "used"}, "ineligible"),
        ({**REFUND, "ticket_status": "open"}, "waiting"),
        (REFUND, "ready"),
        ({**SEAT, "ticket_status": "used"}, "ready"),
        ({**SEAT, "ticket_status": "open"}, "waiting"),
        ({**SEAT, "ticket_status": "refunded"}, "ready"),
        ({"ticket_status": "partly_used"}, "ready"),
        ({"ticket_status": "部分使用", "voucher": "itinerary"}, "ready"),
        ({"ticket_status": "partly_used", "used_on": "2025-11-19"}, "ineligible"),
        ({"ticket_status": "partly_used", "flight_date": ""}, "invalid"),
        ({**REFUND, "ticket_status": "partly_used"}, "ready"),
        ({**REFUND, "ticket_status": "partly_used", "refund_approved_on": "2026-11-21"}, "waiting"),
        ({**SEAT, "ticket_status": "partly_used"}, "ready"),
    ],
)
def test_each_charge_goes_by_its_ticket_s_status(judged: Judged, cells: dict[str, str], status: str) -> None:
    assert judged(cells).statuses == [status]


@pytest.mark.parametrize(
    "column", ["ticket_no", "passenger_name", "charge", "market", "ticket_status", "amount"]
)
def test_what_every_row_needs_is_asked_for_by_name(judged: Judged, column: str) -> None:
    found = judged({column: ""})
    assert found.statuses == ["invalid"]
    assert ("missing_value", column) in found.found()


@pytest.mark.parametrize(
    ("column", "code"),
    [
        ("ticket_no", "bad_ticket_no"),
        ("amount", "bad_amount"),
        ("fare", "bad_amount"),
        ("flight_date", "bad_date"),
        ("used_on", "bad_date"),
        ("charge", "bad_choice"),
        ("product", "bad_choice"),
        ("market", "bad_choice"),
        ("ticket_status", "bad_choice"),
        ("voucher", "bad_choice"),
        ("header_type", "bad_choice"),
    ],
)
def test_a_cell_that_can_t_be_read_is_one_finding_and_not_also_a_missing_value(
    judged: Judged, column: str, code: str
) -> None:
    found = judged({column: "?!"})
    assert found.statuses == ["invalid"]
    assert found.found() == {(code, column)}


def test_an_unreadable_cell_of_a_column_that_the_charge_does_not_need_is_still_invalid(
    judged: Judged,
) -> None:
    assert judged({"purchased_on": "yesterday"}).statuses == ["invalid"]


# --- days ----------------------------------------------------------------------------------------

YEARS = [
    ("2024-02-29", "2025-02-28"),
    ("2024-02-28", "2025-02-28"),
    ("2023-02-28", "2024-02-28"),
    ("2023-03-01", "2024-03-01"),
    ("2024-03-01", "2025-03-01"),
    ("2025-12-31", "2026-12-31"),
    ("2025-01-01", "2026-01-01"),
]


@pytest.mark.parametrize(("used", "last"), YEARS)
def test_a_fare_s_invoice_may_be_asked_for_until_the_same_day_a_year_later(
    judged: Judged, used: str, last: str
) -> None:
    day = datetime.date.fromisoformat(last)
    row = {"flight_date": used, "used_on": used}
    assert judged(row, as_of=day).statuses == ["ready"]
    late = judged(row, as_of=day + datetime.timedelta(days=1))
    assert late.statuses == ["ineligible"]
    assert late.found() == {("fare_window_closed", "used_on")}
    assert last in late.message("fare_window_closed")


@pytest.mark.parametrize(("bought", "last"), YEARS)
def test_an_ancillary_charge_may_be_asked_for_until_the_same_day_a_year_after_purchase(
    judged: Judged, bought: str, last: str
) -> None:
    day = datetime.date.fromisoformat(last)
    row = {**SEAT, "purchased_on": bought, "flight_date": bought}
    assert judged(row, as_of=day).statuses == ["ready"]
    late = judged(row, as_of=day + datetime.timedelta(days=1))
    assert late.found() == {("ancillary_window_closed", "purchased_on")}
    assert last in late.message("ancillary_window_closed")


@pytest.mark.parametrize(
    ("flown", "last"),
    [
        ("2024-01-01", "2024-06-29"),  # over 29 February
        ("2023-01-01", "2023-06-30"),
        ("2025-09-01", "2026-02-28"),
        ("2023-09-02", "2024-02-29"),
    ],
)
def test_an_itinerary_may_be_asked_for_until_the_180th_day_after_the_flight(
    judged: Judged, flown: str, last: str
) -> None:
    day = datetime.date.fromisoformat(last)
    assert (day - datetime.date.fromisoformat(flown)).days == 180
    row = {"voucher": "itinerary", "flight_date": flown}
    assert judged(row, as_of=day).statuses == ["ready"]
    late = judged(row, as_of=day + datetime.timedelta(days=1))
    assert late.found() == {("flight_too_old_for_itinerary", "flight_date")}
    assert last in late.message("flight_too_old_for_itinerary")


def test_a_fare_s_year_counts_from_the_day_of_use_and_only_else_from_the_flight(judged: Judged) -> None:
    old = {"flight_date": "2025-11-01"}
    assert judged({**old, "used_on": "2025-11-20"}).statuses == ["ready"]
    assert judged(old).statuses == ["ineligible"]


def test_a_refund_and_a_seat_have_no_use_window(judged: Judged) -> None:
    old = {"flight_date": "2020-01-01", "used_on": "2020-01-01"}
    assert judged({**REFUND, **old}).statuses == ["ready"]
    assert judged({**SEAT, **old}).statuses == ["ready"]


@pytest.mark.parametrize("row", [{}, SEAT, {"ticket_status": "partly_used"}])
@pytest.mark.parametrize("column", ["flight_date", "used_on"])
def test_a_day_of_use_that_has_not_come_is_invalid(judged: Judged, row: dict[str, str], column: str) -> None:
    assert judged({**row, column: "2026-11-20"}).statuses == ["ready"]
    late = judged({**row, column: "2026-11-21"})
    assert late.statuses == ["invalid"]
    assert late.found() == {("date_in_future", column)}


@pytest.mark.parametrize(
    "row",
    [
        REFUND,
        {**REFUND, "ticket_status": "partly_used"},
        {**SEAT, "ticket_status": "refunded"},
    ],
)
@pytest.mark.parametrize("column", ["flight_date", "used_on"])
def test_a_refunded_ticket_s_flight_may_lie_ahead(judged: Judged, row: dict[str, str], column: str) -> None:
    assert judged({**row, column: "2026-12-24"}).statuses == ["ready"]


def test_an_open_ticket_s_flight_and_a_fare_s_purchase_may_lie_ahead(judged: Judged) -> None:
    assert judged({**OPEN, "flight_date": "2027-03-01"}).statuses == ["waiting"]
    assert judged({"purchased_on": "2026-12-01"}).statuses == ["ready"]


# --- codes and prefixes --------------------------------------------------------------------------


@pytest.mark.parametrize("product", ["baggage", "seat", "upgrade", "meal", "lounge"])
def test_the_default_profile_has_no_code_for_any_ancillary_service(judged: Judged, product: str) -> None:
    found = judged({**SEAT, "product": product}, profile=Profile())
    assert found.statuses == ["ineligible"]
    assert found.found() == {("code_not_configured", "charge"), ("code_not_configured", "product")}
    keys = {r.message for r in found.result().rows[0].reasons}
    assert any("[codes.fee_type] ancillary" in text for text in keys)
    assert any(f"[codes.product_type] {product}" in text for text in keys)


def test_the_default_profile_sends_a_business_s_refund(judged: Judged) -> None:
    assert judged(REFUND, profile=Profile()).statuses == ["ready"]


@pytest.mark.parametrize("voucher", ["invoice", "itinerary"])
def test_no_voucher_goes_to_a_kind_of_buyer_without_a_code(
    judged: Judged, full_profile: Profile, voucher: str
) -> None:
    codes = dataclasses.replace(full_profile.codes, header_type=Codes().header_type)
    found = judged(
        {"voucher": voucher, "header_type": "individual"},
        profile=dataclasses.replace(full_profile, codes=codes),
    )
    assert found.statuses == ["ineligible"]
    assert found.found() == {("code_not_configured", "header_type")}
    assert "[codes.header_type] individual" in found.message("code_not_configured")


def test_an_itinerary_needs_no_codes_of_charges(judged: Judged) -> None:
    assert judged({"voucher": "itinerary"}, profile=Profile()).statuses == ["ready"]


# --- what fits together --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "status"),
    [
        ({"product": ""}, "ready"),
        ({"product": "flight"}, "ready"),
        ({"product": "seat"}, "invalid"),
        ({**REFUND, "product": ""}, "ready"),
        ({**REFUND, "product": "lounge"}, "invalid"),
        ({**SEAT, "product": ""}, "invalid"),
        ({**SEAT, "product": "flight"}, "invalid"),
        ({**SEAT, "purchased_on": ""}, "invalid"),
        ({**SEAT, "voucher": "itinerary"}, "ineligible"),
        ({**REFUND, "voucher": "itinerary"}, "ineligible"),
    ],
)
def test_charge_product_and_voucher_must_fit(judged: Judged, cells: dict[str, str], status: str) -> None:
    assert judged(cells).statuses == [status]


def test_a_blank_product_of_a_fare_is_the_flight_and_an_unreadable_one_is_not(judged: Judged) -> None:
    assert judged({"product": ""}).verdicts.rows.product.tolist() == ["flight"]
    assert judged({"product": "?"}).verdicts.rows.product.tolist() == [""]
