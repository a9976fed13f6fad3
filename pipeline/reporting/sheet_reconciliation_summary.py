"""The reconciliation's Summary: what agrees, what to do, what was settled, and what could not be."""

import datetime
import functools
from collections.abc import Sequence
from typing import Any

from pipeline.messages.translate import rendered
from pipeline.model.places import about
from pipeline.model.quoting import bounded
from pipeline.model.settled import Settled
from pipeline.model.table import MINOR
from pipeline.reporting.next_steps import reconciliation_steps
from pipeline.reporting.sheet_page import Page
from pipeline.reporting.words_reconciliation import period_text, tell
from pipeline.reporting.xlsx.book import Book, print_setup
from pipeline.reporting.xlsx.styles import (
    CHART_TONES,
    DARK,
    FONT,
    LINE,
)
from pipeline.settlement.compare import KINDS
from pipeline.settlement.reconciled import Reconciliation

_TONE = {
    "agreed": "good",
    "not_on_statement": "bad",
    "not_ours": "bad",
    "differing": "bad",
    "not_covered": "plain",
    "unknown": "bad",
    "to_issue": "warn",
}
_MOST = 100  # lines of one section; the sheets have the rest
_CHART_ROWS = 15


def add_summary(book: Book, done: Reconciliation) -> None:
    """Write the sheet Summary."""
    page, lang = Page(book, "Summary"), done.result.lang
    page.sheet.set_row(0, 26)
    page.put(0, tell("title", lang), page.title)
    page.row = 1
    issued = sum(len(done.of(kind)) for kind in ("agreed", "not_on_statement", "differing", "not_covered"))
    facts = {"agreed": len(done.of("agreed")), "issued": issued, "open": len(done.of("to_issue"))}
    headline = "headline_nothing" if done.nothing_compared else "headline"
    page.spread(0, tell(headline, lang, **facts), page.headline)
    page.row += 1
    nothing = "nothing_covered" if done.of("not_covered") else "nothing" if done.entries else "nothing_given"
    _section(page, tell("next", lang), reconciliation_steps(done) or [tell(nothing, lang)])
    first = _kinds(page, done)
    _chart(book, page, done, first)
    _section(page, tell("settled", lang), [_settled(one, done) for one in done.decided.settled], lang=done)
    troubles = [bounded(rendered(about(t.place, t.message), lang)) for t in done.decided.troubles]
    _section(page, tell("troubles", lang), troubles, lang=done)
    _section(
        page, tell("unread", lang), [rendered(unread.problem, lang) for unread in done.unread], lang=done
    )
    said = functools.partial(rendered, lang=lang)
    notes = [*map(said, done.notes), *map(said, done.decided.warnings), *map(said, done.result.notes)]
    _section(
        page,
        tell("notes", lang),
        notes,
        lang=done,
    )
    _facts(page, done)
    print_setup(page.sheet, lang)
    page.sheet.set_portrait()


def _section(page: Page, heading: str, lines: Sequence[str], lang: Reconciliation | None = None) -> None:
    """A heading with a line each; nothing where there are none."""
    if not lines:
        return
    page.heading(heading)
    shown = list(lines[:_MOST])
    if lang is not None and len(lines) > _MOST:
        shown.append(tell("more", lang.result.lang, count=len(lines) - _MOST))
    for line in shown:
        page.spread(0, f"• {line}", page.text)
        page.row += 1


def _settled(one: Settled, done: Reconciliation) -> str:
    return tell(
        f"settled_{one.state}", done.result.lang, request=one.attempt.request_id, attempt=one.attempt.attempt,
        number=one.number, evidence=one.evidence,
    )  # fmt: skip


def _kinds(page: Page, done: Reconciliation) -> int:
    """The table of kinds; the row of its first line."""
    lang = done.result.lang
    page.heading(tell("by_kind", lang))
    for column, name in enumerate(("kind", "charges", "total", "meaning")):
        look = page.number_heading if name in ("charges", "total") else page.column_heading
        if name == "meaning":
            page.spread(column, tell(name, lang), look)
        else:
            page.put(column, tell(name, lang), look)
    page.row += 1
    first = page.row
    for kind in KINDS:
        entries = done.of(kind)
        amounts = [
            entry.line.amount if entry.amount is None and entry.line else entry.amount for entry in entries
        ]
        page.line(tell(kind, lang), page.tones[_TONE[kind] if entries else "plain"])
        page.put(1, len(entries), page.count)
        page.put(2, sum(amount or 0 for amount in amounts) / MINOR, page.money)
        page.spread(3, tell(f"{kind}_means", lang), page.name)
        page.row += 1
    return first


def _chart(book: Book, page: Page, done: Reconciliation, first: int) -> None:
    lang = done.result.lang
    counts = [len(done.of(kind)) for kind in KINDS]
    last = first + len(KINDS) - 1
    chart = book.workbook.add_chart({"type": "bar"})
    font = {"name": FONT, "size": 9, "bold": False, "color": DARK}
    chart.set_title(
        {"name": tell("chart", lang), "name_font": {**font, "size": 11, "bold": True}, "overlay": False}
    )
    chart.set_y_axis({"reverse": True, "num_font": font, "line": {"color": LINE}, "major_tick_mark": "none"})
    chart.set_x_axis({"num_format": "#,##0", "num_font": {**font, "size": 8}, "min": 0, "label_position": "high",
                      "major_gridlines": {"visible": True, "line": {"color": LINE}}, "line": {"none": True}})  # fmt: skip
    chart.set_chartarea({"border": {"color": LINE}})
    chart.add_series(
        {
            "categories": ["Summary", first, 0, last, 0],
            "values": ["Summary", first, 1, last, 1],
            "categories_data": [tell(kind, lang) for kind in KINDS],
            "values_data": counts,
            "points": [{"fill": {"color": CHART_TONES[_TONE[kind]]}} for kind in KINDS],
            "data_labels": {"value": True, "num_format": "#,##0", "font": font},
            "gap": 45,
        }
    )
    chart.set_legend({"none": True})
    chart.set_size({"width": 700, "height": 250})
    page.sheet.insert_chart(
        page.row + 1, 0, chart, {"x_offset": 2, "object_position": 1, "description": tell("chart", lang)}
    )
    page.row += _CHART_ROWS


def _facts(page: Page, done: Reconciliation) -> None:
    lang, result = done.result.lang, done.result
    page.heading(tell("facts", lang))
    shown: dict[str, Any] = {
        "command": "voucher reconcile",
        "as_of": datetime.date.fromisoformat(result.as_of),
        "period": period_text(done) if done.period else "–",
        "statements": ", ".join(statement.name for statement in done.statements)
        or tell("no_statement", lang),
        "ledger": result.ledger,
        "ledger_id": result.ledger_id,
    }
    for name, value in shown.items():
        if value == "":  # a throw-away ledger
            continue
        page.put(0, tell(name, lang), page.label)
        if isinstance(value, datetime.date):
            page.put(1, value, page.fact_day)
        else:
            page.spread(1, value, page.text)
        page.row += 1
