"""Wide bills: a row that names no charge becomes the charges whose columns it fills."""

from collections.abc import Callable
from typing import Any

import pytest

from pipeline.model.result_values import RowResult

#: A row of a bill: what it carries stands in columns of its own.
BILL: dict[str, Any] = {
    "charge": "",
    "product": "",
    "amount": "",
    "purchased_on": "2026-09-01",
    "voucher": "",
}
FARE = {"fare": "800", "airport_fee": "50", "fuel_surcharge": "30", "other_taxes": "5.5", "change_fee": "100"}


@pytest.fixture
def row(judged: Callable[..., Any]) -> Callable[..., RowResult]:
    return lambda **cells: judged(BILL | cells).result().rows[0]


def charges(row: RowResult) -> list[tuple[str, str, int | None]]:
    return [(charge.charge, charge.product, charge.amount) for charge in row.charges]


def test_a_used_ticket_has_its_fare_with_change_fee_and_taxes_and_no_refund(row: Any) -> None:
    assert charges(row(**FARE, refund_fee="200")) == [("ticket_fare", "flight", 985_50)]


def test_a_refunded_ticket_has_its_refund_fee_and_change_fee_and_no_fare(row: Any) -> None:
    refunded = row(**FARE, refund_fee="200", ticket_status="refunded", refund_approved_on="2026-10-02")
    assert charges(refunded) == [("refund", "flight", 300_00)]


def test_a_partly_used_ticket_has_its_fare_with_the_change_fee_and_its_refund_fee(row: Any) -> None:
    partly = {"ticket_status": "partly_used", "refund_approved_on": "2026-10-02"}
    found = row(**FARE, **partly, refund_fee="200", amount="1185.5", seat_fee="")
    assert charges(found) == [("ticket_fare", "flight", 985_50), ("refund", "flight", 200_00)]
    assert [charge.status for charge in found.charges] == ["ready", "ready"]
    assert charges(row(**FARE, **partly)) == [("ticket_fare", "flight", 985_50)]
    assert charges(row(**partly, change_fee="100", refund_fee="200")) == [("refund", "flight", 300_00)]
    assert row(**FARE, **partly, refund_fee="200", amount="985.5").status == "invalid"  # what does not add up


def test_each_ancillary_fee_is_a_charge_of_its_product(row: Any) -> None:
    fees = {"baggage_fee": "1", "seat_fee": "2", "upgrade_fee": "3", "meal_fee": "4", "lounge_fee": "5.01"}
    assert charges(row(fare="10", **fees)) == [
        ("ticket_fare", "flight", 10_00), ("ancillary", "baggage", 1_00), ("ancillary", "seat", 2_00),
        ("ancillary", "upgrade", 3_00), ("ancillary", "meal", 4_00), ("ancillary", "lounge", 5_01),
    ]  # fmt: skip


def test_a_fee_alone_is_an_ancillary_charge_alone(row: Any) -> None:
    assert charges(row(seat_fee="20", fare="0", airport_fee="")) == [("ancillary", "seat", 20_00)]


def test_a_refund_s_fee_alone_is_a_refund_whatever_the_ticket_s_state(row: Any) -> None:
    for status in ("open", "used", ""):
        assert charges(row(refund_fee="50", ticket_status=status)) == [("refund", "flight", 50_00)]


def test_a_change_fee_alone_is_part_of_a_fare(row: Any) -> None:
    assert charges(row(change_fee="50")) == [("ticket_fare", "flight", 50_00)]


@pytest.mark.parametrize("fee", ["", "0"])
def test_a_refunded_ticket_without_fees_has_nothing_to_be_issued(row: Any, fee: str) -> None:
    refunded = {"ticket_status": "refunded", "refund_approved_on": "2026-10-02"}
    found = row(**FARE | {"change_fee": "0"}, **refunded, refund_fee=fee)
    assert charges(found) == [("ticket_fare", "flight", 885_50)]
    assert found.status == "ineligible"
    assert [(reason.code, reason.column) for reason in found.reasons] == [
        ("ticket_not_used", "ticket_status")
    ]


def test_a_refund_whose_fee_can_not_be_read_stays_a_refund(row: Any) -> None:
    refunded = {"ticket_status": "refunded", "refund_approved_on": "2026-10-02"}
    found = row(fare="800", **refunded, refund_fee="some")
    assert charges(found) == [("refund", "flight", None)]
    assert [(reason.code, reason.column) for reason in found.reasons] == [("bad_amount", "refund_fee")]


def test_a_bill_s_refund_line_is_the_refund_charge_of_its_fee(judged: Any) -> None:
    """A sale and its refund line, which takes the fare back and charges a fee."""
    sale = BILL | {"ticket_status": "refunded", "fare": "1000", "airport_fee": "50", "fuel_surcharge": "20"}
    back = sale | {"fare": "-1000", "airport_fee": "(50)", "fuel_surcharge": "-20", "refund_fee": "200"}
    rows = judged(sale, back | {"refund_approved_on": "2026-10-20"}).result().rows
    assert charges(rows[1]) == [("refund", "flight", 200_00)]
    assert [row.status for row in rows] == ["ineligible", "ready"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_cure_of_what_was_paid_back_without_a_fee_leads_to_the_fee(judged: Any, lang: str) -> None:
    back = BILL | {"ticket_status": "refunded", "fare": "-1000", "airport_fee": "(50)"}
    (row,) = judged(back).result(lang).rows
    wrong = [reason for reason in row.reasons if reason.code == "bad_amount"]
    assert [reason.column for reason in wrong] == ["fare", "airport_fee"]
    cure = {"en": ("clear the cell", "Keep the row"), "zh": ("清空该单元格", "保留该行")}[lang]
    assert all(said in reason.cure for reason in wrong for said in cure)


def test_a_refund_s_fee_beside_a_used_ticket_s_fare_is_refused_unless_a_total_says_what_is_meant(
    row: Any,
) -> None:
    found = row(fare="800", airport_fee="50", refund_fee="100", seat_fee="20")
    assert [charge.status for charge in found.charges] == ["invalid", "ready"]
    assert [(reason.code, reason.column) for reason in found.reasons] == [("bad_choice", "ticket_status")]
    assert "100.00 stands in refund_fee" in found.reasons[0].message
    assert row(fare="800", airport_fee="50", refund_fee="100", amount="850").status == "ready"
    assert [reason.code for reason in row(fare="800", refund_fee="100", amount="900").reasons] == [
        "amount_mismatch"
    ]


def test_the_cure_for_a_fee_asked_for_as_an_itinerary_leads_to_its_voucher(
    judged: Any, holding: Any, ledger: Any
) -> None:
    bill = BILL | {"fare": "1000", "baggage_fee": "120"}
    first = judged(bill | {"voucher": "itinerary"}).result().rows[0]
    assert [charge.status for charge in first.charges] == ["ready", "ineligible"]
    (reason,) = first.reasons
    assert reason.code == "not_an_itinerary_charge"
    assert "auto" in reason.cure
    issued = ledger(holding(voucher="itinerary"))  # as the first run left it
    for voucher in ("auto", ""):
        again = judged(bill | {"voucher": voucher}, holdings=issued).result().rows[0]
        assert [(charge.status, charge.voucher) for charge in again.charges] == [
            ("already_issued", "itinerary"), ("ready", "invoice"),
        ]  # fmt: skip


def test_a_row_that_names_its_charge_is_that_charge_alone(row: Any) -> None:
    assert charges(row(charge="ticket_fare", amount="10", baggage_fee="7")) == [
        ("ticket_fare", "flight", 10_00)
    ]
    seat = row(charge="ancillary", product="seat", seat_fee="20", baggage_fee="7")
    assert charges(seat) == [("ancillary", "seat", 20_00)]


@pytest.mark.parametrize(("product", "fee"), [("baggage", "fare"), ("seat", "fare"), ("baggage", "seat_fee")])
def test_a_product_of_an_ancillary_service_is_no_fare_whatever_column_its_amount_stands_in(
    row: Any, product: str, fee: str
) -> None:
    one = row(product=product, **{fee: "200"})
    assert (one.status, [(reason.code, reason.column) for reason in one.reasons][:1]) == (
        "invalid",
        [("missing_value", "charge")],
    )


def test_a_charge_that_can_not_be_read_is_no_missing_one(row: Any) -> None:
    found = row(charge="xyz", fare="10")
    assert [charge.charge for charge in found.charges] == ["xyz"]
    assert next(reason.code for reason in found.reasons) == "bad_choice"


def test_nothing_in_its_columns_is_no_bill(row: Any) -> None:
    found = row(amount="100")
    assert [(reason.code, reason.column) for reason in found.reasons] == [("missing_value", "charge")]


def test_the_total_of_a_row_is_that_of_all_its_charges(row: Any) -> None:
    assert row(fare="100", baggage_fee="20", amount="120").status == "ready"
    short = row(fare="100", baggage_fee="20", amount="100")
    assert (short.status, [reason.code for reason in short.reasons]) == ("invalid", ["amount_mismatch"])
    assert "120.00" in short.reasons[0].message


def test_what_is_wrong_with_one_charge_holds_no_other_back_and_names_it(row: Any) -> None:
    found = row(fare="100", baggage_fee="20", purchased_on="")
    assert [(charge.charge, charge.status) for charge in found.charges] == [
        ("ticket_fare", "ready"), ("ancillary", "invalid"),
    ]  # fmt: skip
    assert found.status == "invalid"
    assert [reason.message.split(":")[0] for reason in found.reasons] == ["baggage"]


def test_what_can_not_be_read_in_a_row_is_wrong_with_all_of_it(row: Any) -> None:
    found = row(fare="100", baggage_fee="20", seat_fee="a few")
    assert [charge.status for charge in found.charges] == ["invalid", "invalid"]
    assert [(reason.code, reason.column) for reason in found.reasons] == [("bad_amount", "seat_fee")]


def test_bills_and_rows_of_one_charge_stand_in_one_table(judged: Any) -> None:
    other = {**BILL, "ticket_no": "9990000000002", "fare": "10", "meal_fee": "3"}
    result = judged({}, other, {"ticket_no": "9990000000003"}).result()
    assert [len(row.charges) for row in result.rows] == [1, 2, 1]
    assert [row.ticket_no for row in result.rows] == ["9991234567890", "9990000000002", "9990000000003"]
    assert result.totals == {"ready": 3}


def test_a_finding_in_a_later_row_keeps_to_its_row(judged: Any) -> None:
    bill = {**BILL, "fare": "10", "meal_fee": "3"}
    result = judged(
        bill, {"ticket_no": "12"}, bill | {"ticket_no": "9990000000002", "flight_date": "x"}
    ).result()
    assert [row.status for row in result.rows] == ["ready", "invalid", "invalid"]
    assert ["12" in result.rows[1].reasons[0].message, "x" in result.rows[2].reasons[0].message] == [
        True,
        True,
    ]


def test_the_same_charge_from_a_bill_and_from_a_row_of_its_own_is_one(judged: Any) -> None:
    bill = {**BILL, "fare": "10", "meal_fee": "3"}
    own = {
        "charge": "ancillary",
        "product": "meal",
        "amount": "3",
        "purchased_on": "2026-09-01",
        "voucher": "",
    }
    result = judged(bill, own).result()
    assert [charge.status for charge in result.rows[0].charges] == ["ready", "ready"]
    assert result.rows[1].status == "repeated"
