"""What a comparison is made of: tickets, ledger and statement, once everything was settled and sent (`settlement/compare.py` compares)."""

import datetime
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pipeline.ledger.read_ledger import ReadLedger
from pipeline.model.evidence import Evidence
from pipeline.model.job import Task
from pipeline.model.message import NOTHING, Message, message
from pipeline.model.result import RunResult
from pipeline.model.result_values import RequestResult, RowResult
from pipeline.model.settled import Decided
from pipeline.model.table import SheetRows, Table
from pipeline.reconciliation.given_evidence import month_of
from pipeline.reconciliation.resubmit import Again, with_answers
from pipeline.reporting.unknown_attempts import earlier_unknowns
from pipeline.settlement.compare import (
    Compare,
    Period,
    in_month,
    period_of,
)
from pipeline.settlement.reconciliation_result import Reconciliation


def compared(
    task: Task, ledger: ReadLedger, evidence: Evidence, decided: Decided, done: Sequence[Again]
) -> Reconciliation:
    """Tickets against ledger against statement, after everything was settled and sent.

    Where the ledger failed while rows were sent there is nothing to compare with; what is known of them is accounted for.
    """
    job, zone = task.job, task.job.profile.carrier.time_zone
    month = month_of(task.month)
    period = month or _said_period(evidence) or period_of(decided.lines, zone)
    results = [one.result for one in done]
    said = Reconciliation(_together(task, ledger, done), (), decided, evidence.statements, period)
    if any(one.ledger_failed for one in done):
        doubts = tuple(doubt for one in results for doubt in one.doubts)
        return replace(said, result=replace(said.result, doubts=doubts))
    unsettled = ledger.unsettled()
    held = ledger.issued_between(*period.times(zone)) if evidence.statements and period else {}
    tickets = {line.ticket_no for line in decided.lines}
    tickets |= {ticket for one in done for ticket in one.batch.table.tickets()}
    tickets |= {identity.ticket_no for one in unsettled for identity, _, _ in one.charges}
    held |= ledger.holdings(sorted(tickets)).held
    claimed = frozenset(claim.kind for claim in evidence.complete)
    denied = ledger.called_not_issued({line.ticket_no for line in decided.lines})
    entries = Compare(decided, evidence.statements, held, results, period, claimed, zone, denied).entries()
    return replace(
        said,
        result=replace(
            said.result, doubts=with_answers(earlier_unknowns(unsettled, job.lang, zone), decided.answers)
        ),
        entries=tuple(in_month(entries, month, zone) if month else entries),
        notes=_notes(evidence, decided, period),
        month=month is not None,
        lacking=ledger.lacking(),
    )


def _said_period(evidence: Evidence) -> Period | None:
    if evidence.claimed is None:
        return None
    since, until = evidence.claimed
    return Period(since.date(), until.date() - datetime.timedelta(days=1))


def _notes(evidence: Evidence, decided: Decided, period: Period | None) -> tuple[Message, ...]:
    """What a person should know of how the comparison was made."""
    if evidence.lines and period is None:
        return (
            *decided.notes,
            message(
                "The statement has no dates, so what is missing on it can't be told; say --month or --statement-complete"
            ),
        )
    return decided.notes


def _together(task: Task, ledger: ReadLedger, done: Sequence[Again]) -> RunResult:
    """One result of all batches, their rows numbered through."""
    if len(done) == 1:
        return done[0].result
    job = task.job
    if done:  # each has it from before anything was sent: the ledger may have failed since
        path, ledger_id = done[0].result.ledger, done[0].result.ledger_id
    else:
        path, ledger_id = "" if job.throw_away else ledger.name, ledger.ledger_id
    rows, requests, before = list[RowResult](), list[RequestResult](), list[RequestResult]()
    repeats = dict[int, int]()
    stopped, sheets, warnings = NOTHING, list[SheetRows](), list[Message]()
    for one in done:
        first = len(rows)
        rows += [replace(row, index=first + row.index) for row in one.result.rows]
        requests += [replace(r, rows=tuple(first + row for row in r.rows)) for r in one.result.requests]
        before += [replace(r, rows=tuple(first + row for row in r.rows)) for r in one.result.issued_before]
        repeats |= {first + row: first + other for row, other in one.result.repeats.items()}
        sheets += one.result.table.sheets
        warnings += one.result.table.warnings
        stopped = stopped or one.result.stopped
    return RunResult(
        "reconcile", str(job.terms.as_of), job.lang, job.profile.carrier.currency, path, ledger_id,
        replace(Table.empty(), sheets=tuple(sheets), warnings=tuple(warnings)), {}, np.array([], dtype=object), tuple(rows), tuple(requests),
        stopped=stopped, repeats=repeats, origin=job.origin, issued_before=before,
        lacking=tuple(dict.fromkeys(key for one in done for key in one.result.lacking)),
    )  # fmt: skip
