"""How rows were judged is noted where it is new, and told in time order."""

from typing import Any

import pytest

from pipeline.ledger import judgements, runs, ticket_rows
from pipeline.ledger.judgements import Judgement

WAITING = Judgement(
    "9990000000001", "ticket_fare", "flight", "invoice", 100_00, "waiting", "ticket_still_open",
    "tickets.xlsx", "Tickets", 2,
)  # fmt: skip


def noted(book: Any, *judged: Judgement) -> list[Judgement]:
    """What is told of the ticket after another run has judged these."""
    run = runs._begin_run(book.connection, runs.RunStart("reconcile", "2026-11-21"))
    judgements.note(book.connection, run, judged)
    runs._end_run(book.connection, run, 0)
    return [
        Judgement(**{name: value for name, value in row.items() if name not in ("run", "judged_at")})
        for row in ticket_rows.judgements(book.connection, "9990000000001")
    ]


def test_a_judgement_is_told_as_it_was_made(book: Any) -> None:
    judgements.note(book.connection, book.run, [WAITING])
    (row,) = ticket_rows.judgements(book.connection, "9990000000001")
    at = row.pop("judged_at")
    assert at.endswith("+00:00")
    assert row == {"run": book.run} | WAITING._asdict()
    assert ticket_rows.judgements(book.connection, "9990000000002") == []


def test_the_same_judgement_night_after_night_is_one(book: Any) -> None:
    for _ in range(3):
        assert noted(book, WAITING) == [WAITING]


@pytest.mark.parametrize(
    "change",
    [
        {"voucher": "itinerary"}, {"amount": 1}, {"status": "ready", "reasons": ""}, {"status": "ineligible"}, {"reasons": "fare_window_closed"},
        {"file": "other.xlsx"}, {"sheet": "Other"}, {"row": 3},
    ],
)  # fmt: skip
def test_whatever_is_new_is_noted_and_so_is_the_way_back(book: Any, change: dict[str, Any]) -> None:
    changed = WAITING._replace(**change)
    noted(book, WAITING)
    assert noted(book, changed) == [WAITING, changed]
    assert noted(book, changed) == [WAITING, changed]
    assert noted(book, WAITING) == [WAITING, changed, WAITING]


def test_charges_of_a_ticket_are_judged_each_for_itself(book: Any) -> None:
    seat = WAITING._replace(charge="ancillary", product="seat", row=3)
    meal = WAITING._replace(charge="ancillary", product="meal", row=4)
    assert noted(book, WAITING, seat, meal) == [WAITING, seat, meal]
    assert noted(book, meal, seat, WAITING) == [WAITING, seat, meal]


def test_the_last_judgement_of_another_charge_or_ticket_says_nothing_of_this_one(book: Any) -> None:
    """Nothing but the ticket, or nothing but the charge, tells these from one another."""
    refund = WAITING._replace(charge="refund", row=3)
    other = WAITING._replace(ticket_no="9990000000002", row=4)
    assert noted(book, WAITING, refund, other) == [WAITING, refund]
    assert noted(book, other, refund, WAITING) == [WAITING, refund]
    assert noted(book, WAITING._replace(row=3)) == [WAITING, refund, WAITING._replace(row=3)]


def test_a_charge_that_stands_twice_is_noted_for_both_rows(book: Any) -> None:
    first = WAITING._replace(status="ineligible", reasons="duplicate_charge")
    second = first._replace(row=3)
    assert noted(book, first, second) == [first, second]


def test_nothing_judged_is_nothing_noted(book: Any) -> None:
    assert noted(book) == []


def test_a_failing_note_leaves_nothing_half_written(book: Any) -> None:
    judgements.note(book.connection, book.run, [WAITING])
    runs._end_run(book.connection, book.run, 0)
    seat = WAITING._replace(charge="ancillary", product="seat")
    with pytest.raises(Exception, match="made by a run that is on"):
        judgements.note(book.connection, book.run, [seat])
    assert noted(book, WAITING) == [WAITING]
