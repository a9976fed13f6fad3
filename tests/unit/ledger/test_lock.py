"""The lock beside a ledger, and what is left of it when it can't be taken."""

import errno
import os
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.ledger.lock import (
    LastRun,
    Lock,
    Phase,
    noted_run,
)
from pipeline.model.errors import LedgerProblem

OURS = LastRun("ours", 1, "2026-11-20T00:00:00.000+00:00")
THEIRS = LastRun("theirs", 2, "2026-11-20T00:00:01.000+00:00", Phase.ON)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "a.ledger").write_text("all that was issued")
    return tmp_path / "a.ledger"


def handles() -> list[str]:
    return [str(file.readlink()) for file in Path("/proc/self/fd").iterdir() if file.is_symlink()]


def test_a_lock_file_that_is_written_anew_keeps_others_out_as_the_deleted_one_did(path: Path) -> None:
    """The lock on the ledger's own file is not taken here: there is none but on Linux."""
    with closing(Lock(path)) as lock:
        path.with_name("a.ledger.lock").unlink()
        lock.run = OURS
        with pytest.raises(LedgerProblem, match=r"a\.ledger: another run is using this ledger"):
            Lock(path)
        lock.run = None  # it is the same file still
        assert not [name for name in handles() if "(deleted)" in name and str(path) in name]
    Lock(path).close()


def test_a_lock_file_that_another_run_has_made_anew_is_left_to_that_run(path: Path) -> None:
    with closing(Lock(path)) as lock:
        path.with_name("a.ledger.lock").unlink()
        with closing(Lock(path)) as other:
            other.run = THEIRS
            before = sorted(handles())
            with pytest.raises(LedgerProblem, match=r"a\.ledger: another run is using this ledger"):
                lock.run = OURS
            assert sorted(handles()) == before
            assert noted_run(path) == THEIRS
        lock.run = OURS
        assert noted_run(path) == OURS


def test_the_ledgers_own_file_that_is_locked_leaves_the_lock_file_to_be_closed(path: Path) -> None:
    with closing(Lock(path)) as lock:
        lock.hold()
        path.with_name("a.ledger.lock").unlink()
        with closing(Lock(path)) as other:
            before = sorted(handles())
            with pytest.raises(LedgerProblem, match=r"a\.ledger: another run is using this ledger"):
                other.hold()
            assert sorted(handles()) == before
    assert not [name for name in handles() if str(path) in name]


def test_what_a_killed_run_has_noted_is_on_disk_before_the_next_one_reads_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between writing and syncing it: the next one folded, and a power cut left a torn file and the older note."""
    synced, sync = list[str](), os.fsync

    def syncing(file: int) -> None:
        synced.append(f"{Path(f'/proc/self/fd/{file}').readlink()} {noted_run(path)}")
        sync(file)

    with closing(Lock(path)) as killed:
        killed.run = OURS
    monkeypatch.setattr(os, "fsync", syncing)
    Lock(path).close()
    assert synced == [f"{path}.lock {OURS}"]


def test_a_lock_file_that_can_not_be_synced_is_let_go_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_file: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(OSError, match="Input/output"):
        Lock(path)
    assert not [name for name in handles() if str(path) in name]
