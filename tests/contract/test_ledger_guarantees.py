"""What every ledger guarantees, asked of both; `pipeline.ledger.operations` lists it."""

import itertools
from typing import Any

import apsw
import psycopg
import pytest

from pipeline.ledger.attempt_changes import Again, Change, Ended, GotAnswer
from pipeline.ledger.settlements import Settlement
from pipeline.model.errors import LedgerProblem
from pipeline.model.evidence import StatementLine
from pipeline.model.message import NOTHING, verbatim
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.request import Request
from tests.contract.ledgers import Ledger, charge, ended, invoice, issued, itinerary

LOST = Outcome("unknown", "no_answer", detail=verbatim("timeout"))
NO = Outcome("rejected", "carrier_rejected")
NOBODY = Outcome("not_sent", "carrier_unreachable")
REFUSED_BY_THE_DATABASE = (apsw.ConstraintError, psycopg.Error)


def fares(first: int, last: int) -> list[Request]:
    return [invoice(charge(number)) for number in range(first, last + 1)]


def refused(results: list[Any]) -> list[bool]:
    return [isinstance(one, LedgerProblem) for one in results]


# --- an attempt is claimed once, ever --------------------------------------------------------------


@pytest.mark.slow
def test_what_is_claimed_is_claimed_once_by_whoever_asks_at_once(ledger: Ledger) -> None:
    planned = ledger.plan(*fares(1, 60))
    got = ledger.race(4)
    assert sorted(one for each in got for one in each) == sorted(planned)
    assert set(ledger.states().values()) == {"sending"}
    assert ledger.claim(10) == []


@pytest.mark.slow
def test_what_was_sent_is_never_claimed_again_whatever_came_of_it(ledger: Ledger) -> None:
    ledger.plan(*fares(1, 5))
    first, second, third, fourth, fifth = ledger.claim(5)
    ledger.record(Ended(first, issued("N1")), Ended(second, NO), Ended(third, LOST), Ended(fourth, NOBODY))
    assert ledger.claim(5) == []
    ledger.sender_dies()
    assert ledger.claim(5) == []
    assert ledger.states() == {
        first: "issued", second: "rejected", third: "unknown", fourth: "not_sent", fifth: "unknown",
    }  # fmt: skip


# --- a charge is in one live attempt ---------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "other"),
    [
        (invoice(charge(1)), invoice(charge(1, amount=200_00))),
        (invoice(charge(1)), invoice(charge(1, "ancillary"), charge(1))),
        (invoice(charge(1)), itinerary(1)),
        (itinerary(1), invoice(charge(1, "refund"))),
        (invoice(charge(1, "refund")), itinerary(1)),
    ],
    ids=["the same charge", "the same beside another", "the other kind", "a refund of its ticket", "a fare of its ticket"],
)  # fmt: skip
def test_a_charge_is_in_one_live_attempt(ledger: Ledger, first: Request, other: Request) -> None:
    planned, hindered = ledger.plan(first, other)
    assert ledger.claim(2) == [planned]
    assert ledger.states() == {planned: "sending", hindered: "planned"}
    ledger.record(Ended(planned, LOST))
    assert ledger.claim(1) == []


@pytest.mark.slow
def test_a_charge_that_was_refused_may_be_asked_for_again(ledger: Ledger) -> None:
    (first,) = ledger.plan(invoice(charge(1)))
    assert ledger.claim(1) == [first]
    ledger.record(Ended(first, NO))
    (again,) = ledger.plan(invoice(charge(1)))
    assert ledger.claim(1) == [again]
    assert ledger.rows("SELECT attempt FROM attempt ORDER BY attempt_id") == [(1,), (2,)]


@pytest.mark.parametrize("fare", [invoice(charge(1)), itinerary(1)], ids=["invoice", "itinerary"])
def test_what_else_a_ticket_has_goes_beside_its_fare(ledger: Ledger, fare: Request) -> None:
    also = charge(1, "ancillary" if fare.voucher == "itinerary" else "refund")
    planned = ledger.plan(invoice(also), fare)
    assert ledger.claim(2) == planned


@pytest.mark.slow
@pytest.mark.parametrize("wire", ["FARE/Flight", ""])
def test_what_a_statement_shows_as_issued_elsewhere_is_held(ledger: Ledger, wire: str) -> None:
    held, free = ledger.plan(*fares(1, 2))
    line = StatementLine(
        "invoice",
        "E1",
        "9990000000001",
        "ticket_fare",
        "flight",
        100_00,
        None,
        "",
        verbatim("row 2"),
        "s.csv",
    )
    ledger.operations.hold_elsewhere(ledger.run, [(line, wire)], "chen")
    assert ledger.claim(2) == [free]
    assert ledger.states()[held] == "planned"


@pytest.mark.slow
def test_a_number_is_one_requests(ledger: Ledger) -> None:
    ledger.plan(*fares(1, 2))
    first, second = ledger.claim(2)
    assert ledger.record(Ended(first, issued("N1"))) == [issued("N1")]
    (taken,) = ledger.record(Ended(second, issued("N1")))
    assert (taken.state, taken.reason, taken.number) == ("unknown", "answer_unexplained", "")
    assert "which request R" in str(taken.detail)
    assert ledger.states() == {first: "issued", second: "unknown"}


@pytest.mark.slow
def test_a_number_that_two_answers_bring_at_once_is_one_requests(ledger: Ledger) -> None:
    ledger.plan(*fares(1, 2))
    first, second = ledger.claim(2)
    results = ledger.record(Ended(first, issued("N1")), Ended(second, issued("N1")))
    assert [one.state for one in results] == ["issued", "unknown"]


# --- nothing returns to planned --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE attempt SET state = 'planned'",
        "UPDATE attempt SET state = 'planned', sending_at = NULL",
        "DELETE FROM attempt",
        "UPDATE attempt SET request_id = 'R'",
        "UPDATE charge SET amount = 1",
        "DELETE FROM charge",
        "UPDATE request SET amount = 1",
    ],
)
def test_the_database_refuses_to_undo_a_claim(ledger: Ledger, statement: str) -> None:
    (planned,) = ledger.plan(invoice(charge(1)))
    ledger.claim(1)
    with pytest.raises(REFUSED_BY_THE_DATABASE):
        ledger.force(statement)
    assert ledger.states() == {planned: "sending"}


@pytest.mark.slow
def test_the_database_refuses_to_change_an_outcome(ledger: Ledger) -> None:
    ledger.plan(*fares(1, 4))
    outcomes = dict(zip(ledger.claim(4), (issued("N1"), NO, NOBODY, LOST), strict=True))
    ledger.record(*(Ended(*each) for each in outcomes.items()))
    found = {attempt: outcome.state for attempt, outcome in outcomes.items()}
    for attempt, state in itertools.product(found, ("planned", "sending", "rejected", "not_sent", "issued")):
        number = "N2" if state == "issued" else ""
        if state != found[attempt]:
            with pytest.raises(REFUSED_BY_THE_DATABASE):
                ledger.force(
                    f"UPDATE attempt SET state = '{state}', number = '{number}' WHERE attempt_id = {attempt}"
                )
    assert ledger.states() == found


@pytest.mark.slow
def test_only_evidence_settles_what_is_unknown(ledger: Ledger) -> None:
    ledger.plan(*fares(1, 2))
    first, second = ledger.claim(2)
    ledger.record(Ended(first, LOST), Ended(second, LOST))
    ledger.operations.settle(first, Settlement("issued", "N7", "chen", "the statement"))
    assert ledger.states() == {first: "issued", second: "unknown"}
    with pytest.raises(LedgerProblem):
        ledger.operations.settle(second, Settlement("issued", "N7", "chen", "the statement"))
    with pytest.raises(LedgerProblem):
        ledger.operations.settle(first, Settlement("not_sent", "", "chen", "a letter"))
    assert ledger.states() == {first: "issued", second: "unknown"}


@pytest.mark.slow
def test_what_a_dead_sender_left_is_settled_as_not_issued_and_asked_for_again(ledger: Ledger) -> None:
    (first,) = ledger.plan(invoice(charge(1)))
    ledger.claim(1)
    ledger.sender_dies()
    assert ledger.states() == {first: "unknown"}
    ledger.operations.settle(first, Settlement("not_sent", "", "chen", "the carrier's letter"))
    (again,) = ledger.plan(invoice(charge(1)))
    assert ledger.claim(1) == [again]


# --- a plan is whole, a refused change is refused alone --------------------------------------------


def test_a_plan_is_written_whole_or_not_at_all(ledger: Ledger) -> None:
    with pytest.raises(LedgerProblem):
        ledger.plan(*fares(1, 3), invoice(charge(2)))
    assert ledger.states() == {}


@pytest.mark.slow
def test_a_refused_change_is_refused_alone(ledger: Ledger) -> None:
    ledger.plan(*fares(1, 3))
    first, second, third = ledger.claim(3)
    ledger.record(Ended(second, NO))
    changes: list[Change] = [
        Ended(first, issued("N1")),
        Ended(second, issued("N2")),
        GotAnswer(99, Answered(200, b"x")),
        Ended(third, LOST),
    ]
    assert refused(ledger.record(*changes)) == [False, True, True, False]
    assert ledger.states() == {first: "issued", second: "rejected", third: "unknown"}


@pytest.mark.slow
def test_an_answer_is_kept_as_it_came_and_once(ledger: Ledger) -> None:
    ledger.plan(invoice(charge(1)))
    (first,) = ledger.claim(1)
    body = bytes(range(256))
    assert ledger.record(GotAnswer(first, Answered(200, body, "5"))) == [None]
    assert refused(ledger.record(GotAnswer(first, Answered(500, b"other")))) == [True]
    assert ledger.rows("SELECT http_status, answer, retry_after FROM attempt") == [(200, body, "5")]
    assert refused(ledger.record(Ended(first, issued("N1")))) == [False]


@pytest.mark.slow
def test_what_reached_nobody_is_tried_again_as_another_attempt(ledger: Ledger) -> None:
    ledger.plan(invoice(charge(1), charge(2)))
    (first,) = ledger.claim(1)
    ledger.record(Ended(first, NOBODY))
    ((again, number),) = ledger.record(Again(first))
    assert number == 2
    assert ledger.states() == {first: "not_sent", again: "planned"}
    assert ledger.rows(f"SELECT ticket_no, amount FROM charge WHERE attempt_id = {again} ORDER BY 1") == [
        ("9990000000001", 100_00), ("9990000000002", 100_00),
    ]  # fmt: skip


# --- a late outcome settles its attempt once -------------------------------------------------------


@pytest.mark.slow
def test_a_late_outcome_is_taken_once(ledger: Ledger) -> None:
    ledger.plan(*fares(1, 2))
    first, second = ledger.claim(2)
    ledger.record(Ended(second, NO))
    for _ in range(3):
        ledger.late(first, issued("N1"))
        assert ledger.states() == {first: "issued", second: "rejected"}
    assert ledger.rows("SELECT number FROM attempt WHERE state = 'issued'") == [("N1",)]


# --- a gap -----------------------------------------------------------------------------------------


def test_a_ledger_says_whose_it_is_and_that_it_is_complete(ledger: Ledger) -> None:
    assert len(ledger.operations.ledger_id) == 32
    assert ledger.operations.epoch == ledger.operations.ledger_id
    assert ledger.operations.lacking() == NOTHING
    assert ended([7]) == [Ended(7, issued("N1"))]
