"""The reconciliation's Summary: what agrees, what to do, what was settled, and what could not be."""

import datetime
from collections.abc import Iterator, Sequence
from typing import Any

from pipeline.messages.translate import rendered
from pipeline.model.message import Message
from pipeline.model.money import MINOR
from pipeline.model.places import about
from pipeline.model.quoting import bounded
from pipeline.model.settled import Settled
from pipeline.reporting.next_steps import reconciliation_steps
from pipeline.reporting.sheet_page import Page
from pipeline.reporting.sheet_summary import origin_facts
from pipeline.reporting.sheet_summary_charts import Lines, add_counts
from pipeline.reporting.words_collection import told_of
from pipeline.reporting.words_reconciliation import period_text, said, tell
from pipeline.reporting.xlsx.book import Book
from pipeline.settlement.compare import KINDS, Compared
from pipeline.settlement.reconciliation_result import Reconciliation

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
_CHART_ROWS, _CHART_SIZE = 15, (700, 250)  # pixels
_HEADINGS = {
    "kind": said("kind"),
    "charges": said("charges"),
    "amount": said("total"),
    "meaning": said("meaning"),
}


def add_summary(book: Book, done: Reconciliation) -> None:
    """Write the sheet Summary."""
    page = Page(book, "Summary")
    issued = sum(len(done.of(kind)) for kind in ("agreed", "not_on_statement", "differing", "not_covered"))
    facts = {"agreed": len(done.of("agreed")), "issued": issued, "open": len(done.of("to_issue"))}
    headline = "headline_nothing" if done.nothing_compared else "headline"
    page.spread(0, said(headline, **facts), page.headline)
    page.row += 1
    nothing = "nothing_covered" if done.of("not_covered") else "nothing" if done.entries else "nothing_given"
    _section(page, "next", reconciliation_steps(done) or [said(nothing)])
    page.heading(said("by_kind"))
    page.table_heading(tuple(_HEADINGS), _HEADINGS)
    first = page.row
    for kind in KINDS:
        _kind(page, kind, done.of(kind))
    counts = {"charges": (1, [len(done.of(kind)) for kind in KINDS])}
    names, tones = [tell(kind, page.lang) for kind in KINDS], [_TONE[kind] for kind in KINDS]
    add_counts(page, said("chart"), Lines(first, names, counts, tones), page.row + 1, _CHART_SIZE)
    page.row += _CHART_ROWS
    _section(page, "settled", [_settled(one) for one in done.decided.settled])
    troubles = [about(one.place, one.message) for one in done.decided.troubles]
    _section(page, "troubles", [bounded(rendered(trouble, page.lang)) for trouble in troubles])
    _section(page, "files", [*told_of(done.odd_files)])
    _section(page, "unread", [unread.problem for unread in done.unread])
    _section(page, "notes", [*done.notes, *done.decided.warnings, *done.result.notes])
    page.heading(said("facts"))
    page.facts(_facts(done))
    page.finish()


def _section(page: Page, heading: str, lines: Sequence[str | Message]) -> None:
    """A heading with a line each; nothing where there are none."""
    if not lines:
        return
    page.heading(said(heading))
    page.points(lines[:_MOST])
    if len(lines) > _MOST:
        page.points([said("more", count=len(lines) - _MOST)])


def _settled(one: Settled) -> Message:
    attempt = one.attempt
    return said(
        f"settled_{one.state}", request=attempt.request_id, attempt=attempt.attempt, number=one.number, evidence=one.evidence
    )  # fmt: skip


def _kind(page: Page, kind: str, entries: Sequence[Compared]) -> None:
    """A line of the table of kinds."""
    amounts = [
        entry.line.amount if entry.amount is None and entry.line else entry.amount for entry in entries
    ]
    page.line(said(kind), page.tones[_TONE[kind] if entries else "plain"])
    page.put(1, len(entries), page.count)
    page.put(2, sum(amount or 0 for amount in amounts) / MINOR, page.money)
    page.spread(3, said(f"{kind}_means"), page.name)
    page.row += 1


def _facts(done: Reconciliation) -> Iterator[tuple[Message, Any]]:
    result, statements = done.result, [statement.name for statement in done.statements]
    yield said("command"), "voucher reconcile"
    yield from origin_facts(result.origin, result.lang)
    yield said("as_of"), datetime.date.fromisoformat(result.as_of)
    yield said("period"), period_text(done) if done.period else "–"
    yield said("statements"), ", ".join(statements) or tell("no_statement", result.lang)
    yield said("ledger"), result.ledger  # "": a throw-away one
    yield said("ledger_id"), result.ledger_id
