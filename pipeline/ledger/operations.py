"""What a run, and who mends a ledger, ask of it beside questions, whichever it is: values in, values out.

Two ledgers do this: a file of one machine (`session.OpenLedger`, `ledger_to_change.FileToChange`), and a database that several machines
share (`ledger_postgresql.postgresql_ledger`). What both of them guarantee is asserted in tests/contract: what is acknowledged is durable;
an attempt is claimed once, ever; a charge is in one live attempt; nothing returns to planned; a refused change is refused alone; a late
outcome settles its attempt once.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.ledger.gaps import Gap
from pipeline.ledger.inbox_files import Handled
from pipeline.ledger.judgements import Judgement
from pipeline.ledger.planning import Attempt, Details
from pipeline.ledger.read_ledger import ReadLedger
from pipeline.ledger.reversals import Reversed, SaidReversed
from pipeline.ledger.run_people import RunPerson
from pipeline.ledger.settlements import Settlement
from pipeline.ledger.withdrawals import Withdrawn
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import StatementLine
from pipeline.model.itinerary_file import CollectedFile
from pipeline.model.message import Message
from pipeline.model.profile import Owner, Terms
from pipeline.model.request import Request

if TYPE_CHECKING:  # who plans nothing needs no numpy, which is much to load
    from pipeline.rules.rows import Rows


class RunLedger(ReadLedger, ABC):
    """A ledger that a run has open. Every method raises LedgerProblem where the ledger can't do it; nothing is changed then."""

    def check_complete(self, requests: int) -> None:
        """Raise InputProblem if the ledger has a gap, so that these requests may have been issued already."""
        if lacking := self.lacking():
            raise InputProblem(
                "{path}: {lacking}, so that the {requests} requests of this run may be issued already;"
                " nothing was sent. Compare it with the carrier's complete statement from then on, then"
                " say what that showed: voucher ledger close-gap",
                path=self.name,
                lacking=lacking,
                requests=requests,
            )

    @abstractmethod
    def begin(self, command: str, terms: Terms, files: Sequence[Path]) -> int:
        """Record a run; its number."""

    @abstractmethod
    def note_people(self, run: int, people: Iterable[RunPerson]) -> None:
        """Record who had a hand in a run that is on."""

    @abstractmethod
    def note_judgements(self, run: int, made: Iterable[Judgement]) -> None:
        """Record how rows were judged, where that is new."""

    @abstractmethod
    def plan(self, run: int, requests: Sequence[Request], rows: "Rows", details: Details) -> list[Attempt]:
        """Write every request with a new attempt as `planned`, all of them or none, with the rows that they come from and what these say
        beside.
        """

    @abstractmethod
    def settle(self, attempt_id: int, settlement: Settlement) -> None:
        """Settle an unknown attempt by evidence, and record that. Raises NotSettled where it does not settle that one, now."""

    @abstractmethod
    def hold_elsewhere(self, run: int, lines: Iterable[tuple[StatementLine, str]], found_by: str) -> None:
        """Hold the charges of these statement lines, each with its code for the carrier."""

    @abstractmethod
    def reverse(self, said: SaidReversed, run: int) -> Reversed:
        """Record that the carrier has reversed a voucher, and let its charges go. Raises InputProblem where it can't have been."""

    @abstractmethod
    def note_handled(self, run: int, handled: Handled) -> None:
        """Note that a file was dealt with by a run."""

    @abstractmethod
    def note_files(self, run: int, collected: Iterable[CollectedFile]) -> None:
        """Note what itinerary files came to, where that is new."""

    @abstractmethod
    def end(self, run: int, exit_code: int, stopped_by: Iterable[RunPerson] = ()) -> None:
        """Record how a run ended, and who stopped it, and forget what was not sent."""


class LedgerToChange(ReadLedger, ABC):
    """A ledger that is changed outside any run: its memory mended, evidence withdrawn, moved."""

    @abstractmethod
    def mark_gap(self, since: str, why: Message) -> Path | None:
        """Record that what was issued after `since` may be missing; where its spill file was put aside, if it had one."""

    @abstractmethod
    def close_gaps(self, closed_by: str, evidence: Message) -> list[Gap]:
        """Record what shows that nothing is missing any more; the gaps that this closes."""

    @abstractmethod
    def deny_gap(self, why: Message, said_by: str, evidence: Message) -> None:
        """Record a gap from what is known until, and in the same change that nothing is missing."""

    @abstractmethod
    def withdraw(self, entry: str, *, withdrawn_by: str, why: str) -> Withdrawn:
        """Withdraw an entry as the history names it. Raises InputProblem, with nothing changed, where that can't be."""

    @abstractmethod
    def reverse(self, said: SaidReversed) -> Reversed:
        """Record that the carrier has reversed a voucher. Raises InputProblem where it can't have been."""

    @abstractmethod
    def move(self, to: Owner, moved_by: str, why: str) -> None:
        """Let it belong to the carrier at its new address; nothing but that where it belongs to it already."""
