"""A whole folder that was put back from an earlier time is known for one, and no crash has a sound ledger taken for one."""

import itertools
import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from pipeline.ledger import (
    checkpoint,
    gaps,
    last_run_witness,
    older_copy,
    opening,
    planning,
    reversals,
    runs,
    withdrawals,
)
from pipeline.ledger.backup import copied
from pipeline.ledger.lock import LastRun, Lock, Phase
from pipeline.ledger.recovery import recover
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.message import verbatim

from .conftest import OWNER, Book, charge, invoice

PUT_BACK = (
    r"a\.ledger: was put back from an earlier time: it does not know a run that .*\.last-run notes \(begun 2"
)
UNKNOWN_HERE = r"a\.ledger: its last run is not noted on this machine for this user \(.*mark-gap --nothing-missing; else: voucher ledger"
UNNOTED = r"a\.ledger: its last run is not noted beside it \(a\.ledger\.lock\).*mark-gap --nothing-missing; else: voucher ledger"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a ledger lies, in a folder of its own."""
    (tmp_path / "books").mkdir()
    return tmp_path / "books" / "a.ledger"


@contextmanager
def opened(path: Path, **more: Any) -> Iterator[tuple[apsw.Connection, Lock]]:
    connection, lock = opening.open_for_run(path, OWNER, opening.OpenOptions(**more), may_create=True)
    with closing(lock), closing(connection):
        yield connection, lock


def run(path: Path, number: int, *, killed: bool = False, **more: Any) -> None:
    """A run that issues one ticket, or is killed when it has."""
    with opened(path, **more) as (connection, lock):
        recover(connection, path, lock, lambda *_: pytest.fail("nothing was answered"))
        begun = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
        book = Book.of(path, connection, begun)
        (attempt,) = book.plan(invoice(charge(number)))
        book.state(attempt.attempt_id, "sending")
        book.state(attempt.attempt_id, "issued", str(number))
        if not killed:
            runs.end(connection, lock, begun, 0)


def kept(path: Path) -> Path:
    """A copy of the ledger's whole folder as it is now."""
    copy = path.parent.with_name(f"kept-{len(list(path.parent.parent.iterdir()))}")
    return Path(shutil.copytree(path.parent, copy))


def put_back(folder: Path, path: Path) -> None:
    shutil.rmtree(path.parent)
    shutil.copytree(folder, path.parent)


def refused(path: Path, told: str) -> None:
    """No run is begun, and nothing of it is changed; whoever only reads is told."""
    before = {left.name: left.read_bytes() for left in path.parent.iterdir() if "-shm" not in left.name}
    with pytest.raises(InputProblem, match=told), opened(path):
        pass
    after = {left.name: left.read_bytes() for left in path.parent.iterdir() if "-shm" not in left.name}
    assert {name: after[name] for name in before} == before
    with closing(reading(path)) as connection:
        assert re.match(f".*{told}", str(older_copy.doubt(path, connection, last_run_witness.places())))


def reading(path: Path) -> apsw.Connection:
    connection = opening.open_for_reading(path, OWNER)
    assert connection is not None
    return connection


def known(path: Path) -> set[str]:
    with closing(reading(path)) as connection:
        return {ticket for (ticket,) in connection.execute("SELECT ticket_no FROM charge WHERE live = 1")}


def the_note(folder: Path) -> dict[str, Any]:
    (path,) = folder.glob("*.last-run")
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


# --- a ledger that was put somewhere without its lock file -----------------------------------------


@pytest.mark.parametrize("killed", [False, True])
def test_a_ledger_without_a_note_of_its_last_run_sends_nothing_and_can_be_read(
    path: Path, killed: bool
) -> None:
    run(path, 1, killed=killed)
    path.with_name("a.ledger.lock").unlink()
    refused(path, UNNOTED)
    assert known(path) == {"9990000000001"}
    with opened(path, unnoted=True), closing(reading(path)) as connection:
        assert runs.last_run(connection, Phase.ON).run == 1


def test_a_ledger_whose_lock_file_was_cut_off_has_no_note_either(path: Path) -> None:
    run(path, 1)
    path.with_name("a.ledger.lock").write_bytes(b'{"ledger_id"')
    refused(path, UNNOTED)


def test_a_note_that_a_power_cut_garbled_is_none_where_the_one_outside_is_of_this_state(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(path, 1)
    shutil.copy(path, tmp_path / "older")
    run(path, 2)
    lock = path.with_name("a.ledger.lock")
    for garbled in (b"\xa5" * 512, bytes(512), lock.read_bytes()[:100].ljust(512, b"\xa5")):
        lock.write_bytes(garbled)
        with opened(path):
            pass
    lock.write_bytes(b"\xa5" * 512)
    run(path, 3)
    assert known(path) == {f"999000000000{number}" for number in (1, 2, 3)}
    for not_written in (b"", b" " * 512):  # as in another folder, or where the ledger was moved away
        lock.write_bytes(not_written)
        refused(path, UNNOTED)
    lock.write_bytes(b"\xa5" * 512)
    with monkeypatch.context() as patch:  # another machine
        patch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
        refused(path, UNNOTED)
    shutil.copy(tmp_path / "older", path)
    refused(path, "was put back from an earlier time")


def test_a_ledger_that_has_had_no_run_needs_no_note(path: Path) -> None:
    with opened(path):
        pass
    path.with_name("a.ledger.lock").unlink()
    run(path, 1)
    assert known(path) == {"9990000000001"}


def test_an_open_gap_says_already_that_nothing_is_sent(path: Path, tmp_path: Path) -> None:
    run(path, 1)
    backup = tmp_path / "backup.ledger"
    with closing(reading(path)) as connection:
        copied(connection, backup, lambda copy: gaps.mark_gap(copy, "2026-11-20", verbatim("it is a backup")))
    run(path, 2)
    with opened(backup) as (connection, lock):
        assert not older_copy.doubt(backup, connection, last_run_witness.places())
        runs.begin_change(connection, lock, closes_gap=True)
        gaps.close_gaps(connection, "chen", verbatim("statement"))
        runs.end_change(connection, lock)
    run(backup, 3)  # what it lacked was settled since
    refused(path, PUT_BACK)  # and the one that it came from is the older one now


# --- a folder that was put back -----------------------------------------------------------------------


def test_a_folder_put_back_from_last_night_is_known_for_one(path: Path) -> None:
    run(path, 1)
    last_night = kept(path)
    run(path, 2)
    tonight = kept(path)
    put_back(last_night, path)
    refused(path, PUT_BACK)
    put_back(tonight, path)
    run(path, 3)
    assert known(path) == {"9990000000001", "9990000000002", "9990000000003"}


def test_one_from_before_the_first_run_is_too(path: Path) -> None:
    with opened(path):
        pass
    new = kept(path)
    run(path, 1)
    put_back(new, path)
    refused(path, PUT_BACK)


def test_one_made_while_a_run_was_on_that_has_ended_since_is_too(path: Path) -> None:
    run(path, 1)
    with opened(path) as (connection, lock):
        begun = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
        meanwhile = kept(path)
        book = Book.of(path, connection, begun)
        (attempt,) = book.plan(invoice(charge(2)))
        book.state(attempt.attempt_id, "sending")
        book.state(attempt.attempt_id, "issued", "2")
        runs.end(connection, lock, begun, 0)
    put_back(meanwhile, path)
    refused(path, PUT_BACK)


def test_a_copy_of_the_folder_that_had_a_run_of_its_own_is_told_from_the_other(path: Path) -> None:
    run(path, 1)
    copy = kept(path) / "a.ledger"
    run(copy, 2)
    refused(path, PUT_BACK)
    run(copy, 3)


def test_what_it_lacks_is_settled_by_a_gap_alone(path: Path) -> None:
    run(path, 1)
    last_night = kept(path)
    run(path, 2)
    put_back(last_night, path)
    with opened(path, may_lack=True) as (connection, lock):
        runs.begin_change(connection, lock)
        gaps.mark_gap(connection, "2026-11-20", verbatim("put back"))
        runs.end_change(connection, lock)
    with opened(path) as (connection, lock):
        runs.begin_change(connection, lock, closes_gap=True)
        gaps.close_gaps(connection, "chen", verbatim("statement"))
        runs.end_change(connection, lock)
    settled = kept(path)
    run(path, 2)
    for older in (last_night, settled):  # a gap that was closed says nothing of what came after it
        put_back(older, path)
        refused(path, PUT_BACK)


def marked(book: apsw.Connection) -> None:
    gaps.mark_gap(book, "2026-11-20", verbatim("its -wal is lost"))


def reversed_(book: apsw.Connection) -> None:
    reversals.reverse(book, reversals.SaidReversed("1", "chen", "red invoice"))


def withdrawn(book: apsw.Connection) -> None:
    withdrawals.withdraw(book, "R1", withdrawn_by="chen", why="another number")


@pytest.mark.parametrize("alone", [False, True], ids=["the folder", "the file alone"])
@pytest.mark.parametrize("words", [[marked], [reversed_], [reversed_, withdrawn]])
def test_one_from_before_what_was_recorded_outside_any_run_is_too(
    path: Path, words: list[Callable[[apsw.Connection], None]], *, alone: bool
) -> None:
    run(path, 1)
    before = path
    for word in words:
        before = kept(path)
        with opened(path) as (connection, lock):
            runs.begin_change(connection, lock)
            word(connection)
            runs.end_change(connection, lock)
    with opened(path):
        pass  # the latest one is taken
    if alone:
        shutil.copy(before / path.name, path)
        with (
            pytest.raises(InputProblem, match=r"does not know the last run .* or what was recorded after it"),
            opened(path),
        ):
            pass
    else:
        put_back(before, path)
        refused(path, PUT_BACK)


def test_whoever_says_that_nothing_is_missing_does_not_say_that_of_what_a_witness_knows(path: Path) -> None:
    run(path, 1)
    last_night = kept(path)
    run(path, 2)
    put_back(last_night, path)
    path.with_name("a.ledger.lock").unlink()
    with pytest.raises(InputProblem, match=PUT_BACK), opened(path, unnoted=True):
        pass


@pytest.mark.parametrize("killed", [False, True])
def test_on_a_machine_that_knows_nothing_of_it_nothing_is_sent_until_somebody_says_what_is_missing(
    path: Path, state_folder: Path, *, killed: bool
) -> None:
    run(path, 1, killed=killed)
    shutil.rmtree(state_folder)
    refused(path, UNKNOWN_HERE)
    with opened(path, unnoted=True) as (connection, lock):
        recover(connection, path, lock, lambda *_: pytest.fail("nothing was answered"))
        runs.begin_change(connection, lock)
        runs.end_change(connection, lock)
    run(path, 2)
    assert the_note(state_folder)["run"] == 2


def test_a_second_place_that_knows_it_is_enough(
    path: Path, state_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "second").mkdir()
    monkeypatch.setenv("VOUCHER_WITNESS", str(tmp_path / "second"))
    run(path, 1)
    shutil.rmtree(state_folder)
    run(path, 2)
    assert the_note(state_folder)["run"] == 2


def backup_of(path: Path) -> Path:
    """A copy that knows that it is one, in a folder of its own."""
    backup = path.parent.with_name("backups") / "backup.ledger"
    backup.parent.mkdir()
    with closing(reading(path)) as connection:
        copied(connection, backup, lambda copy: gaps.mark_gap(copy, "2026-11-20", verbatim("a backup")))
    return backup


def idle(path: Path) -> None:
    """A run that sends nothing, as with an open gap."""
    with opened(path) as (connection, lock):
        recover(connection, path, lock, lambda *_: pytest.fail("nothing was answered"))
        runs.end(connection, lock, runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20")), 2)


def test_a_run_and_a_change_on_a_backup_leave_the_notes_of_the_live_ledger_alone(
    path: Path, state_folder: Path
) -> None:
    run(path, 1)
    backup = backup_of(path)
    noted = the_note(state_folder)
    idle(backup)
    with opened(backup) as (connection, lock):
        runs.begin_change(connection, lock)
        reversed_(connection)
        runs.end_change(connection, lock)
    with opened(backup, may_lack=True) as (connection, lock):
        runs.begin_change(connection, lock)
        gaps.mark_gap(connection, "2026-11-19", verbatim("earlier still"))
        runs.end_change(connection, lock)
    assert the_note(state_folder) == noted
    run(path, 2)


@pytest.mark.parametrize("killed", [False, True])
def test_a_gap_marked_in_the_live_ledger_is_noted_and_so_is_its_closing(
    path: Path, state_folder: Path, *, killed: bool
) -> None:
    run(path, 1)
    with opened(path, may_lack=True) as (connection, lock):
        runs.begin_change(connection, lock)
        gaps.mark_gap(connection, "2026-11-20", verbatim("somebody says so"))
        runs.end_change(connection, lock)
    assert the_note(state_folder)["changes"] == 1
    idle(path)
    if killed:
        with opened(path) as (connection, lock):
            runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
    assert the_note(state_folder)["run"] == 1
    open_still = kept(path)
    with opened(path) as (connection, lock):
        runs.begin_change(connection, lock, closes_gap=True)
        gaps.close_gaps(connection, "chen", verbatim("statement"))
        runs.end_change(connection, lock)
    assert the_note(state_folder)["run"] == (3 if killed else 2)
    run(path, 4)
    with opened(open_still / "a.ledger") as (connection, _):
        assert gaps.open_gap(connection) is not None


def test_a_ledger_that_is_thrown_away_leaves_nothing(path: Path, state_folder: Path) -> None:
    run(path, 1, kept=False)
    assert not state_folder.exists()


def test_two_copies_of_a_folder_are_not_at_work_at_once(path: Path) -> None:
    run(path, 1)
    copy = kept(path) / "a.ledger"
    with opened(path):
        with pytest.raises(LedgerProblem, match=r"a\.ledger: another run is using this ledger"), opened(copy):
            pass
        assert known(copy) == {"9990000000001"}
    run(copy, 2)
    refused(path, PUT_BACK)


# --- where and how it is noted ----------------------------------------------------------------------


def test_a_run_is_noted_when_it_begins_and_when_it_ends(path: Path, state_folder: Path) -> None:
    with opened(path) as (connection, lock):
        begun = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
        last = runs.last_run(connection, Phase.ON)
        note = the_note(state_folder)
        assert note.pop("written_at") >= last.started_at
        assert note.pop("ledger") == str(path.resolve())
        assert note == {
            "ledger_id": last.ledger_id,
            "run": begun,
            "started_at": last.started_at,
            "phase": "on",
            "changes": 0,
        }
        runs.end(connection, lock, begun, 0)
        assert the_note(state_folder)["phase"] == "at rest"
    (file,) = state_folder.glob("*.last-run")
    assert file.name == f"{last.ledger_id}.last-run"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(state_folder.stat().st_mode) == 0o700


def test_a_killed_run_is_noted_as_ended_once_the_next_start_has_put_it_in_order(
    path: Path, state_folder: Path
) -> None:
    run(path, 1, killed=True)
    assert the_note(state_folder)["phase"] == "on"
    with opened(path) as (connection, lock):
        recover(connection, path, lock, lambda *_: pytest.fail("nothing was answered"))
    assert the_note(state_folder)["phase"] == "at rest"


def test_a_second_place_knows_what_a_first_one_that_was_put_back_does_not(
    path: Path, state_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = tmp_path / "second"
    second.mkdir()
    monkeypatch.setenv("VOUCHER_WITNESS", str(second))
    run(path, 1)
    last_night, first = kept(path), the_note(state_folder)
    run(path, 2)
    put_back(last_night, path)
    (file,) = state_folder.glob("*.last-run")
    file.write_text(json.dumps(first))
    refused(path, PUT_BACK)
    monkeypatch.delenv("VOUCHER_WITNESS")
    with opened(path):  # both were put back: nobody is left who knows better
        pass


def test_a_second_place_must_be_there(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOUCHER_WITNESS", str(tmp_path / "not mounted"))
    told = rf"^VOUCHER_WITNESS: there is no folder {tmp_path}/not mounted; make it, or mount its disk, then run again$"
    with pytest.raises(InputProblem, match=told), opened(path):
        pass
    assert not path.exists()


def test_without_a_home_a_place_must_be_named(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "")
    monkeypatch.setattr(os.path, "expanduser", lambda given: given)  # nor does the system know of any
    with pytest.raises(InputProblem, match=r"no home folder to note.*VOUCHER_WITNESS"), opened(path):
        pass
    monkeypatch.setenv("VOUCHER_WITNESS", str(tmp_path))
    run(path, 1)
    assert len(list(tmp_path.glob("*.last-run"))) == 1


def test_a_place_that_can_not_be_written_stops_a_run_before_it_sends_anything(
    path: Path, state_folder: Path
) -> None:
    state_folder.write_text("a file where the folder should be")
    told = r"\.(lock|last-run): this note of the ledger's last run can't be written \("
    with pytest.raises(LedgerProblem, match=told), opened(path):
        pass
    state_folder.unlink()
    with opened(path) as (connection, lock):
        shutil.rmtree(state_folder)
        state_folder.write_text("a file where the folder should be")
        with pytest.raises(LedgerProblem, match=told):
            runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
        assert runs.begun_and_not_ended(connection) is None
    state_folder.unlink()
    run(path, 1)
    assert known(path) == {"9990000000001"}


@pytest.mark.parametrize("left", [b"", b"{}", b"[]", b'{"run": 1, "started_at": "x", "phase": "y"}', b"\xff"])
def test_a_note_that_makes_no_sense_is_told_and_made_anew_by_a_gap(
    path: Path, state_folder: Path, left: bytes
) -> None:
    run(path, 1)
    (file,) = state_folder.glob("*.last-run")
    file.write_bytes(left)
    with pytest.raises(LedgerProblem, match=r"\.last-run: this note .* can't be read"), opened(path):
        pass
    with opened(path, may_lack=True) as (connection, lock):
        runs.begin_change(connection, lock)
        gaps.mark_gap(connection, "2026-11-20", verbatim("damaged"))
        runs.end_change(connection, lock)
    assert the_note(state_folder)["run"] == 1


def test_a_note_appears_whole_and_on_disk(
    path: Path, state_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(file: int) -> None:
        seen.append(f"synced {Path(f'/proc/self/fd/{file}').readlink().suffix}")
        real_fsync(file)

    def replace(old: Any, new: Any, **more: Any) -> None:
        seen.append("replaced")
        real_replace(old, new, **more)

    run(path, 1)
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    last_run_witness.note((state_folder,), path, LastRun("id", 1, "2026-11-20"))
    assert seen == ["synced .new", "replaced", "synced "]  # the last one is its folder
    assert {file.name for file in state_folder.iterdir()} >= {"id.last-run"}
    assert not [file for file in state_folder.iterdir() if file.name.startswith(".")]


# --- no crash blocks a sound ledger, none lets an older one pass ---------------------------------------


def dies(at: int, work: Callable[[], None]) -> bool:
    """Whether that work, in a process of its own, died before it had asked the disk for something so many times.

    Asked for are syncs, new names, notes and folds, and what SQLite is told to change.
    """
    child = os.fork()
    if not child:
        left = itertools.count(at, -1)

        def stepping(real: Callable[..., Any]) -> Callable[..., Any]:
            def step(*given: Any, **named: Any) -> Any:
                if next(left) == 0:
                    os._exit(9)
                return real(*given, **named)

            return step

        try:
            for name in ("fsync", "replace", "pwrite", "link", "unlink"):
                setattr(os, name, stepping(getattr(os, name)))
            for module in (runs, planning, gaps, checkpoint):
                for name in ("fold", "folded", "_begin_run", "_end_run", "mark_gap", "close_gaps"):
                    if name in module.__dict__:
                        setattr(module, name, stepping(module.__dict__[name]))
            work()
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


@pytest.mark.parametrize(
    "what",
    [
        pytest.param("another run", marks=pytest.mark.slow),
        *(
            pytest.param(what, marks=pytest.mark.slow)
            for what in ("gap", "first run", "close", "close a backup's", "nothing missing")
        ),
    ],
)
def test_wherever_it_is_cut_off_the_next_start_goes_on_and_an_older_folder_does_not(
    path: Path, state_folder: Path, what: str
) -> None:
    for at in range(200):
        for folder in (path.parent, state_folder):
            shutil.rmtree(folder, ignore_errors=True)
        path.parent.mkdir()
        prepared(path, what)
        older = kept(path)
        crashed = dies(at, lambda: done(path, what))
        survived(path, what, crashed=crashed)
        if what == "another run":
            put_back(older, path)
            refused_unless_nothing_was_sent(path, crashed=crashed)
        shutil.rmtree(older)
        if not crashed:
            assert at > 5
            return
    raise AssertionError("it does not end")


def prepared(path: Path, what: str) -> None:
    """The ledger before that."""
    if what != "first run":
        run(path, 1)
    if what in ("gap", "close"):
        last_night = kept(path)
        run(path, 2)
        put_back(last_night, path)
        shutil.rmtree(last_night)
    if what == "close":
        done(path, "gap")
    if what == "close a backup's":  # which is put in its place while the notes are of a later run
        backup = path.with_name("backup")
        with closing(reading(path)) as connection:
            copied(connection, backup, lambda copy: gaps.mark_gap(copy, "2026-11-20", verbatim("a backup")))
        run(path, 2)
        backup.replace(path)
    if what == "nothing missing":
        path.with_name("a.ledger.lock").unlink()


def done(path: Path, what: str) -> None:
    """That itself, as the program does it."""
    more: dict[str, Any] = {"gap": {"may_lack": True}, "nothing missing": {"unnoted": True}}.get(what, {})
    with opened(path, **more) as (connection, lock):
        if what in ("first run", "another run"):
            recover(connection, path, lock, lambda *_: pytest.fail("nothing was answered"))
            begun = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20"))
            if what == "another run":
                book = Book.of(path, connection, begun)
                (attempt,) = book.plan(invoice(charge(2)))
                book.state(attempt.attempt_id, "sending")
                book.state(attempt.attempt_id, "issued", "2")
                runs.end(connection, lock, begun, 0)
            return
        runs.begin_change(connection, lock, closes_gap=what.startswith("close"))
        with connection:
            if what in ("gap", "nothing missing"):
                gaps.mark_gap(connection, "2026-11-20", verbatim("put back"))
            if what.startswith("close") or what == "nothing missing":
                gaps.close_gaps(connection, "chen", verbatim("statement"))
        runs.end_change(connection, lock)


def problem_of(path: Path) -> str:
    """Why no run is begun, "" where one may be, or where an open gap keeps it from sending."""
    try:
        with opened(path):
            return ""
    except InputProblem as problem:
        return str(problem)


def survived(path: Path, what: str, *, crashed: bool) -> None:
    """The next start, however it ended: a ledger that was sound is taken, one that is older only with its gap."""
    problem = problem_of(path)
    if what == "gap" and not problem:
        with closing(reading(path)) as connection:
            assert gaps.open_gap(connection) is not None
    elif what == "gap":
        assert crashed
        assert "was put back" in problem
    elif what == "nothing missing" and problem:
        assert crashed
        assert "is not noted" in problem
    else:
        assert problem == ""
        with opened(path) as (connection, lock):
            recover(connection, path, lock, lambda *_: pytest.fail("nothing was answered"))


def refused_unless_nothing_was_sent(path: Path, *, crashed: bool) -> None:
    """An older folder passes only where the run that it lacks was cut off before it could send anything."""
    with closing(reading(path)) as connection:
        ledger_id = opening.ledger_id(connection)
    notes = [noted.run for _, noted in last_run_witness.noted(last_run_witness.places(), ledger_id)]
    if problem := problem_of(path):
        assert "was put back" in problem
    else:
        assert crashed
        assert notes == [1]  # of the one before it
