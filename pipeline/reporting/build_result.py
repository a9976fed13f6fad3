"""The run's result made: verdicts and outcomes of sending, by column; single rows are made when they are looked at."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipeline.model.columns import HEADER_FIELDS, Lang
from pipeline.model.encoded_column import EncodedColumn
from pipeline.model.known_charges import KnownCharge
from pipeline.model.lazy import LazySequence
from pipeline.model.message import NOTHING, Message
from pipeline.model.outcome import Result
from pipeline.model.profile import Terms
from pipeline.model.request import Charge, Header, Identity, Request
from pipeline.model.result import RequestResults, RowResults, RunResult
from pipeline.model.result_columns import ChargeColumns, ResultColumns
from pipeline.model.result_values import NO_ORIGIN, RequestResult, RunOrigin, UnknownAttempt
from pipeline.model.status import SETTLED
from pipeline.model.table import Indices
from pipeline.reporting.build_rows import SingleResults
from pipeline.rules.deadlines import last_days
from pipeline.rules.judge import Verdicts
from pipeline.splitting import Judged, charges_of, ids_of

#: Statuses of charges that an earlier run asked for: what it asked for counts.
_AS_ASKED = ("already_issued", "unknown")


@dataclass(frozen=True)
class _Asked:
    """What was asked for and what came of it.

    `of_charge` is by charge the number of its request, -1 where it is in none; `results` by the number of the request.
    """

    requests: Sequence[Request]
    of_charge: Indices
    results: Mapping[int, Result]

    @classmethod
    def of(cls, requests: Sequence[Request], results: Iterable[Result], size: int) -> "_Asked":
        """Results belong to the requests of the same content; where there is none, nobody's ID has to be known."""
        charges, starts = charges_of(requests)
        of_charge = np.full(size, -1, dtype=np.int64)
        of_charge[charges] = np.repeat(np.arange(len(requests)), np.diff(starts))
        by_id = {result.request.request_id: result for result in results}
        numbered = enumerate(requests) if by_id else ()
        found = {n: by_id[one.request_id] for n, one in numbered if one.request_id in by_id}
        return cls(requests, of_charge, found)

    @functools.cached_property
    def ids(self) -> Sequence[str]:
        """The requests' IDs; what was sent has its own already."""
        return [one.request_id for one in self.requests] if self.results else ids_of(self.requests)

    def states(self) -> list[str]:
        """How each request ended; one that was not sent is ready."""
        states = ["ready"] * len(self.requests)
        for number, result in self.results.items():
            states[number] = result.outcome.state
        return states


@dataclass(frozen=True)
class RunFacts:
    """What a result says of its run: the command, what it judged by, its language, its ledger, why it stopped early if it did, and where it
    comes from.
    """

    command: str
    terms: Terms
    lang: Lang
    ledger: str = ""
    ledger_id: str = ""
    stopped: Message = NOTHING
    origin: RunOrigin = NO_ORIGIN


def make_result(
    run: RunFacts, judged: Judged, results: Iterable[Result] = (), doubts: Iterable[UnknownAttempt] = ()
) -> RunResult:
    """Put the stages' products together: what was judged, what sending came to, and this run's own unknown outcomes."""
    table, verdicts, rows = judged.table, judged.verdicts, judged.verdicts.rows
    asked = _Asked.of(judged.requests, results, len(rows))
    asked.of_charge[[*verdicts.held]] = -1
    columns = _columns(len(table), verdicts, asked)
    single = SingleResults(judged, columns, asked.of_charge, asked.results, str(run.terms.as_of), run.lang)
    return RunResult(
        run.command, str(run.terms.as_of), run.lang, run.terms.profile.carrier.currency, run.ledger, run.ledger_id,
        table=replace(table, notes=(*table.notes, *verdicts.notes)),
        header={name: rows.text(name)[columns.first] for name in HEADER_FIELDS},  # all charges of a row have one buyer
        found_buyer=rows.whose.found[columns.first],
        rows=RowResults(columns, lambda lang: replace(single, lang=lang).row, run.lang),
        requests=RequestResults(judged.requests, asked.states(), single.request),
        doubts=(*judged.doubts, *doubts), stopped=run.stopped, repeats=_repeats(verdicts),
        origin=run.origin, issued_before=_issued_before(judged), lacking=_lacking(verdicts),
    )  # fmt: skip


def _issued_before(judged: Judged) -> list[RequestResult]:
    """What was issued before of these rows, each with its rows; of what statements alone show the charges that stand in them."""
    rows = dict[tuple[str, str], dict[int, None]]()
    elsewhere = dict[tuple[str, str, str], dict[Identity, KnownCharge]]()
    for at, held in judged.verdicts.held.items():
        rows.setdefault((held.voucher, held.number), {})[int(judged.verdicts.rows.line[at])] = None
        if held.elsewhere:  # an itinerary is one ticket's
            ticket = held.identity.ticket_no if held.voucher == "itinerary" else ""
            elsewhere.setdefault((held.voucher, held.number, ticket), {})[held.identity] = held
    shown = [
        RequestResult(_shown(voucher, [*charges.values()]), (), 0, "already_issued", number, "", None)
        for (voucher, number, _), charges in elsewhere.items()
    ]
    return [
        replace(one, rows=tuple(rows[one.request.voucher, one.number]))
        for one in (*judged.issued_before, *shown)
    ]


def _shown(voucher: str, charges: Sequence[KnownCharge]) -> Request:
    """The voucher that a statement shows, as far as it says what was asked."""
    parts = tuple(Charge(one.identity, "", one.amount, 0, None) for one in charges)
    return Request(voucher, "", Header("", charges[0].header_name, "", "", ""), parts)


def _repeats(verdicts: Verdicts) -> dict[int, int]:
    """Which row each row repeats of which a charge stands in an earlier one."""
    line, found = verdicts.rows.line, dict[int, int]()
    for finding in verdicts.findings:
        if finding.code == "repeated_charge":
            for place, at in enumerate(finding.rows.tolist()):
                found.setdefault(int(line[at]), int(line[int(str(finding.fact("first", place)))]))
    return found


def _lacking(verdicts: Verdicts) -> tuple[str, ...]:
    """The keys of the carrier profile that rows lack, each once."""
    found = []
    for finding in verdicts.findings:
        if "key" in finding.facts:  # as many as the column has values
            _, first = np.unique(verdicts.rows.coded(finding.column).codes[finding.rows], return_index=True)
            found += [str(finding.fact("key", place)) for place in sorted(first.tolist())]
    return tuple(found)


def _columns(size: int, verdicts: Verdicts, asked: _Asked) -> ResultColumns:
    """What became of the charges of so many rows."""
    rows, held = verdicts.rows, list(verdicts.held.items())
    status, request = verdicts.status.copy(), asked.of_charge.copy()
    number = np.full(len(rows), "", dtype=object)
    amount, buyer = rows.amount.copy(), rows.header_name.copy()
    again, seen = np.zeros(len(rows), dtype=bool), set[Identity]()
    having = [(finding.code, finding.rows) for finding in verdicts.findings]
    for at, (row, holding) in enumerate(held):
        number[row], request[row] = holding.number, len(asked.requests) + at
        if status[row] in _AS_ASKED:  # whatever the row says by now
            amount[row], buyer[row] = holding.amount or amount[row], holding.header_name or buyer[row]
            again[row] = holding.identity in seen
            seen.add(holding.identity)
    sent = [result.outcome for result in asked.results.values()]
    place = np.full(len(asked.requests) + 1, -1)  # in `sent`, by request; the last is that of what is in none
    place[[*asked.results]] = np.arange(len(sent))
    mine = np.flatnonzero(place[asked.of_charge] >= 0)
    of_mine = place[asked.of_charge[mine]]
    status[mine], number[mine], reasons = (
        np.array([getattr(outcome, name) for outcome in sent], dtype=object)[of_mine]
        for name in ("state", "number", "reason")
    )
    having += [(code, mine[reasons == code]) for code in dict.fromkeys(one.reason for one in sent) if code]
    ended = EncodedColumn.of(status)
    spoken_for = ended.among(SETTLED)
    days = np.where(spoken_for, np.datetime64("NaT", "D"), last_days(rows))
    ids = LazySequence(
        len(asked.requests) + len(held),
        lambda n: asked.ids[n] if n < len(asked.requests) else held[n - len(asked.requests)][1].request_id,
    )
    by_charge = ChargeColumns(
        rows.line,
        rows.charge,
        rows.product,
        rows.voucher,
        buyer,
        amount,
        ended,
        number,
        request,
        ids,
        days,
        again,
    )
    first = np.searchsorted(rows.line, np.arange(size))
    of_rows = (rows.file[first], rows.sheet[first], rows.row[first], rows.ticket_no[first])
    return ResultColumns(size, *of_rows, by_charge, _by_code(having, rows.line))


def _by_code(found: Sequence[tuple[str, Indices]], line: Indices) -> dict[str, Indices]:
    """By reason code the rows that have it, each once."""
    charges: dict[str, list[Indices]] = {}
    for code, those in found:
        charges.setdefault(code, []).append(those)
    return {code: np.unique(line[np.concatenate(those)]) for code, those in charges.items()}
