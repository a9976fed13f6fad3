"""A ledger that lacks what was done with it is known for one, whoever moved, copied or restored it."""

import contextlib
import functools
import shutil
import sqlite3
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.ledger import (
    attempts,
    carrier_move,
    checkpoint,
    files_match,
    gaps,
    opening,
    runs,
    schema,
)
from pipeline.ledger.lock import (
    LastRun,
    Lock,
    Phase,
    noted_run,
)
from pipeline.ledger.recovery import recover
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.message import Message, verbatim
from pipeline.model.profile import Owner
from tests.next_version import NEXT

from .conftest import OWNER, Book, charge, invoice, read_meanwhile


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "PATIENCE", 0.0)
    monkeypatch.setattr(opening, "_A_MOMENT", 0.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def run(path: Path, number: int, *, killed: bool = False, **more: Any) -> None:
    """A run that issues one ticket, or is killed when it has."""
    connection, lock = opening.open_for_run(path, OWNER, opening.OpenOptions(**more), may_create=True)
    recover(connection, path, lock, lambda *_: pytest.fail("nothing was answered"))
    begun = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
    book = Book.of(path, connection, begun)
    (attempt,) = book.plan(invoice(charge(number)))
    book.state(attempt.attempt_id, "sending")
    book.state(attempt.attempt_id, "issued", str(number))
    if not killed:
        runs.end(connection, lock, begun, 0)
    connection.close()
    lock.close()


def for_a_run(path: Path, **more: Any) -> None:
    connection, lock = opening.open_for_run(path, OWNER, opening.OpenOptions(**more), may_create=False)
    connection.close()
    lock.close()


def refused(path: Path, told: str) -> None:
    """It is opened neither for a run nor for looking, and all stays as it is."""
    before = {
        left.name: left.read_bytes() for left in path.parent.iterdir() if not left.name.endswith(".lock")
    }
    for opened in (for_a_run, functools.partial(opening.open_for_reading, owner=OWNER)):
        with pytest.raises(InputProblem, match=told):
            opened(path)
    after = {
        left.name: left.read_bytes() for left in path.parent.iterdir() if not left.name.endswith(".lock")
    }
    assert before == after


def known(path: Path, **more: Any) -> set[str]:
    """The tickets that the ledger holds."""
    connection, lock = opening.open_for_run(path, OWNER, opening.OpenOptions(**more), may_create=False)
    found = {ticket for (ticket,) in connection.execute("SELECT ticket_no FROM charge WHERE live = 1")}
    connection.close()
    lock.close()
    return found


# --- while another command reads -----------------------------------------------------------------


def test_no_run_begins_that_another_command_keeps_out_of_the_file(path: Path) -> None:
    run(path, 1)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    connection.set_busy_timeout(0)
    with (
        read_meanwhile(path),
        pytest.raises(LedgerProblem, match=r"a\.ledger: another command has been reading"),
    ):
        runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
    assert runs.begun_and_not_ended(connection) is None
    assert runs.last_run(connection, Phase.FOLDING) != lock.run
    runs.end(connection, lock, runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20")), 0)
    connection.close()
    lock.close()
    assert known(path) == {"9990000000001"}


def test_a_run_that_ends_while_another_command_reads_is_not_called_ended_until_its_file_has_it_all(
    path: Path, tmp_path: Path
) -> None:
    run(path, 1)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    connection.set_busy_timeout(0)
    begun = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
    book = Book.of(path, connection, begun)
    with read_meanwhile(path):
        (attempt,) = book.plan(invoice(charge(2)))
        book.state(attempt.attempt_id, "sending")
        book.state(attempt.attempt_id, "issued", "2")
        runs.end(connection, lock, begun, 0)
        assert runs.begun_and_not_ended(connection)  # the next start ends it
        connection.close()
        lock.close()
        shutil.copy(path, tmp_path / "moved.ledger")
    refused(tmp_path / "moved.ledger", "did not end")
    assert known(path) == {"9990000000001", "9990000000002"}  # with its -wal it is whole
    run(path, 3)
    shutil.copy(path, tmp_path / "again.ledger")
    assert known(tmp_path / "again.ledger", unnoted=True) == {f"999{number:010}" for number in (1, 2, 3)}


def test_recovery_ends_no_run_that_another_command_keeps_out_of_the_file(path: Path) -> None:
    run(path, 1, killed=True)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    connection.set_busy_timeout(0)
    with read_meanwhile(path):
        book = Book.of(path, connection, 1)
        book.plan(invoice(charge(2)))  # something for recovery to do
        with pytest.raises(LedgerProblem, match="another command has been reading"):
            recover(connection, path, lock, lambda *_: pytest.fail("nothing was answered"))
    assert runs.begun_and_not_ended(connection)
    connection.close()
    lock.close()
    run(path, 3)
    assert known(path) == {"9990000000001", "9990000000003"}


# --- older copies, other ledgers ----------------------------------------------------------------


def test_an_older_copy_in_its_place_is_known_for_one(path: Path, tmp_path: Path) -> None:
    run(path, 1)
    shutil.copy(path, tmp_path / "older")
    run(path, 2)
    (tmp_path / "older").replace(path)
    refused(
        path,
        r"does not know the last run on this ledger \(begun 2.*If it is lost for good: voucher ledger mark-gap",
    )
    connection, lock = opening.open_for_run(path, OWNER, opening.OpenOptions(may_lack=True), may_create=False)
    with connection:
        gaps.mark_gap(connection, "2026-11-20", verbatim("an older copy"))
    connection.close()
    lock.close()
    assert known(path) == {"9990000000001"}  # it may be looked at, and sends nothing


@pytest.mark.parametrize(
    "other",
    [
        {"ledger_id": "another"},
        {"ledger_id": "another", "run": 0},  # which had no run yet
        {"run": 2},
        {"started_at": "2026-11-20T00:00:00.000+00:00"},
    ],
)
def test_the_noted_run_is_known_by_its_ledger_its_number_and_its_time(
    path: Path, other: dict[str, Any]
) -> None:
    run(path, 1)
    with contextlib.closing(Lock(path)) as lock:
        assert lock.run
        lock.run = replace(lock.run, **other)
    refused(path, "does not know the last run")


def test_a_copy_that_had_a_run_of_its_own_of_the_same_number_is_known_for_another_ledger(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(path, 1)
    for end in ("", ".lock"):
        shutil.copy(f"{path}{end}", f"{tmp_path}/copy.ledger{end}")
    run(path, 2)
    with monkeypatch.context() as elsewhere:  # where no run of the other is noted
        elsewhere.setenv("XDG_STATE_HOME", f"{tmp_path}-elsewhere")
        run(tmp_path / "copy.ledger", 3, unnoted=True)
    (tmp_path / "copy.ledger").replace(path)
    refused(path, "does not know the last run")


def test_an_older_copy_beside_the_wal_of_a_killed_run_is_refused_and_so_is_marking_its_gap(
    path: Path, tmp_path: Path
) -> None:
    run(path, 1)
    shutil.copy(path, tmp_path / "older")
    run(path, 2, killed=True)
    (tmp_path / "older").replace(path)
    refused(path, r"does not know the last run.*keep a\.ledger-wal elsewhere, then voucher ledger mark-gap")
    with pytest.raises(InputProblem, match=r"keep a\.ledger-wal elsewhere"):
        for_a_run(path, may_lack=True)
    path.with_name("a.ledger-wal").unlink()
    refused(path, "does not know the last run")  # the way out leads through the gap alone
    for_a_run(path, may_lack=True)


def test_a_gap_that_was_settled_since_speaks_for_a_ledger(path: Path, tmp_path: Path) -> None:
    run(path, 1)
    for end in ("", ".lock"):
        shutil.copy(f"{path}{end}", f"{tmp_path}/backup{end}")
    marked, lock = opening.open_for_run(tmp_path / "backup", OWNER, may_create=False)
    with marked:
        gaps.mark_gap(marked, "2026-11-20", verbatim("it is a backup"))
    marked.close()
    lock.close()
    run(path, 2)
    (tmp_path / "backup").replace(path)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)  # open: nothing is sent
    runs.begin_change(connection, lock, closes_gap=True)
    gaps.close_gaps(connection, "chen", verbatim("statement"))
    runs.end_change(connection, lock)
    connection.close()
    lock.close()
    run(path, 2)
    assert known(path) == {"9990000000001", "9990000000002"}


def test_an_older_gap_says_nothing_of_what_came_after_it(path: Path, tmp_path: Path) -> None:
    run(path, 1)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    with connection:
        gaps.mark_gap(connection, "2026-11-20", verbatim("restored"))
    gaps.close_gaps(connection, "chen", verbatim("statement"))
    connection.close()
    lock.close()
    shutil.copy(path, tmp_path / "older")
    run(path, 2)
    (tmp_path / "older").replace(path)
    refused(path, "does not know the last run")


def _settled_gap_of_a_clock_ahead(path: Path) -> None:
    """A ledger that was restored from a backup made by a clock that was ahead; its gap is settled by one that is right."""
    run(path, 1)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    with pytest.MonkeyPatch.context() as patch, connection:
        patch.setattr(gaps, "utc_now", lambda: "2099-01-01T00:00:00.000+00:00")
        gaps.mark_gap(connection, "2026-11-20", verbatim("restored"))
    runs.begin_change(connection, lock, closes_gap=True)
    gaps.close_gaps(connection, "chen", verbatim("statement"))
    runs.end_change(connection, lock)
    connection.close()
    lock.close()


def test_an_older_copy_with_a_gap_that_a_clock_ahead_marked_is_known_for_one(
    path: Path, tmp_path: Path
) -> None:
    _settled_gap_of_a_clock_ahead(path)
    shutil.copy(path, tmp_path / "older")
    run(path, 2)
    (tmp_path / "older").replace(path)
    refused(path, "does not know the last run")


def test_a_killed_runs_wal_is_its_own_whatever_the_clock_said_when_a_gap_was_marked(path: Path) -> None:
    _settled_gap_of_a_clock_ahead(path)
    run(path, 2, killed=True)
    assert known(path) == {"9990000000001", "9990000000002"}


# --- while a -wal is being folded into the file -----------------------------------------------------


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("torn", [False, True])
def test_a_file_that_may_be_half_written_is_taken_together_with_its_wal(
    path: Path, phase: Phase, torn: bool
) -> None:
    """As a power cut leaves it: no page of the -wal is in the file yet, or one is there in part."""
    run(path, 1)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    checkpoint.keep_wal(connection, keep=True)
    book = Book(path, connection, lock)
    (attempt,) = book.plan(invoice(charge(2)))
    book.state(attempt.attempt_id, "sending")
    book.state(attempt.attempt_id, "issued", "2")
    runs._end_open_runs(connection)
    lock.run = runs.last_run(connection, phase)
    page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'run'").get
    size = connection.pragma("page_size")
    connection.close()
    lock.close()
    if torn:
        with path.open("r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"\xff" * 512)
    else:  # no run is noted that is not in the file itself
        refused(path, "does not know the last run")
        return
    looking = opening.open_for_reading(path, OWNER)
    assert looking
    assert looking.execute("SELECT count(*) FROM run").get == 2
    looking.close()
    assert known(path) == {"9990000000001", "9990000000002"}


@pytest.mark.parametrize("clock", [None, "1970-01-01T00:00:09.000+00:00"])
def test_an_older_copy_is_known_for_one_while_the_file_is_being_written_too(
    path: Path, tmp_path: Path, clock: str | None
) -> None:
    """A run that was killed as it began has left a -wal, and a note that the file may be half written.

    A time that no clock should say is a time all the same, and no sign of a torn row.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (opening, attempts) if clock else ():
            patch.setattr(module, "utc_now", lambda: clock)
        run(path, 1)
    shutil.copy(path, tmp_path / "older")
    run(path, 2)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "fold", lambda *_: pytest.fail("killed"))
        with pytest.raises(BaseException, match="killed"):
            runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
    connection.close()
    lock.close()
    assert noted_run(path).phase is Phase.FOLDING  # type: ignore[union-attr]
    assert known(path) == {"9990000000001", "9990000000002"}
    (tmp_path / "older").replace(path)
    refused(path, "does not know the last run")


#: The count of rows in a page of SQLite's (sqlite.org/fileformat.html, 1.6).
NO_ROWS = b"\0\0"


@pytest.mark.parametrize("table", ["run", "ledger"])
@pytest.mark.parametrize("written", [b"\xa5" * 509, NO_ROWS], ids=["nonsense", "no rows"])
def test_a_file_of_which_a_page_is_torn_is_whole_with_its_wal(path: Path, table: str, written: bytes) -> None:
    """As a power cut leaves it while the -wal is being folded into it."""
    run(path, 1)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    checkpoint.keep_wal(connection, keep=True)
    lock.note(Phase.FOLDING)
    if table == "run":
        runs._begin_run(connection, runs.RunStart("issue", "2026-11-20"))
    else:
        for owner in (Owner("http://127.0.0.1:9090", "DEMO"), OWNER):
            carrier_move.move(connection, owner, "chen", "a letter")
    (page,) = next(iter(connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,))))
    connection.close()
    lock.close()
    content = bytearray(path.read_bytes())
    torn = slice((page - 1) * 4096 + 3, (page - 1) * 4096 + 3 + len(written))
    assert content[torn] != written
    content[torn] = written
    path.write_bytes(content)
    if written == NO_ROWS:
        lock = Lock(path)
        for phase in (Phase.ON, Phase.AT_REST):
            lock.note(phase)
            with pytest.raises(InputProblem, match="does not know"):  # nothing was being written
                opening.open_for_reading(path, OWNER)
        lock.note(Phase.FOLDING)
        lock.close()
    assert known(path) == {"9990000000001"}


@pytest.mark.parametrize("table", ["run", "ledger"])
def test_a_row_of_which_a_sector_is_older_is_whole_with_its_wal(path: Path, table: str) -> None:
    """As test_power_loss's model had it: nothing is amiss with the page, but the row says nonsense."""
    run(path, 1)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    checkpoint.keep_wal(connection, keep=True)
    lock.note(Phase.FOLDING)
    (page,) = next(iter(connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,))))
    if table == "run":
        runs._begin_run(connection, runs.RunStart("issue", "2026-11-20"))
        column = "started_at"
    else:
        for owner in (Owner("http://127.0.0.1:9090", "DEMO"), OWNER):
            carrier_move.move(connection, owner, "chen", "a letter")
        column = "ledger_id || base_url || agency || created_at"  # as they stand one after the other
    written = connection.execute(f"SELECT {column} FROM {table} WHERE rowid = 1").get.encode()
    connection.close()
    lock.close()
    content = bytearray(path.read_bytes())
    at = content.index(written, (page - 1) * 4096)
    assert at < page * 4096
    content[at : at + len(written)] = b"\0\t\x17" + written[:-3]
    path.write_bytes(content)
    lock = Lock(path)
    for phase in (Phase.ON, Phase.AT_REST):
        lock.note(phase)
        with pytest.raises(InputProblem, match="does not know"):  # nothing was being written
            opening.open_for_reading(path, OWNER)
    lock.note(Phase.FOLDING)
    lock.close()
    assert known(path) == {"9990000000001"}


def test_a_file_that_is_torn_as_it_is_upgraded_is_whole_with_its_wal(path: Path) -> None:
    """As a power cut leaves it while the upgrade is being folded into it, the first page not yet."""
    run(path, 1)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False, steps=NEXT)
    lock.run = runs.last_run(connection, Phase.FOLDING)
    checkpoint.keep_wal(connection, keep=True)
    runs._begin_run(connection, runs.RunStart("issue", "2026-11-20"))
    page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'run'").get
    size = connection.pragma("page_size")
    connection.close()
    lock.close()
    content = bytearray(path.read_bytes())
    assert content[60:64] == schema.VERSION.to_bytes(4)  # its version: the upgrade is in the -wal
    rows = slice((page - 1) * size + 3, (page - 1) * size + 5)
    assert content[rows] != NO_ROWS
    content[rows] = NO_ROWS
    path.write_bytes(content)
    looking = opening.open_for_reading(path, None, NEXT)
    assert looking is not None
    assert looking.execute("SELECT count(*) FROM run").get == 2
    looking.close()


def test_a_copy_made_while_a_run_was_on_is_known_for_one_when_that_has_ended(
    path: Path, tmp_path: Path
) -> None:
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    begun = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
    book = Book.of(path, connection, begun)
    book.plan(invoice(charge(1)))
    for end in ("", "-wal"):
        shutil.copy(f"{path}{end}", tmp_path / f"copy{end}")
    (attempt,) = book.plan(invoice(charge(2)))
    book.state(attempt.attempt_id, "sending")
    book.state(attempt.attempt_id, "issued", "2")
    runs.end(connection, lock, begun, 0)
    connection.close()
    lock.close()
    for end in ("", "-wal"):
        (tmp_path / f"copy{end}").replace(f"{path}{end}")
    refused(
        path,
        r"is a copy made while a run was on, which has ended since.*keep a\.ledger-wal elsewhere, then voucher",
    )


def test_an_old_wal_put_back_beside_a_ledger_at_rest_is_refused_and_nothing_is_lost_without_it(
    path: Path, tmp_path: Path
) -> None:
    run(path, 1, killed=True)
    shutil.copy(f"{path}-wal", tmp_path / "kept")
    run(path, 2)
    shutil.copy(tmp_path / "kept", f"{path}-wal")
    refused(path, r"a\.ledger-wal beside it is not its own.*keep a\.ledger-wal elsewhere, then run again")
    Path(f"{path}-wal").unlink()
    assert known(path) == {"9990000000001", "9990000000002"}


def test_recovery_that_is_killed_after_a_gap_was_settled_is_repeated(path: Path) -> None:
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    book = Book.of(path, connection, runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20")))
    (attempt,) = book.plan(invoice(charge(1)))
    book.state(attempt.attempt_id, "sending")
    checkpoint.fold(connection)
    connection.close()
    lock.close()
    Path(f"{path}-wal").unlink()
    connection, lock = opening.open_for_run(path, OWNER, opening.OpenOptions(may_lack=True), may_create=False)
    runs.begin_change(connection, lock)
    with connection:
        gaps.mark_gap(connection, "2026-11-20", verbatim("its -wal is lost"))
    runs.end_change(connection, lock)
    connection.close()
    lock.close()
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    checkpoint.keep_wal(connection, keep=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.ledger.recovery.end_open", lambda *_: pytest.fail("killed"))
        with pytest.raises(BaseException, match="killed"):
            recover(connection, path, lock, lambda *_: pytest.fail("nothing was answered"))
    connection.close()
    lock.close()
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    assert dict(connection.execute("SELECT attempt_id, state FROM attempt")) == {1: "unknown"}
    connection.close()
    lock.close()


def test_a_ledger_that_another_program_took_out_of_wal_mode_is_put_back_into_it(path: Path) -> None:
    run(path, 1)
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = delete")
    run(path, 2)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    assert connection.pragma("journal_mode") == "wal"
    connection.close()
    lock.close()
    assert known(path) == {"9990000000001", "9990000000002"}


def test_looking_at_a_ledger_that_is_out_of_wal_mode_leaves_it_so(path: Path) -> None:
    run(path, 1)
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = delete")
    before = path.read_bytes()
    looking = opening.open_for_reading(path, OWNER)
    assert looking is not None
    assert looking.pragma("journal_mode") == "delete"
    assert looking.execute("SELECT count(*) FROM run").get == 1
    looking.close()
    assert path.read_bytes() == before


# --- a -wal that is not there, or holds nothing -------------------------------------------------


@pytest.mark.parametrize("left", ["nothing", "an empty -wal"])
def test_a_killed_runs_ledger_without_what_its_wal_held_is_refused(
    path: Path, tmp_path: Path, left: str
) -> None:
    run(path, 1, killed=True)
    moved = tmp_path / "moved" / "a.ledger"
    moved.parent.mkdir()
    path.rename(moved)
    if left == "an empty -wal":  # as any other program leaves it that opens the file
        other = sqlite3.connect(moved)
        other.execute("SELECT count(*) FROM run").fetchall()
        assert moved.with_name("a.ledger-wal").stat().st_size == 0
        refused(moved, "did not end")
        other.close()
    refused(
        moved,
        r"a\.ledger: the last run on this ledger did not end, and a\.ledger-wal, which holds what that run issued, is not"
        r" beside it \(or is empty\): without it everything would be issued again\. Put it back under that name\. If it is lost"
        r" for good: voucher ledger mark-gap, also where another program has opened the ledger since, which takes that file"
        r" away$",
    )
    for_a_run(moved, may_lack=True)


def test_it_is_refused_under_whatever_name_it_has(tmp_path: Path) -> None:
    strange = tmp_path / "a%41?b#c d.ledger"
    run(strange, 1, killed=True)
    strange.with_name(f"{strange.name}-wal").unlink()
    refused(strange, "did not end")


def test_a_run_has_a_wal_with_content_from_its_beginning(path: Path) -> None:
    """By that an empty one is known for another program's, at whatever moment the run is killed."""
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
    assert path.with_name("a.ledger-wal").stat().st_size > 0
    connection.close()
    lock.close()
    for_a_run(path)


# --- locks ---------------------------------------------------------------------------------------


def test_a_run_keeps_others_out_though_its_lock_file_is_gone(path: Path) -> None:
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    path.with_name("a.ledger.lock").unlink()
    with pytest.raises(LedgerProblem, match=r"a\.ledger: another run is using this ledger"):
        for_a_run(path)
    connection.execute("SELECT count(*) FROM run")
    connection.close()
    lock.close()
    for_a_run(path)


def test_a_lock_file_that_was_deleted_is_written_anew(path: Path) -> None:
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    path.with_name("a.ledger.lock").unlink()
    runs.end(connection, lock, runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20")), 0)
    assert noted_run(path) == runs.last_run(connection, Phase.AT_REST)
    assert not [file for file in Path("/proc/self/fd").iterdir() if "lock (deleted)" in str(file.resolve())]
    connection.close()
    lock.close()


def test_whoever_has_to_wait_for_a_reader_is_told(path: Path) -> None:
    run(path, 1)
    told: list[str | Message] = []
    connection, lock = opening.open_for_run(
        path, OWNER, opening.OpenOptions(note=told.append), may_create=False
    )
    connection.set_busy_timeout(0)
    with pytest.MonkeyPatch.context() as patch, read_meanwhile(path):
        patch.setattr(checkpoint, "PATIENCE", 2)
        patch.setattr(checkpoint, "time", SimpleNamespace(monotonic=count().__next__))  # a second a look
        with pytest.raises(LedgerProblem):
            runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
    assert [str(line) for line in told] == [
        "Waiting for another command that reads the ledger; a minute at most"
    ]
    connection.close()
    lock.close()


def test_a_run_is_noted_beside_its_ledger_and_stays_noted(path: Path) -> None:
    run(path, 1)
    connection, lock = opening.open_for_run(path, OWNER, may_create=False)
    assert noted_run(path) == lock.run == runs.last_run(connection, Phase.AT_REST)
    assert lock.run
    assert lock.run.run == 1
    connection.close()
    lock.close()


def test_no_new_ledger_is_made_where_one_was_used(path: Path) -> None:
    run(path, 1)
    path.unlink()
    with pytest.raises(InputProblem, match=r"one had this name.*delete a\.ledger\.lock"):
        opening.open_for_run(path, OWNER, may_create=True)
    assert not path.exists()


def test_damage_elsewhere_in_an_older_copy_is_no_sign_of_its_being_written(
    path: Path, tmp_path: Path
) -> None:
    run(path, 1)
    connection = sqlite3.connect(path)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'charge'").fetchone()
    connection.close()
    content = bytearray(path.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    lock = Lock(path)
    lock.run = LastRun("another", 2, "2026-11-20T00:00:00.000+00:00", Phase.FOLDING)
    lock.close()
    path.write_bytes(content)
    (tmp_path / "a.ledger-wal").write_bytes(b"-")
    with pytest.raises(InputProblem, match="does not know the last run"):
        files_match.check_memory(path, noted_run(path))


def test_nonsense_in_a_run_long_ended_is_no_sign_of_a_file_being_written(path: Path, tmp_path: Path) -> None:
    run(path, 1)
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER run_ends_once")
    connection.execute("UPDATE run SET started_at = 'nonsense'")
    connection.commit()
    connection.close()
    lock = Lock(path)
    lock.run = LastRun("another", 2, "2026-11-20T00:00:00.000+00:00", Phase.FOLDING)
    lock.close()
    (tmp_path / "a.ledger-wal").write_bytes(b"-")
    with pytest.raises(InputProblem, match="does not know the last run"):
        files_match.check_memory(path, noted_run(path))
