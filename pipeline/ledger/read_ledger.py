"""A ledger as whoever looks at it has it, wherever it is: questions, and values for answers; its connection stays in this room."""

import datetime
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import apsw

from pipeline.ledger import (
    clock,
    epochs,
    export,
    gaps,
    held_charges,
    inbox_files,
    integrity_check,
    issued_elsewhere,
    issued_requests,
    opening,
    received_files,
    register_lines,
    reversals,
    run_people,
    runs,
    settlements,
    ticket_rows,
)
from pipeline.ledger.gaps import Gap
from pipeline.ledger.inbox_files import Handled
from pipeline.ledger.part import EVERYTHING, LITTLE, Part
from pipeline.ledger.reversals import Reversed
from pipeline.ledger.run_people import RunPerson
from pipeline.ledger.runs import PastRun
from pipeline.ledger.settlements import Known, Settlement
from pipeline.model.evidence import StatementLine, Unsettled
from pipeline.model.itinerary_file import CheckedFile, NotReceived
from pipeline.model.known_charges import KnownCharge, KnownCharges, Refusal
from pipeline.model.message import NOTHING, Message, Note, message
from pipeline.model.profile import Owner
from pipeline.model.register_line import RegisterLine
from pipeline.model.request import Identity
from pipeline.model.result_values import RequestResult
from pipeline.settlement.compare import Period
from pipeline.settlement.itinerary_matching import InLedger


@dataclass(frozen=True)
class LedgerCopy:
    """All of a ledger as of one moment, whose rows are read one by one for whoever audits it."""

    about: export.About
    _connection: apsw.Connection

    def count(self, sheet: str) -> int:
        """How many rows a sheet has."""
        return export.count(self._connection, sheet)

    def rows(self, sheet: str) -> Iterator[dict[str, Any]]:
        """The rows of one sheet in the order in which they came about."""
        return export.rows(self._connection, sheet)


class ReadLedger(ABC):
    """An open ledger, for looking.

    Each question is asked in SQL of SQLite tables, in one place, whichever ledger it is: `_part` gives what it is about. Every method
    raises LedgerProblem where the ledger can't be read.
    """

    #: Whether it hears of whoever sends, so that what is `sending` is that: of a file's run nothing tells whether it was killed.
    hears_senders: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """What messages, results and reports call it: a path, or an address without a user or a password."""

    @abstractmethod
    def _part(self, part: Part) -> AbstractContextManager[apsw.Connection]:
        """The part of it that a question is about, to be asked. What SQLite raises meanwhile becomes a message for a person."""

    @abstractmethod
    def as_of_now(self) -> None:
        """What is asked from here on is answered as of one moment, whatever a run does meanwhile."""

    @abstractmethod
    def doubt(self) -> Message:
        """Why one that is only read may be an older copy of itself, or why that can't be told; nothing where it is none."""

    @property
    @abstractmethod
    def outcomes_wait(self) -> bool:
        """Whether outcomes that it could not take wait in a file of this machine."""

    @abstractmethod
    def as_copy(self, scratch: Path, wanted: Path) -> AbstractContextManager[LedgerCopy]:
        """All of it as of one moment, so that a run that begins or ends need not wait; `scratch` is a folder for what that takes.

        What goes wrong there is told of `wanted`, which was asked for.
        """

    # What it is, and what it may lack.

    @property
    def ledger_id(self) -> str:
        """The ledger's own ID."""
        with self._part(LITTLE) as connection:
            return opening.ledger_id(connection)

    @property
    def owner(self) -> Owner:
        """The carrier that it belongs to."""
        with self._part(LITTLE) as connection:
            return opening.owner_of(connection)

    @property
    def epoch(self) -> str:
        """The ID of the epoch that attempts belong to now."""
        with self._part(LITTLE) as connection:
            return epochs.current(connection)

    @property
    def epochs(self) -> list[str]:
        """The IDs of all its epochs, the first of which is its own ID, in the order in which they began."""
        with self._part(LITTLE) as connection:
            return epochs.of_ledger(connection)

    @property
    def open_gap(self) -> Gap | None:
        """The open gap that begins first, None where there is none."""
        with self._part(LITTLE) as connection:
            return gaps.open_gap(connection)

    def lacking(self) -> Message:
        """Why nothing may be sent: what the ledger may lack; nothing where it is complete."""
        gap = self.open_gap
        return NOTHING if gap is None else gaps.lacking(gap)

    def note_gap(self, note: Note) -> None:
        """Say that what looks ready may be issued already, where the ledger may lack something."""
        if gap := self.open_gap:
            note(
                message(
                    "This ledger may lack what was issued after {since} ({why}): nothing is sent until voucher ledger close-gap",
                    since=clock.local_text(gap.since),
                    why=gap.why,
                )
            )

    def note_doubt(self, note: Note) -> None:
        """Say that it may be an older copy of itself, which stops no command that only reads."""
        if found := self.doubt():
            note(found)

    # What it knows of charges and requests.

    def holdings(self, tickets: Sequence[str]) -> KnownCharges:
        """What is known of these tickets' charges."""
        with self._part(Part(tickets=tickets)) as connection:
            return held_charges.holdings(connection, tickets, heard=self.hears_senders)

    def refusals(self, tickets: Sequence[str]) -> dict[Identity, Refusal]:
        """The charges of these tickets whose last attempt the carrier refused."""
        with self._part(Part(tickets=tickets)) as connection:
            return held_charges.refusals(connection, tickets)

    def issued_between(
        self, since: datetime.datetime, until: datetime.datetime
    ) -> dict[Identity, KnownCharge]:
        """The charges that were issued from `since` on and before `until`, by what they are."""
        bounds = clock.utc_text(since), clock.utc_text(until)
        with self._part(Part(issued_between=bounds, times=True)) as connection:
            return held_charges.issued_between(connection, *bounds)

    def contents(self, attempts: Iterable[tuple[str, int]]) -> list[Unsettled]:
        """The attempts of these (request, attempt) pairs, with all that is in them."""
        attempts = [*attempts]
        with self._part(Part(attempts=attempts, times=True)) as connection:
            return settlements.contents(connection, attempts)

    def issued_requests(self, attempts: Iterable[tuple[str, int]]) -> list[RequestResult]:
        """The requests of these (request, attempt) pairs, which were issued."""
        attempts = [*attempts]
        with self._part(Part(attempts=attempts)) as connection:
            return issued_requests.issued_requests(connection, attempts)

    def unsettled(self) -> list[Unsettled]:
        """Every attempt whose outcome is unknown, in the order in which they were made."""
        with self._part(Part(unknown=True, times=True)) as connection:
            return settlements.unsettled(connection)

    def in_flight(self) -> int:
        """How many attempts are `sending`: of the run that is on, or of one that was killed."""
        with self._part(Part(unknown=True)) as connection:
            return settlements.in_flight(connection)

    def shown_elsewhere(self, tickets_or_numbers: Iterable[str]) -> list[StatementLine]:
        """What earlier statements showed of these tickets, or under these numbers, as the lines that they were."""
        asked = [*tickets_or_numbers]
        with self._part(Part(tickets=asked, numbers=asked)) as connection:
            return issued_elsewhere.lines_of(connection, asked)

    def reversed_charges(self) -> dict[Identity, Reversed]:
        """The charges whose voucher the carrier has reversed, each with its last reversal."""
        with self._part(Part(reversals=True)) as connection:
            return reversals.by_charge(connection)

    # What evidence is weighed against.

    def known(self, request_id: str, attempt: int) -> Known | None:
        """The attempt of that number at a request; None where there is no such attempt."""
        with self._part(Part(attempts=[(request_id, attempt)])) as connection:
            return settlements.known(connection, request_id, attempt)

    def called_not_issued(self, tickets: Iterable[str]) -> dict[Identity, Message]:
        """The charges of these tickets that a standing settlement calls not issued, with what to do where they were issued after all."""
        tickets = [*tickets]
        with self._part(Part(tickets=tickets)) as connection:
            return settlements.called_not_issued(connection, tickets)

    def withdrawn_before(self, attempt_id: int, settlement: Settlement) -> str:
        """The entry that was withdrawn and stands in the way of settling an attempt so; "" where none does."""
        with self._part(Part(attempt_ids=[attempt_id])) as connection:
            return settlements.withdrawn_before(connection, attempt_id, settlement)

    def numbers_taken(self, numbers: Iterable[str]) -> dict[str, Message]:
        """Those of these numbers that something has, and what, for a message."""
        numbers = [*numbers]
        with self._part(Part(numbers=numbers)) as connection:
            holders = ((number, settlements.number_taken(connection, number)) for number in numbers)
            return {number: holder for number, holder in holders if holder}

    def reversals_of(self, numbers: Iterable[str]) -> list[Reversed]:
        """The reversals that stand of vouchers with these numbers."""
        numbers = [*numbers]
        with self._part(Part(numbers=numbers)) as connection:
            return reversals.standing(connection, numbers)

    def reversed_by(self, numbers: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Those of these numbers that are of red vouchers: the entry of each reversal, and the number that it reverses."""
        numbers = [*numbers]
        with self._part(Part(numbers=numbers)) as connection:
            return {number: found for number in numbers if (found := reversals.red(connection, number))}

    def charges_of_number(self, number: str) -> dict[Identity, int]:
        """What is held as issued under a number, with amounts in minor units."""
        with self._part(Part(numbers=[number])) as connection:
            return reversals.charges_of(connection, number)

    def check_red(self, number: str, red_number: str) -> None:
        """Raise InputProblem if `red_number` can't be that of what reverses `number`."""
        with self._part(Part(numbers=[number, red_number])) as connection:
            reversals.check_red(connection, number, red_number)

    def handled_before(self, sha256: str, kind: str) -> Handled | None:
        """How a file of this content that came by the inbox was last dealt with in this epoch; None for a new one."""
        with self._part(Part(contents=[sha256])) as connection:
            return inbox_files.last(connection, sha256, kind)

    # What an open gap is closed by.

    @property
    def known_until(self) -> str | None:
        """Until when it knows what was issued, UTC, ISO 8601; None where it knows of no run."""
        with self._part(LITTLE) as connection:
            return runs.known_until(connection)

    def statements_since(self, since: str) -> dict[str, set[str]]:
        """The statements that were taken since then (UTC, ISO 8601), by name: how each was taken the last time."""
        with self._part(Part(statements=True)) as connection:
            return inbox_files.statements_since(connection, since)

    def held_since_gap(self) -> int:
        """How many charges are held as statements showed them that were taken in since the open gap was found."""
        with self._part(Part(shown=True)) as connection:
            return gaps.held_since(connection)

    # What it has to show.

    def past_runs(self, most: int) -> list[tuple[PastRun, list[RunPerson]]]:
        """The last so many runs, the newest first, with who had a hand in each."""
        with self._part(Part(runs=most, history=True)) as connection:
            found = runs.latest(connection, most)
            people = run_people.of_runs(connection, [one.run for one in found])
        return [(one, people.get(one.run, [])) for one in found]

    def ticket_rows(self, ticket: str) -> tuple[list[dict[str, Any]], ...]:
        """Its attempts, judgements, what statements showed, settlements, reversals, who had a hand in its runs, and files about it."""
        with self._part(Part(tickets=[ticket], history=True, files=True)) as connection:
            return (
                ticket_rows.attempts(connection, ticket),
                ticket_rows.judgements(connection, ticket),
                ticket_rows.issued_elsewhere(connection, ticket),
                ticket_rows.settlements(connection, ticket),
                ticket_rows.reversals(connection, ticket),
                run_people.of_ticket(connection, ticket),
                ticket_rows.received_files(connection, ticket),
            )

    def register_lines(
        self, time_zone: str, days: register_lines.Days | None
    ) -> tuple[list[RegisterLine], int]:
        """The register's lines, as `register_lines.register_lines` gives them."""
        bounds = register_lines.bounds(time_zone, days)
        with self._part(Part(issued_between=bounds, unknown=True, shown=True, files=True)) as connection:
            return register_lines.register_lines(connection, time_zone, days)

    def about_files(self, files: Sequence[CheckedFile], time_zone: str) -> InLedger:
        """What is known of the vouchers and tickets that itinerary files are about, and of the files themselves."""
        about = received_files.named(files)
        with self._part(about) as connection:
            known = received_files.known(connection, files, time_zone)
        if known.by_ticket.keys() >= set(about.tickets):
            return known
        with self._part(Part(buyers=True)) as connection:
            return replace(known, buyers=received_files.buyers(connection))

    def with_files(self) -> frozenset[int]:
        """The IDs of the attempts in doubt about which itinerary files came."""
        with self._part(Part(unknown=True, files=True)) as connection:
            return received_files.about_unknown(connection)

    def not_received(
        self, period: Period | None, as_of: datetime.date, time_zone: str
    ) -> tuple[int, list[NotReceived]]:
        """(how many itineraries were issued in that time, None: ever; those of them whose file was not received)."""
        first, last = (period.first, period.last) if period else (None, None)
        bounds = received_files.bounds(first, last, time_zone)
        with self._part(Part(issued_between=bounds, files=True)) as connection:
            return received_files.not_received(connection, *bounds, (as_of, time_zone))

    def archived_files(self) -> dict[str, str]:
        """The files that were kept in the archive, as `received_files.archived` gives them."""
        with self._part(Part(archived=True)) as connection:
            return received_files.archived(connection)

    def looked_over(self) -> integrity_check.Looked:
        """Everything that it holds, and what is wrong with it."""
        with self._part(EVERYTHING) as connection:
            return integrity_check.look(connection)
