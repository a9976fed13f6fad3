"""The last lines of a run or a reconciliation, on the terminal and in cron's mail: counts, money, the commonest reasons."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from pipeline.messages.translate import rendered, status_word
from pipeline.model.columns import HEADER_FIELDS, Lang
from pipeline.model.message import NOTHING, Fact, Message, Term, joined, message
from pipeline.model.money import MINOR, money_shown
from pipeline.model.places import about
from pipeline.model.quoting import one_line, quoted
from pipeline.model.result import RunResult
from pipeline.model.result_values import ReasonText, RowResult
from pipeline.model.status import SETTLED, STATUS, STATUS_OF
from pipeline.model.text_width import cells_wide
from pipeline.reporting.next_steps import (
    lacking_step,
    reconciliation_steps,
    rows_in_words,
    stopped_lines,
    unknown_step,
)
from pipeline.reporting.words_collection import told_of
from pipeline.reporting.words_reconciliation import period_text, tell
from pipeline.settlement.compare import KINDS
from pipeline.settlement.reconciliation_result import Reconciliation
from pipeline.splitting import by_kind

_MOST_REASONS = 8
_MOST_LETTERS = 160
_MOST_TROUBLES = 10
_PERSONAL = (*HEADER_FIELDS, "buyer", "passenger_name", "remarks")
#: Reasons whose messages may name a buyer (the carrier's words may); what to do about them names nobody.
_NAMES_BUYERS = ("differs_from_issued", "carrier_rejected")


def summary_lines(result: RunResult, *, cells: bool = True) -> list[str]:
    """Short lines in the run's language, safe to print; `cells`: whether they may quote what a cell holds."""
    tallies = result.columns.charges.tallies()
    rows, charges = rows_in_words(result.columns.size), len(result.columns.charges.line)
    if charges != result.columns.size:
        rows = message("{rows} ({charges} charges)", rows=rows, charges=charges)
    told = [message("{rows}, judged on {as_of}", rows=rows, as_of=result.as_of)]
    named = {name: status_word(name, result.lang) for name in tallies}
    widest = max((cells_wide(word) for word in named.values()), default=0)
    lines = []
    for name, (count, amount) in tallies.items():
        gap = " " * (widest - cells_wide(named[name]))
        money = f"  {result.currency} {amount / MINOR:>16,.2f}" if STATUS[name].counted else ""
        lines.append(f"  {named[name]}{gap} {count:>9,}{money}")
    lines += (f"  {rendered(reason, result.lang)}" for reason in _reasons(result, cells=cells))
    if result.command == "check":  # issue says it before it asks
        lines += (
            f"  {rendered(to_send(kind, result.currency), result.lang)}" for kind in by_kind(result.asked)
        )
    ending = [
        *([unknown_step(len(result.doubts))] if result.doubts else []),
        *([lacking_step(result)] if result.lacking else []),
        *stopped_lines(result),
    ]
    return [*_in_words(told, result.lang), *lines, *_in_words(ending, result.lang)]


def to_send(kind: tuple[str, str, int, int], currency: str) -> Message:
    """How many requests of a kind (see `by_kind`) there are, and for how much."""
    voucher, market, count, total = kind
    return message(
        "To send: {count} × {market} {voucher}, {amount} {currency}",
        count=count, market=Term(market, "choice"), voucher=Term(voucher, "choice"),
        amount=money_shown(total), currency=currency,
    )  # fmt: skip


def _in_words(told: Iterable[Fact], lang: Lang, *, names: bool = True) -> list[str]:
    return [rendered(line, lang, names=names) for line in told]


def _reasons(result: RunResult, *, cells: bool) -> list[Message]:
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
    lines = []
    for code in commonest[:_MOST_REASONS]:
        row = result.rows[first[code]]
        told = _message(row.reasons[said[code].index(code)], row, result.lang, cells=cells)
        if (count := len(having[code])) > 1:  # what is said of the others may be something else
            line = message("{count} × {code}, the first: {message}", count=count, code=code, message=told)
        else:
            line = message("{count} × {code}: {message}", count=count, code=code, message=told)
        lines.append(line)
    if more := len(commonest[_MOST_REASONS:]):
        lines.append(
            message(
                "kinds of reasons not shown here: {count}; every row's stand on the sheets Failures and Rows of the result"
                " (check writes one with -o)",
                count=more,
            )
        )
    return lines


def _message(reason: ReasonText, row: RowResult, lang: Lang, *, cells: bool) -> Fact:
    """What a reason says, without what was seen of a person or buyer; and where to look."""
    quoting = cells and reason.column not in _PERSONAL and not STATUS[STATUS_OF[reason.code]].sent
    said = reason.cure if reason.code in _NAMES_BUYERS else reason.message if quoting else reason.brief
    if reason.source and not quoting:
        said = rendered(about(reason.source, said), lang, names=cells)
    if reason.source and cells:
        return _short(said)
    cell, file = reason.cell or message("row {row}", row=row.row), quoted(row.file)
    if not cells:
        return message("{file}, {cell}: {message}", file=file, cell=cell, message=_short(said))
    sheet = quoted(row.sheet)
    return message(
        "{file}, {sheet}, {cell}: {message}", file=file, sheet=sheet, cell=cell, message=_short(said)
    )


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _MOST_LETTERS else line[:_MOST_LETTERS] + "…"


def reconciled_lines(
    done: Reconciliation, reworded: Callable[[Message], Fact] = lambda line: line
) -> list[str]:
    """Short lines in the run's language, safe to print and without what stands in cells: it names people where columns slip.

    `reworded` gives a line in the words of whoever shows it.
    """
    lang, settled = done.result.lang, [one.state for one in done.decided.settled]
    counts = [f"{tell(kind, lang)} {len(done.of(kind))}" for kind in KINDS if done.of(kind)]
    parts = joined(counts or ["0"], "sentences")
    lines = [tell("line" if done.period else "line_no_period", lang, period=period_text(done), parts=parts)]
    if new := Counter(one.status for one in done.files if one.new):
        parts = joined(
            message("{count} {status}", count=count, status=Term(status, "status"))
            for status, count in sorted(new.items())
        )
        lines.append(rendered(message("Itinerary files: {parts}", parts=parts), lang))
    if settled:
        issued, not_sent = settled.count("issued"), settled.count("not_sent")
        lines.append(tell("settled_line", lang, issued=issued, not_sent=not_sent))
    if done.result.rows:
        # What to do about doubts and a stop is said below, of all of the ledger.
        lines += summary_lines(replace(done.result, doubts=(), stopped=NOTHING), cells=False)
    troubles = [about(one.place, one.message) for one in done.decided.troubles]
    troubles += [*told_of(done.odd_files), *(unread.problem for unread in done.unread)]
    lines += _in_words(map(reworded, troubles[:_MOST_TROUBLES]), lang, names=False)
    if len(troubles) > _MOST_TROUBLES:
        lines.append(tell("more", lang, count=len(troubles) - _MOST_TROUBLES))
    more = (*done.decided.warnings[:_MOST_TROUBLES], *done.notes)
    lines += _in_words(map(reworded, more), lang, names=False)
    return lines + _in_words(map(reworded, reconciliation_steps(done)), lang)
