"""The last lines of a run or a reconciliation, on the terminal and in cron's mail: counts, money, the commonest reasons."""

from dataclasses import replace

import numpy as np

from pipeline.messages.translate import rendered, status_word
from pipeline.model.columns import HEADER_FIELDS, Lang
from pipeline.model.message import NOTHING, joined
from pipeline.model.places import about
from pipeline.model.quoting import one_line, quoted
from pipeline.model.result import ReasonText, RowResult, RunResult
from pipeline.model.status import SETTLED, STATUS, STATUS_OF
from pipeline.model.table import MINOR
from pipeline.model.text_width import cells_wide
from pipeline.reporting.next_steps import reconciliation_steps, stopped_lines, unknown_step
from pipeline.reporting.words_reconciliation import period_text, tell
from pipeline.reporting.words_result import count_rows, words_in
from pipeline.settlement.compare import KINDS
from pipeline.settlement.reconciled import Reconciliation

_MOST_REASONS = 8
_MOST_LETTERS = 160
_MOST_TROUBLES = 10
_PERSONAL = (*HEADER_FIELDS, "buyer", "passenger_name", "remarks")
#: Reasons whose messages may name a buyer (the carrier's words may); what to do about them names nobody.
_NAMES_BUYERS = ("differs_from_issued", "carrier_rejected")


def summary_lines(result: RunResult, *, cells: bool = True) -> list[str]:
    """Short lines in the run's language, safe to print; `cells`: whether they may quote what a cell holds."""
    words = words_in(result.lang)
    tallies = result.columns.charges.tallies()
    rows, charges = result.columns.size, len(result.columns.charges.line)
    counted = (
        count_rows(rows, result.lang)
        if rows == charges
        else words.bills.format(rows=count_rows(rows, result.lang), charges=charges)
    )
    lines = [words.judged.format(rows=counted, as_of=result.as_of)]
    named = {name: status_word(name, result.lang) for name in tallies}
    widest = max((cells_wide(word) for word in named.values()), default=0)
    for name, (count, amount) in tallies.items():
        gap = " " * (widest - cells_wide(named[name]))
        money = f"  {result.currency} {amount / MINOR:>16,.2f}" if STATUS[name].counted else ""
        lines.append(f"  {named[name]}{gap} {count:>9,}{money}")
    lines += _reasons(result, cells=cells)
    if result.doubts:
        lines.append(unknown_step(len(result.doubts), result.lang))
    lines += stopped_lines(result)
    return [one_line(line) for line in lines]


def _reasons(result: RunResult, *, cells: bool) -> list[str]:
    """The commonest reasons of rows that need somebody, with one row's message each."""
    open_rows = ~np.isin(result.columns.status, SETTLED)
    having = {
        code: rows if code == "differs_from_issued" else rows[open_rows[rows]]
        for code, rows in result.columns.having.items()
        if code == "differs_from_issued" or STATUS_OF[code] not in SETTLED
    }
    first = {code: int(rows[0]) for code, rows in having.items() if len(rows)}
    said = {code: [reason.code for reason in result.rows[row].reasons] for code, row in first.items()}
    commonest = sorted(first, key=lambda code: (-len(having[code]), first[code], said[code].index(code)))
    words = words_in(result.lang)
    lines = []
    for code in commonest[:_MOST_REASONS]:
        row = result.rows[first[code]]
        message = _message(row.reasons[said[code].index(code)], row, result.lang, cells=cells)
        lines.append("  " + words.example.format(count=len(having[code]), code=code, message=message))
    if more := len(commonest[_MOST_REASONS:]):
        lines.append("  " + words.more_reasons.format(count=more))
    return lines


def _message(reason: ReasonText, row: RowResult, lang: Lang, *, cells: bool) -> str:
    """What a reason says, without what was seen of a person or buyer; and where to look."""
    quoting = cells and reason.column not in _PERSONAL and not STATUS[STATUS_OF[reason.code]].sent
    said = reason.cure if reason.code in _NAMES_BUYERS else reason.message if quoting else reason.brief
    words = words_in(lang)
    if reason.source and not quoting:
        said = words.of_source.format(source=rendered(reason.source, lang, names=cells), message=said)
    if reason.source and cells:
        return _short(said)
    where = words.where_on_sheet if cells else words.where
    cell = reason.cell or words.row.format(row=row.row)
    return one_line(
        where.format(file=quoted(row.file), sheet=quoted(row.sheet), cell=cell, message=_short(said))
    )


def _short(message: str) -> str:
    line = one_line(message)
    return line if len(line) <= _MOST_LETTERS else line[:_MOST_LETTERS] + "…"


def reconciled_lines(done: Reconciliation) -> list[str]:
    """Short lines in the run's language, safe to print and without what stands in cells: it names people where columns slip."""
    lang = done.result.lang
    counts = [f"{tell(kind, lang)} {len(done.of(kind))}" for kind in KINDS if done.of(kind)]
    parts = joined(counts or ["0"], "sentences")
    lines = [tell("line" if done.period else "line_no_period", lang, period=period_text(done), parts=parts)]
    if done.decided.settled:
        states = [one.state for one in done.decided.settled]
        lines.append(
            tell("settled_line", lang, issued=states.count("issued"), not_sent=states.count("not_sent"))
        )
    if done.result.rows:
        # What to do about doubts and a stop is said below, of all of the ledger.
        lines += summary_lines(replace(done.result, doubts=(), stopped=NOTHING), cells=False)
    told = [rendered(about(t.place, t.message), lang, names=False) for t in done.decided.troubles]
    told += [rendered(unread.problem, lang, names=False) for unread in done.unread]
    lines += told[:_MOST_TROUBLES]
    if len(told) > _MOST_TROUBLES:
        lines.append(tell("more", lang, count=len(told) - _MOST_TROUBLES))
    lines += [
        rendered(note, lang, names=False) for note in (*done.decided.warnings[:_MOST_TROUBLES], *done.notes)
    ]
    lines += reconciliation_steps(done)
    return [one_line(line) for line in lines]
