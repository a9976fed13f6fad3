"""`voucher reconcile`."""

import sys
from typing import Any

from pipeline.cli.console import Terminal
from pipeline.cli.job_options import job_from
from pipeline.cli.stderr import listening, reader, say
from pipeline.model.job import Task
from pipeline.reporting.event_log import logged
from pipeline.reporting.summary_text import reconciled_lines
from pipeline.run import reconcile as flow
from pipeline.settlement.reconciliation_result import Reconciled


def reconcile(**given: Any) -> None:
    """Reconcile, say what needs a person, exit."""
    quiet = given["quiet"] or not (given["verbose"] or listening())
    terminal = Terminal(quiet=quiet, verbose=given["verbose"], lang=given["lang"], cells=False)
    reader().cells = False
    with terminal.watch(yes=True) as seen, logged(given["log_file"], "reconcile", seen) as watch:
        finished = flow.reconcile(_task(given), watch)
    if not quiet or _needs_person(finished):
        for line in reconciled_lines(finished.said):
            say(line)
        terminal.say_files(finished.problems, (*finished.results.values(), finished.workbook))
    sys.exit(finished.exit_code)


def _needs_person(finished: Reconciled) -> bool:
    """Whether it is said where nobody listens, in the mail that cron sends."""
    said = finished.said
    warned = said.decided.warnings or said.notes or any(entry.set_free for entry in said.entries)
    return bool(finished.exit_code or warned)


def _task(given: dict[str, Any]) -> Task:
    """What a reconciliation is asked to do."""
    sends = bool(given["workbooks"] or given["inbox"])
    return Task(
        job=job_from(given | {"sandbox_statement": None}, needs_keys=sends),
        by=given["by"],
        statements=given["statement"],
        resolved=given["resolved"],
        complete=given["statement_complete"],
        made=given["statement_made"] or "",
        inbox=given["inbox"],
        outbox=given["outbox"],
        month=given["month"] or "",
    )
