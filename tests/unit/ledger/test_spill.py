"""The spill file by itself: what was put in is what comes out, and what could not be put in is told."""

import contextlib
import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.ledger import spill
from pipeline.ledger.spill import (
    Spill,
    set_aside,
    spill_path,
    spilled,
)
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import to_text, verbatim
from pipeline.model.outcome import Answered, Outcome

FULL = Outcome(
    "unknown", "answer_unexplained", "N1", "trace", verbatim("已开票 \udcff €"), stop=True, retry_after=3.0
)


def test_the_file_lies_beside_its_ledger() -> None:
    assert spill_path(Path("/var/a.ledger")) == Path("/var/a.ledger.spill")


def test_what_was_spilled_is_read_back_whole_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.spill"
    with Spill(path, "id", 1) as kept:
        assert not kept.used
        kept.never_sent(1)
        kept.answer(2, Answered(503, b"\x00\xff{}\n", "7"))
        kept.ended(3, FULL)
        assert kept.used
        assert kept.failed == []
    assert list(spilled(path, "id")) == [
        {"ledger_id": "id", "attempt_id": 1, "never_sent": True},
        {"ledger_id": "id", "attempt_id": 2, "http_status": 503, "body": "AP97fQo=", "retry_after": "7"},
        {
            "ledger_id": "id",
            "attempt_id": 3,
            "state": "unknown",
            "reason": "answer_unexplained",
            "number": "N1",
            "trace_id": "trace",
            "detail": to_text(verbatim("已开票 \udcff €")),
        },
    ]


def test_nothing_was_spilled_where_there_is_no_file(tmp_path: Path) -> None:
    assert list(spilled(tmp_path / "a.spill", "id")) == []


def test_a_line_that_makes_no_sense_does_not_hide_the_next(tmp_path: Path) -> None:
    path = tmp_path / "a.spill"
    lines = [b'{"ledger_id": "id", "attempt_id": 1}', b"\xff{", b'{"ledger_id": "id", "attempt_id": 2}']
    path.write_bytes(b"\n".join(lines) + b"\n" + bytes(10))
    assert [entry["attempt_id"] for entry in spilled(path, "id")] == [1, 2]


def test_the_space_of_each_request_in_flight_is_written_and_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    path = tmp_path / "a.spill"
    with Spill(path, "id", 3) as kept:
        assert synced == [str(path), str(tmp_path)]
        assert path.read_bytes() == bytes(3 * 104 * 1024)
        kept.never_sent(1)
        assert synced[2:] == [str(path)]


def test_a_spill_file_of_before_is_written_over(tmp_path: Path) -> None:
    """Recovery has taken it in; what is left of it must not be taken in again."""
    path = tmp_path / "a.spill"
    path.write_bytes(b'{"ledger_id": "id", "attempt_id": 9}\n' * 10_000)
    with Spill(path, "id", 1) as kept:
        assert path.stat().st_size == 104 * 1024
        kept.never_sent(1)
    assert [entry["attempt_id"] for entry in spilled(path, "id")] == [1]


def test_it_is_private_and_not_handed_to_child_processes(tmp_path: Path) -> None:
    with Spill(tmp_path / "a.spill", "id", 1) as kept:
        assert (tmp_path / "a.spill").stat().st_mode & 0o777 == 0o600
        assert not os.get_inheritable(kept._file)


def test_what_can_not_be_spilled_is_told_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.spill"
    with Spill(path, "id", 1) as kept:
        kept.never_sent(1)

        def broken(_: int) -> None:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "fsync", broken)
        kept.ended(2, Outcome("issued", number="N2", detail=verbatim("x" * 500)))
        monkeypatch.undo()
        kept.never_sent(3)
        (line,) = kept.failed
    assert '"attempt_id": 2' in line
    assert '"number": "N2"' in line
    # The next line is written over the one that failed; what is left of that makes no sense.
    assert [entry["attempt_id"] for entry in spilled(path, "id")] == [1, 3]


def test_what_is_written_piece_by_piece_is_written_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, bytes(data)[:1000]))
    path = tmp_path / "a.spill"
    with Spill(path, "id", 1) as kept:
        assert path.stat().st_size == 104 * 1024
        kept.answer(1, Answered(200, b"a" * 5000))
    ((entry),) = spilled(path, "id")
    assert entry["body"].startswith("YWFh")
    assert len(entry["body"]) == 6668


def test_no_room_in_its_folder_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(spill, "sync", broken)
    with pytest.raises(
        LedgerProblem, match=r"a\.spill: no room to keep outcomes safe \(Input/output error\)"
    ):
        Spill(tmp_path / "a.spill", "id", 1)
    assert list(tmp_path.iterdir()) == []


def test_no_folder_for_it_is_told(tmp_path: Path) -> None:
    with pytest.raises(LedgerProblem, match=r"no room to keep outcomes safe \(No such file or directory\)"):
        Spill(tmp_path / "none" / "a.spill", "id", 1)


def test_no_room_is_told_though_what_was_written_can_not_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(spill, "sync", broken)
    monkeypatch.setattr(Path, "unlink", broken)
    with pytest.raises(LedgerProblem, match="no room to keep outcomes safe"):
        Spill(tmp_path / "a.spill", "id", 1)


def test_an_unused_file_that_somebody_removed_is_no_problem(tmp_path: Path) -> None:
    with Spill(tmp_path / "a.spill", "id", 1):
        (tmp_path / "a.spill").unlink()


def test_what_is_set_aside_is_kept_under_the_first_free_name(tmp_path: Path) -> None:
    names = ["a.ledger.spill.kept", "a.ledger.spill.kept.2", "a.ledger.spill.kept.3"]
    for number, name in enumerate(names):
        (tmp_path / "a.ledger.spill").write_text(f"outcomes {number}")
        assert set_aside(tmp_path / "a.ledger") == tmp_path / name
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        name: f"outcomes {number}" for number, name in enumerate(names)
    }


def test_it_is_set_aside_on_a_disk_without_hard_links_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "a.ledger.spill").write_text("outcomes")
    assert set_aside(tmp_path / "a.ledger") == tmp_path / "a.ledger.spill.kept"
    assert [path.name for path in tmp_path.iterdir()] == ["a.ledger.spill.kept"]


def test_reserved_space_with_nothing_in_it_is_not_kept(tmp_path: Path) -> None:
    spill_path(tmp_path / "a.ledger").write_bytes(bytes(4096))
    assert set_aside(tmp_path / "a.ledger") is None
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def btrfs(tmp_path: Path) -> Iterator[Path]:
    """A small disk of a file system that writes what is changed to new blocks."""
    if not shutil.which("mkfs.btrfs"):
        pytest.skip("needs btrfs-progs")
    image, folder = tmp_path / "image", tmp_path / "disk"
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(128 * 1024**2)
    subprocess.run(["mkfs.btrfs", "-q", image], check=True)
    if subprocess.run(["mount", "-o", "loop,compress=zstd", image, folder], check=False).returncode:
        pytest.skip("may mount nothing here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.slow
def test_what_was_reserved_on_a_file_system_that_writes_to_new_blocks_is_there_when_it_is_full(
    btrfs: Path,
) -> None:
    path = btrfs / "a.spill"
    with Spill(path, "id", 16) as kept:
        for size in (1 << 20, 4096, 1):
            with contextlib.suppress(OSError), (btrfs / f"filled-{size}").open("ab", buffering=0) as file:
                while True:
                    file.write(os.urandom(size))
                    os.fsync(file.fileno())
        for number in range(16):
            kept.answer(number, Answered(200, os.urandom(64 * 1024)))
            kept.ended(number, FULL)
        assert kept.failed == []
    assert len([*spilled(path, "id")]) == 32


def test_an_empty_file_that_cannot_be_removed_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a.spill"
    with Spill(path, "id", 1):
        path.unlink()
        path.mkdir()  # which can't be removed as a file
    assert path.is_dir()
