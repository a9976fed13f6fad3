"""A run and its ledger: opened, put in order, and written to."""

import contextlib
import os
import socket
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from pipeline.ledger import (
    clock,
    commit_process,
    inbox_files,
    issued_elsewhere,
    judgements,
    opening,
    planning,
    received_files,
    reversals,
    run_people,
    runs,
    settlements,
)
from pipeline.ledger.first_ledger import may_begin_first
from pipeline.ledger.in_use import InUse
from pipeline.ledger.inbox_files import Handled
from pipeline.ledger.judgements import Judgement
from pipeline.ledger.ledger_file import LedgerFile, as_problem
from pipeline.ledger.ledger_path import path_for
from pipeline.ledger.lock import Lock, Named
from pipeline.ledger.opening import OpenOptions
from pipeline.ledger.operations import RunLedger
from pipeline.ledger.recovery import Meaning, Recovered, recover
from pipeline.ledger.reversals import Reversed, SaidReversed
from pipeline.ledger.run_people import RunPerson
from pipeline.ledger.runs import RunStart
from pipeline.ledger.settlements import Settlement
from pipeline.model.errors import LedgerProblem
from pipeline.model.evidence import StatementLine
from pipeline.model.itinerary_file import CollectedFile
from pipeline.model.job import Job, Watch
from pipeline.model.message import Message, message
from pipeline.model.profile import Terms
from pipeline.model.request import Request

if TYPE_CHECKING:  # who plans nothing needs no numpy, which is much to load
    from pipeline.rules.rows import Rows


@dataclass(frozen=True)
class OpenLedger(LedgerFile, RunLedger):
    """The ledger of a run that sends."""

    lock: Lock
    named: Named
    corrected: tuple[str, str] | None  # a last entry later than the clock, and who says that it is wrong

    def note_judgements(self, run: int, made: Iterable[Judgement]) -> None:
        """Record how rows were judged, where that is new."""
        with as_problem(self.path):
            judgements.note(self._connection, run, made)

    def begin(self, command: str, terms: Terms, files: Sequence[Path]) -> int:
        """Record the run, and what the clock's being right says of entries before it; its number."""
        names = [str(path).encode(errors="replace").decode() for path in files]
        with as_problem(self.path):
            return runs.begin(
                self._connection, self.lock, RunStart(command, str(terms.as_of), names), self.corrected
            )

    def note_people(self, run: int, people: Iterable[RunPerson]) -> None:
        """Record who had a hand in a run that is on."""
        with as_problem(self.path):
            run_people.note(self._connection, run, people)

    def plan(
        self, run: int, requests: Sequence[Request], rows: "Rows", details: planning.Details
    ) -> list[planning.Attempt]:
        """Claim every request's charges as `planned`, with the rows that they come from and what these say beside."""
        places = dict(enumerate(zip(rows.file, rows.sheet, rows.row.tolist(), strict=True)))
        with as_problem(self.path):
            return planning.plan(self._connection, run, requests, places, details)

    # Evidence.

    def settle(self, attempt_id: int, settlement: Settlement) -> None:
        """Settle an unknown attempt, and record that."""
        with as_problem(self.path):
            settlements.settle(self._connection, attempt_id, settlement)

    def hold_elsewhere(self, run: int, lines: Iterable[tuple[StatementLine, str]], found_by: str) -> None:
        """Hold the charges of these statement lines, each with its code for the carrier."""
        with as_problem(self.path):
            issued_elsewhere.record(self._connection, run, lines, found_by)

    def reverse(self, said: SaidReversed, run: int) -> Reversed:
        """Record that the carrier has reversed a voucher, and let its charges go. Raises InputProblem where it can't have been."""
        with as_problem(self.path):
            return reversals.reverse(self._connection, said, run)

    def note_handled(self, run: int, handled: Handled) -> None:
        """Note that a file was dealt with by a run."""
        with as_problem(self.path):
            inbox_files.record(self._connection, run, handled)

    def note_files(self, run: int, collected: Iterable[CollectedFile]) -> None:
        """Note what itinerary files came to, where that is new."""
        with as_problem(self.path):
            received_files.note(self._connection, run, collected)

    # Its end.

    def committing(self) -> contextlib.AbstractContextManager[socket.socket]:
        """Begin the process that commits while requests are in flight; a connection to it, for `group_commit`."""
        return commit_process.committing(self.named, self.lock)

    def end(self, run: int, exit_code: int, stopped_by: Iterable[RunPerson] = ()) -> None:
        """Record how it ended, and who stopped it, and forget what was not sent.

        A ledger whose name leads elsewhere by now is left as it is: it and its -wal are to be put together again.
        """
        if self.named.gone:
            return
        with contextlib.suppress(apsw.Error, OSError, LedgerProblem):
            run_people.note(self._connection, run, stopped_by)
            runs.end(self._connection, self.lock, run, exit_code)


@contextlib.contextmanager
def file_to_write(job: Job, watch: Watch, meaning: Meaning) -> Iterator[OpenLedger]:
    """The ledger for sending: locked and put in order; a sandbox run's own one is thrown away.

    `meaning` interprets the answers that an earlier run recorded and did not come to interpret.
    """
    with contextlib.ExitStack() as stack:
        if job.throw_away:
            path = (
                Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="voucher-"))) / "sandbox.ledger"
            )
            watch.note(
                message("Sandbox: nothing reaches a real carrier; the ledger is thrown away after this run")
            )
        else:
            path = path_for(job)
            watch.note(message("Ledger: {path}", path=str(path)))
        may_begin, is_new = may_begin_first(job, path), not path.exists()
        options = OpenOptions(kept=not job.throw_away, note=watch.note)
        connection, lock = opening.open_for_run(path, job.owner, options, may_create=may_begin)
        stack.callback(lock.close)
        stack.callback(connection.close)
        lock.used_by(InUse(job.operator, clock.utc_text(job.began), job.on_page, os.getpid()))
        if is_new and not job.throw_away:
            watch.warn(
                message(
                    "A new ledger was begun: {path}; keep it, and back it up (voucher ledger backup): it is"
                    " the memory that keeps anything from being issued twice",
                    path=str(path.resolve()),
                )
            )
        with as_problem(path):
            corrected = clock.checked(connection, job.clock_right_by)
            found = recover(connection, path, lock, meaning)
        for line in _recovered_lines(found):
            watch.note(line)
        yield OpenLedger(path, connection, lock, Named(path.resolve()), corrected)


def _recovered_lines(found: Recovered) -> Iterator[Message]:
    if found.spilled:
        yield message("Taken in from the spill file of an earlier run: {count} outcomes", count=found.spilled)
    if found.answered:
        yield message(
            "An earlier run was killed after the carrier answered: {count} answers read from the ledger",
            count=found.answered,
        )
    if found.unknown:
        yield message(
            "An earlier run was killed while sending: {count} requests are now unknown and wait for evidence",
            count=found.unknown,
        )
