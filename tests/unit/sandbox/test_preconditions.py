"""Every rule of the carrier on both sides of its boundary, over the wire."""

from datetime import date, timedelta
from typing import Any

import pytest

from pipeline.sandbox.preconditions import year_after


def _day(before: int, kit: Any) -> date:
    day: date = kit.today - timedelta(days=before)
    return day


def test_a_used_ticket_gets_an_invoice(carrier: Any, kit: Any) -> None:
    (answer,) = carrier.answers(kit.invoice(kit.fare()))
    assert answer.accepted
    assert answer.result.keys() == {"success", "errInfo", "invoiceId"}
    assert answer.result["errInfo"]
    assert len(answer.result["invoiceId"]) == 18
    assert answer.result["invoiceId"].isdigit()


def test_a_used_ticket_gets_an_itinerary(carrier: Any, kit: Any) -> None:
    (answer,) = carrier.answers(kit.itinerary())
    assert answer.accepted
    itinerary = answer.result["itineraryResult"]
    assert answer.result.keys() == {"itineraryResult"}
    assert itinerary.keys() == {"ticketNo", "itineraryNum", "success"}
    assert itinerary["ticketNo"] == "9991234567890"
    assert len(itinerary["itineraryNum"]) == 20
    assert itinerary["itineraryNum"].isdigit()


def test_ticket_numbers_may_be_hyphenated_and_are_echoed_as_asked(carrier: Any, kit: Any) -> None:
    carrier.rows = [kit.fare("9991234567890"), kit.fare("9991234567891")]
    by_itinerary, by_invoice = carrier.answers(
        kit.itinerary("999-1234567890"), kit.invoice(kit.asked(carrier.rows[1], ticketNo="999-1234567891"))
    )
    assert by_itinerary.result["itineraryResult"]["ticketNo"] == "999-1234567890"
    assert by_itinerary.accepted
    assert by_invoice.accepted


@pytest.mark.slow
def test_a_refused_itinerary_has_no_number(carrier: Any, kit: Any) -> None:
    (answer,) = carrier.answers(kit.itinerary("9990000000000"))
    assert answer.result == {
        "itineraryResult": {"ticketNo": "9990000000000", "itineraryNum": "", "success": False}
    }


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"ticketNo": "9990000000000"}, "ticket is not known"),
        ({"ticketNo": "99912345678901"}, "ticket is not known"),
        ({"psgName": "WANG/FAN MS"}, "passenger's name"),
        ({"psgName": "wang/fang ms"}, "passenger's name"),
        ({"psgName": ""}, "passenger's name"),
        ({"feeType": "OTHER"}, "feeType"),
        ({"feeType": ""}, "feeType"),
        ({"productType": "Other"}, "productType"),
        ({"feeType": "REFUND_FEE"}, "no such charge"),
        ({"productType": "Baggage"}, "no such charge"),
    ],
)
def test_what_is_not_in_the_books_is_refused(carrier: Any, kit: Any, changed: Any, said: str) -> None:
    assert said in carrier.refusal(kit.invoice(kit.asked(kit.fare(), **changed)))


def test_a_charge_without_a_code_is_not_issued(carrier: Any, kit: Any) -> None:
    carrier.changed = {"fee_type": {"ticket_fare": "", "refund": "REFUND_FEE"}}
    assert "feeType" in carrier.refusal(kit.invoice(kit.asked(kit.fare(), feeType="")))


def test_charges_of_equal_codes_are_one_charge(carrier: Any, kit: Any) -> None:
    seat = kit.ancillary(product="seat")
    carrier.rows = [kit.ancillary(), seat]
    carrier.changed = {"product_type": {"flight": "Flight", "baggage": "Extra", "seat": "Extra"}}
    extra = kit.invoice(kit.asked(seat, productType="Extra"))
    assert carrier.accepts(extra, extra) == [True, False]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"ticket_status": "open"}, "neither used nor refunded"),
        ({"ticket_status": None}, "neither used nor refunded"),
        ({"ticket_status": "refunded"}, "has not been used"),
        ({"flight_date": None}, "has not been used"),
    ],
)
def test_a_fare_wants_a_used_ticket(carrier: Any, kit: Any, row: Any, said: str) -> None:
    carrier.rows = [kit.fare(**row)]
    assert said in carrier.refusal(kit.invoice(kit.fare()))
    assert carrier.accepts(kit.itinerary()) == [False]


def test_a_ticket_used_in_part_has_its_fare_as_either_voucher_its_refund_and_its_services(
    carrier: Any, kit: Any
) -> None:
    partly = {"ticket_status": "partly_used"}
    carrier.rows = [
        kit.fare(**partly),
        kit.refund(**partly),
        kit.ancillary(**partly),
        kit.fare("9990000000002", **partly),
        kit.refund("9990000000003", **partly, refund_approved_on=None),
    ]
    assert carrier.accepts(*(kit.invoice(row) for row in carrier.rows[:3])) == [True, True, True]
    assert carrier.accepts(kit.itinerary("9990000000002"), kit.invoice(carrier.rows[4])) == [True, False]


def test_a_fare_is_invoiced_until_the_same_day_a_year_after_use(carrier: Any, kit: Any) -> None:
    carrier.rows = [
        kit.fare("9990000000001", used_on=date(2025, 11, 20)),
        kit.fare("9990000000002", used_on=date(2025, 11, 19)),
        kit.fare("9990000000003", flight_date=date(2025, 11, 20)),
        kit.fare("9990000000004", flight_date=date(2025, 11, 19)),
        kit.fare("9990000000005", flight_date=date(2025, 11, 19), used_on=date(2025, 11, 20)),
        kit.fare("9990000000006", used_on=kit.today),
        kit.fare("9990000000007", used_on=_day(-1, kit)),
    ]
    assert carrier.accepts(*(kit.invoice(row) for row in carrier.rows)) == [
        True, False, True, False, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(("today", "accepted"), [(date(2025, 2, 28), True), (date(2025, 3, 1), False)])
def test_a_year_after_29_february_is_28_february(carrier: Any, kit: Any, today: date, accepted: bool) -> None:
    carrier.changed = {"as_of": lambda: today}
    carrier.rows = [
        kit.fare(flight_date=date(2024, 2, 29)),
        kit.ancillary(flight_date=date(2024, 2, 29), purchased_on=date(2024, 2, 29)),
    ]
    assert carrier.accepts(*(kit.invoice(row) for row in carrier.rows)) == [accepted, accepted]


def test_a_year_after_28_february_is_28_february_even_in_a_leap_year() -> None:
    assert year_after(date(2023, 2, 28)) == date(2024, 2, 28)


def test_today_is_asked_anew_for_each_request(carrier: Any, kit: Any) -> None:
    days = iter([date(2026, 10, 31), date(2026, 11, 1)])
    carrier.changed = {"as_of": lambda: next(days)}
    assert carrier.accepts(kit.invoice(kit.fare()), kit.invoice(kit.fare())) == [False, True]


def test_a_refund_wants_a_refunded_ticket_and_its_approval(carrier: Any, kit: Any) -> None:
    carrier.rows = [
        kit.refund("9990000000001", refund_approved_on=kit.today),
        kit.refund("9990000000002", refund_approved_on=_day(-1, kit)),
        kit.refund("9990000000003", refund_approved_on=None),
        kit.refund("9990000000004", ticket_status="used"),
        kit.refund("9990000000005", ticket_status="open"),
        kit.refund("9990000000006", refund_approved_on=date(2020, 1, 1)),
    ]
    assert carrier.accepts(*(kit.invoice(row) for row in carrier.rows)) == [
        True, False, False, False, False, True,
    ]  # fmt: skip


def test_an_ancillary_is_invoiced_until_the_same_day_a_year_after_purchase(carrier: Any, kit: Any) -> None:
    carrier.rows = [
        kit.ancillary("9990000000001", purchased_on=date(2025, 11, 20)),
        kit.ancillary("9990000000002", purchased_on=date(2025, 11, 19)),
        kit.ancillary("9990000000003", purchased_on=None),
        kit.ancillary("9990000000004", purchased_on=kit.today),
        kit.ancillary("9990000000005", purchased_on=_day(-1, kit)),
    ]
    assert carrier.accepts(*(kit.invoice(row) for row in carrier.rows)) == [
        True, False, False, True, False,
    ]  # fmt: skip


def test_an_ancillary_wants_a_used_or_refunded_ticket(carrier: Any, kit: Any) -> None:
    carrier.rows = [
        kit.ancillary("9990000000001", ticket_status="used"),
        kit.ancillary("9990000000002", ticket_status="refunded"),
        kit.ancillary("9990000000003", ticket_status="open"),
        kit.ancillary("9990000000004", ticket_status=None),
    ]
    assert carrier.accepts(*(kit.invoice(row) for row in carrier.rows)) == [True, True, False, False]


@pytest.mark.parametrize("product", ["baggage", "seat", "upgrade", "meal", "lounge"])
def test_every_ancillary_product_is_known(carrier: Any, kit: Any, product: str) -> None:
    carrier.rows = [kit.ancillary(product=product)]
    assert carrier.accepts(kit.invoice(carrier.rows[0])) == [True]


def test_fares_go_with_fares_only(carrier: Any, kit: Any) -> None:
    fares = [kit.fare("9990000000001"), kit.fare("9990000000002")]
    others = [kit.refund("9990000000003"), kit.ancillary("9990000000004")]
    carrier.rows = [*fares, *others]
    assert "together" in carrier.refusal(kit.invoice(fares[0], others[0]))
    assert "together" in carrier.refusal(kit.invoice(others[1], fares[0]))
    assert carrier.accepts(kit.invoice(*fares), kit.invoice(*others)) == [True, True]


def test_an_invoice_is_of_one_market(carrier: Any, kit: Any) -> None:
    carrier.rows = [kit.fare("9990000000001"), kit.fare("9990000000002", market="international")]
    assert "share" in carrier.refusal(kit.invoice(*carrier.rows))
    assert carrier.accepts(*map(kit.invoice, carrier.rows)) == [True, True]


def test_an_invoice_of_no_known_market_is_refused(carrier: Any, kit: Any) -> None:
    carrier.rows = [kit.fare(market=None)]
    assert "domestic or international" in carrier.refusal(kit.invoice(*carrier.rows))


@pytest.mark.slow
@pytest.mark.parametrize(("market", "limit"), [("domestic", 1_000_000), ("international", 10_000_000)])
def test_a_total_of_exactly_the_limit_is_allowed(carrier: Any, kit: Any, market: str, limit: int) -> None:
    carrier.rows = [
        kit.fare("9990000000001", market=market, amount=limit - 1),
        kit.fare("9990000000002", market=market, amount=1),
        kit.fare("9990000000003", market=market, amount=limit),
        kit.fare("9990000000004", market=market, amount=limit + 1),
    ]
    one, two, three, four = carrier.rows
    assert "over the limit" in carrier.refusal(kit.invoice(one, two, three))
    assert "over the limit" in carrier.refusal(kit.invoice(three, two))
    assert "over the limit" in carrier.refusal(kit.invoice(four))
    assert carrier.accepts(kit.invoice(one, two), kit.invoice(three)) == [True, True]


def test_a_charge_is_issued_once(carrier: Any, kit: Any) -> None:
    carrier.rows = [kit.fare("9990000000001"), kit.fare("9990000000002"), kit.ancillary("9990000000003")]
    one, two, three = carrier.rows
    assert carrier.accepts(
        kit.invoice(one),
        kit.invoice(one),
        kit.invoice(two, one),  # nothing of it is issued
        kit.invoice(two),
        kit.invoice(three),
        kit.invoice(three),
    ) == [True, False, False, True, True, False]


def test_the_same_charge_twice_in_one_request_is_refused(carrier: Any, kit: Any) -> None:
    hyphenated = kit.asked(kit.fare(), ticketNo="999-1234567890")
    assert "twice" in carrier.refusal(kit.invoice(kit.fare(), kit.fare()))
    assert "twice" in carrier.refusal(kit.invoice(kit.fare(), hyphenated))


@pytest.mark.slow
def test_a_ticket_has_one_kind_of_voucher(carrier: Any, kit: Any) -> None:
    fare, refund, bag = kit.fare(), kit.refund(), kit.ancillary()
    carrier.rows = [fare, refund, bag]
    assert carrier.accepts(kit.invoice(fare), kit.itinerary()) == [True, False]
    assert carrier.accepts(kit.itinerary(), kit.invoice(fare)) == [True, False]
    assert carrier.accepts(kit.itinerary(), kit.itinerary()) == [True, False]
    assert carrier.accepts(kit.itinerary(), kit.invoice(refund)) == [True, False]
    assert carrier.accepts(kit.invoice(refund), kit.itinerary()) == [True, False]
    assert carrier.accepts(kit.invoice(refund), kit.invoice(fare)) == [True, True]
    assert carrier.accepts(kit.itinerary(), kit.invoice(bag)) == [True, True]
    assert carrier.accepts(kit.invoice(bag), kit.itinerary()) == [True, True]


def test_the_reasons_for_one_kind_of_voucher_are_told(carrier: Any, kit: Any) -> None:
    _, twice = carrier.answers(kit.itinerary(), kit.invoice(kit.fare()))
    assert "already" in twice.result["errInfo"]
    carrier.rows = [kit.fare(), kit.refund()]
    _, other = carrier.answers(kit.itinerary(), kit.invoice(kit.refund()))
    assert "itinerary" in other.result["errInfo"]


def test_an_itinerary_wants_a_fare(carrier: Any, kit: Any) -> None:
    carrier.rows = [kit.ancillary()]
    assert carrier.accepts(kit.itinerary()) == [False]


def test_an_itinerary_wants_a_flight_within_180_days(carrier: Any, kit: Any) -> None:
    carrier.rows = [
        kit.fare("9990000000001", flight_date=_day(180, kit)),
        kit.fare("9990000000002", flight_date=_day(181, kit)),
        kit.fare("9990000000003", flight_date=_day(0, kit)),
        kit.fare("9990000000004", flight_date=_day(-1, kit)),
        kit.fare("9990000000005", flight_date=_day(181, kit), used_on=_day(180, kit)),
    ]
    assert carrier.accepts(*(kit.itinerary(row["ticket_no"]) for row in carrier.rows)) == [
        True, False, True, False, False,
    ]  # fmt: skip


def test_an_itinerary_has_no_amount_limit(carrier: Any, kit: Any) -> None:
    carrier.rows = [kit.fare(amount=1_000_001)]
    assert carrier.accepts(kit.invoice(kit.fare()), kit.itinerary()) == [False, True]


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"invoiceHeaderType": "OTHER"}, "kind of buyer"),
        ({"invoiceHeaderType": ""}, "kind of buyer"),
        ({"headerName": " "}, "name"),
        ({"taxNo": ""}, "tax number"),
    ],
)
def test_an_invoice_wants_its_buyer(carrier: Any, kit: Any, header: Any, said: str) -> None:
    assert said in carrier.refusal(kit.invoice(kit.fare(), **header))


def test_an_individual_needs_no_tax_number(carrier: Any, kit: Any) -> None:
    carrier.rows = [kit.fare("9990000000001"), kit.fare("9990000000002")]
    assert carrier.accepts(
        kit.invoice(carrier.rows[0], invoiceHeaderType="INDIVIDUAL", taxNo=""),
        kit.itinerary("9990000000002", itineraryHeaderType="INDIVIDUAL", taxNo=""),
    ) == [True, True]


@pytest.mark.parametrize(
    "header",
    [
        {"itineraryHeaderType": "OTHER"},
        {"name": ""},
        {"taxNo": ""},
        {"email": ""},
        {"email": "books"},
        {"email": "books@"},
        {"email": "books @example.com"},
    ],
)
def test_an_itinerary_wants_its_buyer(carrier: Any, kit: Any, header: Any) -> None:
    assert carrier.accepts(kit.itinerary(**header), kit.itinerary()) == [False, True]
