"""What a reconciliation came to, as values: its workbook, report, last lines and exit code are drawn from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.model import exit_code
from pipeline.model.evidence import Statement
from pipeline.model.exit_code import ExitCode
from pipeline.model.file_status import FILE_STATUS
from pipeline.model.itinerary_file import CollectedFile
from pipeline.model.message import NOTHING, Message
from pipeline.model.result import RunResult
from pipeline.model.settled import Decided
from pipeline.settlement.compare import DISAGREEING, Compared, Period


@dataclass(frozen=True)
class Unread:
    """A file of the inbox that could not be dealt with, and is left as it is."""

    path: Path
    problem: Message


@dataclass(frozen=True)
class Reconciliation:
    """A whole reconciliation. `result` has the rows of all workbooks, and every unknown outcome of the ledger."""

    result: RunResult
    entries: tuple[Compared, ...]
    decided: Decided
    statements: tuple[Statement, ...]
    period: Period | None
    notes: tuple[Message, ...] = ()
    unread: tuple[Unread, ...] = ()
    month: bool = False  # whether one was asked for
    files: tuple[CollectedFile, ...] = ()  # itinerary files of the inbox
    lacking: Message = NOTHING  # what the ledger may lack, so that nothing is sent

    def of(self, kind: str) -> list[Compared]:
        """The entries of one kind, in their order."""
        return [entry for entry in self.entries if entry.kind == kind]

    @property
    def nothing_compared(self) -> bool:
        """Whether a comparison was asked for, by a statement or a month, and no issued charge was there to compare.

        Without a statement tickets and ledger are compared.
        """
        compared = ("agreed", *DISAGREEING) if self.statements else ("not_covered", *DISAGREEING)
        return not any(map(self.of, compared)) and (self.month or bool(self.statements))

    @property
    def odd_files(self) -> tuple[CollectedFile, ...]:
        """The itinerary files that need a person, and were not told before."""
        return tuple(one for one in self.files if one.new and FILE_STATUS[one.status].needs_person)

    @property
    def exit_code(self) -> ExitCode:
        """What the reconciliation ends with."""
        disagreeing = any(entry.kind in DISAGREEING for entry in self.entries)
        needs_person = (
            disagreeing,
            self.nothing_compared,
            self.unread,
            self.decided.troubles,
            self.lacking,
            self.odd_files,
        )
        return exit_code.of_reconciliation(self.result.exit_code, self.result.doubts, *needs_person)


@dataclass(frozen=True)
class Reconciled:
    """What a reconciliation came to, the workbooks that were written, and what went wrong in writing.

    `results` are the result workbooks of files from the inbox, by file; `unwritten` the files whose result is missing.
    """

    said: Reconciliation
    workbook: Path | None = None
    results: Mapping[Path, Path] = field(default_factory=dict)
    problems: tuple[Message, ...] = ()
    unwritten: frozenset[Path] = frozenset()

    @property
    def exit_code(self) -> ExitCode:
        """What the command ends with."""
        return exit_code.where_written(self.said.exit_code, self.problems)
