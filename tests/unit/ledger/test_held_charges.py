"""What the ledger knows of charges."""

from typing import Any

import pytest

from pipeline.ledger import attempts, held_charges, issued_requests
from pipeline.model.known_charges import Doubts
from pipeline.model.outcome import Outcome
from pipeline.model.request import (
    Charge,
    Header,
    Identity,
    Request,
)

HEADER = Header("business", "Example Trading Co.", "91110000600037341L", "", "finance@example.com")


def asked(book: Any, number: int = 1) -> Any:
    return held_charges.holdings(book.connection, [f"999{number:010}"])


def settled_as_not_issued(book: Any, attempt_id: int) -> None:
    """Sent, in doubt, and then said by somebody not to be issued."""
    book.state(attempt_id, "sending")
    book.state(attempt_id, "unknown")
    book.connection.execute(
        "INSERT INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES (?, 'not_sent', '', 'somebody', 'statement', 'now')",
        (attempt_id,),
    )
    book.state(attempt_id, "not_sent")


def test_what_is_issued_is_held_with_its_number_and_place(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    attempts.record_outcome(
        book.connection, attempt.attempt_id, Outcome("issued", number="123", trace_id="t")
    )
    (holding,) = asked(book).held.values()
    assert (holding.state, holding.number, holding.amount, holding.header_name) == (
        "issued", "123", 100_00, "Example Trading Co.",
    )  # fmt: skip
    assert str(holding.place) == "tickets.xlsx, Tickets, row 3 (run 1)"
    assert asked(book, 2).held == {}


def test_the_request_of_an_attempt_has_all_its_charges(book: Any, several: Any, fare: Any) -> None:
    plans = book.plan(several(1, 2), fare(3))
    for attempt, number in zip(plans, ("124", "123"), strict=True):
        book.state(attempt.attempt_id, "sending")
        attempts.record_outcome(
            book.connection, attempt.attempt_id, Outcome("issued", number=number, trace_id="t")
        )
    wanted = [(attempt.request.request_id, 1) for attempt in plans]
    found = issued_requests.issued_requests(book.connection, wanted)
    assert [(one.number, one.run, one.attempt, one.status, one.trace_id) for one in found] == [
        ("124", 1, 1, "already_issued", "t"), ("123", 1, 1, "already_issued", "t"),
    ]  # fmt: skip
    assert [one.request_id for one in found] == [request for request, _ in wanted]
    assert [one.request.header for one in found] == [plan.request.header for plan in plans]
    assert [len(one.request.charges) for one in found] == [2, 1]
    assert issued_requests.issued_requests(book.connection, wanted[1:])[0].number == "123"
    assert issued_requests.issued_requests(book.connection, [(wanted[0][0], 2)]) == []


def test_an_attempt_in_flight_is_in_doubt_for_whoever_looks(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    assert asked(book).held == {}
    book.state(attempt.attempt_id, "sending")
    (holding,) = asked(book).held.values()
    assert (holding.state, holding.reason) == ("unknown", "run_killed")


def test_charges_of_a_rejected_invoice_of_several_go_apart(book: Any, several: Any, fare: Any) -> None:
    together, alone = book.plan(several(1, 2), fare(3))
    for attempt in (together, alone):
        book.state(attempt.attempt_id, "sending")
        book.state(attempt.attempt_id, "rejected")
    found = held_charges.holdings(book.connection, [f"999{number:010}" for number in (1, 2, 3)])
    assert found.apart == {Identity(f"999{number:010}", "ticket_fare", "flight") for number in (1, 2)}
    assert found.held == {}


def test_a_doubt_is_remembered_after_it_is_settled(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    settled_as_not_issued(book, attempt.attempt_id)
    assert asked(book).held == {}
    assert asked(book).doubts == Doubts(
        frozenset({Identity("9990000000001", "ticket_fare", "flight")}),
        frozenset({("9990000000001", "FARE/Flight")}),
    )
    assert [asked(book).doubts.about(request) for request in (fare(1), fare(2))] == [True, False]


def test_a_doubt_is_about_every_charge_that_the_carrier_was_told_the_same_of(
    book: Any, fare: Any, ancillary: Any
) -> None:
    """One product under two names: to the carrier the second request is the first one again."""
    bag = ancillary("baggage", "Bag")
    (attempt,) = book.plan(bag)
    settled_as_not_issued(book, attempt.attempt_id)
    doubts = asked(book).doubts
    assert [doubts.about(request) for request in (bag, ancillary("extra bag", "Bag"), ancillary("baggage", "B"))] == [
        True, True, True,
    ]  # fmt: skip
    assert [doubts.about(request) for request in (fare(1), fare(2), ancillary("seat", "Seat"))] == [False] * 3

    (again,) = book.plan(ancillary("extra bag", "Bag"))
    book.state(again.attempt_id, "sending")
    (left,) = attempts.interrupted(book.connection)
    assert left.doubted


@pytest.mark.parametrize("codes", [("Bag", "Bag"), ("Bag", "Sack"), ("Sack", "Bag")])
@pytest.mark.parametrize("doubted", [{0}, {1}, {0, 1}])
def test_a_doubt_is_about_what_was_sent_then_whatever_came_of_another_attempt(
    book: Any, ancillary: Any, codes: tuple[str, str], doubted: set[int]
) -> None:
    for number, code in enumerate(codes):
        (attempt,) = book.plan(ancillary("baggage", code))
        if number in doubted:
            settled_as_not_issued(book, attempt.attempt_id)
        else:
            book.state(attempt.attempt_id, "sending")
            book.state(attempt.attempt_id, "rejected")
    assert asked(book).doubts.wires == {("9990000000001", f"EXTRA/{codes[number]}") for number in doubted}


def test_charges_without_a_code_are_told_apart_by_their_names(book: Any) -> None:
    without = [
        Request("itinerary", "domestic", HEADER, (Charge(Identity("9990000000001", "ticket_fare", product), "P", 1, 1, None),))
        for product in ("flight", "coach")
    ]  # fmt: skip
    (attempt,) = book.plan(without[0])
    settled_as_not_issued(book, attempt.attempt_id)
    assert [asked(book).doubts.about(request) for request in without] == [True, False]
