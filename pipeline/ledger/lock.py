"""One run at a time on a ledger, by the kernel's own lock (flock), which dies with the process.

The lock file also says which run is writing the ledger's -wal, until that run has ended: a -wal bears no
name of its own, and SQLite would read any that lies beside a file.
"""

import contextlib
import errno
import fcntl
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from pipeline.errors import LedgerProblem

_LENGTH = 512  # bytes: a sector


@dataclass(frozen=True)
class RunId:
    """A run, told from every other run of any ledger."""

    ledger_id: str
    run: int
    started_at: str


def noted_run(ledger: Path) -> RunId | None:
    """The run whose -wal lies beside a ledger, None where the last one ended well; needs no lock."""
    with contextlib.suppress(OSError, ValueError, TypeError):  # cut off by a crash: then it is not known
        return RunId(**json.loads(_lock_path(ledger).read_bytes()))
    return None


def _lock_path(ledger: Path) -> Path:
    return ledger.with_name(ledger.name + ".lock")


class Lock:
    """Held until closed, or until the process dies."""

    def __init__(self, path: Path) -> None:
        """Take the lock beside the ledger's path. Raises LedgerProblem if another run has it."""
        self._path = path
        self._file = os.open(_lock_path(path), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            raise LedgerProblem(
                f"{path}: another run is using this ledger; wait until it ends, then run again"
            ) from None

    @property
    def run(self) -> RunId | None:
        """The run whose -wal lies beside the ledger, None where the last one ended well."""
        return noted_run(self._path)

    @run.setter
    def run(self, run: RunId | None) -> None:
        """Note the run, on disk when this returns."""
        text = json.dumps(asdict(run)).encode() if run else b""
        # Always the same sector of the file: one that is new to it might hold what was there before.
        os.pwrite(self._file, text.ljust(_LENGTH), 0)
        os.fsync(self._file)

    def close(self) -> None:
        """Let the next run in."""
        os.close(self._file)
