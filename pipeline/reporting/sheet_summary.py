"""The sheet Summary: what became of it all, what to do next, what presses, and the counts and money behind it."""

import datetime
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pipeline.messages.reasons import REASON
from pipeline.messages.translate import choice_word, rendered, status_word
from pipeline.model.columns import VOUCHERS, Lang
from pipeline.model.message import Message, Term, message
from pipeline.model.money import MINOR
from pipeline.model.places import about
from pipeline.model.result import RunResult
from pipeline.model.result_values import RunOrigin
from pipeline.model.status import ISSUED, STATUS
from pipeline.reporting import sheet_summary_charts
from pipeline.reporting.links import Places
from pipeline.reporting.next_steps import Step, next_steps
from pipeline.reporting.sheet_page import Page
from pipeline.reporting.sheet_summary_charts import Lines
from pipeline.reporting.sheet_summary_last_days import add_deadlines
from pipeline.reporting.tallies import (
    Group,
    Tallies,
    Tally,
    everything,
    together,
)
from pipeline.reporting.xlsx.book import Book

#: What the result workbook is, on the Summary and among its properties.
TITLE = message("Vouchers: what became of every row")

_MOST_BUYERS = 20
_MOST_FILES = 3
_BEFORE_LINK = 5  # the last of the page's columns that a step's text takes
_COLUMN_OF = {"all": "", "issued": "issued_", "ready": "ready_", "rest": "open_"}
_HEADINGS = {
    "status": message("Status"), "voucher": message("Voucher"), "buyer": message("Buyer"), "reason": message("Reason"),
    "charges": message("Charges"), "rows": message("Rows"),
    "amount": message("Amount"), "meaning": message("Meaning"), "issued_charges": message("Issued"),
    "issued_amount": message("Amount issued"), "ready_charges": message("Ready"), "ready_amount": message("Amount ready"),
    "open_charges": message("Remaining"), "open_amount": message("Amount remaining"),
}  # fmt: skip


def add_summary(book: Book, result: RunResult, places: Places) -> None:
    """Write the sheet Summary."""
    page, lang = Page(book, "Summary"), result.lang
    tallies = Tallies(result)
    by_status = tallies.by_status()
    _headline(page, result, by_status)
    _next(page, result, places)
    statuses = _statuses(page, result, by_status)
    _reasons(page, result, places)
    room = page.row + 1
    page.row += sheet_summary_charts.ROWS + 2
    add_deadlines(page, result)
    names = {choice.name: choice_word(choice.name, lang) for choice in VOUCHERS}
    vouchers = [(names.get(group.name, group.name), group) for group in tallies.by_voucher()]
    parts = ("issued", "ready", "rest") if "ready" in result.totals else ("all", "issued", "rest")
    page.heading(message("By voucher"))
    _groups(page, "voucher", parts, vouchers)
    page.heading(message("By buyer"))
    buyers = _groups(page, "buyer", parts, _buyers(result, tallies.by_buyer()))
    sheet_summary_charts.add_counts(page, message("Charges by status"), statuses, room)
    title = message("Amount by buyer ({currency})", currency=result.currency)
    named = {part: _HEADINGS[f"{_COLUMN_OF[part]}amount"] for part in parts}
    sheet_summary_charts.add_buyers(page, title, buyers, named, room)
    _facts(page, result, everything(by_status.values()))
    if result.notes:
        page.heading(message("Notes"))
        page.points(result.notes)
    page.finish()


def _headline(page: Page, result: RunResult, tallies: Mapping[str, Tally]) -> None:
    """How much of it is done, in one line."""
    whole = everything(tallies.values())
    done = everything(tally for name, tally in tallies.items() if name in ISSUED)
    facts = {
        "charges": f"{done.charges:,}",
        "all_charges": f"{whole.charges:,}",
        "amount": f"{result.currency} {done.amount / MINOR:,.2f}",
        "all_amount": f"{result.currency} {whole.amount / MINOR:,.2f}",
    }
    page.spread(
        0,
        message(
            "Nothing was sent. {charges} of {all_charges} charges have their voucher from earlier runs:"
            " {amount} of {all_amount}.",
            **facts,
        )
        if result.command == "check"
        else message(
            "{charges} of {all_charges} charges have their voucher: {amount} of {all_amount}.", **facts
        ),
        page.headline,
    )
    page.row += 1


def _next(page: Page, result: RunResult, places: Places) -> None:
    """What to do, each line with a link to the first row or request that it speaks of."""
    page.heading(message("What to do next"))
    for step in next_steps(result, places) or [Step(message("Nothing: every row is issued."))]:
        page.point(step.text, _BEFORE_LINK)
        if step.sheet:
            page.merged(_BEFORE_LINK + 1, _BEFORE_LINK + 1, f"→ {step.sheet}", page.text_link, step.link)
        page.row += 1


def _facts(page: Page, result: RunResult, total: Tally) -> None:
    page.heading(message("About this run"))
    files: list[str] = result.table.frame["file"].unique().tolist()
    named, more = ", ".join(files[:_MOST_FILES]), len(files) - _MOST_FILES
    if more > 0:
        named = rendered(message("{first} and {count} more", first=named, count=more), result.lang)
    page.facts(
        [
            (message("Command"), f"voucher {result.command}"),
            *origin_facts(result.origin, result.lang),
            (message("Judged on"), datetime.date.fromisoformat(result.as_of)),
            (message("Workbooks"), named),
            (message("Rows"), len(result.rows)),
            (message("Charges"), total.charges if total.charges != len(result.rows) else ""),
            (message("Amount ({currency})", currency=result.currency), total.amount / MINOR),
            (message("Ledger"), result.ledger),  # "": none, or a throw-away one
            (message("Ledger ID"), result.ledger_id),
        ]
    )


def origin_facts(origin: RunOrigin, lang: Lang) -> Iterator[tuple[Message, str]]:
    """Where a result comes from: the carrier, when the run began, who ran it; "" where that is not known."""
    yield message("Carrier"), rendered(origin.carrier.told, lang) if origin.carrier else ""
    yield message("Begun"), f"{origin.began:%Y-%m-%d %H:%M} ({origin.began.tzinfo})" if origin.began else ""
    yield message("Run by"), origin.operator


def _numbers(page: Page, tallies: Sequence[Tally], *, total: bool = False) -> None:
    count, money = (page.total["count"], page.total["money"]) if total else (page.count, page.money)
    for index, tally in enumerate(tallies):
        page.put(1 + 2 * index, tally.charges, count)
        page.put(2 + 2 * index, tally.amount / MINOR, money)


def _total(page: Page, tallies: Sequence[Tally]) -> None:
    """A table's last line."""
    page.line(message("Total"), page.total["name"])
    _numbers(page, tallies, total=True)
    page.row += 1


def _statuses(page: Page, result: RunResult, tallies: Mapping[str, Tally]) -> Lines:
    """The table of statuses; where its lines stand, for the chart."""
    page.heading(message("By status"))
    page.table_heading(("status", "charges", "amount", "meaning"), _HEADINGS)
    first = page.row
    for name, tally in tallies.items():
        _status(page, name, tally.charges, tally.amount / MINOR)
    _total(page, [everything(tallies.values())])
    for name, (count, _) in result.columns.charges.tallies().items():
        if not STATUS[name].counted:
            _status(page, name, count, None)
    names = [status_word(name, result.lang) for name in tallies]
    tones = [STATUS[name].tone for name in tallies]
    charges = {"charges": (1, [tally.charges for tally in tallies.values()])}
    return Lines(first, names, charges, tones)


def _status(page: Page, name: str, charges: int, amount: float | None) -> None:
    """A line of the table of statuses."""
    page.line(status_word(name, page.lang), page.tones[STATUS[name].tone])
    page.put(1, charges, page.count)
    page.put(2, amount, page.money)
    page.spread(3, Message(STATUS[name].meaning), page.name)
    page.row += 1


def _reasons(page: Page, result: RunResult, places: Places) -> None:
    """The table of what rows failed for, numbered as on Failures; each line leads to its first row there."""
    causes = places.rows.causes
    if not causes:
        return
    charges = result.columns.charges
    failed = charges.counted & charges.ended.where(lambda name: STATUS[name].failure)
    amount = np.zeros(len(result.rows), dtype=np.int64)
    np.add.at(amount, charges.line[failed], charges.amount[failed])
    page.heading(message("By reason (sheet Failures)"))
    page.table_heading(("reason", "rows", "amount", "meaning"), _HEADINGS)
    for number, (cause, rows) in enumerate(causes.items(), 1):
        shown = f"{number} · {status_word(cause.status, page.lang)}"
        page.line(shown, page.name_link, places.failures[rows[0]])
        page.put(1, len(rows), page.count)
        page.put(2, int(amount[rows].sum()) / MINOR, page.money)
        short = Message(REASON[cause.code].short if cause.code else STATUS[cause.status].meaning)
        said = about(cause.key or Term(cause.column), short) if cause.column else short
        page.spread(3, f"{rendered(said, page.lang)} [{cause.code}]", page.name)
        page.row += 1
    _total(page, [Tally(len(places.rows.failed), int(amount[places.rows.failed].sum()))])


def _buyers(result: RunResult, groups: Sequence[Group]) -> list[tuple[str, Group]]:
    """The largest buyers, and the others in one line."""
    nobody = rendered(message("(no buyer)"), result.lang)
    shown = [(group.name or nobody, group) for group in groups[:_MOST_BUYERS]]
    if rest := groups[_MOST_BUYERS:]:
        others = rendered(message("{count} other buyers", count=len(rest)), result.lang)
        shown.append((others, together("", rest)))
    return shown


def _groups(page: Page, of: str, parts: Sequence[str], lines: Sequence[tuple[str, Group]]) -> Lines:
    """A table of groups by these parts: all, issued and the rest, or where anything is ready, issued, ready and the rest."""
    columns = [f"{_COLUMN_OF[part]}{what}" for part in parts for what in ("charges", "amount")]
    page.table_heading((of, *columns), _HEADINGS)
    first = page.row
    for position, (name, group) in enumerate(lines):
        page.line(name, page.name)
        _numbers(page, [getattr(group, part) for part in parts])
        if of == "buyer":
            sheet_summary_charts.put_label(page, position, name)
        page.row += 1
    everyone = together("", [group for _, group in lines])
    _total(page, [getattr(everyone, part) for part in parts])
    amounts = {
        part: (2 + 2 * place, [getattr(group, part).amount / MINOR for _, group in lines])
        for place, part in enumerate(parts)
        if part != "all"
    }
    return Lines(first, [name for name, _ in lines], amounts, [])
