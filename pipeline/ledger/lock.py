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


@dataclass(frozen=True)
class RunId:
    """A run, told from every other run of any ledger."""

    ledger_id: str
    run: int
    started_at: str


class Lock:
    """Held until closed, or until the process dies."""

    def __init__(self, path: Path) -> None:
        """Take the lock beside the ledger's path. Raises LedgerProblem if another run has it."""
        self._file = os.open(
            path.with_name(path.name + ".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600
        )
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
        text = os.pread(self._file, 1024, 0)
        with contextlib.suppress(ValueError, TypeError):  # cut off by a crash: then it is not known
            return RunId(**json.loads(text))
        return None

    @run.setter
    def run(self, run: RunId | None) -> None:
        """Note the run, on disk when this returns."""
        text = json.dumps(asdict(run)).encode() if run else b""
        os.pwrite(self._file, text, 0)
        os.ftruncate(self._file, len(text))
        os.fsync(self._file)

    def close(self) -> None:
        """Let the next run in."""
        os.close(self._file)
