"""One row's result, and one request's, made of what the stages found when somebody looks at it."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipeline.messages.reason_rendering import about, of_buyer, reason_text
from pipeline.model.buyer_source import Source
from pipeline.model.columns import HEADER_FIELDS, Lang
from pipeline.model.message import Fact, Term
from pipeline.model.money import money_shown
from pipeline.model.outcome import Outcome, Result
from pipeline.model.result_columns import ResultColumns
from pipeline.model.result_values import ChargeResult, ReasonText, RequestResult, RowResult
from pipeline.model.shown_cells import shown
from pipeline.model.status import STATUS_OF, WORST
from pipeline.model.table import Finding, Indices
from pipeline.splitting import Judged


def _outcome_reason(outcome: Outcome, lang: Lang) -> ReasonText | None:
    """Why a request was not issued, None where it was."""
    return reason_text(outcome.reason, "", lang, {"detail": outcome.detail}) if outcome.reason else None


@dataclass(frozen=True)
class SingleResults:
    """The results of single rows and requests, each made of what the stages say of all of them.

    `request_of` is by charge the number of its request, -1 where it is in none; `results` are by that number.
    """

    judged: Judged
    columns: ResultColumns
    request_of: Indices
    results: Mapping[int, Result]
    as_of: str
    lang: Lang

    def row(self, index: int) -> RowResult:
        """An input row's result."""
        rows, first, lines = self.judged.verdicts.rows, self.columns.first, self.columns.charges.line
        at = int(first[index])
        end = int(first[index + 1]) if index + 1 < len(first) else len(lines)
        charges = tuple(self._charge(charge) for charge in range(at, end))
        return RowResult(
            index,
            rows.file[at],
            rows.sheet[at],
            int(rows.row[at]),
            self._as_seen("ticket_no", index, rows.ticket_no[at]),
            charges,
            _reasons_of(charges, self.lang),
        )

    def request(self, number: int) -> RequestResult:
        """A request's result."""
        request, result = self.judged.requests[number], self.results.get(number)
        line = self.columns.charges.line
        rows = tuple(sorted({int(line[charge.row]) for charge in request.charges}))
        if result is None:
            return RequestResult(request, rows, 0, "ready", "", "", None)
        return RequestResult(
            request,
            rows,
            result.attempt,
            result.outcome.state,
            result.outcome.number,
            result.outcome.trace_id,
            _outcome_reason(result.outcome, self.lang),
        )

    def _charge(self, at: int) -> ChargeResult:
        rows, columns = self.judged.verdicts.rows, self.columns.charges
        status = str(columns.status[at])
        result = self.results.get(int(self.request_of[at]))
        reasons = self._reasons(at)
        own = [text for of_status, text in reasons if of_status == status]
        if result is not None and (reason := _outcome_reason(result.outcome, self.lang)):
            own.insert(0, reason)
        asked = int(columns.request[at])
        return ChargeResult(
            self._as_seen("charge", int(columns.line[at]), rows.charge[at]),
            rows.product[at],
            rows.voucher[at],
            int(columns.amount[at]) or None,
            status,
            columns.number[at],
            columns.request_ids[asked] if asked >= 0 else "",
            tuple(own + [text for of_status, text in reasons if of_status != status]),
            columns.last_day[at].item(),
            columns.buyer[at],
            bool(columns.again[at]),
        )

    def _as_seen(self, column: str, row: int, value: str) -> str:
        """A value as the rules read it, or the cell's text where it can't be read."""
        if value or column not in self.judged.table.cells:
            return value
        return shown(self.judged.table.cells[column].iloc[row]).strip()

    @functools.cached_property
    def _found(self) -> tuple[Indices, Indices, Indices]:
        """Of everything that was found, in the order of the charges: the charge, the finding, and the place in its rows."""
        each = [finding.rows for finding in self.judged.verdicts.findings] or [np.empty(0, dtype=np.int64)]
        charges = np.concatenate(each)
        findings = np.repeat(np.arange(len(each)), [len(rows) for rows in each])
        places = np.concatenate([np.arange(len(rows)) for rows in each])
        order = np.argsort(charges, kind="stable")
        return charges[order], findings[order], places[order]

    def _reasons(self, at: int) -> list[tuple[str, ReasonText]]:
        """Every finding about a charge: its status and its text."""
        charges, findings, places = self._found
        first, end = np.searchsorted(charges, [at, at + 1]).tolist()
        return [
            self._reason(self.judged.verdicts.findings[findings[n]], int(places[n]), at)
            for n in range(first, end)
        ]

    def _reason(self, finding: Finding, place: int, at: int) -> tuple[str, ReasonText]:
        rows = self.judged.verdicts.rows
        facts: dict[str, Fact] = {
            "as_of": self.as_of,
            "amount": money_shown(int(rows.amount[at])),
            "market": Term(rows.market[at], "choice"),
            "seen": "",
            **{name: finding.fact(name, place) for name in finding.facts},
        }
        text = reason_text(finding.code, finding.column, self.lang, facts)
        status, line, buyer = STATUS_OF[finding.code], int(rows.line[at]), int(rows.whose.at[at])
        if finding.column in HEADER_FIELDS and buyer >= 0 and not self._is_own(finding.column, line):
            return status, of_buyer(text, self.judged.table.buyer_place(buyer, finding.column), self.lang)
        cell = self.judged.table.cell(rows.file[at], rows.sheet[at], int(rows.row[at]), finding.column)
        return status, replace(text, cell=cell)

    def _is_own(self, column: str, line: int) -> bool:
        """Whether a row says something of its buyer itself, which no earlier result filled in."""
        source = Source.read(self.judged.table.frame["remembered"].iloc[line])
        return bool(self._as_seen(column, line, "")) and not source.filled[HEADER_FIELDS.index(column)]


def _reasons_of(charges: Sequence[ChargeResult], lang: Lang) -> tuple[ReasonText, ...]:
    """A row's reasons, those of its worst charge first; what is not true of all its charges names its own."""
    if len(charges) == 1:
        return charges[0].reasons
    found: dict[ReasonText, None] = {}
    for charge in sorted(charges, key=lambda charge: WORST.index(charge.status)):
        for reason in charge.reasons:
            everywhere = all(reason in other.reasons for other in charges)
            found[reason if everywhere else about(reason, charge.charge, charge.product, lang)] = None
    return tuple(found)
