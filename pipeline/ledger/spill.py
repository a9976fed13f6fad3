"""The spill file: outcomes that a failing ledger could not take, kept beside it for the next start.

Its space is written and synced before the first request leaves, so that a full disk can't lose what
the carrier has answered. Lines of JSON from the start of the file; the rest is zero bytes.
"""

import base64
import contextlib
import fcntl
import json
import os
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Self

from pipeline.file_writing import appear, sync
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import system_error, to_text
from pipeline.model.outcome import Answered, Outcome

#: One attempt's raw answer at its largest (client.LARGEST_ANSWER in Base64) with its outcome, that of the attempt before it, and what was
#: claimed and never sent.
_SPACE_EACH = 104 * 1024
#: ioctl_iflags(2), on 64 bits.
_GET_FLAGS, _SET_FLAGS, _NO_COW = 0x80086601, 0x40086602, 0x00800000


def spill_path(ledger: Path) -> Path:
    """Where a ledger's spill file lies."""
    return ledger.with_name(ledger.name + ".spill")


class Spill:
    """The open spill file of a run."""

    def __init__(self, path: Path, ledger_id: str, in_flight: int) -> None:
        """Reserve space for as many attempts as may be in flight.

        Raises LedgerProblem if the disk has no room for it.
        """
        self._path = path
        self._ledger_id = ledger_id
        self._at = 0
        self._failed: list[str] = []
        try:
            self._file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                _overwrite_in_place(self._file)
                self._reserve(in_flight)
            except OSError:
                os.close(self._file)
                raise
        except OSError as error:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            raise LedgerProblem(
                "{path}: no room to keep outcomes safe ({why}); free some disk space and run again",
                path=str(path),
                why=system_error(error),
            ) from None

    def _reserve(self, in_flight: int) -> None:
        zeros = bytes(_SPACE_EACH)
        for _ in range(in_flight):
            _write_all(self._file, zeros)
        os.fsync(self._file)
        sync(self._path.parent)

    @property
    def used(self) -> bool:
        """Whether anything was spilled."""
        return self._at > 0

    @property
    def failed(self) -> list[str]:
        """What could not even be spilled, as lines for a person to keep."""
        return self._failed

    def never_sent(self, attempt_id: int) -> None:
        """The attempt's `sending` may be in the ledger, but its request never left."""
        self._add({"attempt_id": attempt_id, "never_sent": True})

    def answer(self, attempt_id: int, answer: Answered) -> None:
        """A raw answer."""
        body = base64.b64encode(answer.body).decode("ascii")
        self._add(
            {
                "attempt_id": attempt_id,
                "http_status": answer.http_status,
                "body": body,
                "retry_after": answer.retry_after,
            }
        )

    def ended(self, attempt_id: int, outcome: Outcome) -> None:
        """An outcome."""
        self._add(
            {
                "attempt_id": attempt_id,
                "state": outcome.state,
                "reason": outcome.reason,
                "number": outcome.number,
                "trace_id": outcome.trace_id,
                "detail": to_text(outcome.detail),
            }
        )

    def _add(self, entry: dict[str, Any]) -> None:
        line = json.dumps({"ledger_id": self._ledger_id, **entry}, ensure_ascii=True)
        data = line.encode("ascii") + b"\n"
        try:
            os.lseek(self._file, self._at, os.SEEK_SET)
            _write_all(self._file, data)
            os.fsync(self._file)
        except OSError:
            self._failed.append(line)
        else:
            self._at += len(data)

    def close(self) -> None:
        """Remove the file, unless it holds something for the next start, or may: a sync that failed."""
        os.close(self._file)
        if not self.used and not self._failed:
            with contextlib.suppress(OSError):  # with nothing in it, it is in nobody's way
                self._path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _overwrite_in_place(file: int) -> None:
    """Have an empty file's blocks be used again when it is overwritten (`chattr +C`).

    Where a file system writes new ones instead, as btrfs does, what was reserved is of no use once the disk is full.
    """
    with contextlib.suppress(OSError):  # a file system or a system that knows no such flag
        flags = bytearray(8)
        fcntl.ioctl(file, _GET_FLAGS, flags)
        fcntl.ioctl(
            file, _SET_FLAGS, (int.from_bytes(flags, sys.byteorder) | _NO_COW).to_bytes(8, sys.byteorder)
        )


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def spilled(path: Path, ledger_id: str) -> Iterator[dict[str, Any]]:
    """What an earlier run spilled, in its order. Raises LedgerProblem for another ledger's file.

    A last line that was cut off by a crash is passed over: its write was never acknowledged.
    """
    if not path.exists():
        return
    text = path.read_bytes().split(b"\0", 1)[0]
    for line in text.split(b"\n")[:-1]:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry.get("ledger_id") != ledger_id:
            raise LedgerProblem(
                "{path}: this spill file is of another ledger; put it back beside its own", path=str(path)
            )
        yield entry


def set_aside(ledger: Path) -> Path | None:
    """Keep a spill file that does not fit its ledger, under a name that no run takes in; None if there is none."""
    path = spill_path(ledger)
    if not path.exists():
        return None
    if not path.read_bytes().strip(b"\0"):  # the space that was reserved, and nothing in it
        path.unlink()
        return None
    for number in count(1):
        aside = path.with_name(f"{path.name}.kept" + (f".{number}" if number > 1 else ""))
        with contextlib.suppress(FileExistsError):
            appear(path, aside)
            break
    path.unlink(missing_ok=True)
    sync(path.parent)
    return aside
