"""One Table's way from its rows to their result: judged, split, noted, sent."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from pipeline.ledger.judgements import Judgement
from pipeline.ledger.read_ledger import ReadLedger
from pipeline.ledger.session import OpenLedger
from pipeline.model.errors import LedgerProblem
from pipeline.model.job import Job
from pipeline.model.message import NOTHING, Message, message
from pipeline.model.outcome import Outcome, Result
from pipeline.model.request import Request
from pipeline.model.result import RunResult
from pipeline.model.table import Table
from pipeline.reporting.build_result import RunFacts, make_result
from pipeline.reporting.unknown_attempts import earlier_unknowns, new_unknowns
from pipeline.rules.judge import Verdicts, judge
from pipeline.rules.refused_before import hold_back
from pipeline.splitting import Judged, split
from pipeline.submission.charge_details import charge_details
from pipeline.submission.sending_run import Run, Sent, send

_LET_GO = message("another run of this ledger was sending it, and did not issue it")


def judged(ledger: ReadLedger, table: Table, job: Job, *, by_itself: bool = False) -> Judged:
    """Judge and split; `by_itself`: nobody asked for these rows now, so that nothing that was refused is repeated.

    All that is read of the ledger is read here, before anything is sent: then no failure costs the result.
    """
    terms, tickets = job.terms, table.tickets()
    holdings = ledger.holdings(tickets)
    refusals = ledger.refusals(tickets) if by_itself else {}
    verdicts = hold_back(judge(table, holdings, terms), refusals)
    requests = split(verdicts, holdings, terms)
    return _with_requests(ledger, Judged(table, holdings, verdicts, requests, refusals=refusals), job)


def _with_requests(ledger: ReadLedger, rows: Judged, job: Job) -> Judged:
    """With the requests of earlier runs, and of others, that hold rows of it."""
    in_doubt, zone = ledger.contents(rows.verdicts.in_doubt), job.profile.carrier.time_zone
    return replace(
        rows,
        doubts=earlier_unknowns(in_doubt, job.lang, zone),
        issued_before=ledger.issued_requests(rows.verdicts.issued_before),
    )


def submitted(
    run: Run, rows: Judged, held_up: Message = NOTHING, unclear: Mapping[str, Message] = MappingProxyType({})
) -> tuple[RunResult, Sent]:
    """Note the judgements, send the requests, and say what became of every row.

    `held_up`: why nothing may be sent; `unclear`: the tickets of which nothing may be sent, and why.
    """
    job, ledger = run.job, run.ledger
    epoch, ledger_id = ledger.epoch, ledger.ledger_id  # before anything is sent, as all that the result needs
    ledger.note_judgements(run.number, _judgements(rows.verdicts))
    clear = [request for request in rows.requests if not _unclear_tickets(request, unclear)]
    if held_up:
        outcome = Outcome("not_sent", "run_stopped", detail=held_up)
        sent = Sent(
            tuple(Result(request, 0, outcome) for request in rows.requests),
            held_up if rows.requests else NOTHING,
        )
    else:
        sent = _planned_and_sent(run, rows, clear) if clear else Sent()
        with contextlib.suppress(LedgerProblem):  # then it is told as it was
            rows = _judged_again(run, rows, sent.results)
        sent = replace(sent, results=(*sent.results, *_kept_back(rows.requests, unclear)))
    path = "" if job.throw_away else ledger.name
    facts = RunFacts(
        run.command, job.terms, job.lang, path, ledger_id, sent.stopped, replace(job.origin, run=run.number)
    )
    return make_result(facts, rows, sent.results, new_unknowns(sent.results, epoch, job.lang)), sent


def _planned_and_sent(run: Run, rows: Judged, requests: Sequence[Request]) -> Sent:
    if not isinstance(run.ledger, OpenLedger):
        from pipeline.submission.shared_run import planned_and_sent  # noqa: PLC0415 - what it takes is installed where such a ledger is used

        return planned_and_sent(run, rows, requests)
    of_rows = rows.verdicts.rows
    ledger = run.file
    with ledger.committing() as channel:
        attempts = ledger.plan(run.number, requests, of_rows, charge_details(rows.table, of_rows))
        return send(run, channel, attempts, rows.table, rows.holdings.doubts)


def _judged_again(run: Run, rows: Judged, results: Sequence[Result]) -> Judged:
    """The same rows, judged by what the ledger has by now of those that this run did not send; its own charges stay as they were.

    What another run of a shared ledger issued meanwhile is issued already, with its number, whatever kept this run from sending it. A
    request of which nothing else is left is none any more.
    """
    if isinstance(run.ledger, OpenLedger):  # which no other run has meanwhile
        return rows
    tickets = {held.identity.ticket_no for held in rows.verdicts.held.values() if held.in_hand}
    tickets |= {
        one for result in results if result.outcome.state == "not_sent" for one in _tickets(result.request)
    }
    if not tickets:
        return rows
    own = {(result.request.request_id, result.attempt) for result in results}
    before, now = rows.holdings, run.ledger.holdings(sorted(tickets))
    held = {
        identity: replace(one, detail=_LET_GO) if one.in_hand else one
        for identity, one in before.held.items()
        if one.in_hand or identity.ticket_no not in tickets
    }
    held |= {identity: one for identity, one in now.held.items() if (one.request_id, one.attempt) not in own}
    holdings = replace(before, held=held, both_kinds=before.both_kinds | now.both_kinds)
    verdicts = hold_back(judge(rows.table, holdings, run.job.terms), rows.refusals)
    requests = [
        one for one in rows.requests if not all(charge.row in verdicts.held for charge in one.charges)
    ]
    return _with_requests(
        run.ledger, replace(rows, holdings=holdings, verdicts=verdicts, requests=requests), run.job
    )


def _tickets(request: Request) -> set[str]:
    return {charge.identity.ticket_no for charge in request.charges}


def _unclear_tickets(request: Request, unclear: Mapping[str, Message]) -> list[str]:
    return sorted(unclear.keys() & _tickets(request)) if unclear else []  # hardly ever are there any


def _kept_back(requests: Iterable[Request], unclear: Mapping[str, Message]) -> Iterator[Result]:
    """The requests that are not sent because of what is said of their tickets."""
    for request in requests:
        if found := _unclear_tickets(request, unclear):
            yield Result(request, 0, Outcome("not_sent", "run_stopped", detail=unclear[found[0]]))


def _judgements(verdicts: Verdicts) -> Iterator[Judgement]:
    """Every charge whose ticket can be told, as it was judged; what repeats another row says nothing of its own."""
    rows = verdicts.rows
    codes: dict[int, dict[str, None]] = {}
    for finding in verdicts.findings:
        for at in finding.rows.tolist():
            codes.setdefault(at, {})[finding.code] = None
    columns = (
        rows.ticket_no, rows.charge, rows.product, rows.voucher, rows.amount, verdicts.status, rows.file, rows.sheet, rows.row,
    )  # fmt: skip
    for at, row in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        ticket_no, charge, product, voucher, amount, status, *place = row
        if ticket_no and status != "repeated":
            reasons = " ".join(codes.get(at, ()))
            yield Judgement(ticket_no, charge, product, voucher, amount, status, reasons, *place)
