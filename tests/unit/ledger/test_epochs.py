"""An attempt is named by its epoch, so that no two histories of one ledger give out the same name."""

import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest

from pipeline.ledger import (
    epochs,
    gaps,
    inbox_files,
    opening,
    planning,
    runs,
    settlements,
)
from pipeline.ledger.backup import copied
from pipeline.ledger.inbox_files import Handled
from pipeline.model.message import verbatim

from .conftest import OWNER, Book


def backed_up(book: Book, path: Path) -> Path:
    """A copy that knows that it lacks what came later, as `voucher ledger backup` makes it."""
    copied(book.connection, path, lambda copy: gaps.mark_gap(copy, "2026-11-20", verbatim("it is a backup")))
    return path


def restored(backup: Path, path: Path, request: Any) -> tuple[str, str, int]:
    """A restored backup is used again: the name of its next attempt at this request."""
    shutil.copy(backup, path)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    gaps.close_gaps(connection, "chen", verbatim("nothing is missing"))
    run = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
    places = {charge.row: ("tickets.xlsx", "Tickets", 2) for charge in request.charges}
    (attempt,) = planning.plan(connection, run, [request], places)
    connection.execute("UPDATE attempt SET state = 'sending', sending_at = 'now' WHERE run = ?", (run,))
    connection.execute("UPDATE attempt SET state = 'unknown', ended_at = 'now' WHERE run = ?", (run,))
    (one,) = settlements.unsettled(connection)
    connection.close()
    lock.close()
    assert one.attempt_id == attempt.attempt_id
    return one.epoch, one.request_id, one.attempt


def test_the_first_epoch_is_the_ledgers_own_id(book: Any) -> None:
    assert epochs.of_ledger(book.connection) == [opening.ledger_id(book.connection)]
    assert epochs.current(book.connection) == opening.ledger_id(book.connection)


def test_two_restores_of_one_backup_and_the_original_name_their_next_attempts_apart(
    book: Any, fare: Any, tmp_path: Path
) -> None:
    backup = backed_up(book, tmp_path / "backup.ledger")
    book.plan(fare(1))
    book.connection.execute("UPDATE attempt SET state = 'sending', sending_at = 'now'")
    book.connection.execute("UPDATE attempt SET state = 'unknown', ended_at = 'now'")
    (lost,) = settlements.unsettled(book.connection)
    book.connection.close()
    book.lock.close()  # it is in use no more
    names = [
        (lost.epoch, lost.request_id, lost.attempt),
        restored(backup, tmp_path / "one.ledger", fare(1)),
        restored(backup, tmp_path / "two.ledger", fare(1)),
    ]
    assert {name[1:] for name in names} == {(fare(1).request_id, 1)}
    assert len(set(names)) == 3


def test_nothing_is_sent_between_marking_a_gap_and_the_epoch_after_it(book: Any, fare: Any) -> None:
    gaps.mark_gap(book.connection, "2026-11-20", verbatim("restored"))
    gaps.mark_gap(book.connection, "2026-11-21", verbatim("restored again"))
    book.run = runs._begin_run(book.connection, runs.RunStart("issue", "2026-11-20"))
    (attempt,) = book.plan(fare(1))
    with pytest.raises(apsw.ConstraintError, match="gap"):
        book.state(attempt.attempt_id, "sending")
    with pytest.raises(apsw.ConstraintError, match="no gap is open"):
        book.connection.execute("INSERT INTO epoch (epoch_id, why, begun_at) VALUES ('e', 'another', 'now')")
    gaps.close_gaps(book.connection, "chen", verbatim("statement"))
    assert len(epochs.of_ledger(book.connection)) == 2  # one, for both gaps together
    with pytest.raises(apsw.ConstraintError, match="in its epoch"):
        book.state(attempt.attempt_id, "sending")


def test_attempts_are_planned_in_the_epoch_that_was_begun_last(book: Any, fare: Any) -> None:
    first = epochs.current(book.connection)
    gaps.mark_gap(book.connection, "2026-11-20", verbatim("restored"))
    gaps.close_gaps(book.connection, "chen", verbatim("statement"))
    second = epochs.current(book.connection)
    assert epochs.of_ledger(book.connection) == [first, second]
    book.run = runs._begin_run(book.connection, runs.RunStart("issue", "2026-11-20"))
    book.plan(fare(1))
    assert book.connection.execute("SELECT epoch FROM attempt").get == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE epoch SET why = 'x'",
        "UPDATE epoch SET epoch_id = 'x'",
        "DELETE FROM epoch",
        "INSERT OR REPLACE INTO epoch SELECT * FROM epoch",
        "INSERT OR REPLACE INTO epoch SELECT 7, epoch_id, why, begun_at FROM epoch",
        "INSERT INTO epoch VALUES (0, 'x', 'y', 'z')",
        "INSERT INTO epoch VALUES (9, '', 'y', 'z')",
        "UPDATE attempt SET epoch = 2",
        (
            "INSERT INTO attempt (request_id, attempt, run, state, planned_at, epoch)"
            " SELECT request_id, 9, run, 'planned', '', 2 FROM attempt"
        ),
    ],
)
def test_an_epoch_stays_and_so_does_that_of_an_attempt(book: Any, fare: Any, statement: str) -> None:
    book.plan(fare(1))
    before = list(book.connection.execute("SELECT * FROM epoch, attempt"))
    with pytest.raises(apsw.ConstraintError):
        book.connection.execute(statement)
    assert list(book.connection.execute("SELECT * FROM epoch, attempt")) == before


def test_a_file_that_was_handled_before_a_gap_is_a_new_one_after_it(book: Any) -> None:
    file = Handled("ab", "tickets", "october.xlsx", "", "f1", unfinished=False)
    inbox_files.record(book.connection, book.run, file)
    gaps.mark_gap(book.connection, "2026-11-20", verbatim("restored"))
    assert inbox_files.last(book.connection, "ab", "tickets") == file
    gaps.close_gaps(book.connection, "chen", verbatim("statement"))
    assert inbox_files.last(book.connection, "ab", "tickets") is None
    run = runs._begin_run(book.connection, runs.RunStart("reconcile", "2026-11-21"))
    inbox_files.record(book.connection, run, file)
    assert inbox_files.last(book.connection, "ab", "tickets") == file
