"""An inbox: whole files only, recognised by what is in them, each dealt with once.

Nothing in the inbox is changed or moved. A file is known by its content: under another name it is no new one, and
a changed one is. What rows of it are still to be issued is judged anew at every reconciliation.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.ledger.inbox_files import Handled
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Answer, Statement
from pipeline.model.message import Message, system_error
from pipeline.model.profile import Profile
from pipeline.model.table import Table
from pipeline.reading.answers import answers_of, unknown_sheets
from pipeline.reading.fingerprint import Origin, origin_of
from pipeline.reading.input_files import read_sheets
from pipeline.reading.previous_result import is_result
from pipeline.reading.process import SUFFIXES
from pipeline.reading.sheet import Sheet
from pipeline.reading.statement import is_statement, known_heading, statement_of
from pipeline.reading.team_mapping import ColumnMap
from pipeline.reading.tickets import assemble
from pipeline.settlement.reconciled import Unread

#: A file that was written to so shortly ago may still be written to.
_FRESH_SECONDS = 60
_WATCH_SECONDS = 2.0


@dataclass(frozen=True)
class Batch:
    """The rows of one workbook, or of those that were named together (`path` None)."""

    table: Table
    path: Path | None = None
    sha256: str = ""
    before: Handled | None = None


@dataclass
class Inbox:
    """What an inbox held that is new, changed, or not finished."""

    batches: list[Batch] = field(default_factory=list)
    statements: list[tuple[Statement, Path]] = field(default_factory=list)
    answers: list[tuple[list[Answer], Path, str]] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    still_written: list[Path] = field(default_factory=list)
    #: Our own workbooks in which nothing is to be done.
    spent: list[tuple[Path, str]] = field(default_factory=list)

    def leave(self, path: Path, problem: Message) -> None:
        """Take nothing of a file, and keep what is wrong with it."""
        self.batches = [batch for batch in self.batches if batch.path != path]
        self.statements = [taken for taken in self.statements if taken[1] != path]
        self.answers = [taken for taken in self.answers if taken[1] != path]
        self.unread.append(Unread(path, problem))

    @property
    def paths(self) -> list[Path]:
        """The files that are taken."""
        of_batches = [batch.path for batch in self.batches if batch.path]
        return [*of_batches, *(path for _, path in self.statements), *(path for _, path, _ in self.answers)]


def contents(folder: Path) -> tuple[list[Path], list[Path]]:
    """(an inbox's files that may be read, those that are of no kind that is read), by name; locks and hidden files are neither.

    Raises InputProblem if it is no folder.
    """
    try:
        inside = [
            path
            for path in sorted(folder.iterdir())
            if not path.is_dir() and not path.name.startswith(("~$", "."))
        ]
    except OSError as error:
        raise InputProblem(
            "--inbox {folder}: can't be read ({error}); name a folder that exists",
            folder=str(folder),
            error=system_error(error),
        ) from None
    read = [path for path in inside if path.suffix.lower() in (*SUFFIXES, ".xlsm") and path.is_file()]
    return read, [path for path in inside if path not in read]


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_size, seen.st_mtime_ns


def steady(paths: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """Each file, and whether its size and time stood still while we looked."""
    before = {path: _stamp(path) for path in paths}
    now = time.time()
    if any(stamp and now - stamp[1] / 1e9 < _FRESH_SECONDS for stamp in before.values()):
        time.sleep(_WATCH_SECONDS)
    for path in paths:
        yield path, before[path] is not None and _stamp(path) == before[path]


@dataclass(frozen=True)
class Reader:
    """How an inbox's files are read."""

    profile: Profile
    mapping: ColumnMap
    buyers: Path | None

    def take(self, path: Path, origin: Origin, before: Handled | None, inbox: Inbox) -> None:
        """Recognise one file and take it in. Raises InputProblem, with nothing taken, if it can't be read."""
        sheets = read_sheets(path, lambda text: known_heading(text) or text in self.mapping.headings)
        if origin_of(path) != origin:
            inbox.still_written.append(path)
            return
        answers = answers_of(path, sheets) if unknown_sheets(sheets) else []
        if is_statement(path, sheets):
            inbox.statements.append((statement_of(path, sheets, self.profile, origin), path))
            return
        ours = is_result(sheets)
        table = self._table(path, sheets, needed=not ours)
        if ours and table is None and not answers:
            inbox.spent.append((path, origin.sha256))
        if table is not None:
            inbox.batches.append(Batch(table, path, origin.sha256, before))
        if answers:
            inbox.answers.append((answers, path, origin.sha256))

    def _table(self, path: Path, sheets: list[Sheet], *, needed: bool) -> Table | None:
        """The file's rows; of a resolved workbook those on its Failures sheet, if there are any."""
        try:
            return assemble([(path, sheets)], self.buyers, self.mapping, self.profile.carrier.currency)
        except InputProblem:
            if needed:
                raise
            return None
