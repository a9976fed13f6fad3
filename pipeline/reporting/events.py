"""What is noted of a run for machines (`--log-file`): its events and their facts.

    run_begins      version, as_of, files: the workbooks, statements and answers that were named
    read            file ("": all that were named), kind (tickets, statement, resolved), rows
    file_left       file, because: a file of the inbox that was not taken
    ledger_taken    run, ledger_id: from here on the ledger is this run's
    settled         request, attempt, state: an unknown outcome that evidence decided
    itinerary_file  sha256, status, seal: what a mailed file of an itinerary came to
    request_ended   request, attempt, voucher, state, reason, trace_id
    compared        how many charges agree, and how many do not, by kind; troubles: evidence that settles nothing
    run_ends        exit_code, rows and requests by status, unknown: open outcomes, stopped early, written: files
    stopped         error, exit_code: what stopped it, by its kind

A file is named by its bare name. Nobody's name, number or address is among the facts, and no text of a cell.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pipeline import __version__
from pipeline.model.evidence import Statement
from pipeline.model.job import Finished, Job, Log, Task
from pipeline.model.result import RunResult
from pipeline.model.table import Table
from pipeline.settlement.compare import KINDS
from pipeline.settlement.reconciliation_result import Reconciled


def log_beginning(log: Log, job: Job, task: Task | None = None) -> None:
    """A run begins."""
    named = [*job.inputs, *(task.statements if task else ()), *(task.resolved if task else ())]
    log(
        "run_begins",
        version=__version__,
        as_of=str(job.terms.as_of),
        sandbox=job.sandbox,
        files=[path.name for path in named],
    )


def log_read(log: Log, table: Table) -> None:
    """Workbooks of tickets were read together."""
    for file, rows in table.frame["file"].value_counts(sort=False).items():
        log("read", file=Path(str(file)).name, kind="tickets", rows=int(rows))


def log_evidence(log: Log, statements: Sequence[Statement], answers: int) -> None:
    """Statements and answers that were named were read."""
    for statement in statements:
        log("read", file=statement.name, kind="statement", rows=len(statement.lines) + len(statement.misread))
    if answers:
        log("read", file="", kind="resolved", rows=answers)


def log_end(log: Log, finished: Finished) -> None:
    """A run of `check` or `issue` has ended."""
    _end(log, finished.result, finished.exit_code, [finished.workbook])


def log_reconciled(log: Log, finished: Reconciled) -> None:
    """A reconciliation has ended: how its comparison came out, and the end of the run."""
    said = finished.said
    log(
        "compared",
        **{kind: len(said.of(kind)) for kind in KINDS},
        settled=len(said.decided.settled),
        troubles=dict(Counter(trouble.code for trouble in said.decided.troubles)),
        warnings=len(said.decided.warnings),
        unread=len(said.unread),
    )
    _end(log, said.result, finished.exit_code, [*finished.results.values(), finished.workbook])


def _end(log: Log, result: RunResult, exit_code: int, written: Sequence[Path | None]) -> None:
    log(
        "run_ends",
        exit_code=exit_code,
        rows=result.totals,
        requests=result.request_totals,
        unknown=len(result.doubts),
        stopped_early=bool(result.stopped),
        written=[path.name for path in written if path],
    )
