"""What a reconciliation came to, as values: its workbook, report, last lines and exit code are drawn from it."""

from dataclasses import dataclass
from pathlib import Path

from pipeline.account import Account
from pipeline.comparison import DISAGREEING, Compared, Period
from pipeline.evidence import Statement
from pipeline.settlement import Decided


@dataclass(frozen=True)
class Unread:
    """A file of the inbox that could not be dealt with, and is left as it is."""

    path: Path
    problem: str


@dataclass(frozen=True)
class Reconciliation:
    """A whole reconciliation. `account` has the rows of all workbooks, and every unknown outcome of the ledger."""

    account: Account
    entries: tuple[Compared, ...]
    decided: Decided
    unread: tuple[Unread, ...]
    statements: tuple[Statement, ...]
    period: Period | None
    notes: tuple[str, ...]

    def of(self, kind: str) -> list[Compared]:
        """The entries of one kind, in their order."""
        return [entry for entry in self.entries if entry.kind == kind]

    @property
    def exit_code(self) -> int:
        """The highest that applies (interface.md, Exit codes)."""
        disagreeing = any(entry.kind in DISAGREEING for entry in self.entries)
        person = disagreeing or self.unread or self.decided.troubles
        return max(self.account.exit_code, 4 if self.account.doubts else 0, 1 if person else 0)
