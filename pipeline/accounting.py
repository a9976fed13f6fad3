"""The account made: verdicts and the results of sending, row by row and request by request."""

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pipeline.account import ISSUED, WORST, Account, ChargeAccount, Doubt, RequestAccount, Result, RowAccount
from pipeline.carrier.replies import Outcome
from pipeline.columns import HEADER_FIELDS, Lang
from pipeline.reasons import REASON
from pipeline.request import Request
from pipeline.rules.deadlines import last_days
from pipeline.rules.judging import Verdicts
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Terms
from pipeline.table import Finding, Table, money_text, shown
from pipeline.wording import ReasonText, about, reason_text


def outcome_reason(outcome: Outcome, lang: Lang) -> ReasonText | None:
    """Why a request was not issued, None where it was."""
    return reason_text(outcome.reason, "", lang, {"detail": outcome.detail}) if outcome.reason else None


def _reasons(
    table: Table, verdicts: Verdicts, lang: Lang, terms: Terms
) -> dict[int, list[tuple[str, ReasonText]]]:
    """By row, every finding's status and texts."""
    rows = verdicts.rows
    found: dict[int, list[tuple[str, ReasonText]]] = {}
    for finding in verdicts.findings:
        for position, row in enumerate(finding.rows.tolist()):
            facts = {
                "as_of": str(terms.as_of),
                "amount": money_text(int(rows.amount[row])),
                "market": rows.market[row],
                "seen": "",
                **_facts(finding, position),
            }
            text = reason_text(finding.code, finding.column, lang, facts)
            cell = table.cell(rows.file[row], rows.sheet[row], int(rows.row[row]), finding.column)
            found.setdefault(row, []).append((REASON[finding.code].status, replace(text, cell=cell)))
    return found


def _facts(finding: Finding, position: int) -> dict[str, str]:
    return {name: fact if isinstance(fact, str) else fact[position] for name, fact in finding.facts.items()}


def _as_seen(table: Table, column: str, row: int, value: str) -> str:
    """A value as the rules read it, or the cell's text where it can't be read."""
    if value or column not in table.cells:
        return value
    return shown(table.cells[column].iloc[row]).strip()


def make_account(  # noqa: PLR0913 - each argument is one stage's product
    command: str,
    table: Table,
    verdicts: Verdicts,
    requests: Sequence[Request],
    results: Iterable[Result],
    doubts: Sequence[Doubt],
    terms: Terms,
    lang: Lang,
    **about: Any,
) -> Account:
    """Put the stages' products together; `about` are the Account's remaining fields."""
    by_request = {result.request.request_id: result for result in results}
    line: list[int] = verdicts.rows.line.tolist()
    asked = tuple(
        _request_account(request, line, by_request.get(request.request_id), lang) for request in requests
    )
    of_charge = {charge.row: account for account in asked for charge in account.request.charges}
    reasons = _reasons(table, verdicts, lang, terms)
    charges: list[list[ChargeAccount]] = [[] for _ in range(len(table))]
    until: list[datetime.date | None] = last_days(verdicts.rows).astype(object).tolist()
    for at, row in enumerate(line):
        charges[row].append(
            _charge_account(at, table, verdicts, of_charge.get(at), reasons.get(at, []), until[at])
        )
    first = np.searchsorted(verdicts.rows.line, np.arange(len(table)))
    rows = tuple(_row_accounts(first.tolist(), table, verdicts.rows, charges, lang))
    header = {
        name: verdicts.rows.text(name)[first] for name in HEADER_FIELDS
    }  # all charges of a row have one buyer
    found_buyer = verdicts.rows.found_buyer[first]
    return Account(
        command, str(terms.as_of), lang, terms.profile.carrier.currency,
        table=table, header=header, found_buyer=found_buyer, rows=rows, requests=asked, doubts=tuple(doubts), **about,
    )  # fmt: skip


def _request_account(
    request: Request, line: Sequence[int], result: Result | None, lang: Lang
) -> RequestAccount:
    rows = tuple(sorted({line[charge.row] for charge in request.charges}))
    if result is None:
        return RequestAccount(request, rows, 0, "ready", "", "", None)
    outcome = result.outcome
    return RequestAccount(
        request,
        rows,
        result.attempt,
        outcome.state,
        outcome.number,
        outcome.trace_id,
        outcome_reason(outcome, lang),
    )


def _charge_account(  # noqa: PLR0913 - what each stage has to say of one charge
    at: int,
    table: Table,
    verdicts: Verdicts,
    asked: RequestAccount | None,
    reasons: list[tuple[str, ReasonText]],
    last_day: datetime.date | None,
) -> ChargeAccount:
    rows, holding = verdicts.rows, verdicts.held.get(at)
    status, number, request_id = str(verdicts.status[at]), "", ""
    if asked is not None:
        status, number, request_id = asked.status, asked.number, asked.request.request_id
    elif holding is not None:
        number, request_id = holding.number, holding.request_id
    own = [text for of_status, text in reasons if of_status == status]
    if asked is not None and asked.reason is not None:
        own.insert(0, asked.reason)
    others = [text for of_status, text in reasons if of_status != status]
    return ChargeAccount(
        _as_seen(table, "charge", int(rows.line[at]), rows.charge[at]),
        rows.product[at],
        rows.voucher[at],
        int(rows.amount[at]) or None,
        status,
        number,
        request_id,
        tuple(own + others),
        None if status in ISSUED else last_day,
    )


def _row_accounts(
    first: Sequence[int], table: Table, rows: Rows, charges: Sequence[Sequence[ChargeAccount]], lang: Lang
) -> Iterator[RowAccount]:
    """Every input row, in order; `first` are the positions of their first charges."""
    for index, (at, of_row) in enumerate(zip(first, charges, strict=True)):
        yield RowAccount(
            index,
            rows.file[at],
            rows.sheet[at],
            int(rows.row[at]),
            _as_seen(table, "ticket_no", index, rows.ticket_no[at]),
            tuple(of_row),
            _reasons_of(of_row, lang),
        )


def _reasons_of(charges: Sequence[ChargeAccount], lang: Lang) -> tuple[ReasonText, ...]:
    """A row's reasons, those of its worst charge first; what is not true of all its charges names its own."""
    if len(charges) == 1:
        return charges[0].reasons
    found: dict[ReasonText, None] = {}
    for charge in sorted(charges, key=lambda charge: WORST.index(charge.status)):
        for reason in charge.reasons:
            everywhere = all(reason in other.reasons for other in charges)
            found[reason if everywhere else about(reason, charge.charge, charge.product, lang)] = None
    return tuple(found)
