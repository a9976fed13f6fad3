"""What the carrier makes of workbook rows."""

from datetime import date
from typing import Any

import numpy as np
import pytest

from pipeline.model.table import Finding
from pipeline.sandbox.sold_tickets import Charge, ChargeKey, Registry

TICKET = "9991234567890"


def _charges(table: Any) -> list[Charge]:
    return list(Registry.from_table(table).charges(TICKET))


def test_a_row_becomes_a_charge(kit: Any) -> None:
    row = kit.refund(market="international", used_on=None)
    assert _charges(kit.table(row)) == [
        Charge(
            key=ChargeKey(TICKET, "refund", "flight"),
            amount=61725,
            market="international",
            ticket_status="refunded",
            flight_date=None,
            used_on=None,
            refund_approved_on=date(2026, 11, 1),
            purchased_on=None,
        )
    ]


def test_a_ticket_has_its_passenger_s_name_in_one_line_of_what_can_be_seen(kit: Any) -> None:
    registry = Registry.from_table(kit.table(kit.fare(passenger_name="ZHANG/ \r\n SAN\tMR\u200b")))
    assert registry.passenger_name(TICKET) == "ZHANG/SAN MR"


def test_a_bill_of_a_ticket_used_in_part_has_a_fare_and_a_refund_and_its_change_fee_once(kit: Any) -> None:
    bill = kit.fare(
        charge=None, product=None, amount=None, ticket_status="partly_used", fare=90000, change_fee=5000, refund_fee=700
    )  # fmt: skip
    found = {charge.key.charge: charge.amount for charge in _charges(kit.table(bill))}
    assert found == {"ticket_fare": 95000, "refund": 700}


def test_a_fare_has_the_components_that_the_books_have(kit: Any) -> None:
    given = {"fare": 90000, "change_fee": 1, "airport_fee": 5000, "fuel_surcharge": 0, "other_taxes": 2}
    (fare,) = _charges(kit.table(kit.fare(amount=None, **given)))
    assert (fare.amount, fare.components) == (95003, (90000, 1, 5000, 0, 2))
    (plain,) = _charges(kit.table(kit.fare()))
    (refund,) = _charges(kit.table(kit.refund(change_fee=5)))
    assert plain.components == refund.components == ()


def test_the_use_is_the_flight_unless_it_is_given(kit: Any) -> None:
    (default,) = _charges(kit.table(kit.fare()))
    (given,) = _charges(kit.table(kit.fare(used_on=date(2026, 11, 2))))
    assert default.used_on == date(2026, 11, 1)
    assert (given.flight_date, given.used_on) == (date(2026, 11, 1), date(2026, 11, 2))


def test_blank_choices_and_dates_are_not_known(kit: Any) -> None:
    (charge,) = _charges(kit.table(kit.fare(market=None, ticket_status=None, flight_date=None)))
    assert (charge.market, charge.ticket_status, charge.flight_date) == ("", "", None)


def test_the_amount_is_the_one_given_else_the_sum_of_the_charges_components(kit: Any) -> None:
    parts = {
        "fare": 1,
        "change_fee": 20,
        "airport_fee": 300,
        "fuel_surcharge": 4000,
        "other_taxes": 50000,
        "refund_fee": 600000,
    }
    charges = _charges(
        kit.table(
            kit.fare(amount=None, **parts),
            kit.refund(amount=None, **parts),
            kit.ancillary(amount=None, **parts),
            kit.ancillary(amount=7, product="seat", **parts),
        )
    )
    assert [(charge.key.product, charge.amount) for charge in charges] == [
        ("flight", 54321),
        ("flight", 600020),
        ("seat", 7),
    ]


def test_the_first_row_of_a_charge_wins_and_all_charges_are_kept(kit: Any) -> None:
    charges = _charges(
        kit.table(
            kit.fare(amount=1),
            kit.ancillary(amount=2),
            kit.fare(amount=3, market="international"),
            kit.ancillary(amount=4, product="seat"),
            kit.refund(amount=5),
            kit.fare("9990000000001", amount=6),
        )
    )
    assert [charge.amount for charge in charges] == [1, 2, 4, 5]


def test_a_blank_product_is_the_flight(kit: Any) -> None:
    table = kit.table(kit.fare(product=None), kit.refund(product=None), kit.ancillary(product=None))
    assert [charge.key.charge for charge in _charges(table)] == ["ticket_fare", "refund"]


@pytest.mark.parametrize(
    "changed",
    [
        {"ticket_no": ""},
        {"ticket_no": "999123456789"},
        {"charge": None},
        {"product": "baggage"},
        {"charge": "ancillary", "product": "flight"},
        {"amount": 0},
        {"amount": -1},
    ],
)
def test_a_row_that_tells_of_no_charge_is_passed_over(kit: Any, changed: Any) -> None:
    assert len(Registry.from_table(kit.table(kit.fare(**changed)))) == 0


@pytest.mark.parametrize(("column", "known"), [("product", 1), ("charge", 1), ("amount", 2)])
def test_an_unreadable_product_is_not_a_blank_one(kit: Any, column: str, known: int) -> None:
    unreadable = Finding("bad_choice", column, np.array([0]))
    table = kit.table(kit.fare("9990000000001", product=None), kit.fare(), findings=[unreadable])
    registry = Registry.from_table(table)
    assert len(registry) == known
    assert TICKET in registry


@pytest.mark.slow
def test_the_first_name_of_a_ticket_is_its_passenger(kit: Any) -> None:
    registry = Registry.from_table(
        kit.table(
            kit.fare(passenger_name=""),
            kit.ancillary(passenger_name=" WANG/FANG MS "),
            kit.refund(passenger_name="LI/NA"),
        )
    )
    assert registry.passenger_name(TICKET) == "WANG/FANG MS"


def test_an_empty_table_makes_an_empty_registry(kit: Any) -> None:
    registry = Registry.from_table(kit.table())
    assert len(registry) == 0
    assert TICKET not in registry
