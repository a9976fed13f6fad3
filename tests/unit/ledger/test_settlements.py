"""What is unknown is found with all that was in it, and settled once, by evidence, whole or not at all."""

from dataclasses import replace
from typing import Any

import apsw
import pytest

from pipeline.ledger import attempts, opening, settlements, withdrawals
from pipeline.ledger.settlements import Known, Settlement
from pipeline.model.message import to_text, verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.request import Identity

from .conftest import charge, invoice


def unknown(book: Any, request: Any, detail: str = "the connection broke") -> int:
    """An attempt whose outcome is unknown, as a run leaves it; its ID."""
    (attempt,) = book.plan(request)
    book.state(attempt.attempt_id, "sending")
    outcome = Outcome("unknown", "no_answer", trace_id="t-1", detail=verbatim(detail))
    attempts.record_outcome(book.connection, attempt.attempt_id, outcome)
    found: int = attempt.attempt_id
    return found


def rows(book: Any, query: str) -> list[Any]:
    return list(book.connection.execute(query))


def test_every_unknown_attempt_is_found_with_all_that_was_in_it(book: Any, fare: Any) -> None:
    seat = replace(charge(1, "ancillary", "seat", 55_50), row=7)
    without_code = replace(charge(2, "ancillary", "upgrade"), wire=None)
    request = invoice(without_code, seat)
    first = unknown(book, request)
    book.plan(fare(3))
    second = unknown(book, fare(4, voucher="itinerary"))
    one, other = settlements.unsettled(book.connection)
    assert (one.attempt_id, other.attempt_id) == (first, second)
    assert (one.request_id, one.attempt, one.voucher, one.market) == (
        request.request_id,
        1,
        "invoice",
        "domestic",
    )
    assert (one.header_name, one.amount) == ("Example Trading Co.", 155_50)
    assert (one.reason, str(one.detail), one.trace_id) == ("no_answer", "the connection broke", "t-1")
    ((began, ended),) = rows(book, f"SELECT sending_at, ended_at FROM attempt WHERE attempt_id = {first}")
    assert (one.began, one.ended) == (began, ended)
    assert began != ended
    assert str(one.place) == f"tickets.xlsx, Tickets, row 9 (run {book.run})"
    assert one.charges == (
        (Identity("9990000000001", "ancillary", "seat"), "EXTRA/Seat", 55_50),
        (Identity("9990000000002", "ancillary", "upgrade"), "", 100_00),
    )
    assert rows(book, "SELECT count(*) FROM attempt WHERE state = 'unknown'") == [(2,)]


def test_an_unknown_attempt_is_found_with_earlier_ones_that_were_said_not_to_be_issued(
    book: Any, fare: Any
) -> None:
    first = unknown(book, fare(1))
    settlements.settle(book.connection, first, Settlement("not_sent", "", "chen", "telephone"))
    stranger = unknown(book, fare(2))
    settlements.settle(book.connection, stranger, Settlement("not_sent", "", "chen", "telephone"))
    unknown(book, fare(1, remarks="again"))
    (one,) = settlements.unsettled(book.connection)
    assert [(of.attempt_id, of.denial, of.charges) for of in one.denied] == [(first, "S1", one.charges)]
    withdrawals.withdraw(book.connection, "S2", withdrawn_by="Li", why="misheard")
    other = settlements.unsettled(book.connection)[0]
    assert (other.attempt_id, other.denied) == (stranger, ())


@pytest.mark.parametrize("state", ["planned", "sending", "issued", "rejected", "not_sent"])
def test_nothing_else_is_unsettled(book: Any, fare: Any, state: str) -> None:
    (attempt,) = book.plan(fare(1))
    if state != "planned":
        book.state(attempt.attempt_id, "sending")
    if state not in ("planned", "sending"):
        book.state(attempt.attempt_id, state, "1" if state == "issued" else "")
    assert settlements.unsettled(book.connection) == []
    assert rows(book, "SELECT count(*) FROM attempt WHERE state = 'unknown'") == [(0,)]


@pytest.mark.parametrize(("state", "number", "live"), [("issued", "26001", 1), ("not_sent", "", 0)])
def test_a_settlement_keeps_the_evidence_and_changes_the_state(
    book: Any, fare: Any, state: str, number: str, live: int
) -> None:
    attempt_id = unknown(book, fare(1))
    ((ended,),) = rows(book, "SELECT ended_at FROM attempt")
    settlements.settle(book.connection, attempt_id, Settlement(state, number, "chen", "statement.csv, row 7"))
    assert rows(book, "SELECT state, number, was_unknown, reason, ended_at FROM attempt") == [
        (state, number, 1, "no_answer", ended)
    ]
    ((at,),) = rows(book, "SELECT settled_at FROM settlement")
    assert at >= ended
    assert rows(book, "SELECT * FROM settlement") == [
        (1, attempt_id, state, number, "chen", to_text(verbatim("statement.csv, row 7")), "", at, 0)
    ]
    assert rows(book, "SELECT live FROM charge") == [(live,)]
    assert settlements.unsettled(book.connection) == []


@pytest.mark.parametrize(
    ("state", "number", "by", "evidence"),
    [
        ("issued", "", "chen", "seen"),
        ("issued", "taken", "chen", "seen"),
        ("not_sent", "26001", "chen", "seen"),
        ("not_sent", "", "", "seen"),
        ("not_sent", "", "chen", ""),
        ("rejected", "", "chen", "seen"),
        ("unknown", "", "chen", "seen"),
        ("planned", "", "chen", "seen"),
    ],
)
def test_a_settlement_that_is_none_leaves_everything_as_it_was(
    book: Any, fare: Any, state: str, number: str, by: str, evidence: str
) -> None:
    (other,) = book.plan(fare(2))
    book.state(other.attempt_id, "sending")
    book.state(other.attempt_id, "issued", "taken")
    attempt_id = unknown(book, fare(1))
    with pytest.raises(apsw.ConstraintError):
        settlements.settle(book.connection, attempt_id, Settlement(state, number, by, evidence))
    assert rows(book, "SELECT * FROM settlement") == []
    assert book.states() == {other.attempt_id: "issued", attempt_id: "unknown"}


def test_evidence_that_its_attempt_can_not_follow_is_not_left_alone(book: Any, fare: Any) -> None:
    """The second half fails: the first is taken back, so that the evidence can be given again."""
    attempt_id = unknown(book, fare(1))
    book.connection.execute(
        "CREATE TEMP TRIGGER failing BEFORE UPDATE ON main.attempt BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
    )
    with pytest.raises(apsw.ConstraintError, match="disk is full"):
        settlements.settle(book.connection, attempt_id, Settlement("issued", "26001", "chen", "statement"))
    assert rows(book, "SELECT * FROM settlement") == []
    book.connection.execute("DROP TRIGGER failing")
    settlements.settle(book.connection, attempt_id, Settlement("issued", "26001", "chen", "statement"))
    assert book.states() == {attempt_id: "issued"}


def test_an_attempt_is_settled_once(book: Any, fare: Any) -> None:
    attempt_id = unknown(book, fare(1))
    settlements.settle(book.connection, attempt_id, Settlement("issued", "26001", "chen", "statement"))
    for state, number in (("issued", "26001"), ("issued", "26002"), ("not_sent", "")):
        with pytest.raises(apsw.ConstraintError):
            settlements.settle(book.connection, attempt_id, Settlement(state, number, "li", "another"))
    assert rows(book, "SELECT number, settled_by FROM settlement") == [("26001", "chen")]


def test_after_not_sent_the_same_is_tried_again_and_settled_by_itself(book: Any, fare: Any) -> None:
    first = unknown(book, fare(1))
    settlements.settle(book.connection, first, Settlement("not_sent", "", "chen", "not on the statement"))
    second = unknown(book, fare(1))
    assert [one.attempt for one in settlements.unsettled(book.connection)] == [2]
    settlements.settle(book.connection, second, Settlement("issued", "26001", "chen", "on the statement"))
    assert book.states() == {first: "not_sent", second: "issued"}


def test_an_attempt_is_known_by_the_name_that_people_answer_with(book: Any, fare: Any) -> None:
    attempt_id, request_id = unknown(book, fare(1)), fare(1).request_id
    epoch = opening.ledger_id(book.connection)
    assert settlements.known(book.connection, request_id, 1) == Known(attempt_id, epoch, "unknown", "", "")
    assert settlements.known(book.connection, request_id, 2) is None
    assert settlements.known(book.connection, "R0", 1) is None
    settlements.settle(book.connection, attempt_id, Settlement("issued", "26001", "chen", "statement"))
    assert settlements.known(book.connection, request_id, 1) == Known(
        attempt_id, epoch, "issued", "26001", "S1"
    )
    (by_itself,) = book.plan(fare(2))
    book.state(by_itself.attempt_id, "sending")
    book.state(by_itself.attempt_id, "issued", "26002")
    assert settlements.known(book.connection, fare(2).request_id, 1) == Known(
        by_itself.attempt_id, epoch, "issued", "26002", ""
    )


def test_a_number_is_taken_by_what_is_issued(book: Any, fare: Any) -> None:
    attempt_id = unknown(book, fare(1))
    assert not settlements.number_taken(book.connection, "26001")
    settlements.settle(book.connection, attempt_id, Settlement("issued", "26001", "chen", "statement"))
    assert settlements.number_taken(book.connection, "26001")
    assert not settlements.number_taken(book.connection, "2600")
    assert not settlements.number_taken(book.connection, "")
