"""Between rows: each charge once."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.model.columns import COLUMNS
from pipeline.model.profile import Profile
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble
from pipeline.reporting.tallies import Tallies, Tally

Judged = Callable[..., Any]
REFUND = {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"}
SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01"}
MEAL = {**SEAT, "product": "meal"}
PARTLY = {"ticket_status": "partly_used"}


@pytest.mark.parametrize("row", [{}, {"voucher": "itinerary"}, REFUND, SEAT])
def test_of_identical_rows_the_first_is_sent_and_the_others_repeat_it(
    judged: Judged, row: dict[str, str]
) -> None:
    found = judged(row, {"ticket_no": "9990000000001"}, row, row)
    assert found.statuses == ["ready", "ready", "repeated", "repeated"]
    assert found.found(2) == found.found(3) == {("repeated_charge", "ticket_no")}
    assert found.codes(0) == found.codes(1) == set()
    for at in (2, 3):
        assert "stands in tickets.xlsx, Tickets, row 2" in found.message("repeated_charge", at)
        assert "tickets.xlsx，Tickets 第 2 行" in found.message("repeated_charge", at, lang="zh")
    assert found.result().repeats == {2: 0, 3: 0}


@pytest.mark.parametrize(
    ("cells", "code", "status"),
    [
        ({"ticket_status": "open"}, "ticket_still_open", "waiting"),
        ({"used_on": "2024-01-01"}, "fare_window_closed", "ineligible"),
    ],
)
def test_a_row_that_repeats_one_that_may_not_go_names_it_and_counts_in_no_total(
    judged: Judged, cells: dict[str, str], code: str, status: str
) -> None:
    found = judged(cells, cells)
    assert found.statuses == [status, "repeated"]
    assert found.codes(0) == {code}
    result = found.result()
    assert [reason.code for reason in result.rows[1].reasons] == ["repeated_charge", code]
    assert Tallies(result).by_status() == {status: Tally(1, 100_000)}


def test_differing_rows_of_a_charge_that_was_issued_count_once_as_what_was_issued(
    judged: Judged, holding: Any, ledger: Any
) -> None:
    for state, status in (("issued", "already_issued"), ("unknown", "unknown")):
        found = judged({}, {"amount": "700"}, {"amount": "800"}, {}, holdings=ledger(holding(state=state)))
        assert found.statuses == [status, status, status, "repeated"]
        result = found.result()
        assert Tallies(result).by_status() == {status: Tally(1, 100_000)}
        assert result.columns.charges.tallies()[status] == (3, 100_000)
        assert result.totals == {status: 3, "repeated": 1}


def test_what_can_not_be_understood_repeats_nothing(judged: Judged) -> None:
    found = judged({"passenger_name": ""}, {"passenger_name": ""})
    assert found.statuses == ["invalid", "invalid"]
    assert found.codes(1) == {"missing_value"}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("cells", "column"),
    [
        ({"used_on": "whenever"}, "used_on"),
        ({"amount": "1000", "fare": "999"}, "amount"),
        ({"amount": "1000", "fare": "some"}, "fare"),
        ({"buyer": "Nobody", "header_name": "", "tax_no": ""}, "buyer"),
    ],
)
def test_beside_a_row_that_can_not_be_understood_the_one_that_can_is_not_sent_either(
    judged: Judged, cells: dict[str, str], column: str, turned: bool
) -> None:
    rows = [cells, {}]
    found = judged(*(reversed(rows) if turned else rows))
    assert found.statuses == (["ineligible", "invalid"] if turned else ["invalid", "ineligible"])
    assert "repeated_charge" not in found.codes(0) | found.codes(1)
    assert column in found.message("duplicate_charge", 0)


def test_where_the_ledger_holds_the_charge_it_speaks_for_the_first_row_of_it(
    judged: Judged, holding: Any, ledger: Any
) -> None:
    assert judged({}, {}, holdings=ledger(holding())).statuses == ["already_issued", "repeated"]
    doubt = holding(state="unknown", reason="no_answer")
    found = judged({}, {}, holdings=ledger(doubt))
    assert found.statuses == ["unknown", "repeated"]
    assert found.codes(0) == {"no_answer"}
    assert found.codes(1) == {"repeated_charge"}
    assert found.result().repeats == {1: 0}


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


def test_a_charge_of_a_bill_repeats_one_of_another_and_the_bill_s_others_go(judged: Judged) -> None:
    bill = {
        "charge": "",
        "product": "",
        "amount": "",
        "voucher": "",
        "fare": "900",
        "purchased_on": "2026-09-01",
    }
    result = judged({**bill, "seat_fee": "30"}, {**bill, "meal_fee": "40"}, bill).result()
    assert [[charge.status for charge in row.charges] for row in result.rows] == [
        ["ready", "ready"], ["repeated", "ready"], ["repeated"],
    ]  # fmt: skip
    assert [row.status for row in result.rows] == ["ready", "ready", "repeated"]
    assert result.totals == {"ready": 2, "repeated": 1}
    assert result.repeats == {1: 0, 2: 0}


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
    assert found.statuses == ["ready", "repeated"]
    assert found.codes(1) == {"repeated_charge"}


def test_a_buyer_by_name_and_the_same_buyer_in_the_row_are_identical(judged: Judged) -> None:
    header = ["header_type", "header_name", "tax_no", "phone", "email"]
    buyers = [
        ["buyer", *header],
        ["ACME", "business", "Example Trading Co.", "91110000600037341L", "+86 10 8520 0000", "finance@example.com"],
        ["Other", "individual", "Li Lei", "", "", ""],
    ]  # fmt: skip
    found = judged({}, {**dict.fromkeys(header, ""), "buyer": "ACME"}, buyers=buyers)
    assert found.statuses == ["ready", "repeated"]


def test_what_auto_becomes_counts_and_not_the_word(judged: Judged) -> None:
    assert judged({"voucher": "auto"}, {"voucher": "itinerary"}).statuses == ["ready", "repeated"]
    assert judged({"voucher": "auto"}, {"voucher": "invoice"}).statuses == ["ineligible", "ineligible"]


def test_the_same_charge_in_two_workbooks_is_sent_once(judged: Judged, good: dict[str, Any]) -> None:
    names = [column.name for column in COLUMNS]
    sheet = Sheet.of_rows("Tickets", [names, [good.get(name, "") for name in names]])
    found = judged(table=assemble([(Path("a.xlsx"), [sheet]), (Path("b.xlsx"), [sheet])]))
    assert found.statuses == ["ready", "repeated"]
    assert "a.xlsx, Tickets, row 2" in found.message("repeated_charge", 1)


def test_other_charges_and_other_tickets_are_no_duplicates(judged: Judged) -> None:
    found = judged(PARTLY, {**REFUND, **PARTLY}, SEAT, MEAL, {"ticket_no": "9991234567891"})
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
    found = judged(*({} for _ in range(5)), {"remarks": "PO 77"})
    message = found.message("duplicate_charge", 5)
    assert all(f"row {row}" in message for row in (2, 3, 4))
    assert "row 5" not in message
    assert "…" in message


def test_names_that_differ_in_white_space_alone_are_one_name(judged: Judged) -> None:
    for space in ("  ", "\u3000", "\u00a0"):
        found = judged({"passenger_name": "A/B MR"}, {"passenger_name": f"A/B{space}MR"})
        assert found.statuses == ["ready", "repeated"]
