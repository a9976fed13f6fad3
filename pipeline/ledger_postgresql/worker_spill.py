"""What a worker knows and can't tell the ledger while its server is away: kept on its machine, and taken in when the server is back.

A file for each worker, by the ledger's ID and the worker's, locked by the process that writes it. A file that nobody has locked was left by
a process that is gone: whoever starts next on this machine hands in what it holds, as that worker's late word.
"""

import contextlib
import fcntl
import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs
import psycopg

from pipeline.file_writing import private_folder
from pipeline.ledger.attempt_changes import Change, Ended, GotAnswer
from pipeline.ledger.spill import Spill, spilled
from pipeline.ledger_postgresql.sqlstates import LedgerLacks, Refused, as_problem
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import Note, message, system_error, to_text

_SUFFIX = ".spill"
_ASIDE = ".kept"
_SPILLED = {"evidence": to_text(message("its own word, from its spill file"))}


class Spilled(NamedTuple):
    """A file that was left: whose it is, and the raw answers and outcomes in it, as `voucher.late_answer` and `voucher.late` take them."""

    path: Path
    worker: uuid.UUID
    entries: list[dict[str, Any]]


def spill_folder() -> Path:
    """Where this machine's user keeps what can't be told."""
    return platformdirs.user_data_path("voucher-pipeline", appauthor=False) / "spill"


class WorkerSpill:
    """A worker's file, its own until `close`, with room for as many attempts as it may have in flight."""

    def __init__(self, ledger_id: str, worker: uuid.UUID, in_flight: int) -> None:
        """Raises LedgerProblem where there is no room for it."""
        self.path = spill_folder() / f"{ledger_id}.{worker}{_SUFFIX}"
        self._ledger_id, self._in_flight = ledger_id, in_flight
        try:
            private_folder(self.path.parent)
            self._lock = _locked(self.path)
        except OSError as error:
            raise LedgerProblem(
                "{path}: no room to keep outcomes safe ({why}); free some disk space and run again",
                path=str(self.path),
                why=system_error(error),
            ) from None
        self._spill = Spill(self.path, ledger_id, in_flight)

    @property
    def used(self) -> bool:
        """Whether it holds anything that the ledger has not."""
        return self._spill.used or bool(self._spill.failed)

    @property
    def failed(self) -> list[str]:
        """What could not even be kept here, as lines for a person to keep."""
        return self._spill.failed

    def keep(self, change: Change) -> None:
        """Keep what is known, on disk when this returns."""
        match change:
            case GotAnswer(attempt_id, answer):
                self._spill.answer(attempt_id, answer)
            case Ended(attempt_id, outcome):
                self._spill.ended(attempt_id, outcome)
            case _:
                pass  # nothing has happened yet

    def empty(self) -> None:
        """The ledger has all of it."""
        if self.used:
            self._spill.close()
            self._spill = Spill(self.path, self._ledger_id, self._in_flight)

    def close(self) -> None:
        """Let go of it; it stays where it holds anything."""
        self._spill.close()
        os.close(self._lock)


def _locked(path: Path) -> int:
    """A file of that name, made and locked; one that was taken for left behind, and removed, before it was locked is made anew."""
    while True:
        file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file), path.stat()):
                return file
        os.close(file)


@contextlib.contextmanager
def left_behind(ledger_id: str) -> Iterator[list[Spilled]]:
    """The files of this ledger whose process is gone, nobody else's meanwhile; those are removed that are told to be (`remove`)."""
    with contextlib.ExitStack() as stack:
        found = []
        for path in sorted(spill_folder().glob(f"{ledger_id}.*{_SUFFIX}")):
            try:
                file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            except OSError:  # another has taken it in
                continue
            stack.callback(os.close, file)
            with contextlib.suppress(OSError, ValueError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                worker = uuid.UUID(path.name.removeprefix(f"{ledger_id}.").removesuffix(_SUFFIX))
                found.append(Spilled(path, worker, [*spilled(path, ledger_id)]))
        yield found


def take_in(connection: psycopg.Connection, ledger_id: str, note: Note) -> None:
    """Hand in what workers of this machine that are gone could not tell. What this ledger does not take stays, under another name."""
    with left_behind(ledger_id) as found:
        for path, worker, entries in found:
            outcomes = [one | _SPILLED for one in entries if "state" in one]
            try:
                with as_problem(), connection.transaction():
                    for answer in entries:
                        if "body" in answer:
                            connection.execute(
                                "SELECT voucher.late_answer(%s, %s)", (worker, json.dumps(answer))
                            )
                    for outcome in outcomes:
                        connection.execute("SELECT voucher.late(%s, %s)", (worker, json.dumps(outcome)))
            except (LedgerLacks, Refused) as problem:
                note(
                    message(
                        "{path}: holds outcomes that do not fit this ledger ({why}); an older copy may be in its place. The file is kept",
                        path=str(_put_aside(path)),
                        why=problem.message,
                    )
                )
                continue
            path.unlink()
            if outcomes:
                note(
                    message(
                        "Taken in from the spill file of an earlier run: {count} outcomes",
                        count=len({one["attempt_id"] for one in outcomes}),
                    )
                )


def _put_aside(path: Path) -> Path:
    """Keep a file that the ledger does not take, under a name by which nobody looks for it."""
    aside = path.with_name(path.name + _ASIDE)
    path.replace(aside)
    return aside
