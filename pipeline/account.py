"""The account of a run: what became of every row and every request, as values.

Made once, from the verdicts and the results of sending; the result workbook, the report, the summary
and the exit code are all drawn from it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.carrier.replies import Outcome
from pipeline.columns import CHARGES, COLUMN, HEADER_TYPES, MARKETS, PRODUCTS, VOUCHERS, Lang
from pipeline.details import in_chinese
from pipeline.reasons import DIFFERENCE, EARLIER, FATES, HINTS, REASON, STATUS, column_heading
from pipeline.request import Identity, Request
from pipeline.rules.judging import Verdicts
from pipeline.rules.rule import Terms
from pipeline.table import FIELD, PART, Finding, Table, Texts, money_text, shown


@dataclass(frozen=True)
class Result:
    """What sending one request came to: its last attempt and that attempt's outcome."""

    request: Request
    attempt: int
    outcome: Outcome


@dataclass(frozen=True)
class ReasonText:
    """One reason that applies to a row, in the language of what is written."""

    code: str
    column: str
    message: str
    cure: str


@dataclass(frozen=True)
class RowAccount:
    """One input row's fate. `amount` in minor units, None where it is not known."""

    index: int
    file: str
    sheet: str
    row: int
    ticket_no: str
    charge: str
    product: str
    voucher: str
    amount: int | None
    status: str
    number: str
    request_id: str
    reasons: tuple[ReasonText, ...]


@dataclass(frozen=True)
class RequestAccount:
    """One request's fate; `attempt` 0: not attempted in this run."""

    request: Request
    attempt: int
    status: str
    number: str
    trace_id: str
    reason: ReasonText | None


@dataclass(frozen=True)
class Doubt:
    """One attempt whose outcome is unknown, of this run or an earlier one, with what was in it."""

    request_id: str
    attempt: int
    voucher: str
    market: str
    header_name: str
    amount: int
    reason: ReasonText
    trace_id: str
    charges: tuple[tuple[Identity, int], ...]


@dataclass(frozen=True)
class Account:
    """A whole run. `header` holds each row's resolved buyer columns, by column, for the Failures sheet."""

    command: str
    as_of: str
    lang: Lang
    currency: str
    ledger: str
    ledger_id: str
    table: Table
    header: Mapping[str, Texts]
    rows: tuple[RowAccount, ...]
    requests: tuple[RequestAccount, ...]
    doubts: tuple[Doubt, ...] = ()
    stopped: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader left out, for the summary."""
        return self.table.notes

    @property
    def totals(self) -> dict[str, int]:
        """Rows by status, in the order of the contract; statuses without rows are left out."""
        counts = Counter(row.status for row in self.rows)
        return {name: counts[name] for name in STATUS if counts[name]}

    @property
    def exit_code(self) -> int:
        """The highest that applies (interface.md, Exit codes)."""
        totals = self.totals
        if "unknown" in totals:
            return 4
        if "not_sent" in totals or self.stopped:
            return 3
        failures = any(STATUS[name].failure for name in totals)
        differing = any(reason.code == "differs_from_issued" for row in self.rows for reason in row.reasons)
        return 1 if failures or differing else 0


_PLACE = re.compile(r", row ([0-9]+)")  # as Rows.place and Holding.place end
_RUN = re.compile(r" \(run ([0-9]+)\)$")
_HELD = re.compile(r"^(invoice|itinerary) (?:(\S+) on|in doubt since) (\S+), ")  # as ledger_conflicts begins
_WORDS = {choice.name: choice for choice in (*CHARGES, *PRODUCTS, *MARKETS, *VOUCHERS, *HEADER_TYPES)}


def _fact_text(name: str, text: str, column: str, lang: Lang) -> str:
    """A fact in the language of the message; facts about columns and choices come as names."""
    match name:
        case "hint":
            said = HINTS[text][lang]
        case "differences":
            said = _differences(text, lang)
        case "fate":
            said = _fate(text, lang)
        case "earlier":
            said = EARLIER[lang].format(earlier=_place(text, lang))
        case "choices":
            words = {choice.name: choice.word(lang) for choice in COLUMN[column].choices}
            said = ("、" if lang == "zh" else ", ").join(words.get(part, part) for part in text.split())
        case "market":
            said = _choice(text, lang)
        case "other" | "place":
            said = _place(text, lang)
        case "detail":
            said = in_chinese(text) if lang == "zh" else text
        case _:
            said = text
    return said


def _fate(text: str, lang: Lang) -> str:
    """What becomes of rows that hold one charge: the columns they differ in, or the carrier's code for both."""
    if text.startswith("wire "):
        return FATES["wire"][lang].format(code=text.removeprefix("wire "))
    return FATES["differing" if text else "identical"][lang].format(columns=_columns(text, lang))


def _columns(names: str, lang: Lang) -> str:
    return ("、" if lang == "zh" else ", ").join(column_heading(name, lang) for name in names.split())


def _differences(text: str, lang: Lang) -> str:
    """What was issued and what the row says now, column by column."""
    parts = [field.split(PART) for field in text.split(FIELD)]
    said = [
        DIFFERENCE[lang].format(
            column=column_heading(column, lang), issued=_choice(issued, lang), here=_choice(here, lang)
        )
        for column, issued, here in parts
    ]
    return ("；" if lang == "zh" else "; ").join(said)


def _choice(text: str, lang: Lang) -> str:
    return _WORDS[text].word(lang) if text in _WORDS else text


def _place(text: str, lang: Lang) -> str:
    """Where something stands or was issued, as the language has it."""
    if lang == "en":
        return text
    text = _HELD.sub(
        lambda found: (
            f"{_choice(found[1], lang)} {found[2]}（{found[3]}），"
            if found[2]
            else f"{_choice(found[1], lang)}（自 {found[3]} 起结果未知），"
        ),
        text,
    )
    return _RUN.sub(r"（第 \1 次运行）", _PLACE.sub(r" 第 \1 行", text))


def reason_text(code: str, column: str, lang: Lang, facts: Mapping[str, str]) -> ReasonText:
    """A reason's texts for one row."""
    said = {"earlier": ""} | {name: _fact_text(name, text, column, lang) for name, text in facts.items()}
    said["column"] = column_heading(column, lang)
    reason = REASON[code]
    return ReasonText(code, column, reason.message(lang, said), reason.cure(lang, said))


def outcome_reason(outcome: Outcome, lang: Lang) -> ReasonText | None:
    """Why a request was not issued, None where it was."""
    return reason_text(outcome.reason, "", lang, {"detail": outcome.detail}) if outcome.reason else None


def _reasons(verdicts: Verdicts, lang: Lang, terms: Terms) -> dict[int, list[tuple[str, ReasonText]]]:
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
            found.setdefault(row, []).append(
                (REASON[finding.code].status, reason_text(finding.code, finding.column, lang, facts))
            )
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
    asked = tuple(_request_account(request, by_request.get(request.request_id), lang) for request in requests)
    of_row = {charge.row: account for account in asked for charge in account.request.charges}
    reasons = _reasons(verdicts, lang, terms)
    rows = tuple(
        _row_account(index, table, verdicts, of_row.get(index), reasons.get(index, []))
        for index in range(len(table))
    )
    header = {
        name: verdicts.rows.text(name) for name in ("header_type", "header_name", "tax_no", "phone", "email")
    }
    return Account(
        command, str(terms.as_of), lang, terms.profile.carrier.currency,
        table=table, header=header, rows=rows, requests=asked, doubts=tuple(doubts), **about,
    )  # fmt: skip


def _request_account(request: Request, result: Result | None, lang: Lang) -> RequestAccount:
    if result is None:
        return RequestAccount(request, 0, "ready", "", "", None)
    outcome = result.outcome
    return RequestAccount(
        request,
        result.attempt,
        outcome.state,
        outcome.number,
        outcome.trace_id,
        outcome_reason(outcome, lang),
    )


def _row_account(
    index: int,
    table: Table,
    verdicts: Verdicts,
    asked: RequestAccount | None,
    reasons: list[tuple[str, ReasonText]],
) -> RowAccount:
    rows, holding = verdicts.rows, verdicts.held.get(index)
    status, number, request_id = str(verdicts.status[index]), "", ""
    if asked is not None:
        status, number, request_id = asked.status, asked.number, asked.request.request_id
    elif holding is not None:
        number, request_id = holding.number, holding.request_id
    own = [text for of_status, text in reasons if of_status == status]
    if asked is not None and asked.reason is not None:
        own.insert(0, asked.reason)
    others = [text for of_status, text in reasons if of_status != status]
    amount = int(rows.amount[index])
    return RowAccount(
        index,
        rows.file[index],
        rows.sheet[index],
        int(rows.row[index]),
        _as_seen(table, "ticket_no", index, rows.ticket_no[index]),
        _as_seen(table, "charge", index, rows.charge[index]),
        rows.product[index],
        rows.voucher[index],
        amount or None,
        status,
        number,
        request_id,
        tuple(own + others),
    )
