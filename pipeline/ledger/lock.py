"""One run at a time on a ledger, by the kernel's own lock (flock), which dies with the process."""

import errno
import fcntl
import os
from pathlib import Path

from pipeline.errors import LedgerProblem


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

    def close(self) -> None:
        """Let the next run in."""
        os.close(self._file)
