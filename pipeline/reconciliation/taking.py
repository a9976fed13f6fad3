"""What lies in the inbox that is new, changed or not finished, taken in file by file."""

import datetime
from pathlib import Path

from pipeline.ledger import inbox_files
from pipeline.ledger.session import OpenLedger, as_problem
from pipeline.model.errors import Stop
from pipeline.model.job import Log, Task, Watch
from pipeline.model.message import Message, message, system_error
from pipeline.reading.fingerprint import origin_of
from pipeline.reading.team_mapping import load_map
from pipeline.reconciliation.given_evidence import (
    Named,
    check_ledger,
    check_statement,
    listed_holdings,
)
from pipeline.reconciliation.inbox import (
    Inbox,
    Reader,
    contents,
    steady,
)
from pipeline.settlement.decide import Evidence
from pipeline.settlement.voucher_numbers import without_odd_numbers

#: What a file may be to a reconciliation.
_KINDS = ("tickets", "statement", "resolved")


def take_in(task: Task, ledger: OpenLedger, watch: Watch) -> Inbox:
    """What the inbox holds that is new, changed or not finished; what can't be read is left and reported."""
    inbox = Inbox()
    if task.inbox is None:
        return inbox
    reader = Reader(task.job.profile, load_map(task.job.columns), task.job.buyers)
    files, others = contents(task.inbox)
    for path in others:
        watch.log("file_left", file=path.name, because="not a workbook")
        no_workbook = message(
            "{file}: is no workbook, and is not read; save it as .xlsx, or take it away", file=str(path)
        )
        inbox.leave(path, no_workbook)
    for path, still in steady(files):
        if not still:
            inbox.still_written.append(path)
            continue
        try:
            _take(path, reader, ledger, inbox)
        except (Stop, OSError) as problem:
            watch.log("file_left", file=path.name, because="unreadable")
            inbox.leave(path, problem.message if isinstance(problem, Stop) else _unreadable(path, problem))
        else:
            _log_taken(watch.log, path, inbox)
            _warn_of_hidden(path, inbox, watch)
    for path in inbox.still_written:
        watch.log("file_left", file=path.name, because="still written")
        watch.note(message("{file}: is still being written, and is left for the next time", file=str(path)))
    return inbox


def _unreadable(path: Path, error: OSError) -> Message:
    return message(
        "{file}: can't be read ({error}); check its permissions", file=str(path), error=system_error(error)
    )


def _warn_of_hidden(path: Path, inbox: Inbox, watch: Watch) -> None:
    """Tell what nobody sees in a file that is new: once, and not every night until it is done with."""
    for batch in inbox.batches:
        if batch.path == path and batch.before is None:
            for warning in batch.table.warnings:
                watch.warn(warning)


def _take(path: Path, reader: Reader, ledger: OpenLedger, inbox: Inbox) -> None:
    """Take one file in, unless one of its content is done with. Raises InputProblem for what is no evidence here."""
    origin = origin_of(path)
    with as_problem(ledger.path):
        before = {kind: inbox_files.last(ledger.connection, origin.sha256, kind) for kind in _KINDS}
    if any(before.values()) and not any(one.unfinished for one in before.values() if one):
        return
    reader.take(path, origin, before["tickets"], inbox)
    for statement, of in inbox.statements:
        if of == path:
            check_statement(statement, ledger)
    check_ledger(ledger, [answer for answers, of, _ in inbox.answers if of == path for answer in answers])


def weighed_together(task: Task, ledger: OpenLedger, named: Named, inbox: Inbox) -> Evidence:
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


def _log_taken(log: Log, path: Path, inbox: Inbox) -> None:
    """A file of the inbox was taken in, as what it is."""
    for batch in inbox.batches:
        if batch.path == path:
            log("read", file=path.name, kind="tickets", rows=len(batch.table))
    for statement, of in inbox.statements:
        if of == path:
            log("read", file=path.name, kind="statement", rows=len(statement.lines) + len(statement.misread))
    for answers, of, _ in inbox.answers:
        if of == path:
            log("read", file=path.name, kind="resolved", rows=len(answers))
