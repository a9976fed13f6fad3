"""The carrier's no to a charge is known, with what was asked, as long as it was the last thing asked for it."""

from dataclasses import replace
from typing import Any

import pytest

from pipeline.ledger import (
    attempts,
    held_charges,
    issued_elsewhere,
    planning,
    reversals,
    settlements,
)
from pipeline.ledger.settlements import Settlement
from pipeline.model.evidence import StatementLine
from pipeline.model.known_charges import Refusal
from pipeline.model.message import verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.request import Identity

from .conftest import charge, invoice

FARE = Identity("9990000000001", "ticket_fare", "flight")
NO = Outcome("rejected", "carrier_rejected", detail=verbatim("too late"))


def tried(book: Any, request: Any, outcome: Outcome = NO) -> int:
    (attempt,) = book.plan(request)
    book.state(attempt.attempt_id, "sending")
    attempts.record_outcome(book.connection, attempt.attempt_id, outcome)
    found: int = attempt.attempt_id
    return found


def refusals(book: Any) -> dict[Identity, Refusal]:
    return held_charges.refusals(book.connection, [FARE.ticket_no])


def test_a_refusal_says_what_was_asked_and_why_it_was_refused(book: Any, fare: Any) -> None:
    request = fare(1)
    tried(book, request)
    content = request.content_of(request.charges[0])
    assert len(content) == 20
    assert refusals(book) == {FARE: Refusal(content, verbatim("too late"))}
    assert held_charges.refusals(book.connection, ["9990000000002"]) == {}
    assert held_charges.refusals(book.connection, []) == {}


@pytest.mark.parametrize("state", ["issued", "not_sent", "unknown"])
def test_what_came_after_the_refusal_counts(book: Any, fare: Any, state: str) -> None:
    tried(book, fare(1))
    tried(book, fare(1, remarks="corrected"), Outcome(state, "x", number="1" if state == "issued" else ""))  # type: ignore[arg-type]
    assert refusals(book) == {}
    if state == "not_sent":
        tried(book, fare(1), replace(NO, detail=verbatim("too late again")))
        assert str(refusals(book)[FARE].detail) == "too late again"


def test_a_charge_that_is_planned_again_is_refused_still(book: Any, fare: Any) -> None:
    tried(book, fare(1))
    book.plan(fare(1, remarks="corrected"))
    assert str(refusals(book)[FARE].detail) == "too late"


def test_what_is_being_sent_again_is_no_refusal(book: Any, fare: Any) -> None:
    tried(book, fare(1))
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    assert refusals(book) == {}


def test_an_unknown_outcome_that_is_settled_is_no_refusal(book: Any, fare: Any) -> None:
    attempt_id = tried(book, fare(1), Outcome("unknown", "no_answer"))
    settlements.settle(book.connection, attempt_id, Settlement("not_sent", "", "chen", "statement"))
    assert refusals(book) == {}


def test_every_charge_of_a_refused_invoice_is_refused_each_with_its_own_content(book: Any) -> None:
    request = invoice(charge(1), charge(1, "refund"), charge(2))
    tried(book, request)
    found = refusals(book)
    assert set(found) == {FARE, Identity("9990000000001", "refund", "flight")}
    assert found[FARE].content == request.content_of(request.charges[0])
    assert len({refusal.content for refusal in found.values()}) == 2


def test_a_refusal_of_an_older_program_does_not_say_what_was_asked(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    book.connection.execute("DROP TRIGGER charge_stays_itself; UPDATE charge SET content = ''")
    book.state(attempt.attempt_id, "sending")
    attempts.record_outcome(book.connection, attempt.attempt_id, NO)
    assert refusals(book) == {FARE: Refusal("", verbatim("too late"))}


def test_a_second_attempt_at_a_request_keeps_what_was_asked(book: Any, fare: Any) -> None:
    attempt_id = tried(book, fare(1), Outcome("not_sent", "carrier_busy"))
    again, number = planning.plan_again(book.connection, attempt_id)
    assert number == 2
    book.state(again, "sending")
    attempts.record_outcome(book.connection, again, NO)
    assert refusals(book)[FARE].content == fare(1).content_of(fare(1).charges[0])


def test_a_charge_whose_voucher_was_reversed_waits_for_a_person_like_a_refused_one(
    book: Any, fare: Any
) -> None:
    tried(book, fare(1), Outcome("issued", number="N1"))
    assert refusals(book) == {}
    reversals.reverse(book.connection, reversals.SaidReversed("N1", "li", "red letter"))
    (refusal,) = refusals(book).values()
    assert refusal.content == fare(1).content_of(fare(1).charges[0])
    assert refusal.reversed_number == "N1"
    tried(book, fare(1), Outcome("not_sent", "carrier_busy"))
    assert refusals(book) == {}  # somebody has asked since


def test_what_statements_alone_showed_waits_too_once_it_is_reversed(book: Any) -> None:
    line = StatementLine(
        "invoice", "E1", FARE.ticket_no, "ticket_fare", "flight", 100_00, None, "", "o.csv, row 2", "o.csv"
    )
    issued_elsewhere.record(book.connection, book.run, [(line, "")], "chen")
    assert refusals(book) == {}
    reversals.reverse(book.connection, reversals.SaidReversed("E1", "li", "red letter"))
    assert refusals(book)[FARE].content == ""
