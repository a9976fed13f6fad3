"""A ledger as whoever looks at it has it: questions, and values for answers; its connection stays in this room."""

import contextlib
import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from pipeline.ledger import (
    backup,
    clock,
    epochs,
    export,
    gaps,
    held_charges,
    integrity_check,
    issued_elsewhere,
    issued_requests,
    last_run_witness,
    older_copy,
    opening,
    received_files,
    register_lines,
    reversals,
    run_people,
    runs,
    schema,
    settlements,
    ticket_rows,
)
from pipeline.ledger.gaps import Gap
from pipeline.ledger.ledger_path import path_for
from pipeline.ledger.run_people import RunPerson
from pipeline.ledger.runs import PastRun
from pipeline.model.errors import InputProblem, LedgerProblem, Stop
from pipeline.model.evidence import StatementLine, Unsettled
from pipeline.model.itinerary_file import CheckedFile, NotReceived
from pipeline.model.job import Job
from pipeline.model.known_charges import KnownCharge, KnownCharges, Refusal
from pipeline.model.message import NOTHING, Message, Note, message, system_error
from pipeline.model.places import about
from pipeline.model.profile import Owner
from pipeline.model.register_line import RegisterLine
from pipeline.model.request import Identity
from pipeline.model.result import RequestResult
from pipeline.settlement.compare import Period
from pipeline.settlement.itinerary_matching import InLedger


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


@dataclass(frozen=True)
class ReadLedger:
    """An open ledger, for looking.

    Every method raises LedgerProblem where the file can't be read.
    """

    path: Path
    _connection: apsw.Connection

    def as_of_now(self) -> None:
        """What is asked from here on is answered as of one moment, whatever a run does meanwhile."""
        with as_problem(self.path):
            self._connection.execute("BEGIN")

    # What it is, and what it may lack.

    @property
    def ledger_id(self) -> str:
        """The ledger's own ID."""
        with as_problem(self.path):
            return opening.ledger_id(self._connection)

    @property
    def owner(self) -> Owner:
        """The carrier that it belongs to."""
        with as_problem(self.path):
            return opening.owner_of(self._connection)

    @property
    def epoch(self) -> str:
        """The ID of the epoch that attempts belong to now."""
        with as_problem(self.path):
            return epochs.current(self._connection)

    @property
    def epochs(self) -> list[str]:
        """The IDs of all its epochs, the first of which is its own ID, in the order in which they began."""
        with as_problem(self.path):
            return epochs.of_ledger(self._connection)

    @property
    def open_gap(self) -> Gap | None:
        """The open gap that begins first, None where there is none."""
        with as_problem(self.path):
            return gaps.open_gap(self._connection)

    def lacking(self) -> Message:
        """Why nothing may be sent: what the ledger may lack; nothing where it is complete."""
        gap = self.open_gap
        if gap is None:
            return NOTHING
        return message(
            "this ledger may lack what was issued after {since} ({why})", since=gap.since, why=gap.why
        )

    def note_gap(self, note: Note) -> None:
        """Say that what looks ready may be issued already, where the ledger may lack something."""
        if gap := self.open_gap:
            note(
                message(
                    "This ledger may lack what was issued after {since} ({why}): nothing is sent until voucher ledger close-gap",
                    since=gap.since,
                    why=gap.why,
                )
            )

    def doubt(self) -> Message:
        """Why one that is only read may be an older copy of itself, or why that can't be told; nothing where it is none."""
        with as_problem(self.path):
            try:
                return older_copy.doubt(self.path.resolve(), self._connection, last_run_witness.places())
            except Stop as problem:
                return problem.message

    def note_doubt(self, note: Note) -> None:
        """Say that it may be an older copy of itself, which stops no command that only reads."""
        if found := self.doubt():
            note(found)

    # What it knows of charges and requests.

    def holdings(self, tickets: Sequence[str]) -> KnownCharges:
        """What is known of these tickets' charges."""
        with as_problem(self.path):
            return held_charges.holdings(self._connection, tickets)

    def refusals(self, tickets: Sequence[str]) -> dict[Identity, Refusal]:
        """The charges of these tickets whose last attempt the carrier refused."""
        with as_problem(self.path):
            return held_charges.refusals(self._connection, tickets)

    def issued_between(
        self, since: datetime.datetime, until: datetime.datetime
    ) -> dict[Identity, KnownCharge]:
        """The charges that were issued from `since` on and before `until`, by what they are."""
        with as_problem(self.path):
            return held_charges.issued_between(self._connection, clock.utc_text(since), clock.utc_text(until))

    def contents(self, attempts: Iterable[tuple[str, int]]) -> list[Unsettled]:
        """The attempts of these (request, attempt) pairs, with all that is in them."""
        with as_problem(self.path):
            return settlements.contents(self._connection, attempts)

    def issued_requests(self, attempts: Iterable[tuple[str, int]]) -> list[RequestResult]:
        """The requests of these (request, attempt) pairs, which were issued."""
        with as_problem(self.path):
            return issued_requests.issued_requests(self._connection, attempts)

    def unsettled(self) -> list[Unsettled]:
        """Every attempt whose outcome is unknown, in the order in which they were made."""
        with as_problem(self.path):
            return settlements.unsettled(self._connection)

    def in_flight(self) -> int:
        """How many attempts are `sending`: of the run that is on, or of one that was killed."""
        with as_problem(self.path):
            return settlements.in_flight(self._connection)

    def shown_elsewhere(self, tickets_or_numbers: Iterable[str]) -> list[StatementLine]:
        """What earlier statements showed of these tickets, or under these numbers, as the lines that they were."""
        with as_problem(self.path):
            return issued_elsewhere.lines_of(self._connection, tickets_or_numbers)

    def reversed_charges(self) -> dict[Identity, reversals.Reversed]:
        """The charges whose voucher the carrier has reversed, each with its last reversal."""
        with as_problem(self.path):
            return reversals.by_charge(self._connection)

    # What it has to show.

    def past_runs(self, most: int) -> list[tuple[PastRun, list[RunPerson]]]:
        """The last so many runs, the newest first, with who had a hand in each."""
        with as_problem(self.path):
            found = runs.latest(self._connection, most)
            people = run_people.of_runs(self._connection, [one.run for one in found])
        return [(one, people.get(one.run, [])) for one in found]

    def ticket_rows(self, ticket: str) -> tuple[list[dict[str, Any]], ...]:
        """Its attempts, judgements, what statements showed, settlements, reversals, who had a hand in its runs, and files about it."""
        with as_problem(self.path):
            return (
                ticket_rows.attempts(self._connection, ticket),
                ticket_rows.judgements(self._connection, ticket),
                ticket_rows.issued_elsewhere(self._connection, ticket),
                ticket_rows.settlements(self._connection, ticket),
                ticket_rows.reversals(self._connection, ticket),
                run_people.of_ticket(self._connection, ticket),
                ticket_rows.received_files(self._connection, ticket),
            )

    def register_lines(
        self, time_zone: str, days: register_lines.Days | None
    ) -> tuple[list[RegisterLine], int]:
        """The register's lines, as `register_lines.register_lines` gives them."""
        with as_problem(self.path):
            return register_lines.register_lines(self._connection, time_zone, days)

    def about_files(self, files: Sequence[CheckedFile], time_zone: str) -> InLedger:
        """What is known of the vouchers and tickets that itinerary files are about, and of the files themselves."""
        with as_problem(self.path):
            return received_files.known(self._connection, files, time_zone)

    def with_files(self) -> frozenset[int]:
        """The IDs of the attempts in doubt about which itinerary files came."""
        with as_problem(self.path):
            return received_files.about_unknown(self._connection)

    def not_received(
        self, period: Period | None, as_of: datetime.date, time_zone: str
    ) -> tuple[int, list[NotReceived]]:
        """(how many itineraries were issued in that time, None: ever; those of them whose file was not received)."""
        first, last = (period.first, period.last) if period else (None, None)
        bounds = received_files.bounds(first, last, time_zone)
        with as_problem(self.path):
            return received_files.not_received(self._connection, *bounds, (as_of, time_zone))

    def archived_files(self) -> list[tuple[str, str]]:
        """The files that were kept in the archive: (path in it, SHA-256)."""
        with as_problem(self.path):
            return received_files.archived(self._connection)

    def looked_over(self) -> integrity_check.Looked:
        """Everything that it holds, and what is wrong with it."""
        with as_problem(self.path):
            return integrity_check.look(self._connection)

    # Copies of it.

    def back_up(self, path: Path, now: str) -> None:
        """Copy it to a new file that knows that it may lack what was issued after what it knows, or after `now`."""
        doubted = self.doubt()

        def finish(copy: apsw.Connection) -> None:
            if doubted:
                why = message("it is a backup of what may be an older copy")
            else:
                why = message("it is a backup")
            gaps.mark_gap(copy, runs.known_until(copy) or now, why)

        self._copy(path, path, finish)

    def copy(self, path: Path, wanted: Path) -> None:
        """Copy it as it is to a new file, for what was asked for as `wanted`, which a problem names."""
        self._copy(path, wanted)

    def _copy(
        self, path: Path, wanted: Path, finish: Callable[[apsw.Connection], None] = lambda _: None
    ) -> None:
        with as_problem(self.path):
            try:
                backup.copied(self._connection, path, finish)
            except FileExistsError:
                raise InputProblem(
                    "{wanted}: exists already and is left as it is; choose another name, or a folder",
                    wanted=str(wanted),
                ) from None
            except (OSError, apsw.FullError, apsw.IOError) as error:
                raise LedgerProblem(
                    "{wanted}: can't be written ({why}); choose a folder that exists and has room",
                    wanted=str(wanted),
                    why=system_error(error),
                ) from None


@dataclass(frozen=True)
class LedgerCopy:
    """A copy of a ledger, whose rows are read one by one for whoever audits it."""

    about: export.About
    _connection: apsw.Connection

    def count(self, sheet: str) -> int:
        """How many rows a sheet has."""
        return export.count(self._connection, sheet)

    def rows(self, sheet: str) -> Iterator[dict[str, Any]]:
        """The rows of one sheet in the order in which they came about."""
        return export.rows(self._connection, sheet)


@contextlib.contextmanager
def copy_to_read(copy: Path, of: Path) -> Iterator[LedgerCopy]:
    """A copy of the ledger `of`; it has lost its name by then, so that it is never taken for the ledger."""
    with backup.read_alone(copy) as connection, as_problem(of):
        schema.show_as_current(connection)
        copy.unlink()  # it is read to the end by whoever has it open
        yield LedgerCopy(export.about(connection), connection)


@contextlib.contextmanager
def ledger_to_read(job: Job) -> Iterator[ReadLedger | None]:
    """The ledger for looking, None where there is none; a sandbox of its own has none."""
    connection = None
    if not job.throw_away and (job.names_carrier or job.ledger):
        owner = job.owner if job.names_carrier else None
        connection = opening.open_for_reading(path_for(job), owner)
    if connection is None:
        yield None
        return
    with contextlib.closing(connection), as_problem(path_for(job)):
        yield ReadLedger(path_for(job), connection)


@contextlib.contextmanager
def existing_ledger(job: Job, owner: Owner | None = None) -> Iterator[ReadLedger]:
    """The ledger for looking; `owner` None: whosever it is. Raises InputProblem where there is none."""
    connection = opening.open_existing(path_for(job), owner)
    with contextlib.closing(connection), as_problem(path_for(job)):
        yield ReadLedger(path_for(job), connection)
