"""One run at a time on a ledger, by the kernel's own lock (flock), which dies with the process.

The lock file also names the last run that used the ledger under this name. By that an older copy in its place
is known for one; and a -wal that is not the ledger's own, for a -wal bears no name.
"""

import contextlib
import errno
import fcntl
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from pipeline.file_writing import sync
from pipeline.ledger import in_use
from pipeline.ledger.in_use import InUse
from pipeline.model.errors import LedgerInUse
from pipeline.model.message import NOTHING, Message, message, system_error

#: Seconds that a command which reads the ledger (check, backup) is waited for; another run is not.
PATIENCE = 60.0
_LAST_COMMIT = 10.0  # seconds, that what commits for a run that was killed is waited for
_A_MOMENT = 0.02  # seconds
#: Milliseconds that SQLite itself waits for another connection.
BUSY = 5000
_LENGTH = 512  # bytes: a sector


class Named:
    """A file as it is found under its name at first, to be looked for again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        found = path.stat()
        self._file = (found.st_dev, found.st_ino)

    @property
    def gone(self) -> Message:
        """Why the name leads to another file or to none by now, nothing while it leads to this one."""
        try:
            found = self.path.stat()
        except OSError as error:
            return system_error(error)
        same = (found.st_dev, found.st_ino) == self._file
        return NOTHING if same else message("another file has taken its name")


class Phase(StrEnum):
    """What a ledger's own file can be asked, with its -wal or without."""

    ON = "on"  # the run is in the file; its -wal has what it did
    FOLDING = "folding"  # the file may be half written, and is only whole together with its -wal
    AT_REST = "at rest"  # everything is in the file


@dataclass(frozen=True)
class LastRun:
    """A run, told from every other run of any ledger, and how far it is.

    `changes`: how many changes the ledger had by then that are made outside runs (`runs.changes_outside_runs`).
    """

    ledger_id: str
    run: int
    started_at: str
    phase: Phase = Phase.AT_REST
    changes: int = 0


def noted_run(ledger: Path) -> LastRun | None:
    """The last run on the ledger of that name, None where none is noted; needs no lock."""
    with contextlib.suppress(
        OSError, ValueError, TypeError, KeyError
    ):  # cut off by a crash: then it is not known
        note = json.loads(_lock_path(ledger).read_bytes())
        return LastRun(**note | {"phase": Phase(note["phase"])})
    return None


def note_garbled(ledger: Path) -> bool:
    """Whether a note was written there and can't be read, as a power cut in the midst of writing its one sector leaves it."""
    with contextlib.suppress(OSError):
        found = _lock_path(ledger).read_bytes()
        return len(found) >= _LENGTH and bool(found.strip()) and noted_run(ledger) is None
    return False


def _lock_path(ledger: Path) -> Path:
    return ledger.with_name(ledger.name + ".lock")


class Lock:
    """Held until closed, or until the process dies."""

    def __init__(
        self,
        path: Path,
        waiting: Callable[[], None] = lambda: None,
        witness: Callable[[LastRun], None] = lambda _: None,
    ) -> None:
        """Take the lock beside the ledger's path. Raises LedgerInUse if another run has it.

        `waiting` is told when another command that reads the ledger has to be waited for; `witness` of the last
        run whenever the ledger's own file has all that is noted of it.
        """
        self._path = path
        self._witness = witness
        self._said = False  # who has it
        #: Off for a ledger with an open gap, often a copy: nothing is sent with it, and the notes are the live one's.
        self.noted_outside = True
        self.waiting = waiting
        self._files = [self._taken(_lock_path(path), os.O_CREAT | os.O_RDWR)]
        try:
            # A run that was killed may have noted something and not have synced it. What is read here is acted on, so
            # that it has to be there after a power cut too.
            os.fsync(self._files[0])
        except OSError:
            self.close()
            raise

    def used_by(self, run: InUse) -> None:
        """Say who has it, for whoever finds it locked."""
        self._said = True
        in_use.note(self._path, run)

    def _taken(self, path: Path, flags: int) -> int:
        """The file, opened and locked."""
        file = os.open(path, flags | os.O_CLOEXEC, 0o600)
        until = time.monotonic() + _LAST_COMMIT
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                taken = error.errno in (errno.EWOULDBLOCK, errno.EACCES)
                if taken and in_use.was_killed(self._path) and time.monotonic() < until:
                    time.sleep(_A_MOMENT)
                    continue
                os.close(file)
                if not taken:
                    raise
                raise LedgerInUse(
                    "{path}: another run is using this ledger{by}; wait until it ends, then run again",
                    path=str(self._path),
                    by=in_use.told(self._path),
                ) from None
            return file

    def hold(self) -> None:
        """Lock the ledger's own file too, which is the same one whatever became of the lock file.

        On Linux flock and SQLite's own locks know nothing of each other (flock(2), Notes); elsewhere they may.
        To be let go of only when SQLite has closed the file: closing it lets go of SQLite's locks on it.
        """
        if sys.platform == "linux":
            self._files.append(self._taken(self._path, os.O_RDONLY))

    def hold_too(self, path: Path) -> None:
        """Lock another file, which is made if it is missing. Raises LedgerProblem if another run has it."""
        self._files.append(self._taken(path, os.O_CREAT | os.O_RDWR))

    @property
    def files(self) -> tuple[int, ...]:
        """The locked files, for a process that is to hold the lock as well; it is let go of when both have."""
        return tuple(self._files)

    @property
    def run(self) -> LastRun | None:
        """The last run on the ledger, None where none is noted."""
        return noted_run(self._path)

    @run.setter
    def run(self, run: LastRun | None) -> None:
        """Note the run, on disk when this returns. Raises LedgerProblem if a witness of it can't be kept."""
        if not self._in_place():  # somebody deleted it; the ledger's own file is locked too
            gone = self._files[0]
            self._files[0] = self._taken(_lock_path(self._path), os.O_CREAT | os.O_RDWR)
            os.close(gone)
        text = json.dumps(asdict(run)).encode() if run else b""
        # Always the same sector of the file: one that is new to it might hold what was there before.
        first = os.fstat(self._files[0]).st_size == 0
        os.pwrite(self._files[0], text.ljust(_LENGTH), 0)
        os.fsync(self._files[0])
        if first:
            sync(self._path.parent)
        if run and run.phase is not Phase.FOLDING:
            self.note_outside(run)

    def note_outside(self, run: LastRun) -> None:
        """Tell the witness of a run that the ledger's own file has. Raises LedgerProblem if it can't be kept."""
        if self.noted_outside:
            self._witness(run)

    def _in_place(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._files[0]), _lock_path(self._path).stat())
        except OSError:
            return False

    def note(self, phase: Phase) -> None:
        """Note how far the last run is, where one is noted."""
        if last := self.run:
            self.run = replace(last, phase=phase)

    def close(self) -> None:
        """Let the next run in."""
        if self._said:
            self._said = False
            in_use.clear(self._path)
        while self._files:
            os.close(self._files.pop())
