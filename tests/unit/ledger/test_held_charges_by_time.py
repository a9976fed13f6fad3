"""What was issued in a time is found by that time, whatever the ledger's age."""

from typing import Any

import pytest

from pipeline.ledger import attempts, held_charges, settlements
from pipeline.ledger.settlements import Settlement
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import NOTHING
from pipeline.model.outcome import Outcome
from pipeline.model.request import Identity


def issue(book: Any, request: Any, ended_at: str, number: str) -> None:
    """An attempt that was issued at that time."""
    (attempt,) = book.plan(request)
    book.state(attempt.attempt_id, "sending")
    book.connection.execute(
        "UPDATE attempt SET state = 'issued', number = ?, ended_at = ? WHERE attempt_id = ?",
        (number, ended_at, attempt.attempt_id),
    )


def test_a_time_takes_in_its_beginning_and_leaves_out_its_end(book: Any, fare: Any) -> None:
    for number, at in enumerate(
        ("09-30T15:59:59.999", "09-30T16:00:00.000", "10-31T15:59:59.999", "10-31T16:00:00.000")
    ):
        issue(book, fare(number + 1), f"2026-{at}+00:00", f"N{number + 1}")
    since, until = "2026-09-30T16:00:00.000+00:00", "2026-10-31T16:00:00.000+00:00"
    found = held_charges.issued_between(book.connection, since, until)
    assert {holding.number for holding in found.values()} == {"N2", "N3"}
    assert held_charges.issued_between(book.connection, until, since) == {}


def test_each_charge_is_told_with_all_that_was_issued(book: Any, several: Any) -> None:
    request = several(1, 2)
    issue(book, request, "2026-10-05T09:30:00.000+00:00", "N1")
    found = held_charges.issued_between(book.connection, "2026-10", "2026-11")
    assert found == {
        identity: KnownCharge(
            identity, "FARE/Flight", "invoice", "issued", "N1", 100_00, "business", "Example Trading Co.",
            "91110000600037341L", request.request_id, 1, book.run, "2026-10-05T09:30:00.000+00:00", "", NOTHING,
            "tickets.xlsx", "Tickets", n + 2, market="domestic", times_doubtful=True,
        )
        for n in (1, 2)
        for identity in [Identity(f"999000000000{n}", "ticket_fare", "flight")]
    }  # fmt: skip


@pytest.mark.parametrize("state", ["rejected", "not_sent", "unknown"])
def test_what_was_not_issued_is_left_out(book: Any, fare: Any, state: str) -> None:
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    attempts.record_outcome(book.connection, attempt.attempt_id, Outcome(state, "x"))  # type: ignore[arg-type]
    assert held_charges.issued_between(book.connection, "2026", "2100") == {}


def test_what_was_settled_as_issued_counts_for_the_time_of_its_attempt(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    book.connection.execute(
        "UPDATE attempt SET state = 'unknown', ended_at = '2026-10-05T09:30:00.000+00:00'"
    )
    settlements.settle(
        book.connection, attempt.attempt_id, Settlement("issued", "N1", "chen", "statement of November")
    )
    (holding,) = held_charges.issued_between(book.connection, "2026-10", "2026-11").values()
    assert holding.number == "N1"


def test_what_a_wrong_clock_may_have_dated_is_told(book: Any, fare: Any) -> None:
    issue(book, fare(1), "2016-10-05T09:30:00.000+00:00", "N1")  # before it was sent
    (holding,) = held_charges.issued_between(book.connection, "2016-10", "2016-11").values()
    assert holding.times_doubtful


def test_years_before_are_not_read(book: Any) -> None:
    plan = book.connection.execute(
        "EXPLAIN QUERY PLAN " + held_charges._BETWEEN, ("2026-10", "2026-11")
    ).fetchall()
    assert any("attempt_issued_at" in row[3] for row in plan), plan
    assert not any(row[3].startswith("SCAN") for row in plan), plan
