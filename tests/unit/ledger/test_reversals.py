"""A voucher that the carrier reversed lets its charges go, and its number is never another attempt's."""

from dataclasses import astuple, replace
from typing import Any

import apsw
import pytest

from pipeline.ledger import (
    attempts,
    held_charges,
    integrity_check,
    issued_elsewhere,
    reversals,
    settlements,
    ticket_rows,
    withdrawals,
)
from pipeline.ledger.settlements import Settlement
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import StatementLine
from pipeline.model.outcome import Outcome
from pipeline.model.request import Identity

from .conftest import Book

FARE = Identity("9990000000001", "ticket_fare", "flight")
LINE = StatementLine(
    "invoice", "E1", FARE.ticket_no, FARE.charge, FARE.product, 100_00, None, "Acme", "o.csv, row 7", "o.csv"
)


def issue(book: Book, request: Any, number: str) -> int:
    (attempt,) = book.plan(request)
    book.state(attempt.attempt_id, "sending")
    book.state(attempt.attempt_id, "issued", number)
    return attempt.attempt_id


def reverse(book: Book, number: str, *, run: int | None = None, **more: Any) -> reversals.Reversed:
    said = reversals.SaidReversed(number, "chen", "red letter of 3 Dec", **more)
    return reversals.reverse(book.connection, said, run)


def held(book: Book) -> list[Identity]:
    return sorted(held_charges.holdings(book.connection, [f"999{n:010}" for n in range(5)]).held, key=astuple)


def rows(book: Book, query: str) -> list[Any]:
    return list(book.connection.execute(query))


def test_all_charges_of_a_reversed_voucher_may_be_issued_again_under_a_new_number(
    book: Any, several: Any
) -> None:
    request = several(1, 2)
    attempt_id = issue(book, request, "N1")
    assert held(book) == [charge.identity for charge in request.charges]
    done = reverse(book, "N1", red_number="RED1")
    assert (done.entry, done.voucher, done.number) == ("R1", "invoice", "N1")
    assert rows(book, "SELECT red_number, attempt_id FROM reversal") == [("RED1", attempt_id)]
    assert done.charges == tuple((charge.identity, 100_00) for charge in request.charges)
    assert held(book) == []
    assert book.states() == {attempt_id: "issued"}
    assert held_charges.issued_between(book.connection, "", "z") == {}
    (again,) = book.plan(request)
    book.state(again.attempt_id, "sending")
    for taken in ("N1", "RED1"):
        with pytest.raises(apsw.ConstraintError, match="number"):
            book.state(again.attempt_id, "issued", taken)
        assert settlements.number_taken(book.connection, taken)
    said = attempts.record_outcome(book.connection, again.attempt_id, Outcome("issued", number="RED1"))
    assert (said.state, str(said.detail)) == (
        "unknown",
        "the answer brings number RED1, which the carrier has reversed",
    )
    settlements.settle(book.connection, again.attempt_id, Settlement("issued", "N2", "chen", "statement"))
    assert book.states() == {attempt_id: "issued", again.attempt_id: "issued"}
    assert held(book) == [charge.identity for charge in request.charges]
    assert {one.number for one in held_charges.holdings(book.connection, [FARE.ticket_no]).held.values()} == {
        "N2"
    }
    book.connection.execute("UPDATE run SET ended_at = 'now'")
    assert integrity_check.look(book.connection).wrong == ()


def test_what_reverses_a_voucher_is_no_voucher_that_was_issued(book: Any, fare: Any) -> None:
    attempt_id = issue(book, fare(1), "N1")
    issue(book, fare(2), "N2")
    issued_elsewhere.record(
        book.connection, book.run, [(replace(LINE, ticket_no="9990000000003"), "")], "chen"
    )
    for red in ("N1", "N2", "E1"):
        with pytest.raises(InputProblem, match=f"^{red} can't be the number of what reversed N1"):
            reverse(book, "N1", red_number=red)
        with pytest.raises(apsw.ConstraintError):
            book.connection.execute(
                "INSERT INTO reversal (voucher, number, attempt_id, red_number, reversed_by, evidence, reversed_at)"
                " VALUES ('invoice', 'N1', ?, ?, 'x', 'y', 'z')",
                (attempt_id, red),
            )
    assert len(held(book)) == 3
    reverse(book, "N2")
    with pytest.raises(InputProblem):  # it was issued once, all the same
        reverse(book, "N1", red_number="N2")
    # Shown by mistake, and withdrawn: then it is anybody's.
    withdrawals.withdraw(book.connection, "E1", withdrawn_by="chen", why="another's statement")
    assert reverse(book, "N1", red_number="E1").entry == "R2"
    assert reversals.red(book.connection, "E1") == ("R2", "N1")
    assert reversals.red(book.connection, "E2") is None
    # A voucher that a statement shows under a red number is held: one of the two is wrong.
    issued_elsewhere.record(
        book.connection, book.run, [(replace(LINE, ticket_no="9990000000003"), "")], "chen"
    )
    assert [of.ticket_no for of in held(book)] == ["9990000000003"]


def test_a_reversal_lets_no_charge_go_that_its_attempt_did_not_ask_for(book: Any, fare: Any) -> None:
    """A statement in which two numbers were mixed up shows another ticket under it, whose own number is not known."""
    issue(book, fare(1), "N1")
    other = replace(LINE, ticket_no="9990000000002", number="N1")
    own = replace(LINE, number="N1", charge="ancillary", product="")
    issued_elsewhere.record(book.connection, book.run, [(other, ""), (own, "")], "chen")
    assert {of.ticket_no for of in reversals.charges_of(book.connection, "N1")} == {FARE.ticket_no}
    done = reverse(book, "N1")
    assert {of.ticket_no for of, _ in done.charges} == {FARE.ticket_no}
    assert [of.ticket_no for of in held(book)] == [other.ticket_no]
    later = replace(other, ticket_no="9990000000003")
    issued_elsewhere.record(
        book.connection, book.run, [(later, ""), (replace(own, charge="refund"), "")], "chen"
    )
    assert [of.ticket_no for of in held(book)] == [other.ticket_no, later.ticket_no]
    assert integrity_check.look(book.connection).wrong == ()
    withdrawals.withdraw(book.connection, "R1", withdrawn_by="chen", why="not reversed")
    assert len(held(book)) == 5
    withdrawals.withdraw(book.connection, "E1", withdrawn_by="chen", why="mixed up")
    assert len(held(book)) == 4
    assert integrity_check.look(book.connection).wrong == ()


def test_the_last_reversal_of_each_charge(book: Any, fare: Any) -> None:
    for number in ("N1", "N2"):
        issue(book, fare(1), number)
        reverse(book, number)
    issue(book, fare(2), "N3")
    assert {of: one.number for of, one in reversals.by_charge(book.connection).items()} == {FARE: "N2"}


@pytest.mark.parametrize("settled", [True, False])
def test_a_no_to_a_charge_whose_voucher_was_reversed_is_an_ordinary_no(
    book: Any, fare: Any, settled: bool
) -> None:
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    book.state(attempt.attempt_id, "unknown")
    settlements.settle(book.connection, attempt.attempt_id, Settlement("issued", "N1", "chen", "statement"))
    assert held_charges.holdings(book.connection, [FARE.ticket_no]).doubts.about(fare(1))
    if not settled:  # another doubt about the same charge is not answered by that
        reverse(book, "N1")
        (again,) = book.plan(fare(1))
        book.state(again.attempt_id, "sending")
        book.state(again.attempt_id, "unknown")
        settlements.settle(
            book.connection, again.attempt_id, Settlement("not_sent", "", "chen", "not listed")
        )
    else:
        reverse(book, "N1")
    assert held_charges.holdings(book.connection, [FARE.ticket_no]).doubts.about(fare(1)) is not settled


def test_a_reversed_itinerary_leaves_its_ticket_free_for_an_invoice(book: Any, fare: Any) -> None:
    issue(book, fare(1, voucher="itinerary"), "N1")
    reverse(book, "N1")
    issue(book, fare(1), "N2")
    assert held(book) == [FARE]


def test_what_statements_alone_show_is_let_go_with_its_number_also_where_it_is_shown_later(
    book: Any, fare: Any
) -> None:
    other = replace(LINE, ticket_no="9990000000002")
    issued_elsewhere.record(book.connection, book.run, [(LINE, "")], "chen")
    done = reverse(book, "E1")
    assert done.charges == ((FARE, 100_00),)
    assert issued_elsewhere.record(book.connection, book.run, [(LINE, ""), (other, "")], "chen") == [other]
    assert held(book) == []
    assert rows(book, "SELECT live, withdrawn FROM elsewhere") == [(0, 0), (0, 0)]
    issue(book, fare(1), "N1")
    assert integrity_check.look(book.connection).wrong == ()


def test_one_number_of_both_kinds_needs_the_kind(book: Any) -> None:
    lines = [LINE, replace(LINE, voucher="itinerary", ticket_no="9990000000002")]
    issued_elsewhere.record(book.connection, book.run, [(line, "") for line in lines], "chen")
    with pytest.raises(InputProblem, match="--voucher"):
        reverse(book, "E1")
    assert reverse(book, "E1", voucher="itinerary").voucher == "itinerary"
    assert held(book) == [FARE]
    assert reverse(book, "E1", voucher="invoice").voucher == "invoice"
    assert held(book) == []


@pytest.mark.parametrize("number", ["N9", "", "N1 "])
def test_only_what_is_held_as_issued_is_reversed(book: Any, fare: Any, number: str) -> None:
    issue(book, fare(1), "N1")
    with pytest.raises(InputProblem, match="no voucher of this number is held as issued"):
        reverse(book, number)
    with pytest.raises(InputProblem, match="no voucher of this number is held as issued"):
        reverse(book, "N1", voucher="itinerary")
    assert rows(book, "SELECT * FROM reversal") == []


def test_a_voucher_is_reversed_once(book: Any, fare: Any) -> None:
    issue(book, fare(1), "N1")
    reverse(book, "N1")
    with pytest.raises(InputProblem, match=r"recorded already \(R1\)"):
        reverse(book, "N1")
    assert rows(book, "SELECT count(*) FROM reversal") == [(1,)]


_COLUMNS = "voucher, number, attempt_id, red_number, reversed_by, evidence, reversed_at"


@pytest.mark.parametrize("either", ["", "OR REPLACE", "OR IGNORE"])
@pytest.mark.parametrize(
    "values",
    [
        "'invoice', 'N9', NULL, '', 'x', 'y', 'z'",  # not issued
        "'invoice', 'N1', NULL, '', 'x', 'y', 'z'",  # its attempt is not named
        "'invoice', 'N1', 2, '', 'x', 'y', 'z'",  # another's
        "'itinerary', 'N1', 1, '', 'x', 'y', 'z'",
        "'invoice', 'N1', 1, 'N1', 'x', 'y', 'z'",
        "'invoice', 'N1', 1, '', '', 'y', 'z'",
        "'invoice', 'N1', 1, '', 'x', '', 'z'",
        "'invoice', '', 1, '', 'x', 'y', 'z'",
    ],
)
def test_a_reversal_that_is_none_is_refused_by_the_database(
    book: Any, fare: Any, values: str, either: str
) -> None:
    issue(book, fare(1), "N1")
    issue(book, fare(2), "N2")
    book.connection.execute("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF")
    with pytest.raises(apsw.ConstraintError):
        book.connection.execute(f"INSERT {either} INTO reversal ({_COLUMNS}) VALUES ({values})")
    assert rows(book, "SELECT sum(live) FROM charge") == [(2,)]


@pytest.mark.parametrize("either", ["", "OR REPLACE", "OR IGNORE"])
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE {} reversal SET number = 'N2'",
        "UPDATE {} reversal SET withdrawn = 1",
        "UPDATE {} reversal SET attempt_id = 2",
        "UPDATE {} reversal SET rowid = 7",
        "UPDATE {} reversal SET reversed_at = reversed_at",
        "DELETE FROM reversal",
        "INSERT {} INTO reversal SELECT * FROM reversal",
        "UPDATE {} charge SET live = 1 WHERE attempt_id = 1",
        "UPDATE {} charge SET live = 0 WHERE attempt_id = 2",
        "UPDATE {} attempt SET state = 'unknown', number = '' WHERE attempt_id = 1",
        "UPDATE {} attempt SET state = 'not_sent', number = '' WHERE attempt_id = 1",
        "UPDATE {} attempt SET number = 'N7' WHERE attempt_id = 1",
    ],
)
def test_a_recorded_reversal_stays(book: Any, fare: Any, change: str, either: str) -> None:
    issue(book, fare(1), "N1")
    issue(book, fare(2), "N2")
    reverse(book, "N1")
    everything = "SELECT * FROM reversal, attempt, charge"
    before = rows(book, everything)
    with pytest.raises(apsw.ConstraintError):
        book.connection.execute(change.format(either))
    assert rows(book, everything) == before


def test_the_reversals_of_a_ticket_are_told(book: Any, several: Any) -> None:
    issue(book, several(1, 2), "N1")
    issued_elsewhere.record(
        book.connection, book.run, [(replace(LINE, ticket_no="9990000000003"), "")], "chen"
    )
    reverse(book, "N1")
    reverse(book, "E1", run=book.run)
    told = {
        n: [row["number"] for row in ticket_rows.reversals(book.connection, f"999{n:010}")]
        for n in range(1, 5)
    }
    assert told == {1: ["N1"], 2: ["N1"], 3: ["E1"], 4: []}
