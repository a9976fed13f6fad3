"""Copies and moves of a ledger, down to the files that they make, leave and refuse."""

import os
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from pipeline import file_writing
from pipeline.ledger import backup, carrier_move
from pipeline.ledger.backup import copied
from pipeline.ledger.lock import (
    LastRun,
    Lock,
    Phase,
    noted_run,
)
from pipeline.ledger.spill import spill_path
from pipeline.model.errors import InputProblem, LedgerProblem


def test_a_copy_is_made_without_shared_memory_and_is_a_ledger_like_its_source(
    book: Any, tmp_path: Path
) -> None:
    found: list[Any] = []

    def look(copy: apsw.Connection) -> None:
        found.extend(copy.pragma(name) for name in ("locking_mode", "journal_mode"))
        found.append(Path(copy.filename).stat().st_mode & 0o777)
        found.append(Path(copy.filename).name)

    copied(book.connection, tmp_path / "copy.ledger", look)
    *modes, name = found
    assert modes == ["exclusive", "delete", 0o600]
    assert name.startswith(".copy.ledger.")
    assert name.endswith(".new")
    assert (tmp_path / "copy.ledger").read_bytes()[18:20] == b"\2\2"  # its journal mode is WAL


def test_a_copy_is_on_disk_before_it_appears(
    book: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[tuple[str, bool]] = []
    real_sync, real_appear = file_writing.sync, file_writing.appear

    def sync(path: Path) -> None:
        order.append(("folder" if path == tmp_path else "file", (tmp_path / "copy.ledger").exists()))
        real_sync(path)

    def appear(finished: Path, path: Path) -> None:
        order.append(("appear", path.exists()))
        real_appear(finished, path)

    monkeypatch.setattr(backup, "sync", sync)
    monkeypatch.setattr(backup, "appear", appear)
    copied(book.connection, tmp_path / "copy.ledger")
    assert order == [("file", False), ("appear", False), ("folder", True)]


def test_whatever_a_failed_copy_made_is_removed(
    book: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path.name for path in tmp_path.iterdir()}

    def fail(fresh: Path) -> None:
        for end in ("-wal", "-shm", "-journal"):
            fresh.with_name(fresh.name + end).touch()
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(backup, "sync", fail)
    with pytest.raises(OSError, match="Input/output"):
        copied(book.connection, tmp_path / "copy.ledger")
    assert {path.name for path in tmp_path.iterdir()} == before


def test_a_copy_for_which_there_is_no_room_does_not_appear_and_says_why(
    book: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path.name for path in tmp_path.iterdir()}

    def limit(connection: apsw.Connection) -> None:
        connection.pragma("max_page_count", 4)

    monkeypatch.setattr(apsw, "connection_hooks", [limit])
    with pytest.raises(apsw.FullError, match="database or disk is full"):
        copied(book.connection, tmp_path / "copy.ledger")
    assert {path.name for path in tmp_path.iterdir()} == before


def test_a_damaged_copy_does_not_appear(book: Any, tmp_path: Path) -> None:
    def damage(copy: apsw.Connection) -> None:
        copy.execute("PRAGMA ignore_check_constraints = ON")
        copy.execute("INSERT INTO request VALUES ('R1', 'postcard', '', 1, '', '', '', '', '', '')")
        copy.execute("PRAGMA ignore_check_constraints = OFF")

    with pytest.raises(apsw.CorruptError, match="the copy is damaged: CHECK constraint failed in request"):
        copied(book.connection, tmp_path / "copy.ledger", damage)
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == []


@pytest.mark.parametrize("taken", [False, True])
def test_on_a_disk_without_hard_links_nothing_is_copied_over_another_file_either(
    book: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    copy = tmp_path / "copy.ledger"
    if taken:
        copy.write_text("mine")
        with pytest.raises(FileExistsError):
            copied(book.connection, copy)
        assert copy.read_text() == "mine"
    else:
        copied(book.connection, copy)
        assert copy.stat().st_mode & 0o777 == 0o600
        assert copy.read_bytes()[:15] == b"SQLite format 3"
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == ["copy.ledger"]


def test_a_ledger_at_rest_has_no_open_run_and_no_spill_file(book: Any) -> None:
    told = r"test\.ledger: its last run did not end; before the ledger moves, let a run with the old address"
    with pytest.raises(InputProblem, match=told):
        carrier_move.check_at_rest(book.path, book.connection)
    book.connection.execute("UPDATE run SET ended_at = 'now'")
    carrier_move.check_at_rest(book.path, book.connection)
    spill_path(book.path).write_text("")
    with pytest.raises(InputProblem, match=told):
        carrier_move.check_at_rest(book.path, book.connection)


def test_a_closed_ledger_is_renamed_on_disk_with_the_note_of_its_last_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[Path, LastRun | None, LastRun | None]] = []
    old, new = tmp_path / "a.ledger", tmp_path / "b.ledger"
    monkeypatch.setattr(
        carrier_move, "sync", lambda folder: synced.append((folder, noted_run(old), noted_run(new)))
    )
    old.write_text("all that was issued")
    last = LastRun("id", 7, "2026-11-20T00:00:00.000+00:00")
    with closing(Lock(old)) as lock, carrier_move.free_name(new, "id") as new_lock:
        lock.run = last
        carrier_move.rename(old, lock, new, new_lock)
    assert new.read_text() == "all that was issued"
    assert not old.exists()
    assert synced == [(tmp_path, last, last)]  # until then the ledger is expected under both names
    assert (noted_run(old), noted_run(new)) == (None, last)
    Lock(new).close()  # and its lock is let go


@pytest.mark.parametrize(
    ("left", "told"),
    [
        ("b.ledger", "the new address has a ledger already, so that there are two memories"),
        ("b.ledger-wal", r"b\.ledger-wal, which belongs to one, is there"),
        ("b.ledger.spill", r"b\.ledger\.spill, which belongs to one, is there"),
    ],
)
def test_no_ledger_gets_a_name_that_something_of_another_has(tmp_path: Path, left: str, told: str) -> None:
    (tmp_path / left).write_text("mine")
    with (
        pytest.raises(InputProblem, match=rf"b\.ledger: .*{told}"),
        carrier_move.free_name(tmp_path / "b.ledger", "other"),
    ):
        raise AssertionError("the name is not free")
    assert (tmp_path / left).read_text() == "mine"
    Lock(tmp_path / "b.ledger").close()


def test_no_ledger_gets_the_name_of_one_that_is_missing(tmp_path: Path) -> None:
    with closing(Lock(tmp_path / "b.ledger")) as lock:
        lock.run = LastRun("id", 7, "2026-11-20T00:00:00.000+00:00")
    with (
        pytest.raises(InputProblem, match="one had this name"),
        carrier_move.free_name(tmp_path / "b.ledger", "other"),
    ):
        raise AssertionError("the name is not free")


def test_a_ledger_gets_back_the_name_that_it_had(tmp_path: Path) -> None:
    with closing(Lock(tmp_path / "b.ledger")) as lock:
        lock.run = LastRun("id", 7, "2026-11-20T00:00:00.000+00:00")
    with carrier_move.free_name(tmp_path / "b.ledger", "id") as held:
        assert held.run


def test_no_ledger_gets_a_name_that_a_run_is_about_to_use(tmp_path: Path) -> None:
    with (
        closing(Lock(tmp_path / "b.ledger")),
        pytest.raises(LedgerProblem, match=r"b\.ledger: another run is using this ledger"),
        carrier_move.free_name(tmp_path / "b.ledger", "other"),
    ):
        raise AssertionError("the name is not free")


def test_the_lock_is_private_and_not_handed_to_child_processes(tmp_path: Path) -> None:
    (tmp_path / "a.ledger").write_text("")
    lock = Lock(tmp_path / "a.ledger")
    lock.hold()
    assert (tmp_path / "a.ledger.lock").stat().st_mode & 0o777 == 0o600
    assert [os.get_inheritable(file) for file in lock._files] == [False, False]
    lock.close()


def test_the_run_that_a_lock_notes_is_on_disk_when_it_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bytes | str] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        synced.append(
            os.pread(handle, 1000, 0).rstrip() if stat.S_ISREG(os.fstat(handle).st_mode) else "its folder"
        )
        real(handle)

    lock = Lock(tmp_path / "a.ledger")
    monkeypatch.setattr(os, "fsync", fsync)
    lock.run = LastRun("id", 1234567, "2026-11-20T00:00:00.000+00:00")
    lock.run = LastRun("id", 2, "2026-11-20", Phase.ON)
    lock.run = None
    lock.close()
    assert synced == [
        b'{"ledger_id": "id", "run": 1234567, "started_at": "2026-11-20T00:00:00.000+00:00", "phase": "at rest", "changes": 0}',
        "its folder",  # its name may be new there
        b'{"ledger_id": "id", "run": 2, "started_at": "2026-11-20", "phase": "on", "changes": 0}',
        b"",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "5",
        "[]",
        "null",
        '{"ledger_id": "id"}',
        '{"other": 1}',
        "nonsense",
        "\ufffd",
        '{"ledger_id": "id", "run": 1, "started_at": "x", "phase": "y"}',
    ],
)
def test_a_lock_file_that_makes_no_sense_notes_no_run(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.ledger.lock").write_text(text)
    assert noted_run(tmp_path / "a.ledger") is None
    assert noted_run(tmp_path / "b.ledger") is None


def test_a_lock_that_can_not_be_taken_at_all_is_no_other_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", broken)
    handles = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(OSError, match="No locks available"):
        Lock(tmp_path / "a.ledger")
    assert len(list(Path("/proc/self/fd").iterdir())) == handles
