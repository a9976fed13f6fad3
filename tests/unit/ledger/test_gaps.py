"""While a ledger may lack what was issued, nothing is sent; evidence alone ends that."""

from typing import Any

import apsw
import pytest

from pipeline.ledger import gaps, planning, runs
from pipeline.model.message import verbatim


def test_nothing_is_claimed_while_a_gap_is_open(book: Any, fare: Any) -> None:
    (planned,) = book.plan(fare(1))
    book.connection.execute("INSERT INTO gap (since, why, found_at) VALUES ('2026-11-20', 'restored', 'now')")
    with pytest.raises(apsw.ConstraintError, match="gap"):
        book.state(planned.attempt_id, "sending")
    assert gaps.close_gaps(book.connection, "chen", verbatim("statement of 21 Nov: nothing more")) == [
        gaps.Gap("2026-11-20", verbatim("restored"))
    ]
    with pytest.raises(apsw.ConstraintError, match="epoch"):  # planned in the one before the gap
        book.state(planned.attempt_id, "sending")
    planning.drop_planned(book.connection)
    (planned,) = book.plan(fare(1))
    book.state(planned.attempt_id, "sending")
    assert book.states() == {planned.attempt_id: "sending"}
    assert gaps.open_gap(book.connection) is None


def test_the_gap_that_begins_first_is_told(book: Any) -> None:
    for since in ("2026-11-20", "2026-10-01", "2026-11-25"):
        gaps.mark_gap(book.connection, since, verbatim(f"backup of {since}"))
    assert gaps.open_gap(book.connection) == gaps.Gap("2026-10-01", verbatim("backup of 2026-10-01"))
    closed = gaps.close_gaps(book.connection, "chen", verbatim("statement"))
    assert [gap.since for gap in closed] == ["2026-10-01", "2026-11-20", "2026-11-25"]


def test_marking_a_gap_ends_what_was_left_open(book: Any) -> None:
    assert runs.begun_and_not_ended(book.connection)
    gaps.mark_gap(book.connection, "2026-11-20", verbatim("restored"))
    assert runs.begun_and_not_ended(book.connection) is None


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE gap SET since = '2030-01-01'",
        "UPDATE gap SET closed_at = 'now', closed_by = 'chen'",
        "UPDATE gap SET closed_at = 'now', closed_by = 'chen', evidence = ''",
        "UPDATE gap SET closed_at = 'now', closed_by = 'chen', evidence = 'x', since = '2030-01-01'",
        "DELETE FROM gap",
    ],
)
def test_a_gap_is_closed_by_evidence_alone(book: Any, change: str) -> None:
    gaps.mark_gap(book.connection, "2026-11-20", verbatim("restored"))
    with pytest.raises(apsw.ConstraintError):
        book.connection.execute(change)
    assert gaps.open_gap(book.connection) == gaps.Gap("2026-11-20", verbatim("restored"))


def test_evidence_stays_as_it_was_given(book: Any) -> None:
    gaps.mark_gap(book.connection, "2026-11-20", verbatim("restored"))
    gaps.close_gaps(book.connection, "chen", verbatim("statement"))
    for change in ("UPDATE gap SET evidence = 'other'", "UPDATE gap SET closed_by = 'li'", "DELETE FROM gap"):
        with pytest.raises(apsw.ConstraintError):
            book.connection.execute(change)
    assert gaps.close_gaps(book.connection, "li", verbatim("again")) == []
