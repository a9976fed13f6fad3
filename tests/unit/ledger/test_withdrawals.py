"""Evidence that was given by mistake is withdrawn: it stays, marked, and what it had led to is undone."""

from typing import Any

import apsw
import pytest

from pipeline.ledger import (
    held_charges,
    integrity_check,
    issued_elsewhere,
    reversals,
    settlements,
    ticket_rows,
)
from pipeline.ledger.settlements import Settlement
from pipeline.ledger.withdrawals import Withdrawn, withdraw
from pipeline.model.errors import InputProblem

from .conftest import Book
from .test_reversals import FARE, LINE, held, issue, reverse, rows


def unknown(book: Book, request: Any) -> int:
    (attempt,) = book.plan(request)
    book.state(attempt.attempt_id, "sending")
    book.state(attempt.attempt_id, "unknown")
    return attempt.attempt_id


def settled(book: Book, request: Any, number: str = "", evidence: str = "october.csv") -> int:
    """An attempt that was unknown and is settled; as issued if it gets a number."""
    attempt_id = unknown(book, request)
    settlements.settle(
        book.connection, attempt_id, Settlement("issued" if number else "not_sent", number, "chen", evidence)
    )
    return attempt_id


def take_back(book: Book, entry: str) -> Withdrawn:
    return withdraw(book.connection, entry, withdrawn_by="li", why="the wrong month's statement")


@pytest.mark.parametrize("number", ["N1", ""])
def test_an_attempt_whose_settlement_is_withdrawn_is_unknown_again_and_held(
    book: Any, fare: Any, number: str
) -> None:
    attempt_id = settled(book, fare(1), number)
    (before,) = rows(book, "SELECT reason, detail, sending_at, ended_at, was_unknown FROM attempt")
    done = take_back(book, "s1")
    assert (done.entry, done.kind, str(done.what)) == ("S1", "settlement", f"{fare(1).request_id}, 1")
    assert book.states() == {attempt_id: "unknown"}
    assert rows(book, "SELECT reason, detail, sending_at, ended_at, was_unknown FROM attempt") == [before]
    assert rows(book, "SELECT number FROM attempt") == [("",)]
    assert held(book) == [FARE]
    assert [one.attempt_id for one in settlements.unsettled(book.connection)] == [attempt_id]
    assert not settlements.number_taken(book.connection, "N1")
    (told,) = ticket_rows.settlements(book.connection, FARE.ticket_no)
    assert (told["settlement"], told["withdrawn"], told["withdrawn_by"], str(told["evidence"])) == (
        1, 1, "li", "october.csv",
    )  # fmt: skip
    assert integrity_check.look(book.connection).wrong == ()


def test_it_is_settled_again_by_another_answer_alone(book: Any, fare: Any) -> None:
    attempt_id = unknown(book, fare(1))
    answer = ("chen", "a.xlsx, Unknown, row 2: telephone", "telephone")
    settlements.settle(book.connection, attempt_id, Settlement("not_sent", "", *answer))
    take_back(book, "S1")

    def before(by: str, answered: str, *said: str) -> str:
        return settlements.withdrawn_before(
            book.connection, attempt_id, Settlement(*said or ("not_sent", ""), by, "seen", answered)
        )

    refused = (
        ("chen", "renamed.xlsx, Unknown, row 7: telephone", "telephone"),
        ("chen", "not on the statement november.csv", ""),  # silence, whoever says it
        ("somebody", "not on the statement december.csv", ""),
    )
    for by, evidence, answered in refused:
        assert before(by, answered) == "S1"
        with pytest.raises(apsw.ConstraintError, match="withdrawn"):
            settlements.settle(
                book.connection, attempt_id, Settlement("not_sent", "", by, evidence, answered)
            )
    assert before("Chen ", "Telephone") == "S1"
    assert book.states() == {attempt_id: "unknown"}
    assert before("chen", "a letter of the carrier") == before("wang", "telephone") == ""
    assert before("chen", "telephone", "issued", "N1") == ""
    settlements.settle(book.connection, attempt_id, Settlement("issued", "N1", "chen", "november.csv, row 2"))
    take_back(book, "S2")
    with pytest.raises(apsw.ConstraintError, match="withdrawn"):
        settlements.settle(
            book.connection, attempt_id, Settlement("issued", "N1", "chen", "december.csv, row 2")
        )
    other = ("chen", "b.xlsx, Unknown, row 2: a letter", "a letter")
    settlements.settle(book.connection, attempt_id, Settlement("not_sent", "", *other))
    assert book.states() == {attempt_id: "not_sent"}
    assert held(book) == []
    assert integrity_check.look(book.connection).wrong == ()


def test_a_reversal_that_is_withdrawn_is_recorded_again_by_hand_alone(book: Any, fare: Any) -> None:
    issue(book, fare(1), "N1")
    reverse(book, "N1", run=book.run)
    take_back(book, "R1")
    with pytest.raises(InputProblem, match=r"was withdrawn \(R1\)"):
        reverse(book, "N1", run=book.run)
    for either in ("", "OR REPLACE", "OR IGNORE"):
        with pytest.raises(apsw.ConstraintError, match="withdrawn"):
            book.connection.execute(
                f"INSERT {either} INTO reversal (run, voucher, number, attempt_id, red_number, reversed_by, evidence, reversed_at)"
                f" VALUES ({book.run}, 'invoice', 'N1', 1, '', 'x', 'y', 'z')"
            )
    assert held(book) == [FARE]
    assert reverse(book, "N1").entry == "R2"


def test_a_number_that_is_withdrawn_may_be_another_attempts(book: Any, fare: Any) -> None:
    settled(book, fare(1), "N1")
    other = unknown(book, fare(2))
    take_back(book, "S1")
    settlements.settle(book.connection, other, Settlement("issued", "N1", "chen", "november.csv"))
    assert book.states() == {1: "unknown", other: "issued"}


def test_what_was_sent_again_meanwhile_keeps_it_from_being_withdrawn(book: Any, fare: Any) -> None:
    first = settled(book, fare(1))
    second = issue(book, fare(1, remarks="again"), "N2")
    with pytest.raises(
        InputProblem, match=r"attempt 1 \(issued\), so that this one.*voucher ledger reverse N2"
    ):
        take_back(book, "S1")
    assert rows(book, "SELECT * FROM withdrawal") == []
    assert book.states() == {first: "not_sent", second: "issued"}
    reverse(book, "N2")
    take_back(book, "S1")
    assert book.states() == {first: "unknown", second: "issued"}
    assert held(book) == [FARE]
    assert [one.attempt_id for one in settlements.unsettled(book.connection)] == [first]
    with pytest.raises(InputProblem, match="Settle that attempt first"):
        take_back(book, "R1")
    settlements.settle(book.connection, first, Settlement("issued", "N1", "chen", "november.csv"))
    assert [
        (of.number, of.state) for of in held_charges.holdings(book.connection, [FARE.ticket_no]).held.values()
    ] == [("N1", "issued")]
    with pytest.raises(InputProblem, match=r"attempt 1 \(issued\), so that this one"):
        take_back(book, "R1")
    assert integrity_check.look(book.connection).wrong == ()


def test_what_is_in_doubt_again_meanwhile_is_settled_first(book: Any, fare: Any) -> None:
    settled(book, fare(1))
    second = unknown(book, fare(1))
    with pytest.raises(
        InputProblem, match=r"attempt 2 \(unknown\), so that this one.*Settle that attempt first"
    ):
        take_back(book, "S1")
    settlements.settle(book.connection, second, Settlement("not_sent", "", "chen", "november.csv"))
    take_back(book, "S1")
    assert book.states() == {1: "unknown", second: "not_sent"}


def test_the_other_kind_of_voucher_keeps_it_from_being_withdrawn_too(book: Any, fare: Any) -> None:
    settled(book, fare(1))
    issue(book, fare(1, voucher="itinerary"), "N2")
    with pytest.raises(InputProblem, match="is held by another attempt, request"):
        take_back(book, "S1")


def test_a_voucher_that_was_reversed_had_been_issued(book: Any, fare: Any) -> None:
    settled(book, fare(1), "N1")
    reverse(book, "N1")
    with pytest.raises(InputProblem, match="withdraw R1"):
        take_back(book, "S1")
    take_back(book, "R1")
    take_back(book, "S1")
    assert held(book) == [FARE]
    assert integrity_check.look(book.connection).wrong == ()


def test_a_reversal_that_is_withdrawn_holds_the_charges_again(book: Any, several: Any) -> None:
    issue(book, several(1, 2), "N1")
    issued_elsewhere.record(book.connection, book.run, [(LINE, "")], "chen")
    reverse(book, "N1")
    reverse(book, "E1")
    assert held(book) == []
    assert take_back(book, "R1") == Withdrawn("R1", "reversal", "N1")
    assert take_back(book, "R2") == Withdrawn("R2", "reversal", "E1")
    assert len(held(book)) == 2
    assert rows(book, "SELECT live FROM elsewhere") == [(1,)]
    assert reversals.standing(book.connection, ["N1", "E1"]) == []
    assert reverse(book, "N1").entry == "R3"


def test_a_reversal_after_which_the_charge_was_issued_again_is_not_withdrawn(book: Any, fare: Any) -> None:
    issue(book, fare(1), "N1")
    reverse(book, "N1")
    issue(book, fare(1), "N2")
    with pytest.raises(InputProblem, match="is held by another attempt, request"):
        take_back(book, "R1")


def test_what_a_statement_showed_holds_no_more_once_it_is_withdrawn_until_it_is_shown_again(
    book: Any, fare: Any
) -> None:
    issued_elsewhere.record(book.connection, book.run, [(LINE, "")], "chen")
    assert held(book) == [FARE]
    assert take_back(book, "E1") == Withdrawn("E1", "elsewhere", "E1")
    assert held(book) == []
    assert issued_elsewhere.lines_of(book.connection, [FARE.ticket_no]) == []
    assert issued_elsewhere.other_ticket(book.connection, "E1", 0) == ""
    assert held_charges.holdings(book.connection, [FARE.ticket_no]).both_kinds == frozenset()
    (told,) = ticket_rows.issued_elsewhere(book.connection, FARE.ticket_no)
    assert (told["withdrawn"], told["why"]) == (1, "the wrong month's statement")
    (planned,) = book.plan(fare(1))
    book.state(planned.attempt_id, "sending")
    book.state(planned.attempt_id, "rejected")
    assert integrity_check.look(book.connection).wrong == ()
    assert issued_elsewhere.record(book.connection, book.run, [(LINE, "")], "chen") == [LINE]
    assert held(book) == [FARE]
    take_back(book, "E2")
    assert held(book) == []


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("S7", "no such entry"),
        ("E7", "no such entry"),
        ("R7", "no such entry"),
        ("7", "not the name of an entry"),
        ("X1", "not the name of an entry"),
        ("S01", "not the name of an entry"),
        ("S1; DROP TABLE run", "not the name of an entry"),
        ("S99999999999999999999", "not the name of an entry"),
    ],
)
def test_an_entry_that_is_none_is_refused(book: Any, fare: Any, entry: str, said: str) -> None:
    settled(book, fare(1))
    with pytest.raises(InputProblem, match=said):
        take_back(book, entry)


def test_an_entry_is_withdrawn_once(book: Any, fare: Any) -> None:
    settled(book, fare(1))
    take_back(book, "S1")
    with pytest.raises(InputProblem, match="withdrawn already"):
        take_back(book, "S1")
    assert rows(book, "SELECT count(*) FROM withdrawal") == [(1,)]


@pytest.mark.parametrize("either", ["", "OR REPLACE", "OR IGNORE"])
@pytest.mark.parametrize(
    "change",
    [
        "INSERT {} INTO withdrawal VALUES (NULL, 2, NULL, NULL, '', 'y', 'z')",
        "INSERT {} INTO withdrawal VALUES (NULL, 2, NULL, NULL, 'x', '', 'z')",
        "INSERT {} INTO withdrawal VALUES (NULL, NULL, NULL, NULL, 'x', 'y', 'z')",
        "INSERT {} INTO withdrawal VALUES (NULL, 2, 1, NULL, 'x', 'y', 'z')",
        "INSERT {} INTO withdrawal VALUES (NULL, 9, NULL, NULL, 'x', 'y', 'z')",
        "INSERT {} INTO withdrawal VALUES (NULL, NULL, 9, NULL, 'x', 'y', 'z')",
        "INSERT {} INTO withdrawal VALUES (NULL, NULL, NULL, 9, 'x', 'y', 'z')",
        "INSERT {} INTO withdrawal VALUES (NULL, 1, NULL, NULL, 'x', 'y', 'z')",  # withdrawn already
        "INSERT {} INTO withdrawal VALUES (1, 2, NULL, NULL, 'x', 'y', 'z')",
        "INSERT {} INTO withdrawal VALUES (NULL, 3, NULL, NULL, 'x', 'y', 'z')",  # its charge was sent again
        "UPDATE {} withdrawal SET settlement = 2",
        "UPDATE {} withdrawal SET why = why",
        "DELETE FROM withdrawal",
        "UPDATE {} settlement SET withdrawn = 1 WHERE settlement = 2",
        "UPDATE {} settlement SET withdrawn = 0 WHERE settlement = 1",
        "UPDATE {} settlement SET evidence = 'x', withdrawn = 1",
        "UPDATE {} attempt SET state = 'unknown', number = '' WHERE attempt_id = 2",
        "UPDATE {} elsewhere SET withdrawn = 1, live = 0",
        "UPDATE {} elsewhere SET live = 0",
        "UPDATE {} attempt SET state = 'not_sent' WHERE attempt_id = 1",  # by what was withdrawn
    ],
)
def test_a_withdrawal_is_whole_and_stays(book: Any, fare: Any, change: str, either: str) -> None:
    settled(book, fare(1))
    take_back(book, "S1")
    settled(book, fare(2), "N2")
    settled(book, fare(3))
    issue(book, fare(3), "N3")
    issued_elsewhere.record(book.connection, book.run, [(LINE, "")], "chen")
    book.connection.execute("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF")
    everything = [
        f"SELECT * FROM {table}" for table in ("withdrawal", "settlement", "elsewhere", "attempt", "charge")
    ]
    before = [rows(book, query) for query in everything]
    with pytest.raises(apsw.ConstraintError):
        book.connection.execute(change.format(either))
    assert [rows(book, query) for query in everything] == before
