"""The sheet Summary: what became of it all, what to do next, what presses, and the counts and money behind it."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.messages.translate import choice_word, rendered, status_word, translated
from pipeline.model.columns import VOUCHERS
from pipeline.model.result import RunResult
from pipeline.model.status import ISSUED, STATUS
from pipeline.model.table import MINOR
from pipeline.reporting import sheet_summary_charts
from pipeline.reporting.links import Places
from pipeline.reporting.next_steps import Step, next_steps
from pipeline.reporting.sheet_page import Page
from pipeline.reporting.sheet_summary_last_days import add_deadlines
from pipeline.reporting.tallies import (
    Group,
    Tallies,
    Tally,
    everything,
    together,
)
from pipeline.reporting.words_result import words_in
from pipeline.reporting.xlsx.book import Book, print_setup

_MOST_BUYERS = 20
_MOST_FILES = 3
_BEFORE_LINK = 5  # the last of the page's columns that a step's text takes
_COLUMN_OF = {"all": "", "issued": "issued_", "ready": "ready_", "rest": "open_"}


def add_summary(book: Book, result: RunResult, places: Places) -> None:
    """Write the sheet Summary."""
    page, words = Page(book, "Summary"), words_in(result.lang)
    page.sheet.set_row(0, 26)
    page.put(0, words.title, page.title)
    page.row = 1
    tallies = Tallies(result)
    by_status = tallies.by_status()
    _headline(page, result, by_status)
    _next(page, result, places)
    statuses = _statuses(page, result, by_status)
    room = page.row + 1
    page.row += sheet_summary_charts.ROWS + 2
    add_deadlines(page, result)
    names = {choice.name: choice_word(choice.name, result.lang) for choice in VOUCHERS}
    vouchers = [(names.get(group.name, group.name), group) for group in tallies.by_voucher()]
    _groups(page, result, "voucher", vouchers)
    buyers = _groups(page, result, "buyer", _buyers(result, tallies.by_buyer()))
    sheet_summary_charts.add_statuses(book, page, result, statuses, room)
    sheet_summary_charts.add_buyers(book, page, result, buyers, room)
    _facts(page, result, places, everything(by_status.values()))
    if result.notes:
        page.heading(words.notes_heading)
        for note in result.notes:
            page.spread(0, f"• {rendered(note, result.lang)}", page.text)
            page.row += 1
    print_setup(page.sheet, result.lang)
    page.sheet.set_portrait()


def _headline(page: Page, result: RunResult, tallies: Mapping[str, Tally]) -> None:
    """How much of it is done, in one line."""
    words = words_in(result.lang)
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
        (words.headline_check if result.command == "check" else words.headline).format(**facts),
        page.headline,
    )
    page.row += 1


def _next(page: Page, result: RunResult, places: Places) -> None:
    """What to do, each line with a link to the first row or request that it speaks of."""
    words = words_in(result.lang)
    page.heading(words.next_heading)
    for step in next_steps(result, places) or [Step(words.nothing)]:
        page.spread(0, f"• {step.text}", page.text, _BEFORE_LINK)
        if step.sheet:
            page.merged(_BEFORE_LINK + 1, _BEFORE_LINK + 1, f"→ {step.sheet}", page.text_link, step.link)
        page.row += 1


def _facts(page: Page, result: RunResult, places: Places, total: Tally) -> None:
    words = words_in(result.lang)
    page.heading(words.facts_heading)
    files = list(dict.fromkeys(places.rows.file))
    named, more = ", ".join(files[:_MOST_FILES]), len(files) - _MOST_FILES
    if more > 0:
        named = words.files.format(first=named, count=more)
    charges, amount = total.charges, total.amount / MINOR
    shown: dict[str, Any] = {
        "command": f"voucher {result.command}",
        "as_of": datetime.date.fromisoformat(result.as_of),
        "files": named,
        "rows": len(result.rows),
        "charges": charges if charges != len(result.rows) else "",
        "amount": amount,
        "ledger": result.ledger,
        "ledger_id": result.ledger_id,
    }
    for name, value in shown.items():
        if value == "":  # no ledger, or a throw-away one
            continue
        page.put(0, words.facts[name].format(currency=result.currency), page.label)
        if isinstance(value, str):
            page.spread(1, value, page.text)
        elif isinstance(value, datetime.date):
            page.put(1, value, page.fact_day)
        else:
            look = page.fact_money if name == "amount" else page.fact_count
            page.merged(1, 2, value, look)
        page.row += 1


def _table_heading(page: Page, result: RunResult, names: Sequence[str]) -> None:
    texts = words_in(result.lang).columns
    for column, name in enumerate(names):
        number = name.endswith(("charges", "amount"))
        look = page.number_heading if number else page.column_heading
        if name == "meaning":
            page.spread(column, texts[name], look)
        else:
            page.put(column, texts[name], look)
    page.row += 1


def _numbers(page: Page, column: int, tallies: Sequence[Tally], *, total: bool) -> None:
    count, money = (page.total["count"], page.total["money"]) if total else (page.count, page.money)
    for index, tally in enumerate(tallies):
        page.put(column + 2 * index, tally.charges, count)
        page.put(column + 2 * index + 1, tally.amount / MINOR, money)


def _statuses(page: Page, result: RunResult, tallies: Mapping[str, Tally]) -> sheet_summary_charts.Lines:
    """The table of statuses; where its lines stand, for the chart."""
    words = words_in(result.lang)
    page.heading(words.by_status)
    _table_heading(page, result, ("status", "charges", "amount", "meaning"))
    first = page.row
    for name, tally in tallies.items():
        page.line(status_word(name, result.lang), page.tones[STATUS[name].tone])
        _numbers(page, 1, [tally], total=False)
        page.spread(3, translated(STATUS[name].meaning, result.lang), page.name)
        page.row += 1
    page.line(words.total, page.total["name"])
    _numbers(page, 1, [everything(tallies.values())], total=True)
    page.row += 1
    for name, (count, _) in result.columns.charges.tallies().items():
        if not STATUS[name].counted:
            page.line(status_word(name, result.lang), page.tones[STATUS[name].tone])
            page.put(1, count, page.count)
            page.put(2, None, page.money)
            page.spread(3, translated(STATUS[name].meaning, result.lang), page.name)
            page.row += 1
    names = [status_word(name, result.lang) for name in tallies]
    tones = [STATUS[name].tone for name in tallies]
    charges = {"charges": (1, [tally.charges for tally in tallies.values()])}
    return sheet_summary_charts.Lines(first, names, charges, tones)


def _buyers(result: RunResult, groups: Sequence[Group]) -> list[tuple[str, Group]]:
    """The largest buyers, and the others in one line."""
    words = words_in(result.lang)
    shown = [(group.name or words.no_buyer, group) for group in groups[:_MOST_BUYERS]]
    if rest := groups[_MOST_BUYERS:]:
        shown.append((words.other_buyers.format(count=len(rest)), together("", rest)))
    return shown


def _groups(
    page: Page, result: RunResult, of: str, lines: Sequence[tuple[str, Group]]
) -> sheet_summary_charts.Lines:
    """A table of groups: all, issued and the rest, or where anything is ready, issued, ready and the rest."""
    words = words_in(result.lang)
    parts = ("issued", "ready", "rest") if "ready" in result.totals else ("all", "issued", "rest")
    page.heading(words.by_voucher if of == "voucher" else words.by_buyer)
    columns = [f"{_COLUMN_OF[part]}{what}" for part in parts for what in ("charges", "amount")]
    _table_heading(page, result, (of, *columns))
    first = page.row
    everything = together("", [group for _, group in lines])
    for position, (name, group) in enumerate((*lines, (words.total, everything))):
        total = group is everything
        page.line(name, page.total["name"] if total else page.name)
        _numbers(page, 1, [getattr(group, part) for part in parts], total=total)
        if of == "buyer" and not total:
            sheet_summary_charts.put_label(page, position, name)
        page.row += 1
    amounts = {
        part: (2 + 2 * place, [getattr(group, part).amount / MINOR for _, group in lines])
        for place, part in enumerate(parts)
        if part != "all"
    }
    return sheet_summary_charts.Lines(first, [name for name, _ in lines], amounts, [])
