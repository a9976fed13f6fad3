"""An inbox: whole files only, recognised by what is in them, each dealt with once.

Nothing in the inbox is changed or moved. A file is known by its content: under another name it is no new one, and
a changed one is. What rows of it are still to be issued is judged anew at every reconciliation.
"""

import datetime
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.file_reading import WORKBOOK_SUFFIXES, is_background
from pipeline.itinerary_files.find_files import may_hold_itineraries
from pipeline.ledger.inbox_files import Handled
from pipeline.ledger.read_ledger import ReadLedger
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Answer, Evidence, Statement
from pipeline.model.job import Log, Task, Watch
from pipeline.model.message import Message, message, system_error
from pipeline.model.profile import Profile
from pipeline.model.table import Table
from pipeline.reading.columns_file import ColumnMap, load_map
from pipeline.reading.fingerprint import Origin, origin_of
from pipeline.reading.input_files import note_folders, read_sheets
from pipeline.reading.previous_result import has_failures, is_result
from pipeline.reading.statement import is_statement, known_heading, statement_of
from pipeline.reading.tickets import assemble
from pipeline.reading.unknown_answers import answers_of, unknown_sheets
from pipeline.reconciliation.given_evidence import (
    Named,
    check_ledger,
    check_statement,
    listed_holdings,
)
from pipeline.settlement.reconciliation_result import Unread
from pipeline.settlement.voucher_numbers import without_odd_numbers

#: A file that was written to so shortly ago may still be written to.
_FRESH_SECONDS = 60
_WATCH_SECONDS = 2.0
#: What a file may be to a reconciliation.
_KINDS = ("tickets", "statement", "resolved")


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
    #: Archives and mails, which may hold itinerary files: these are known by their own content.
    mails: list[Path] = field(default_factory=list)
    #: Our own workbooks in which nothing is to be done.
    spent: list[tuple[Path, str]] = field(default_factory=list)

    def add(self, found: "Inbox") -> None:
        """What one file is, beside what was found before."""
        self.batches += found.batches
        self.statements += found.statements
        self.answers += found.answers
        self.still_written += found.still_written
        self.spent += found.spent

    @property
    def paths(self) -> list[Path]:
        """The files that are taken."""
        of_batches = [batch.path for batch in self.batches if batch.path]
        of_evidence = (*(path for _, path in self.statements), *(path for _, path, _ in self.answers))
        return [*of_batches, *of_evidence, *self.mails]


def take_in(task: Task, ledger: ReadLedger, watch: Watch) -> Inbox:
    """What the inbox holds that is new, changed or not finished; what can't be read is left and reported."""
    inbox = Inbox()
    if task.inbox is None:
        return inbox
    reader = _Reader(task.job.profile, load_map(task.job.columns), task.job.buyers)
    files, others, folders = _contents(task.inbox)
    note_folders(task.inbox, [path for path in folders if path != task.outbox], watch.note)
    mails = [path for path in others if may_hold_itineraries(path)]
    for path in (path for path in others if path not in mails):
        watch.log("file_left", file=path.name, because="not a workbook")
        no_workbook = message(
            "{file}: is no workbook, and is not read; save it as .xlsx, or take it away", file=str(path)
        )
        inbox.unread.append(Unread(path, no_workbook))
    for path, still in _steady([*files, *mails]):
        if not still:
            inbox.still_written.append(path)
            continue
        if path in mails:
            inbox.mails.append(path)
            continue
        try:
            found = _taken(path, reader, ledger)
        except (InputProblem, OSError) as problem:
            watch.log("file_left", file=path.name, because="unreadable")
            said = problem.message if isinstance(problem, InputProblem) else _unreadable(path, problem)
            inbox.unread.append(Unread(path, said))
        else:
            inbox.add(found)
            _log_taken(watch.log, path, found)
            _warn_of_hidden(found, watch)
    for path in inbox.still_written:
        watch.log("file_left", file=path.name, because="still written")
        watch.note(message("{file}: is still being written, and is left for the next time", file=str(path)))
    return inbox


def weighed_together(task: Task, ledger: ReadLedger, named: Named, inbox: Inbox) -> Evidence:
    """All the evidence of this reconciliation; lines of an odd number are set aside, and hold where the ledger has a gap."""
    hours = task.job.profile.reconcile.settle_after_hours
    statements = (*named.statements, *(statement for statement, _ in inbox.statements))
    holding = bool(ledger.lacking())
    return Evidence(
        tuple(without_odd_numbers(one, listed_holdings(one, ledger), holding=holding) for one in statements),
        (*named.answers, *(answer for answers, _, _ in inbox.answers for answer in answers)),
        named.complete,
        None if hours is None else datetime.timedelta(hours=hours),
        task.by,
    )


def _contents(folder: Path) -> tuple[list[Path], list[Path], list[Path]]:
    """(an inbox's files that may be read, those that are of no kind that is read, its folders), by name; no locks and hidden files.

    Raises InputProblem if it is no folder.
    """
    try:
        inside = [path for path in sorted(folder.iterdir()) if not is_background(path)]
        folders = [path for path in inside if path.is_dir()]
    except OSError as error:
        raise InputProblem(
            "--inbox {folder}: can't be read ({error}); name a folder that exists",
            folder=str(folder),
            error=system_error(error),
        ) from None
    read = [
        path for path in inside if path.suffix.lower() in (*WORKBOOK_SUFFIXES, ".xlsm") and path.is_file()
    ]
    return read, [path for path in inside if path not in {*read, *folders}], folders


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_size, seen.st_mtime_ns


def _steady(paths: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """Each file, and whether its size and time stood still while we looked."""
    before = {path: _stamp(path) for path in paths}
    now = time.time()
    if any(stamp and now - stamp[1] / 1e9 < _FRESH_SECONDS for stamp in before.values()):
        time.sleep(_WATCH_SECONDS)
    for path in paths:
        yield path, before[path] is not None and _stamp(path) == before[path]


@dataclass(frozen=True)
class _Reader:
    """How an inbox's files are read."""

    profile: Profile
    mapping: ColumnMap
    buyers: Path | None

    def taken(self, path: Path, origin: Origin, before: Handled | None) -> Inbox:
        """What one file is. Raises InputProblem if it can't be read."""
        sheets = read_sheets(path, lambda text: known_heading(text) or self.mapping.knows(text))
        if origin_of(path) != origin:
            return Inbox(still_written=[path])
        found = Inbox()
        if answers := answers_of(path, sheets) if unknown_sheets(sheets) else []:
            found.answers.append((answers, path, origin.sha256))
        if is_statement(path, sheets):
            found.statements.append((statement_of(path, sheets, self.profile, origin), path))
            return found
        if not is_result(sheets) or has_failures(sheets):
            table = assemble([(path, sheets)], self.buyers, self.mapping, self.profile.carrier.currency)
            if table.said_issued and is_statement(path, sheets, named=True):
                raise InputProblem(
                    "{file}: may be tickets, or a carrier's statement: it has columns of tickets, and says which vouchers were issued and when. Nothing of"
                    " it is sent. Give it with --statement; if its rows are to be issued, to voucher issue",
                    file=str(path),
                )
            found.batches.append(Batch(table, path, origin.sha256, before))
        elif not answers:
            found.spent.append((path, origin.sha256))
        return found


def _unreadable(path: Path, error: OSError) -> Message:
    return message(
        "{file}: can't be read ({error}); check its permissions", file=str(path), error=system_error(error)
    )


def _warn_of_hidden(found: Inbox, watch: Watch) -> None:
    """Tell what nobody sees in a file that is new: once, and not every night until it is done with."""
    for batch in found.batches:
        if batch.before is None:
            for warning in batch.table.warnings:
                watch.warn(warning)


def _taken(path: Path, reader: _Reader, ledger: ReadLedger) -> Inbox:
    """What one file is; nothing, if one of its content is done with. Raises InputProblem for what is no evidence here."""
    origin = origin_of(path)
    before = {kind: ledger.handled_before(origin.sha256, kind) for kind in _KINDS}
    if any(before.values()) and not any(one.unfinished for one in before.values() if one):
        return Inbox()
    found = reader.taken(path, origin, before["tickets"])
    for statement, _ in found.statements:
        check_statement(statement, ledger)
    for answers, _, _ in found.answers:
        check_ledger(ledger, answers)
    return found


def _log_taken(log: Log, path: Path, found: Inbox) -> None:
    """A file of the inbox was taken in, as what it is."""
    for batch in found.batches:
        log("read", file=path.name, kind="tickets", rows=len(batch.table))
    for statement, _ in found.statements:
        log("read", file=path.name, kind="statement", rows=len(statement.lines) + len(statement.misread))
    for answers, _, _ in found.answers:
        log("read", file=path.name, kind="resolved", rows=len(answers))
