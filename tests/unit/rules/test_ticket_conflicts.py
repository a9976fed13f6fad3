"""Between the rows of a ticket: used here and refunded there, and one kind of voucher for its fare and refund."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.model.columns import COLUMNS
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble

Judged = Callable[..., Any]
REFUND = {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"}
SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01"}
PARTLY = {"ticket_status": "partly_used"}
FOUR = ("seat", "meal", "baggage", "lounge")


@pytest.mark.parametrize("refund_voucher", ["invoice", "auto"])
def test_a_fare_as_itinerary_and_its_refund_as_invoice_keep_both_back(
    judged: Judged, refund_voucher: str
) -> None:
    found = judged({**PARTLY, "voucher": "itinerary"}, SEAT, {**REFUND, **PARTLY, "voucher": refund_voucher})
    assert found.statuses == ["ineligible", "ready", "ineligible"]
    assert found.codes(0) == found.codes(2) == {"voucher_conflict"}
    assert "row 4" in found.message("voucher_conflict", 0)
    assert "row 2" in found.message("voucher_conflict", 2)


def test_fare_and_refund_as_invoices_agree(judged: Judged) -> None:
    assert judged(PARTLY, {**REFUND, **PARTLY}).statuses == ["ready", "ready"]


def test_conflicts_are_within_a_ticket(judged: Judged) -> None:
    found = judged({"voucher": "itinerary"}, {**REFUND, "ticket_no": "9990000000001"})
    assert found.statuses == ["ready", "ready"]


def test_rows_without_a_readable_ticket_are_in_no_conflict(judged: Judged) -> None:
    found = judged({"voucher": "itinerary", "ticket_no": "x"}, {**REFUND, "ticket_no": "y"})
    assert found.codes(0) == found.codes(1) == {"bad_ticket_no"}


@pytest.mark.parametrize("turned", [False, True])
def test_of_a_ticket_used_here_and_refunded_there_neither_fare_nor_refund_is_sent(
    judged: Judged, turned: bool
) -> None:
    rows = [{}, REFUND]
    found = judged(*(reversed(rows) if turned else rows))
    assert found.statuses == ["ineligible", "ineligible"]
    assert found.found(0) == found.found(1) == {("status_conflict", "ticket_status")}
    for row in (0, 1):
        message = found.message("status_conflict", row)
        assert f"used on one row (tickets.xlsx, Tickets, row {3 if turned else 2})" in message
        assert f"refunded on another (tickets.xlsx, Tickets, row {2 if turned else 3})" in message
    assert f"已使用（tickets.xlsx，Tickets 第 {3 if turned else 2} 行）" in found.message(
        "status_conflict", 0, "zh"
    )


def test_a_ticket_partly_used_has_its_fare_and_its_refund(judged: Judged) -> None:
    for fare, refund in itertools.product(({}, PARTLY), ({}, PARTLY)):
        found = judged(fare, {**REFUND, **refund})
        expected = "ready" if fare or refund else "ineligible"
        assert found.statuses == [expected, expected]
    assert judged(PARTLY).statuses == judged({**REFUND, **PARTLY}).statuses == ["ready"]


@pytest.mark.parametrize("others", [[{"ticket_status": "open"}], [PARTLY], [{"ticket_status": ""}], []])
def test_open_and_partly_used_contradict_nothing(judged: Judged, others: list[dict[str, str]]) -> None:
    seats = [{**SEAT, **other} for other in others]
    assert judged({}, *seats).statuses[0] == "ready"
    assert judged(REFUND, *seats).statuses[0] == "ready"
    assert judged({**REFUND, "ticket_status": "open"}, {}).statuses == ["waiting", "ready"]


def test_what_a_service_s_row_says_of_the_ticket_counts_too_and_the_service_is_free_of_it(
    judged: Judged,
) -> None:
    found = judged({}, {**SEAT, "ticket_status": "refunded"})
    assert found.statuses == ["ineligible", "ready"]
    found = judged(REFUND, {**SEAT, "ticket_status": "used"}, {"ticket_no": "9991234567891"})
    assert found.statuses == ["ineligible", "ready", "ready"]
    assert found.codes(0) == {"status_conflict"}


def test_a_row_that_is_wrong_in_something_else_says_what_its_ticket_is_all_the_same(judged: Judged) -> None:
    found = judged({}, {**REFUND, "passenger_name": ""})
    assert found.statuses == ["ineligible", "invalid"]
    assert found.codes(1) == {"status_conflict", "missing_value"}


def test_a_ticket_used_in_one_workbook_and_refunded_in_another_is_told_with_both(
    judged: Judged, good: dict[str, Any]
) -> None:
    names = [column.name for column in COLUMNS]
    used, refunded = (
        Sheet.of_rows(name, [names, [{**good, **cells}.get(name, "") for name in names]])
        for name, cells in (("Sold", {}), ("Back", REFUND))
    )
    for books in ([("a.xlsx", [used]), ("b.xlsx", [refunded])], [("a.xlsx", [used, refunded])]):
        found = judged(table=assemble([(Path(name), sheets) for name, sheets in books]))
        assert found.statuses == ["ineligible", "ineligible"]
        assert "a.xlsx, Sold, row 2" in found.message("status_conflict", 1)
        assert f"{books[-1][0]}, Back, row 2" in found.message("status_conflict", 0)


def test_many_rows_of_a_contradicted_ticket_are_named_up_to_three(judged: Judged) -> None:
    found = judged({}, *({**SEAT, "product": name, "ticket_status": "refunded"} for name in FOUR), PARTLY)
    message = found.message("status_conflict", 0)
    assert "row 5" in message
    assert "row 6" not in message
    assert "…" in message
    assert found.statuses[-1] == "ineligible"  # a third word does not say which of the two is true


def test_rows_without_a_readable_ticket_contradict_nobody(judged: Judged) -> None:
    found = judged({"ticket_no": "x"}, {**REFUND, "ticket_no": "y"})
    assert found.codes(0) == found.codes(1) == {"bad_ticket_no"}
