"""Between rows: each charge once, one kind of voucher for a ticket's fare and refund."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.columns import COLUMNS
from pipeline.profile import Profile
from pipeline.reading.sheet import Sheet
from pipeline.reading.tables import assemble

Judged = Callable[..., Any]
REFUND = {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"}
SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01"}
MEAL = {**SEAT, "product": "meal"}


@pytest.mark.parametrize("row", [{}, {"voucher": "itinerary"}, REFUND, SEAT])
def test_of_identical_rows_the_first_is_sent_and_the_others_are_duplicates(
    judged: Judged, row: dict[str, str]
) -> None:
    found = judged(row, {"ticket_no": "9990000000001"}, row, row)
    assert found.statuses == ["ready", "ready", "ineligible", "ineligible"]
    assert found.codes(2) == found.codes(3) == {"duplicate_charge"}
    assert found.codes(0) == set()
    assert "tickets.xlsx, Tickets, row 2" in found.message("duplicate_charge", 2)
    assert "row 4" not in found.message("duplicate_charge", 2)
    assert "row 5" in found.message("duplicate_charge", 2)
    assert found.message("duplicate_charge", 2).endswith(
        "; the rows are the same, and only the first of them counts."
    )


def test_what_differing_rows_differ_in_is_named(judged: Judged) -> None:
    found = judged({}, {"amount": "1000.01", "remarks": "PO 77"})
    for row in (0, 1):
        assert found.message("duplicate_charge", row).endswith(
            "; they differ in amount, remarks, so that none of them is sent."
        )
    assert found.message("duplicate_charge", 0, lang="zh").endswith("；各行的金额、备注不同，因此均不发送。")


@pytest.mark.parametrize(
    ("row", "change"),
    [
        ({}, {"amount": "1000.01"}),
        ({}, {"voucher": "itinerary"}),
        ({}, {"market": "international"}),
        ({}, {"passenger_name": "ZHANG/WEI"}),
        ({}, {"ticket_status": "open"}),
        ({}, {"flight_date": "2026-10-02", "used_on": "2026-10-01"}),
        ({}, {"used_on": "2026-10-02"}),
        ({}, {"remarks": "PO 77"}),
        ({}, {"header_type": "individual"}),
        ({}, {"header_name": "Another Trading Co."}),
        ({}, {"tax_no": "110108600037341"}),
        ({}, {"phone": "13800138000"}),
        ({}, {"email": "accounts@example.com"}),
        (REFUND, {"refund_approved_on": "2026-11-02"}),
        (SEAT, {"purchased_on": "2026-11-02"}),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_of_rows_that_differ_in_anything_that_counts_none_is_sent(
    judged: Judged, row: dict[str, str], change: dict[str, str], turned: bool
) -> None:
    rows = [row, {**row, **change}]
    found = judged(*(reversed(rows) if turned else rows))
    assert found.statuses == ["ineligible", "ineligible"]
    assert "duplicate_charge" in found.codes(0)
    assert "duplicate_charge" in found.codes(1)


def test_one_differing_row_among_identical_ones_keeps_all_of_them_back(judged: Judged) -> None:
    assert judged({}, {}, {"amount": "1"}).statuses == ["ineligible"] * 3


@pytest.mark.parametrize(
    "same",
    [
        {"ticket_no": "999-1234567890"},
        {"ticket_no": 9991234567890.0},
        {"amount": "1,000"},
        {"amount": "", "fare": "950", "airport_fee": "50"},
        {"used_on": "2026-10-01"},
        {"product": ""},
        {"charge": "机票款", "market": "国内", "ticket_status": "已使用", "voucher": "发票"},
        {"tax_no": "9111 0000 6000 3734 1l"},
        {"cost_centre": "C-12"},
    ],
)
def test_rows_that_are_only_written_differently_are_identical(judged: Judged, same: dict[str, Any]) -> None:
    found = judged({}, same)
    assert found.statuses == ["ready", "ineligible"]
    assert found.codes(1) == {"duplicate_charge"}


def test_a_buyer_by_name_and_the_same_buyer_in_the_row_are_identical(judged: Judged) -> None:
    header = ["header_type", "header_name", "tax_no", "phone", "email"]
    buyers = [
        ["buyer", *header],
        ["ACME", "business", "Example Trading Co.", "91110000600037341L", "+86 10 8520 0000", "finance@example.com"],
        ["Other", "individual", "Li Lei", "", "", ""],
    ]  # fmt: skip
    found = judged({}, {**dict.fromkeys(header, ""), "buyer": "ACME"}, buyers=buyers)
    assert found.statuses == ["ready", "ineligible"]


def test_what_auto_becomes_counts_and_not_the_word(judged: Judged) -> None:
    assert judged({"voucher": "auto"}, {"voucher": "itinerary"}).statuses == ["ready", "ineligible"]
    assert judged({"voucher": "auto"}, {"voucher": "invoice"}).statuses == ["ineligible", "ineligible"]


def test_the_same_charge_in_two_workbooks_is_a_duplicate(judged: Judged, good: dict[str, Any]) -> None:
    names = [column.name for column in COLUMNS]
    sheet = Sheet.of_rows("Tickets", [names, [good.get(name, "") for name in names]])
    found = judged(table=assemble([(Path("a.xlsx"), [sheet]), (Path("b.xlsx"), [sheet])]))
    assert found.statuses == ["ready", "ineligible"]
    assert "a.xlsx, Tickets, row 2" in found.message("duplicate_charge", 1)


def test_other_charges_and_other_tickets_are_no_duplicates(judged: Judged) -> None:
    found = judged({}, REFUND, SEAT, MEAL, {"ticket_no": "9991234567891"})
    assert found.statuses == ["ready"] * 5


@pytest.mark.parametrize(
    "cells", [{"ticket_no": ""}, {"ticket_no": "?"}, {"charge": ""}, {**SEAT, "product": ""}]
)
def test_rows_whose_charge_is_not_known_are_no_duplicates(judged: Judged, cells: dict[str, str]) -> None:
    found = judged(cells, cells)
    assert "duplicate_charge" not in found.codes(0) | found.codes(1)


def _one_service_code(profile: Profile) -> Profile:
    products = {**profile.codes.product_type, "seat": "Service", "meal": "Service"}
    return dataclasses.replace(profile, codes=dataclasses.replace(profile.codes, product_type=products))


def test_charges_with_equal_wire_codes_are_one_charge(judged: Judged, full_profile: Profile) -> None:
    # The carrier could not tell them apart, so that it would be asked for one thing twice.
    found = judged(SEAT, MEAL, {**SEAT, "product": "lounge"}, profile=_one_service_code(full_profile))
    assert found.statuses == ["ineligible", "ineligible", "ready"]
    assert found.codes(0) == found.codes(1) == {"duplicate_charge"}
    assert "the carrier's code is ANCILLARY_FEE/Service for each" in found.message("duplicate_charge", 0)
    assert "均为 ANCILLARY_FEE/Service" in found.message("duplicate_charge", 1, lang="zh")


def test_equal_wire_codes_of_two_tickets_are_two_charges(judged: Judged, full_profile: Profile) -> None:
    rows = [SEAT, {**MEAL, "ticket_no": "9990000000001"}]
    assert judged(*rows, profile=_one_service_code(full_profile)).statuses == ["ready", "ready"]


def test_charges_without_codes_are_told_apart_by_name(judged: Judged) -> None:
    found = judged(SEAT, MEAL, profile=Profile())
    assert "duplicate_charge" not in found.codes(0) | found.codes(1)


def test_many_others_are_named_up_to_three(judged: Judged) -> None:
    found = judged(*({} for _ in range(6)))
    message = found.message("duplicate_charge", 5)
    assert all(f"row {row}" in message for row in (2, 3, 4))
    assert "row 5" not in message
    assert "…" in message


# --- voucher conflicts ---------------------------------------------------------------------------


@pytest.mark.parametrize("refund_voucher", ["invoice", "auto"])
def test_a_fare_as_itinerary_and_its_refund_as_invoice_keep_both_back(
    judged: Judged, refund_voucher: str
) -> None:
    found = judged({"voucher": "itinerary"}, SEAT, {**REFUND, "voucher": refund_voucher})
    assert found.statuses == ["ineligible", "ready", "ineligible"]
    assert found.codes(0) == found.codes(2) == {"voucher_conflict"}
    assert "row 4" in found.message("voucher_conflict", 0)
    assert "row 2" in found.message("voucher_conflict", 2)


def test_fare_and_refund_as_invoices_agree(judged: Judged) -> None:
    assert judged({}, REFUND).statuses == ["ready", "ready"]


def test_conflicts_are_within_a_ticket(judged: Judged) -> None:
    found = judged({"voucher": "itinerary"}, {**REFUND, "ticket_no": "9990000000001"})
    assert found.statuses == ["ready", "ready"]


def test_rows_without_a_readable_ticket_are_in_no_conflict(judged: Judged) -> None:
    found = judged({"voucher": "itinerary", "ticket_no": "x"}, {**REFUND, "ticket_no": "y"})
    assert found.codes(0) == found.codes(1) == {"bad_ticket_no"}
