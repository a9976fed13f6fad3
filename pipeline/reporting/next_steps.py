"""What a person is to do after a run or a reconciliation, in plain sentences, and where it begins."""

from typing import NamedTuple

from pipeline.messages.translate import rendered, translated
from pipeline.model.columns import Lang
from pipeline.model.result import RunResult
from pipeline.model.status import STATUS, STATUSES
from pipeline.reporting.links import Places
from pipeline.reporting.words_reconciliation import period_text, tell
from pipeline.reporting.words_result import count_requests, count_rows, words_in
from pipeline.settlement.compare import DISAGREEING
from pipeline.settlement.reconciled import Reconciliation

#: Statuses of rows to be corrected or sent again, the most urgent first: what stopped the run, what needs a person, what needs time.
_FAILURES = [
    status.name
    for status in sorted(STATUSES, key=lambda s: (-s.exit_code, s.tone != "bad"))
    if status.failure
]


class Step(NamedTuple):
    """One thing to do; `sheet` and `link` lead to the first row or request that it speaks of."""

    text: str
    sheet: str = ""
    link: str = ""


def stopped_lines(result: RunResult) -> list[str]:
    """Why the run stopped early, and that it may be run again; nothing where it did not."""
    words = words_in(result.lang)
    if not result.stopped:
        return []
    return [words.stopped.format(stopped=rendered(result.stopped, result.lang)), words.run_again]


def unknown_step(count: int, lang: Lang) -> str:
    """What to do about so many requests whose outcome is unknown."""
    return translated(STATUS["unknown"].step, lang).format(requests=count_requests(count, lang))


def next_steps(result: RunResult, places: Places) -> list[Step]:
    """What a person is to do, the most urgent first; nothing where every row is issued."""
    words, totals, rows = words_in(result.lang), result.totals, places.rows
    found = [Step(line) for line in stopped_lines(result)]
    if result.doubts:
        link = places.doubts[result.doubts[0].request_id]
        found.append(Step(unknown_step(len(result.doubts), result.lang), "Unknown", link))
    for status in _FAILURES:
        if status in totals:
            first = next(row for row in rows.failed if rows.status[row] == status)
            found.append(Step(_of_rows(status, result), "Failures", places.failures[first]))
        if status == "invalid" and (
            named := [row for row in rows.having("unknown_buyer") if row in places.failures]
        ):
            found.append(Step(words.unknown_buyer, "Failures", places.failures[named[0]]))
    if other := rows.having("differs_from_issued"):
        text = words.differs.format(rows=count_rows(len(other), result.lang))
        found.append(Step(text, "Rows", Places.row(other[0])))
    if "ready" in totals:
        found.append(Step(_of_rows("ready", result)))
    return found


def _of_rows(status: str, result: RunResult) -> str:
    rows = count_rows(result.totals[status], result.lang)
    return translated(STATUS[status].step, result.lang).format(rows=rows)


def reconciliation_steps(done: Reconciliation) -> list[str]:
    """What a person is to do, the most urgent first; nothing where everything agrees."""
    lang, result = done.result.lang, done.result
    counts = {kind: len(done.of(kind)) for kind in DISAGREEING}
    counts["unknown"] = len(result.doubts)
    counts |= {"troubles": len(done.decided.troubles), "unread": len(done.unread)}
    counts["set_free"] = sum(entry.set_free for entry in done.entries)
    counts["failures"] = len(result.columns.failed)
    found = []
    if done.lacking:  # then a stop has no other cause
        found.append(tell("lacking_do", lang, lacking=done.lacking))
    else:
        found += stopped_lines(result)
    if done.nothing_compared:
        nothing = "nothing_in_period_do" if done.period else "nothing_compared_do"
        nothing = nothing if done.statements else "no_statement_do"
        found.append(tell(nothing, lang, period=period_text(done)))
    order = ("unknown", "troubles", "unread", *DISAGREEING, "set_free", "failures")
    return found + [tell(f"{name}_do", lang, count=counts[name]) for name in order if counts[name]]
