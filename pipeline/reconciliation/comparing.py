"""Tickets against ledger against statement, after everything was settled and sent."""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

import numpy as np

from pipeline.account import Account, Doubt
from pipeline.bookkeeping import OpenLedger, as_problem
from pipeline.comparison import Compare, Period, in_month, period_of
from pipeline.evidence import Unsettled
from pipeline.holdings import Holding, day_of
from pipeline.inbox import Inbox
from pipeline.job import Job, Task
from pipeline.ledger import issued, settling
from pipeline.reconciled import Reconciliation
from pipeline.reconciliation.month import month_of
from pipeline.reconciliation.retrying import Again
from pipeline.request import Identity
from pipeline.settlement import Decided, Evidence
from pipeline.table import Table
from pipeline.wording import reason_text


def compared(  # noqa: PLR0913 - likewise
    task: Task, ledger: OpenLedger, decided: Decided, evidence: Evidence, inbox: Inbox, done: Sequence[Again]
) -> Reconciliation:
    """Tickets against ledger against statement, after everything was settled and sent.

    Where the ledger failed while rows were sent there is nothing to compare with; what is known of them is accounted for.
    """
    job, zone = task.job, task.job.profile.carrier.time_zone
    month = month_of(task.month)
    period = month or _said_period(evidence) or period_of(decided.lines, zone)
    account, accounts = _together(task, ledger, done), [one.account for one in done]
    said = Reconciliation(account, (), decided, tuple(inbox.unread), evidence.statements, period, ())
    if any(one.ledger_failed for one in done):
        return replace(
            said, account=replace(account, doubts=tuple(d for one in accounts for d in one.doubts))
        )
    with as_problem(ledger.path):
        unsettled = settling.unsettled(ledger.connection)
        held = dict(_issued_in(ledger, period, zone) if evidence.statements and period else {})
    tickets = {line.ticket_no for line in decided.lines}
    tickets |= {ticket for one in done for ticket in one.batch.table.tickets()}
    tickets |= {identity.ticket_no for one in unsettled for identity, _, _ in one.charges}
    held |= ledger.holdings(sorted(tickets)).held
    everything = evidence.complete is not None
    entries = Compare(decided, evidence.statements, held, accounts, period, everything, zone).entries()
    return replace(
        said,
        account=replace(account, doubts=tuple(_doubt(one, job) for one in unsettled)),
        entries=tuple(in_month(entries, month, zone) if month else entries),
        notes=_notes(evidence, decided, unsettled, period),
    )


def _said_period(evidence: Evidence) -> Period | None:
    if evidence.complete is None:
        return None
    return Period(evidence.complete.since.date(), evidence.complete.until.date() - datetime.timedelta(days=1))


def _issued_in(ledger: OpenLedger, period: Period, zone: str) -> dict[Identity, Holding]:
    def start(day: datetime.date) -> str:
        begins = datetime.datetime.combine(day, datetime.time(), ZoneInfo(zone))
        return begins.astimezone(datetime.UTC).isoformat(timespec="milliseconds")

    return issued.issued_between(
        ledger.connection, start(period.first), start(period.last + datetime.timedelta(days=1))
    )


def _notes(
    evidence: Evidence, decided: Decided, unsettled: Sequence[Unsettled], period: Period | None
) -> tuple[str, ...]:
    """What a person should know of how the comparison was made."""
    notes = []
    if evidence.complete and evidence.settle_after is None and unsettled:
        notes.append(
            "A statement's silence proves nothing here: the profile does not say how long after a request the carrier's"
            " statement lists it; set settle_after_hours under [reconcile]"
        )
    unreadable = sum(not misread.ticket_no for misread in evidence.misread)
    if evidence.complete and unsettled and unreadable:
        notes.append(
            f"A statement's silence proves nothing here: in {unreadable} lines of it the ticket can't be read"
        )
    elif (
        evidence.complete
        and evidence.settle_after is not None
        and not decided.troubles  # they say why
        and (soon := _too_soon(evidence, unsettled))
    ):
        made = min(statement.made for statement in evidence.statements)
        hours = evidence.settle_after / datetime.timedelta(hours=1)
        notes.append(
            f"{soon} unknown outcomes are not listed, and that proves nothing yet: a request must have ended {hours:g} hours"
            f" before {evidence.complete.until:%Y-%m-%d %H:%M} and before the statement was made ({made:%Y-%m-%d %H:%M} UTC)"
        )
    if evidence.lines and period is None:
        notes.append(
            "The statement has no dates, so what is missing on it can't be told; say --month or --statement-complete"
        )
    return tuple(notes)


def _too_soon(evidence: Evidence, unsettled: Sequence[Unsettled]) -> int:
    """How many of the outcomes that are still unknown no statement lists."""
    listed = {line.ticket_no for line in evidence.lines} | {misread.ticket_no for misread in evidence.misread}
    made = max(statement.made for statement in evidence.statements)
    return sum(
        all(identity.ticket_no not in listed for identity, _, _ in one.charges)
        and datetime.datetime.fromisoformat(one.began) <= made
        for one in unsettled
    )


def _doubt(one: Unsettled, job: Job) -> Doubt:
    day = day_of(one.ended, job.profile.carrier.time_zone)
    facts = {"detail": one.detail, "earlier": f"{day}, {one.place}"}
    return Doubt(
        one.request_id, one.attempt, one.voucher, one.market, one.header_name, one.amount,
        reason_text(one.reason or "run_killed", "", job.lang, facts), one.trace_id,
        tuple((identity, amount) for identity, _, amount in one.charges),
    )  # fmt: skip


def _together(task: Task, ledger: OpenLedger, done: Sequence[Again]) -> Account:
    """One account of all batches, their rows numbered through."""
    job = task.job
    empty = Account(
        "reconcile", str(job.terms.as_of), job.lang, job.profile.carrier.currency, str(ledger.path), ledger.ledger_id,
        Table.empty(), {}, np.array([], dtype=object), (), (),
    )  # fmt: skip
    if len(done) == 1:
        return done[0].account
    rows, requests, stopped = list(empty.rows), list(empty.requests), ""
    for one in done:
        first = len(rows)
        rows += [replace(row, index=first + row.index) for row in one.account.rows]
        requests += [replace(r, rows=tuple(first + row for row in r.rows)) for r in one.account.requests]
        stopped = stopped or one.account.stopped
    return replace(empty, rows=tuple(rows), requests=tuple(requests), stopped=stopped)
