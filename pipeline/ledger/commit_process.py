"""The process that writes the ledger while requests are in flight: groups of changes in, how each of them went out.

It is a process of its own so that the disk and SQLite have a processor to themselves, and requests go on leaving and answers are
taken in meanwhile. Nothing is lost with it: what it has not acknowledged, whoever handed it over still has
(`group_commit`), and puts into the spill file.

It has the ledger's lock too, so that no other run begins while it may still write, and no keys. It ends when the other side closes, or
dies; nothing else ends it in good order, for what is in flight has to be recorded.

Over the channel go pickled values: the ledger's `Named` first, then parts of groups; and for the last part of each group, which is
committed with it, one `Written` back. What has come of a group is written while the rest is still coming up, all that is there at once, as
each set of changes costs something by itself.
"""

import contextlib
import gc
import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from pipeline.ledger import attempt_changes, opening
from pipeline.ledger.attempt_changes import Acknowledged, Plain
from pipeline.ledger.lock import Lock, Named
from pipeline.model.errors import LedgerProblem, Stop
from pipeline.model.message import Message, message, system_error
from pipeline.pickled_values import PIECE, packed, taken
from pipeline.process_hardening import protect_process
from pipeline.signals import ENDING

#: How the names of our settings begin in the environment, those of the keys among them.
_OURS = "VOUCHER_"
_RUN = f"from {__name__} import main; main()"  # as a script its values would be of another module
#: Where that finds the package; and that memory stays with it between two groups (glibc), which else costs more than SQLite does.
_SETTINGS = {
    "PYTHONPATH": str(Path(__file__).parents[2]), "MALLOC_TRIM_THRESHOLD_": f"{1 << 30}", "MALLOC_TOP_PAD_": f"{1 << 24}",
}  # fmt: skip


class Part(NamedTuple):
    """Changes of a group; `last`: those that come next are of another group."""

    changes: Sequence[Plain]
    last: bool


class Written(NamedTuple):
    """What became of a group, and the seconds that its COMMIT took.

    `failure`: why the ledger can't be written, from now on; None where it could. `results`: the acknowledgement of
    each change, or why it alone is refused; None where all were written as they were handed in.
    """

    failure: Message | None = None
    results: Sequence[Acknowledged | LedgerProblem] | None = None
    seconds: float = 0.0


def unwritable(named: Named, why: str | Message) -> Message:
    """Why a ledger can't be written, for a person."""
    return message(
        "{path}: the ledger can't be written ({why}); free disk space or mend the disk, then run again",
        path=str(named.path),
        why=why,
    )


@contextlib.contextmanager
def committing(named: Named, lock: Lock) -> Iterator[socket.socket]:
    """The process, for as long as the context lasts: a connection to it. It has ended when this has.

    Begun before it is needed: it takes more than a tenth of a second to start. Raises LedgerProblem where it can't be started.
    """
    ours, its = socket.socketpair()
    with ours:
        with its:
            try:
                process = _started(its, lock.files)
            except OSError as error:
                raise LedgerProblem(unwritable(named, system_error(error))) from None
        with contextlib.suppress(ConnectionError):  # it has ended already, which its reader will see
            ours.sendall(packed(named))
        try:
            yield ours
        finally:
            ours.close()
            process.wait()


def _started(channel: socket.socket, lock: Sequence[int]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module, no shell
        [sys.executable, "-P", "-c", _RUN],
        stdin=channel.fileno(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if not name.startswith(_OURS)} | _SETTINGS,
        pass_fds=lock,
        start_new_session=True,  # a terminal's Ctrl-C and its end are not for it
    )


def serve(channel: socket.socket, connect: Callable[[Path], apsw.Connection]) -> None:
    """Write groups until the other side has no more, by a connection to the ledger that it names first."""
    nobody_there = contextlib.suppress(ConnectionError)
    with channel, nobody_there:
        said = _said(channel)
        named, *parts = next(said)
        try:
            committer = _Committer(connect(named.path), named)
        except Exception as error:  # noqa: BLE001 - whatever it was, nothing may be sent
            channel.sendall(packed(Written(_failure(named, error))))
            return
        channel.sendall(packed(Written()))
        for come in itertools.chain([parts], said):
            for changes, last in come:
                committer.add(changes)
                if last:
                    channel.sendall(packed(committer.written()))
            committer.write()


def _said(channel: socket.socket) -> Iterator[list[Any]]:
    """The values that have come, whenever more have, until the other side has no more or is gone in the midst of one."""
    came = bytearray()
    while data := channel.recv(PIECE):
        came += data
        if values := list(taken(came)):
            yield values


class _Committer:
    """One ledger's connection, the group that is being written, and whether it could be written so far."""

    def __init__(self, connection: apsw.Connection, named: Named) -> None:
        self._connection = connection
        self._named = named
        self._group: list[Plain] = []
        self._in = 0  # so many of them are in the transaction
        self._begun = False  # a transaction, for this group
        self._fits = True  # it could be written as sets, as far as it is there
        self._failure: Message | None = None

    def add(self, changes: Sequence[Plain]) -> None:
        """Take a part of a group."""
        self._group += changes

    def write(self) -> None:
        """Write what has come of the group."""
        come, self._in = self._group[self._in :], len(self._group)
        self._put(come)

    def written(self) -> Written:
        """Commit the group, and tell what became of it."""
        self.write()
        group, self._group, self._in = self._group, [], 0
        if not self._failure:
            try:
                return self._committed(group)
            except Exception as error:  # noqa: BLE001 - likewise
                # A failed COMMIT may or may not have reached the disk; the next start reads which.
                self._fail(error)
        return Written(self._failure)

    def _put(self, changes: Sequence[Plain]) -> None:
        """Into the transaction. After a failure nothing more is written: the next start reads what reached the disk."""
        if changes and not self._failure:
            try:
                self._begin()
                self._fits = self._fits and attempt_changes.write_as_sets(self._connection, changes)
            except Exception as error:  # noqa: BLE001 - whatever it was, nobody may be told yes
                self._fail(error)

    def _begin(self) -> None:
        # By what was begun for the group, not by whether a transaction is on: where it was lost midway, COMMIT has to fail.
        if not self._begun:
            self._connection.execute("BEGIN IMMEDIATE")
            self._begun = self._fits = True

    def _committed(self, group: Sequence[Plain]) -> Written:
        if gone := self._named.gone:
            raise LedgerProblem(
                "{path}: the ledger is not under its name any more ({why}); put it back, with the files that"
                " lie beside it, then run again",
                path=str(self._named.path),
                why=gone,
            )
        results = None
        if not self._fits:
            self._connection.execute("ROLLBACK")
            self._connection.execute("BEGIN IMMEDIATE")
            results = attempt_changes.write_alone(self._connection, group)
        begun = time.monotonic()
        self._connection.execute("COMMIT")
        self._begun = False
        return Written(None, results, time.monotonic() - begun)

    def _fail(self, error: Exception) -> None:
        self._failure = _failure(self._named, error)
        if not self._connection.get_autocommit():
            # The failure is already known, and the next start recovers the file.
            with contextlib.suppress(apsw.Error):
                self._connection.execute("ROLLBACK")


def _failure(named: Named, error: Exception) -> Message:
    """Why a ledger can't be written: in our words, in the system's, or, of a defect of ours, in Python's."""
    if isinstance(error, Stop):
        return error.message
    ours = isinstance(error, apsw.Error | OSError)
    return unwritable(named, system_error(error) if ours else f"{type(error).__name__}: {error}")


def main() -> None:
    """Serve whoever holds the other end of standard input."""
    protect_process()
    gc.disable()  # groups are many, and hold nothing that could hold them
    # A service's manager tells all its processes to end: the one that sends stops in good order, and this one with it.
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    serve(socket.socket(fileno=os.dup(0)), opening.open_beside)
