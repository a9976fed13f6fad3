"""What a run asks of its ledger, whichever it is: values in, values out.

Two ledgers do this: a file of one machine (`session.OpenLedger`), and a database that several machines share
(`ledger_postgresql.postgresql_ledger`). What both of them guarantee is asserted in tests/contract: what is acknowledged is
durable; an attempt is claimed once, ever; a charge is in one live attempt; nothing returns to planned; a refused change is
refused alone; a late outcome settles its attempt once.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from pipeline.ledger.planning import Attempt, Details
from pipeline.ledger.settlements import Settlement
from pipeline.model.evidence import StatementLine
from pipeline.model.message import Message
from pipeline.model.profile import Terms
from pipeline.model.request import Request
from pipeline.rules.rows import Rows


class LedgerOperations(Protocol):
    """A ledger that a run has open. Every method raises LedgerProblem where the ledger can't do it; nothing is changed then."""

    @property
    def ledger_id(self) -> str:
        """The ledger's own ID."""

    @property
    def epoch(self) -> str:
        """The ID of the epoch that attempts belong to now."""

    def lacking(self) -> Message:
        """Why nothing may be sent: what the ledger may lack; nothing where it is complete."""

    def begin(self, command: str, terms: Terms, files: Sequence[Path]) -> int:
        """Record a run; its number."""

    def plan(self, run: int, requests: Sequence[Request], rows: Rows, details: Details) -> list[Attempt]:
        """Write every request with a new attempt as `planned`, all of them or none."""

    def settle(self, attempt_id: int, settlement: Settlement) -> None:
        """Settle an unknown attempt by evidence, and record that."""

    def hold_elsewhere(self, run: int, lines: Iterable[tuple[StatementLine, str]], found_by: str) -> None:
        """Hold the charges of these statement lines, each with its code for the carrier."""
