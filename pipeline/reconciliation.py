"""Reconciling, step by step: evidence brought together and weighed, rows tried again, everything compared.

`run.reconcile` is the flow; here is what each of its steps does. Nothing unknown is sent without evidence, and
evidence that contradicts itself changes nothing.
"""

import datetime
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

from pipeline.account import Account, Doubt
from pipeline.bookkeeping import OpenLedger, as_problem
from pipeline.comparison import Compare, Period, in_month, period_of
from pipeline.errors import InputProblem, Stop
from pipeline.evidence import Answer, Complete, Statement, Unsettled
from pipeline.happenings import log_taken
from pipeline.holdings import Holding, day_of
from pipeline.inbox import Batch, Inbox, Reader, candidates, content_of, steady
from pipeline.issuing import judged, submitted
from pipeline.job import Job, Task, Watch, today
from pipeline.ledger import elsewhere, handled, issued, settling
from pipeline.ledger.handled import Handled
from pipeline.reading.mapping import load_map
from pipeline.reading.resolved import read_answers
from pipeline.reading.statements import read_statement
from pipeline.reconciled import Reconciliation, Unread
from pipeline.request import Identity, wire_text
from pipeline.settings import Secrets
from pipeline.settlement import RESOLVED_AS, Decided, Evidence, Trouble, decide
from pipeline.table import Table
from pipeline.wording import reason_text

#: What a clock may be put back by without anybody's doing.
_CLOCK_MAY_SLIP = datetime.timedelta(minutes=5)
#: Row statuses after which a workbook has nothing more to come by itself.
_SETTLED_STATUSES = frozenset({"issued", "already_issued", "invalid", "ineligible", "rejected"})
#: Reasons that a day, or an answer of the carrier's in the profile, takes away.
_PASSING = frozenset({"date_in_future", "code_not_configured", "amount_over_limit", "not_a_carrier_ticket"})


@dataclass(frozen=True)
class Named:
    """The evidence that was named on the command line, read whole."""

    statements: tuple[Statement, ...]
    answers: tuple[Answer, ...]
    complete: Complete | None


@dataclass(frozen=True)
class Again:
    """One batch tried again: its account, and whether the ledger failed meanwhile."""

    batch: Batch
    account: Account
    ledger_failed: bool


# --- evidence --------------------------------------------------------------------------------------


def named_evidence(task: Task) -> Named:
    """Read the statements and answers that were named. Raises InputProblem; nothing was changed then."""
    job = task.job
    month_of(task.month)
    statements = tuple(read_statement(path, job.profile.codes) for path in _each_once(task.statements))
    answers = tuple(answer for path in _each_once(task.resolved) for answer in read_answers(path))
    return Named(statements, answers, _complete(task, statements))


def _each_once(paths: Sequence[Path]) -> list[Path]:
    return list({path.resolve(): path for path in paths}.values())


def _complete(task: Task, statements: Sequence[Statement]) -> Complete | None:
    """The time that the statements are said to be complete for, as times of the carrier's days."""
    if not task.complete:
        return None
    if not statements:
        raise InputProblem(
            "--statement-complete goes with --statement: it is said of a statement that is named"
        )
    found = re.fullmatch(r"(20\d{2}-\d{2}-\d{2})\.\.(20\d{2}-\d{2}-\d{2})", task.complete)
    try:
        first, last = (datetime.date.fromisoformat(day) for day in found.groups()) if found else (None, None)
    except ValueError:
        first = last = None
    if first is None or last is None or first > last:
        raise InputProblem(
            f"--statement-complete {task.complete}: is not a time FROM..TO; write it like 2026-10-01..2026-10-31"
        )
    profile = task.job.profile
    if last > today(profile):
        raise InputProblem(
            f"--statement-complete {task.complete}: no statement is complete for days to come; today is {today(profile)}"
        )
    zone = ZoneInfo(profile.carrier.time_zone)
    since = datetime.datetime.combine(first, datetime.time(), zone)
    until = datetime.datetime.combine(last + datetime.timedelta(days=1), datetime.time(), zone)
    return Complete(since, until, task.complete)


def check_evidence(task: Task, ledger: OpenLedger, named: Named) -> None:
    """Refuse what can't be evidence about this ledger. Raises InputProblem; nothing was changed then."""
    with as_problem(ledger.path):
        latest = issued.latest_time(ledger.connection)
    now = datetime.datetime.now(datetime.UTC)
    if not task.clock_is_right and latest and datetime.datetime.fromisoformat(latest) - now > _CLOCK_MAY_SLIP:
        raise InputProblem(
            f"This machine's clock says {now:%Y-%m-%d %H:%M} UTC, and the ledger's last entry is of {latest[:16].replace('T', ' ')}"
            " UTC; nothing was changed. Set the clock right, or say --clock-is-right if that entry was made by a wrong one"
        )
    for statement in named.statements:
        _check_made(statement)
    _check_ledger(ledger, named.answers)


def _check_made(statement: Statement) -> None:
    if statement.made - datetime.datetime.now(datetime.UTC) > _CLOCK_MAY_SLIP:
        raise InputProblem(
            f"{statement.name}: was made at {statement.made:%Y-%m-%d %H:%M} UTC, which is still to come by this machine's"
            " clock; set the clock right, or save the statement again"
        )


def _check_ledger(ledger: OpenLedger, answers: Sequence[Answer]) -> None:
    for answer in answers:
        if answer.ledger_id != ledger.ledger_id:
            raise InputProblem(
                f"{answer.place}: is an answer about another ledger ({answer.ledger_id or 'not named'}), not about this one"
                f" ({ledger.ledger_id}); nothing was changed. Name that ledger with --ledger"
            )


# --- the inbox -------------------------------------------------------------------------------------


def take_in(task: Task, ledger: OpenLedger, watch: Watch) -> Inbox:
    """What the inbox holds that is new, changed or not finished; what can't be read is left and reported."""
    inbox = Inbox()
    if task.inbox is None:
        return inbox
    reader = Reader(task.job.profile.codes, load_map(task.job.columns), task.job.buyers)
    for path, still in steady(candidates(task.inbox)):
        if not still:
            inbox.still_written.append(path)
            continue
        try:
            sha256 = content_of(path)
            with as_problem(ledger.path):
                before = {
                    kind: handled.last(ledger.connection, sha256, kind)
                    for kind in ("tickets", "statement", "resolved")
                }
            if any(before.values()) and not any(one.unfinished for one in before.values() if one):
                continue
            reader.take(path, sha256, before["tickets"], inbox)
            _check_ledger(
                ledger, [answer for answers, of, _ in inbox.answers if of == path for answer in answers]
            )
            log_taken(watch.log, path, inbox)
        except Stop as problem:
            watch.log("file_left", file=path.name, because="unreadable")
            inbox.answers = [taken for taken in inbox.answers if taken[1] != path]
            inbox.batches = [batch for batch in inbox.batches if batch.path != path]
            inbox.unread.append(Unread(path, str(problem)))
    for path in inbox.still_written:
        watch.log("file_left", file=path.name, because="still written")
        watch.note(f"{path}: is still being written, and is left for the next time")
    return inbox


def weighed_together(task: Task, named: Named, inbox: Inbox) -> Evidence:
    """All the evidence of this reconciliation."""
    hours = task.job.profile.reconcile.settle_after_hours
    return Evidence(
        (*named.statements, *(statement for statement, _ in inbox.statements)),
        (*named.answers, *(answer for answers, _, _ in inbox.answers for answer in answers)),
        named.complete,
        None if hours is None else datetime.timedelta(hours=hours),
        task.by,
    )


# --- settling --------------------------------------------------------------------------------------


def settle(ledger: OpenLedger, run: int, evidence: Evidence, job: Job, watch: Watch) -> Decided:
    """Weigh the evidence and record what it settles, and what the carrier issued elsewhere."""
    with as_problem(ledger.path):
        answers, stale = _usable(ledger, evidence.answers)
        unsettled = settling.unsettled(ledger.connection)
        in_doubt = {identity.ticket_no for one in unsettled for identity, _, _ in one.charges}
        held = ledger.holdings(sorted({line.ticket_no for line in evidence.lines} | in_doubt)).held
        earlier = elsewhere.lines_of(ledger.connection, in_doubt)
        numbers = {line.number for line in evidence.lines} | {answer.number for answer in answers}
        taken = {number: settling.number_taken(ledger.connection, number) for number in numbers if number}
        taken |= dict.fromkeys(_of_other_tickets(ledger, answers, unsettled), True)
        weighed = replace(evidence, answers=tuple(answers))
        decided = decide(unsettled, weighed, held, taken, earlier, _must_be_listed(ledger, evidence))
        for one in decided.settled:
            settling.settle(
                ledger.connection, one.attempt.attempt_id, one.state, one.number, one.settled_by, one.evidence
            )
            watch.log("settled", request=one.attempt.request_id, attempt=one.attempt.attempt, state=one.state)
        coded = [(line, wire_text(job.profile.wire(line.charge, line.product))) for line in decided.elsewhere]
        elsewhere.record(ledger.connection, run, coded, evidence.by)
    return replace(decided, troubles=(*stale, *decided.troubles))


def _must_be_listed(ledger: OpenLedger, evidence: Evidence) -> list[Holding]:
    """What this ledger issued in the time for which the statements are said to be complete, long enough before them."""
    if evidence.complete is None or evidence.settle_after is None:
        return []
    made = min(statement.made for statement in evidence.statements)
    last = min(evidence.complete.until, made) - evidence.settle_after
    since, until = (
        moment.astimezone(datetime.UTC).isoformat(timespec="milliseconds")
        for moment in (evidence.complete.since, last)
    )
    return list(issued.issued_between(ledger.connection, since, until).values())


def _of_other_tickets(
    ledger: OpenLedger, answers: Sequence[Answer], unsettled: Sequence[Unsettled]
) -> Iterator[str]:
    """The numbers of answers that a statement showed for tickets of another request."""
    tickets = {(one.request_id, one.attempt): {i.ticket_no for i, _, _ in one.charges} for one in unsettled}
    for answer in answers:
        shown = elsewhere.tickets_of_number(ledger.connection, answer.number) if answer.number else set()
        if shown - tickets.get((answer.request_id, answer.attempt), set()):
            yield answer.number


def _usable(ledger: OpenLedger, answers: Sequence[Answer]) -> tuple[list[Answer], list[Trouble]]:
    """The answers that say all that a settlement needs, about attempts that are unknown; and what is wrong with others."""
    usable, troubles = [], []
    for answer in answers:
        state = RESOLVED_AS.get(answer.resolution.casefold())
        known = settling.known(ledger.connection, answer.request_id, answer.attempt)
        missing = [
            name
            for name, text in (("resolved_by", answer.resolved_by), ("evidence", answer.evidence))
            if not text
        ]
        if state is None:
            problem = f"“{answer.resolution}” is no answer; enter “issued” or “not issued”"
        elif known is None:
            problem = f"request {answer.request_id}, attempt {answer.attempt}: there is no such attempt in this ledger"
        elif known.state != "unknown":
            if known.settled and (known.state, known.number) == (
                state,
                answer.number if state == "issued" else "",
            ):
                continue  # the same answer again
            problem = (
                f"request {answer.request_id}, attempt {answer.attempt} is not unknown any more: it is"
                f" {f'{known.state} {known.number}'.strip()}; the answer changes nothing"
            )
        elif state == "issued" and not answer.number:
            problem = "says issued, and the voucher's number is missing; enter it in the column number"
        elif state == "not_sent" and answer.number:
            problem = f"says not issued, and gives a number ({answer.number}); clear one of them"
        elif answer.number and not re.fullmatch(r"[0-9A-Za-z-]{4,40}", answer.number):
            problem = f"“{answer.number}” is not a voucher's number; enter it as the carrier has it"
        elif missing:
            problem = f"{' and '.join(missing)} missing: say who found out, and how"
        else:
            usable.append(answer)
            continue
        troubles.append(
            Trouble("stale" if known and known.state != "unknown" else "incomplete", answer.place, problem)
        )
    return usable, troubles


# --- trying again ----------------------------------------------------------------------------------


def again(  # noqa: PLR0913 - where the flow's parts meet
    task: Task,
    ledger: OpenLedger,
    run: int,
    batches: Sequence[Batch],
    evidence: Evidence,
    keys: Secrets | None,
    watch: Watch,
) -> list[Again]:
    """Judge every batch anew and send what may be sent now; what stops the sending of one stops that of all after it."""
    done: list[Again] = []
    held_up = ledger.lacking()
    unclear = frozenset(misread.ticket_no for misread in evidence.misread if misread.ticket_no)
    for batch in batches:
        rows = judged(ledger, batch.table, task.job, by_itself=True)
        if rows.requests and keys is None:
            raise InputProblem(
                "VOUCHER_API_KEY and VOUCHER_ENCRYPTION_KEY are needed to send; set them as for voucher issue"
            )
        account, sent = submitted(
            task.job, ledger, run, rows, keys or Secrets("", ""), watch, "reconcile", held_up, unclear
        )
        done.append(Again(batch, account, sent.ledger_failed))
        held_up = held_up or account.stopped
        if sent.ledger_failed:  # nothing that it says can be relied on, and nothing be written to it
            break
    return done


def fates(account: Account) -> str:
    """A digest of what became of every row, so that a night in which nothing changed writes no new workbook."""
    said = [
        (row.row, row.sheet, row.status, row.numbers, [reason.code for reason in row.reasons])
        for row in account.rows
    ]
    return hashlib.sha256(repr(said).encode()).hexdigest()[:20]


def unfinished(account: Account) -> bool:
    """Whether rows may come to another end without anybody's changing them: by time, by evidence, by the profile."""
    return any(
        charge.status not in _SETTLED_STATUSES or any(reason.code in _PASSING for reason in charge.reasons)
        for row in account.rows
        for charge in row.charges
    )


# --- comparing -------------------------------------------------------------------------------------


def month_of(text: str) -> Period | None:
    """A month as its days. Raises InputProblem for what is no month."""
    if not text:
        return None
    try:
        first = datetime.date.fromisoformat(f"{text}-01") if re.fullmatch(r"20\d{2}-\d{2}", text) else None
    except ValueError:
        first = None
    if first is None:
        raise InputProblem(f"--month {text}: is not a month; write it like 2026-10")
    following = (first + datetime.timedelta(days=31)).replace(day=1)
    return Period(first, following - datetime.timedelta(days=1))


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


def handled_files(
    inbox: Inbox,
    said: Reconciliation,
    done: Sequence[Again],
    results: Mapping[Path, str],
    unwritten: AbstractSet[Path],
) -> list[Handled]:
    """What is to be noted of every file that was dealt with.

    Evidence that is in trouble is weighed again the next time, and a file whose result could not be written is taken again.
    """
    troubled = bool(said.decided.troubles)
    found = [
        Handled(statement.sha256, "statement", _name(path), "", "", troubled)
        for statement, path in inbox.statements
    ]
    found += [Handled(sha256, "resolved", _name(path), "", "", troubled) for _, path, sha256 in inbox.answers]
    for one in done:
        path = one.batch.path
        if path is None:
            continue
        again_ = path in unwritten or unfinished(one.account)
        seen = "" if path in unwritten else fates(one.account)
        found.append(Handled(one.batch.sha256, "tickets", _name(path), results.get(path, ""), seen, again_))
    return [
        *found,
        *(Handled(sha256, "resolved", _name(path), "", "", False) for path, sha256 in inbox.spent),
    ]


def _name(path: Path) -> str:
    """A file's name as text, whatever its bytes."""
    return path.name.encode(errors="replace").decode()
