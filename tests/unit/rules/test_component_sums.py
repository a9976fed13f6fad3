"""Amounts: totals, components."""

from collections.abc import Callable
from typing import Any

import pytest

Judged = Callable[..., Any]
REFUND = {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"}
SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01"}


@pytest.mark.parametrize(
    ("cells", "minor"),
    [
        ({"amount": "12.30"}, 1230),
        ({"amount": "", "fare": "900", "airport_fee": "50", "fuel_surcharge": "49.99"}, 99_999),
        ({"amount": "", "fare": "1", "change_fee": "2", "airport_fee": "4", "fuel_surcharge": "8", "other_taxes": "16"}, 3100),
        ({"amount": "", "fare": "900", "refund_fee": "50"}, 90_000),
        ({**REFUND, "amount": "", "refund_fee": "100", "change_fee": "20.5"}, 12_050),
        ({**REFUND, "amount": "", "refund_fee": "100", "fare": "900"}, 10_000),
        ({"amount": "950", "fare": "900", "airport_fee": "50"}, 95_000),
    ],
)  # fmt: skip
def test_an_amount_is_given_or_the_sum_of_the_charge_s_own_components(
    judged: Judged, cells: dict[str, str], minor: int
) -> None:
    found = judged(cells)
    assert found.statuses == ["ready"]
    assert found.verdicts.rows.amount.tolist() == [minor]


@pytest.mark.parametrize("fare", ["949.99", "950.01"])
def test_an_amount_and_components_that_do_not_add_up_are_invalid_with_both_sums(
    judged: Judged, fare: str
) -> None:
    found = judged({"amount": "1000", "fare": fare, "airport_fee": "50"})
    assert found.statuses == ["invalid"]
    assert found.found() == {("amount_mismatch", "amount")}
    message = found.message("amount_mismatch")
    assert "1,000.00" in message
    assert f"{float(fare) + 50:,.2f}" in message


@pytest.mark.parametrize(
    "part", ["fare", "change_fee", "airport_fee", "fuel_surcharge", "other_taxes", "refund_fee"]
)
def test_an_unreadable_component_is_told_alone_without_a_mismatch_that_follows_from_it(
    judged: Judged, part: str
) -> None:
    found = judged({"amount": "1000", "fare": "990", part: "ten"})
    assert found.found() == {("bad_amount", part)}


def test_components_of_nothing_are_no_amount(judged: Judged) -> None:
    assert judged({"amount": "", "fare": "0", "airport_fee": "0"}).found() == {("missing_value", "amount")}


def test_an_ancillary_charge_has_no_components(judged: Judged) -> None:
    assert judged({**SEAT, "amount": "", "fare": "100"}).found() == {("missing_value", "amount")}


OFF = {"amount": "1070", "fare": "1000", "airport_fee": "50", "服务费": "20", "编号": ""}


def test_a_total_that_is_off_by_a_column_that_is_not_read_says_which_and_how_to_map_it(
    judged: Judged,
) -> None:
    found = judged(OFF)
    assert found.found() == {("amount_mismatch", "amount")}
    assert found.message("amount_mismatch") == (
        "amount is 1,070.00, but its components add up to 1,050.00: what it has beyond them, 20.00, stands in “服务费”,"
        " which is not read."
    )
    (reason,) = found.result().rows[0].reasons
    assert '"amount" = "" under [headings]' in reason.cure
    assert '"服务费" = "other_taxes"' in reason.cure
    assert "服务费" not in reason.brief
    assert "“服务费”" in found.message("amount_mismatch", lang="zh")


def test_of_several_columns_it_is_the_one_that_explains_most_rows(judged: Judged) -> None:
    by_chance = {**OFF, "编号": "20"}
    found = judged(by_chance, OFF, OFF, {**OFF, "服务费": "", "编号": "20"})
    told = [found.message("amount_mismatch", row) for row in range(4)]
    assert ["“服务费”" in text for text in told] == [True, True, True, False]
    assert "“编号”" in told[3]
    assert "not read" not in judged(by_chance).message("amount_mismatch")


def test_a_total_that_no_column_explains_is_told_as_it_was(judged: Judged) -> None:
    found = judged(OFF, {**OFF, "amount": "1071"})
    assert found.message("amount_mismatch", 1) == "amount is 1,071.00, but its components add up to 1,050.00."


def test_a_refund_line_s_total_is_told_as_it_stands(judged: Judged) -> None:
    line = {**REFUND, "charge": "", "fare": "-1000", "airport_fee": "-50", "refund_fee": "200"}
    assert judged({**line, "amount": "-850"}).statuses == ["ready"]
    assert judged({**line, "amount": "-850"}).verdicts.rows.amount.tolist() == [20_000]
    found = judged({**line, "amount": "-830", "服务费": "20"})
    assert found.message("amount_mismatch").startswith(
        "amount is -830.00, but its components add up to -850.00: what it has beyond them, 20.00,"
    )
