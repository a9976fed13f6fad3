"""A run and its ledger: opened, put in order, written to, and read for the run's result."""

import contextlib
import datetime
import os
import socket
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

from pipeline.ledger import (
    clock,
    commit_process,
    epochs,
    held_charges,
    issued_requests,
    judgements,
    last_run_witness,
    older_copy,
    opening,
    planning,
    run_people,
    runs,
    settlements,
)
from pipeline.ledger.first_ledger import may_begin_first
from pipeline.ledger.gaps import open_gap
from pipeline.ledger.in_use import InUse
from pipeline.ledger.judgements import Judgement
from pipeline.ledger.ledger_path import path_for
from pipeline.ledger.lock import Lock, Named
from pipeline.ledger.opening import OpenOptions
from pipeline.ledger.recovery import Meaning, Recovered, recover
from pipeline.ledger.run_people import RunPerson
from pipeline.ledger.runs import RunStart
from pipeline.model.errors import InputProblem, LedgerProblem, Stop
from pipeline.model.evidence import Unsettled
from pipeline.model.job import Job, Watch
from pipeline.model.known_charges import KnownCharge, KnownCharges, Refusal
from pipeline.model.message import NOTHING, Message, Note, message, system_error
from pipeline.model.places import about
from pipeline.model.profile import Terms
from pipeline.model.request import Identity, Request
from pipeline.model.result import RequestResult
from pipeline.rules.rows import Rows


@dataclass(frozen=True)
class OpenLedger:
    """The ledger of a run that sends."""

    path: Path
    connection: apsw.Connection
    lock: Lock
    named: Named
    corrected: tuple[str, str] | None  # a last entry later than the clock, and who says that it is wrong

    def lacking(self) -> Message:
        """Why nothing may be sent: what the ledger may lack; nothing where it is complete."""
        with as_problem(self.path):
            gap = open_gap(self.connection)
        if gap is None:
            return NOTHING
        return message(
            "this ledger may lack what was issued after {since} ({why})", since=gap.since, why=gap.why
        )

    def check_complete(self, requests: int) -> None:
        """Raise InputProblem if the ledger has a gap, so that these requests may have been issued already."""
        if lacking := self.lacking():
            raise InputProblem(
                "{path}: {lacking}, so that the {requests} requests of this run may be issued already;"
                " nothing was sent. Compare it with the carrier's complete statement from then on, then"
                " say what that showed: voucher ledger close-gap",
                path=str(self.path),
                lacking=lacking,
                requests=requests,
            )

    def holdings(self, tickets: Sequence[str]) -> KnownCharges:
        """What is known of these tickets' charges."""
        with as_problem(self.path):
            return held_charges.holdings(self.connection, tickets)

    def issued_between(
        self, since: datetime.datetime, until: datetime.datetime
    ) -> dict[Identity, KnownCharge]:
        """The charges that were issued from `since` on and before `until`, by what they are."""
        with as_problem(self.path):
            return held_charges.issued_between(self.connection, clock.utc_text(since), clock.utc_text(until))

    @property
    def ledger_id(self) -> str:
        """The ledger's own ID."""
        with as_problem(self.path):
            return opening.ledger_id(self.connection)

    @property
    def epoch(self) -> str:
        """The ID of the epoch that this run's attempts belong to."""
        with as_problem(self.path):
            return epochs.current(self.connection)

    def refusals(self, tickets: Sequence[str]) -> dict[Identity, Refusal]:
        """The charges of these tickets whose last attempt the carrier refused."""
        with as_problem(self.path):
            return held_charges.refusals(self.connection, tickets)

    def note_judgements(self, run: int, made: Iterable[Judgement]) -> None:
        """Record how rows were judged, where that is new."""
        with as_problem(self.path):
            judgements.note(self.connection, run, made)

    def contents(self, attempts: Iterable[tuple[str, int]]) -> list[Unsettled]:
        """The attempts of these (request, attempt) pairs, with all that is in them."""
        with as_problem(self.path):
            return settlements.contents(self.connection, attempts)

    def issued_requests(self, attempts: Iterable[tuple[str, int]]) -> list[RequestResult]:
        """The requests of these (request, attempt) pairs, which were issued."""
        with as_problem(self.path):
            return issued_requests.issued_requests(self.connection, attempts)

    def begin(self, command: str, terms: Terms, files: Sequence[Path]) -> int:
        """Record the run, and what the clock's being right says of entries before it; its number."""
        names = [str(path).encode(errors="replace").decode() for path in files]
        with as_problem(self.path):
            return runs.begin(
                self.connection, self.lock, RunStart(command, str(terms.as_of), names), self.corrected
            )

    def note_people(self, run: int, people: Iterable[RunPerson]) -> None:
        """Record who had a hand in a run that is on."""
        with as_problem(self.path):
            run_people.note(self.connection, run, people)

    def plan(
        self, run: int, requests: Sequence[Request], rows: Rows, details: planning.Details
    ) -> list[planning.Attempt]:
        """Claim every request's charges as `planned`, with the rows that they come from and what these say beside."""
        places = dict(enumerate(zip(rows.file, rows.sheet, rows.row.tolist(), strict=True)))
        with as_problem(self.path):
            return planning.plan(self.connection, run, requests, places, details)

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
            run_people.note(self.connection, run, stopped_by)
            runs.end(self.connection, self.lock, run, exit_code)


@contextlib.contextmanager
def as_problem(path: Path) -> Iterator[None]:
    """Turn a failure of the ledger's file into a message for a person."""
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise LedgerProblem(about(str(path), _failure(error))) from None


def _failure(error: apsw.Error | OSError) -> Message:
    match error:
        case apsw.CorruptError() | apsw.NotADBError():
            return message(
                "the ledger is damaged ({why}). {cure}", why=system_error(error), cure=opening.RESTORE
            )
        case apsw.BusyError() | apsw.LockedError():
            return message(
                "another program is using the ledger ({why}); let it end, then run again",
                why=system_error(error),
            )
        case apsw.ConstraintError():
            return message(
                "the ledger refuses what would break its rules ({why}); look it over: voucher ledger check",
                why=system_error(error),
            )
        case _:
            seen = error.__context__ or error
            return message(
                "the ledger can't be read or written ({why}); free disk space or mend the disk, then run"
                " again",
                why=system_error(seen),
            )


def note_gap(ledger: apsw.Connection, note: Note) -> None:
    """Say that what looks ready may be issued already, where the ledger may lack something."""
    if gap := open_gap(ledger):
        note(
            message(
                "This ledger may lack what was issued after {since} ({why}): nothing is sent until voucher ledger close-gap",
                since=gap.since,
                why=gap.why,
            )
        )


def doubt(ledger: apsw.Connection, path: Path) -> Message:
    """Why a ledger that is only read may be an older copy of itself, or why that can't be told; nothing where it is none."""
    try:
        return older_copy.doubt(path.resolve(), ledger, last_run_witness.places())
    except Stop as problem:
        return problem.message


def note_doubt(ledger: apsw.Connection, path: Path, note: Note) -> None:
    """Say that the ledger may be an older copy of itself, which stops no command that only reads."""
    if found := doubt(ledger, path):
        note(found)


@contextlib.contextmanager
def ledger_to_read(job: Job) -> Iterator[apsw.Connection | None]:
    """The ledger for looking, None where there is none; a sandbox of its own has none."""
    connection = None
    if not job.throw_away and (job.names_carrier or job.ledger):
        owner = job.owner if job.names_carrier else None
        connection = opening.open_for_reading(path_for(job), owner)
    if connection is None:
        yield None
        return
    with contextlib.closing(connection), as_problem(path_for(job)):
        yield connection


@contextlib.contextmanager
def ledger_to_write(job: Job, watch: Watch, meaning: Meaning) -> Iterator[OpenLedger]:
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
