"""The flow, on one screen.

    workbooks ─read─▶ Table ─judge─▶ Verdicts ─split─▶ Requests ─submit─▶ Results ─write─▶ workbook, report
                                │                         │ ▲                │
                             ledger                  claim▼ │                ▼record
                                └──────────────────────── ledger ────────────┘ ◀─evidence─ reconcile ◀─ statements, answers

One way, no back-calls; progress goes out as values through a Watch, and nothing here prints.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.ledger import (
    attempts,
    held_charges,
    issued_elsewhere,
    judgements,
    opening,
    reversals,
    settlements,
)
from pipeline.ledger.opening import path_for
from pipeline.ledger.session import (
    as_problem,
    earlier_doubts,
    ledger_to_read,
    ledger_to_write,
    note_doubt,
    note_gap,
)
from pipeline.model.errors import Declined, InputProblem, Stop
from pipeline.model.job import Finished, Job, Plan, Task, Watch
from pipeline.model.known_charges import KnownCharges
from pipeline.model.result import RunResult
from pipeline.model.table import Table
from pipeline.reading.input_files import workbook_files
from pipeline.reading.process import Opening
from pipeline.reading.team_mapping import load_map
from pipeline.reading.tickets import read_table
from pipeline.reporting.build import make_result
from pipeline.reporting.events import (
    log_beginning,
    log_end,
    log_evidence,
    log_read,
    log_reconciled,
)
from pipeline.reporting.json_report import report, write_report
from pipeline.reporting.output_paths import check_report_path, result_path
from pipeline.rules.judge import judge
from pipeline.settlement.reconciled import Reconciled
from pipeline.splitting import split

if TYPE_CHECKING:  # start-up: what only one command needs is imported there
    from pipeline.reporting.history import Recorded


def check(job: Job, watch: Watch, begun: Opening | None = None) -> Finished:
    """Judge and split; send nothing, write nothing to the ledger."""
    terms = job.terms
    log_beginning(watch.log, job)
    files, table = _read(job, watch, begun)
    target = result_path(job.output, files[0]) if job.output else None
    with ledger_to_read(job) as ledger:
        if ledger is None and not job.names_carrier:
            watch.note(
                "No profile names a carrier, so no ledger is looked at: what was issued before does not show"
            )
        elif ledger is None and not job.throw_away:
            watch.note(f"There is no ledger yet ({path_for(job)}): what was issued before does not show")
        if ledger:
            note_gap(ledger, watch.note)
            note_doubt(ledger, path_for(job), watch.note)
        holdings = held_charges.holdings(ledger, table.tickets()) if ledger else KnownCharges()
        verdicts = judge(table, holdings, terms)
        for note in verdicts.notes:
            watch.note(note)
        requests = split(verdicts, holdings, terms)
        doubts = earlier_doubts(ledger, verdicts, job.lang, terms) if ledger else []
        about = (
            {"ledger": str(path_for(job)), "ledger_id": attempts.ledger_id(ledger)} if ledger else _NO_LEDGER
        )
    account = make_result("check", table, verdicts, requests, [], doubts, terms, job.lang, **about)
    finished = _written(account, target, job.report)
    log_end(watch.log, finished)
    return finished


def issue(job: Job, watch: Watch, begun: Opening | None = None) -> Finished:
    """The main job: judge, split, submit, write the result workbook."""
    import pipeline.reporting.result_workbook  # noqa: PLC0415, F401 - before anything is sent: it must not fail to load after it
    from pipeline.submission.batch import judged, submitted  # noqa: PLC0415 - start-up: only this sends
    from pipeline.submission.sandbox_carrier import made_up_keys  # noqa: PLC0415 - likewise

    keys = job.secrets or made_up_keys()
    log_beginning(watch.log, job)
    files, table = _read(job, watch, begun)
    target = result_path(job.output, files[0])
    with ledger_to_write(job, watch, keys) as ledger:
        rows = judged(ledger, table, job)
        for note in rows.verdicts.notes:
            watch.note(note)
        if rows.requests:
            ledger.check_complete(len(rows.requests))
        plan = Plan(tuple(rows.requests), job.profile, str(job.owner), table.sheets)
        if rows.requests and not watch.confirm(plan):
            raise Declined("Nothing was sent.")
        run = ledger.begin("issue", job.terms, files)
        watch.log("ledger_taken", run=run, ledger_id=ledger.ledger_id)
        account, sent = submitted(job, ledger, run, rows, keys, watch, "issue")
        finished = _written(account, target, job.report)
        if not sent.ledger_failed:  # else the next start puts it in order
            ledger.end(run, finished.exit_code)
    log_end(watch.log, finished)
    return finished


def reconcile(task: Task, watch: Watch) -> Reconciled:
    """Settle what the evidence settles, try again what may be, compare; needs nobody at the keyboard."""
    from pipeline.reconciliation.gather import compared  # noqa: PLC0415 - likewise
    from pipeline.reconciliation.given_evidence import check_evidence, named_evidence  # noqa: PLC0415 - likewise
    from pipeline.reconciliation.inbox import Batch  # noqa: PLC0415 - likewise
    from pipeline.reconciliation.outputs import note_handled, reconciliation_path, written  # noqa: PLC0415 - likewise
    from pipeline.reconciliation.record_settlements import settle  # noqa: PLC0415 - likewise
    from pipeline.reconciliation.resubmit import again  # noqa: PLC0415 - likewise
    from pipeline.reconciliation.taking import take_in, weighed_together  # noqa: PLC0415 - likewise
    from pipeline.submission.sandbox_carrier import made_up_keys  # noqa: PLC0415 - likewise

    job = task.job
    keys = made_up_keys() if job.sandbox else job.secrets
    log_beginning(watch.log, job, task)
    tables = [_read(job, watch)[1]] if job.inputs else []
    named, target = named_evidence(task), reconciliation_path(task)
    log_evidence(watch.log, named.statements, len(named.answers))
    with ledger_to_write(job, watch, keys) as ledger:
        check_evidence(ledger, named)
        inbox = take_in(task, ledger, watch)
        run = ledger.begin("reconcile", job.terms, [*job.inputs, *inbox.paths])
        watch.log("ledger_taken", run=run, ledger_id=ledger.ledger_id)
        evidence = weighed_together(task, ledger, named, inbox)
        decided = settle(ledger, run, evidence, job, watch)
        done = again(task, ledger, run, [*map(Batch, tables), *inbox.batches], evidence, decided, keys, watch)
        said = compared(task, ledger, decided, evidence, inbox, done)
        finished = written(task, said, done, target)
        if not any(one.ledger_failed for one in done):  # else the next start puts it in order
            note_handled(ledger, run, inbox, said, done, finished)
            ledger.end(run, finished.exit_code)
    log_reconciled(watch.log, finished)
    return finished


def history(job: Job, tickets: Sequence[str], note: Callable[[str], None]) -> "dict[str, Recorded]":
    """Everything the ledger knows of these tickets, by ticket, as of one moment; a run may be on."""
    from pipeline.reporting.history import Recorded  # noqa: PLC0415 - start-up: only this tells it

    connection = opening.open_for_reading(path_for(job), None if job.ledger else job.owner)
    if connection is None:
        raise InputProblem(f"{path_for(job)}: there is no ledger; name one with --ledger")
    with contextlib.closing(connection), as_problem(path_for(job)):
        note_doubt(connection, path_for(job), note)
        connection.execute("BEGIN")
        return {
            ticket: Recorded(
                attempts.history(connection, ticket),
                judgements.of_ticket(connection, ticket),
                issued_elsewhere.of_ticket(connection, ticket),
                settlements.of_ticket(connection, ticket),
                reversals.of_ticket(connection, ticket),
            )
            for ticket in tickets
        }


_NO_LEDGER = {"ledger": "", "ledger_id": ""}


def _read(job: Job, watch: Watch, begun: Opening | None = None) -> tuple[list[Path], Table]:
    """The files and their Table; whatever can be refused before reading is refused first."""
    if job.report:
        check_report_path(job.report)
    mapping = load_map(job.columns)
    files = workbook_files(job.inputs)
    table = read_table(files, job.buyers, mapping, begun, job.profile.carrier.currency)
    log_read(watch.log, table)
    for warning in table.warnings:
        watch.warn(warning)
    for note in table.notes:
        watch.note(note)
    watch.note(
        f"Read {len(table)} rows from {'1 workbook' if len(files) == 1 else f'{len(files)} workbooks'}"
    )
    return files, table


def _written(account: RunResult, target: Path | None, path: Path | None) -> Finished:
    """Write what is asked for; a failure of one does not lose the other, and the ledger has it all."""
    finished = Finished(account)
    if target is not None:
        from pipeline.reporting.result_workbook import write_workbook  # noqa: PLC0415 - start-up: if it is asked for

        try:
            finished = replace(finished, workbook=write_workbook(account, target))
        except Stop as problem:
            finished = replace(finished, problems=(problem.message,))
    if path is not None:
        try:
            write_report(report(account, finished.exit_code), path)
        except Stop as problem:
            finished = replace(finished, problems=(*finished.problems, problem.message))
    return finished
