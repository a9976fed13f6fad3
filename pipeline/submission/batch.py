"""One Table's way from its rows to their result: judged, split, noted, sent."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from pipeline.ledger.judgements import Judgement
from pipeline.ledger.read_ledger import ReadLedger
from pipeline.ledger.session import OpenLedger
from pipeline.model.job import Job
from pipeline.model.message import NOTHING, Message
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


def judged(ledger: ReadLedger, table: Table, job: Job, *, by_itself: bool = False) -> Judged:
    """Judge and split; `by_itself`: nobody asked for these rows now, so that nothing that was refused is repeated.

    All that is read of the ledger is read here, before anything is sent: then no failure costs the result.
    """
    terms, tickets = job.terms, table.tickets()
    holdings = ledger.holdings(tickets)
    verdicts = judge(table, holdings, terms)
    if by_itself:
        verdicts = hold_back(verdicts, ledger.refusals(tickets))
    requests = split(verdicts, holdings, terms)
    unknown = earlier_unknowns(ledger.contents(verdicts.in_doubt), job.lang, job.profile.carrier.time_zone)
    before = ledger.issued_requests(verdicts.issued_before)
    return Judged(table, holdings, verdicts, requests, unknown, before)


def submitted(
    run: Run, rows: Judged, held_up: Message = NOTHING, unclear: Mapping[str, Message] = MappingProxyType({})
) -> tuple[RunResult, Sent]:
    """Note the judgements, send the requests, and say what became of every row.

    `held_up`: why nothing may be sent; `unclear`: the tickets of which nothing may be sent, and why.
    """
    job, ledger = run.job, run.ledger
    epoch, ledger_id = ledger.epoch, ledger.ledger_id  # before anything is sent, as all that the result needs
    ledger.note_judgements(run.number, _judgements(rows.verdicts))
    clear = [request for request in rows.requests if unclear.keys().isdisjoint(_tickets(request))]
    if held_up:
        outcome = Outcome("not_sent", "run_stopped", detail=held_up)
        sent = Sent(
            tuple(Result(request, 0, outcome) for request in rows.requests),
            held_up if rows.requests else NOTHING,
        )
    else:
        sent = _planned_and_sent(run, rows, clear) if clear else Sent()
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


def _tickets(request: Request) -> set[str]:
    return {charge.identity.ticket_no for charge in request.charges}


def _kept_back(requests: Iterable[Request], unclear: Mapping[str, Message]) -> Iterator[Result]:
    """The requests that are not sent because of what is said of their tickets."""
    for request in requests:
        if found := sorted(unclear.keys() & _tickets(request)):
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
