"""When a run's beginning and end, and the changes that are no run, reach the ledger's file and its lock file."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import apsw
import pytest

from pipeline.ledger import (
    checkpoint,
    gaps,
    opening,
    runs,
)
from pipeline.ledger.clock import utc_now
from pipeline.ledger.lock import LastRun, Lock, Phase
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import to_text, verbatim

from .conftest import OWNER, Book, charge, invoice, read_meanwhile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


@contextmanager
def opened(path: Path, *, busy: int = 5000) -> Iterator[tuple[apsw.Connection, Lock]]:
    """The ledger as for a run; `busy`: milliseconds that SQLite waits for a reader."""
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    connection.set_busy_timeout(busy)
    with closing(lock), closing(connection):
        yield connection, lock


def begin(connection: apsw.Connection, lock: Lock) -> int:
    return runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))


def killed(path: Path) -> LastRun:
    """A run that is begun and never ended; what the lock file notes of it."""
    with opened(path) as (connection, lock):
        begin(connection, lock)
        assert lock.run
        return lock.run


def wal_size(path: Path) -> int:
    return path.with_name("a.ledger-wal").stat().st_size


def alone(path: Path, statement: str) -> list[Any]:
    """What the file itself says, without its -wal."""
    uri = f"file:{path}?immutable=1"
    with closing(apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)) as file:
        return list(file.execute(statement))


@pytest.fixture
def folds(monkeypatch: pytest.MonkeyPatch) -> Callable[[Lock], list[LastRun | None]]:
    """Has what the lock notes written down at every fold from now on."""

    def watch(lock: Lock) -> list[LastRun | None]:
        seen: list[LastRun | None] = []
        real = checkpoint.folded

        def folded(connection: apsw.Connection, *waiting: Any, **how: Any) -> bool:
            seen.append(lock.run)
            return real(connection, *waiting, **how)

        monkeypatch.setattr(checkpoint, "folded", folded)
        monkeypatch.setattr(runs, "folded", folded)
        return seen

    return watch


def test_whenever_the_file_may_be_half_written_the_lock_file_says_so(
    path: Path, folds: Callable[[Lock], list[LastRun | None]]
) -> None:
    with opened(path) as (connection, lock):
        runs.end(connection, lock, begin(connection, lock), 0)
    with opened(path) as (connection, lock):
        seen = folds(lock)
        run = begin(connection, lock)
        assert lock.run == runs.last_run(connection, Phase.ON)
        runs.end(connection, lock, run, 0)
        assert lock.run == runs.last_run(connection, Phase.AT_REST)
    # Before the fold that takes what the run did, the file is as whole as it was while the run was on.
    assert [(last.run, last.phase) for last in seen if last] == [
        (1, Phase.FOLDING),
        (2, Phase.ON),
        (2, Phase.FOLDING),
    ]


def test_a_killed_run_is_ended_in_the_same_order(
    path: Path, folds: Callable[[Lock], list[LastRun | None]]
) -> None:
    killed(path)
    with opened(path) as (connection, lock):
        seen = folds(lock)
        runs.end_open(connection, lock)
        assert lock.run == runs.last_run(connection, Phase.AT_REST)
    assert [last.phase for last in seen if last] == [Phase.ON, Phase.FOLDING]
    assert not path.with_name("a.ledger-wal").exists()  # closing takes it away, as that of any ledger at rest


def test_a_start_that_was_cut_off_between_the_runs_end_and_its_note_is_made_up_for(
    path: Path, folds: Callable[[Lock], list[LastRun | None]]
) -> None:
    killed(path)
    with opened(path) as (connection, lock):
        runs._end_open_runs(connection)
        seen = folds(lock)
        runs.end_open(connection, lock)
        assert lock.run == runs.last_run(connection, Phase.AT_REST)
    assert [last.phase for last in seen if last] == [Phase.FOLDING]


def test_a_run_whose_end_another_command_keeps_out_of_the_file_is_not_noted_at_rest(path: Path) -> None:
    with opened(path, busy=0) as (connection, lock):
        run = begin(connection, lock)
        with read_meanwhile(path):  # all that the run did: that may go into the file
            runs.end(connection, lock, run, 0)
            assert lock.run == runs.last_run(connection, Phase.FOLDING)
            assert runs.begun_and_not_ended(connection) is None
    with opened(path) as (connection, lock):
        runs.end_open(connection, lock)
        assert lock.run == runs.last_run(connection, Phase.AT_REST)


def test_the_lock_file_of_a_ledger_at_rest_is_not_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(path) as (connection, lock):
        runs.end(connection, lock, begin(connection, lock), 0)
        monkeypatch.setattr(Lock, "note", lambda *_: pytest.fail("it was"))
        runs.end_open(connection, lock)


@pytest.mark.parametrize("left", ["on", "killed"])
def test_no_commit_calls_a_run_ended_in_the_file_before_the_lock_file_says_that_it_is_being_written(
    path: Path, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    """SQLite folds at a commit, too, once the -wal has grown: here at every one."""
    if left == "killed":
        killed(path)
    with opened(path) as (connection, lock):
        connection.wal_autocheckpoint(1)
        run = begin(connection, lock) if left == "on" else 1
        open_then: list[Any] = []
        real = Lock.note

        def note(self: Lock, phase: Phase) -> None:
            open_then.extend(alone(path, "SELECT run FROM run WHERE ended_at IS NULL"))
            real(self, phase)

        monkeypatch.setattr(Lock, "note", note)
        if left == "on":
            runs.end(connection, lock, run, 0)
        else:
            runs.end_open(connection, lock)
        assert open_then == [(run,)]
        assert alone(path, "SELECT run FROM run WHERE ended_at IS NULL") == []


def test_no_run_is_in_the_file_before_the_lock_file_says_that_it_is_being_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(path) as (connection, lock):
        connection.wal_autocheckpoint(1)
        then: list[Any] = []
        real = runs._begin_run

        def recorded(*given: Any) -> int:
            then.append(lock.run)
            return real(*given)

        monkeypatch.setattr(runs, "_begin_run", recorded)
        begin(connection, lock)
        (noted,) = then
        assert (noted.run, noted.phase) == (0, Phase.FOLDING)  # that it has had none is noted, too
        assert alone(path, "SELECT run FROM run") == [(1,)]


def test_a_run_that_ends_is_recorded_with_its_exit_code_and_nothing_stays_planned(path: Path) -> None:
    with opened(path) as (connection, lock):
        run = begin(connection, lock)
        Book.of(path, connection, run).plan(invoice(charge(1)))
        runs.end(connection, lock, run, 4)
        assert alone(path, "SELECT exit_code, ended_at >= started_at FROM run") == [(4, 1)]
        assert alone(path, "SELECT state FROM attempt") == []


def test_at_the_end_nobody_is_waited_for_twice(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once everything is in the file, emptying the -wal may be left to the next start."""
    with opened(path, busy=0) as (connection, lock):
        runs.end(connection, lock, begin(connection, lock), 0)
        runs._begin_run(connection, runs.RunStart("issue", "2026-11-20"))
        with read_meanwhile(path):
            looked = iter((0.0, 0.0))  # where a time is awaited, it is asked again and again
            monkeypatch.setattr(checkpoint, "time", SimpleNamespace(monotonic=looked.__next__))
            runs.come_to_rest(connection, lock)
        assert wal_size(path) > 0


def test_a_change_is_in_the_file_alone_when_it_is_told(
    path: Path, folds: Callable[[Lock], list[LastRun | None]]
) -> None:
    with opened(path) as (connection, lock):
        runs.end(connection, lock, begin(connection, lock), 0)
        lock.run = None  # as on a ledger that was copied here
        seen = folds(lock)
        runs.begin_change(connection, lock)
        gaps.mark_gap(connection, "2026-11-20", verbatim("restored"))
        runs.end_change(connection, lock)
        assert seen == [None, runs.last_run(connection, Phase.FOLDING)]
        assert lock.run == runs.last_run(connection, Phase.AT_REST)
        assert wal_size(path) == 0
        assert alone(path, "SELECT why FROM gap") == [(to_text(verbatim("restored")),)]


def test_a_change_in_a_ledger_without_runs_notes_that_it_has_had_none(path: Path) -> None:
    with opened(path) as (connection, lock):
        runs.begin_change(connection, lock)
        gaps.mark_gap(connection, "2026-11-20", verbatim("restored"))
        runs.end_change(connection, lock)
        assert lock.run == runs.last_run(connection, Phase.AT_REST)
        assert lock.run.run == 0
        assert alone(path, "SELECT why FROM gap") == [(to_text(verbatim("restored")),)]


def test_a_change_leaves_a_killed_run_its_wal_and_its_note(path: Path) -> None:
    note = killed(path)
    with opened(path) as (connection, lock):
        runs.begin_change(connection, lock)
        connection.execute("INSERT INTO gap (since, why, found_at) VALUES ('2026-11-20', 'restored', 'now')")
        runs.end_change(connection, lock)
        assert lock.run == note
    assert wal_size(path) > 0


def test_a_change_is_not_begun_while_another_command_would_keep_it_out_of_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "PATIENCE", 0.0)
    with opened(path, busy=0) as (connection, lock):
        runs.end(connection, lock, begin(connection, lock), 0)
        connection.execute("INSERT INTO gap (since, why, found_at) VALUES ('2026-11-20', 'x', 'now')")
        with read_meanwhile(path), pytest.raises(LedgerProblem, match="another command has been reading"):
            runs.begin_change(connection, lock)
        assert lock.run
        assert lock.run.phase is Phase.AT_REST
        runs.begin_change(connection, lock)
        assert lock.run.phase is Phase.FOLDING


@pytest.mark.parametrize(
    "what", ["a run's beginning", "a run's end", "a killed run's end", "a change", "a killed run"]
)
def test_whatever_has_to_wait_for_a_reader_tells_that_once(
    path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    if "killed" in what:
        killed(path)
    with opened(path, busy=0) as (connection, lock):
        run = begin(connection, lock) if what == "a run's end" else 1
        told: list[bool] = []
        lock.waiting = lambda: told.append(True)
        monkeypatch.setattr(checkpoint, "PATIENCE", 2)
        monkeypatch.setattr(
            checkpoint, "time", SimpleNamespace(monotonic=count().__next__)
        )  # a second a look
        with read_meanwhile(path), suppress(LedgerProblem):
            runs._begin_run(
                connection, runs.RunStart("issue", "2026-11-20")
            )  # something that the reader keeps out
            match what:
                case "a run's beginning":
                    begin(connection, lock)
                case "a run's end":
                    runs.end(connection, lock, run, 0)
                case "a killed run's end":
                    runs.end_open(connection, lock)
                case "a change":
                    runs._end_open_runs(connection)
                    runs.begin_change(connection, lock)
                case _:
                    runs.begin_change(connection, lock)
        assert told == [True]


def test_a_ledger_knows_everything_until_its_open_run_began_or_its_last_one_ended(book: Any) -> None:
    begun = runs.begun_and_not_ended(book.connection)
    assert runs.known_until(book.connection) == begun
    book.connection.execute("UPDATE run SET ended_at = '2026-11-20'")
    for ended in ("2026-11-22", "2026-11-21"):
        run = runs._begin_run(book.connection, runs.RunStart("issue", "2026-11-20"))
        book.connection.execute("UPDATE run SET ended_at = ? WHERE run = ?", (ended, run))
    assert runs.known_until(book.connection) == "2026-11-22"


def test_a_time_that_a_clock_ahead_wrote_is_not_believed(book: Any) -> None:
    before = utc_now()
    book.connection.execute("UPDATE run SET ended_at = '2099-01-01T00:00:00.000+00:00'")
    known = runs.known_until(book.connection)
    assert known is not None
    assert before <= known <= utc_now()
