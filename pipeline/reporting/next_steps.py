"""What a person is to do after a run, in plain sentences, and where it begins."""

from typing import NamedTuple

from pipeline.messages.translate import rendered
from pipeline.model.result import RunResult
from pipeline.reporting.links import Places
from pipeline.reporting.words import count_requests, count_rows, words_in


class Step(NamedTuple):
    """One thing to do; `sheet` and `link` lead to the first row or request that it speaks of."""

    text: str
    sheet: str = ""
    link: str = ""


def next_steps(result: RunResult, places: Places) -> list[Step]:
    """What a person is to do, the most urgent first; nothing where every row is issued."""
    words, totals = words_in(result.lang), result.totals
    steps, rows, found = words.steps, places.rows, []
    if result.stopped:
        stopped = rendered(result.stopped, result.lang).rstrip(".。")
        found.append(Step(steps["stopped"].format(stopped=stopped)))
    if result.doubts:
        requests = count_requests(len(result.doubts), result.lang)
        link = places.doubts[result.doubts[0].request_id]
        found.append(Step(steps["unknown"].format(requests=requests), "Unknown", link))
    for status in ("not_sent", "invalid", "ineligible", "rejected", "waiting"):
        if status in totals:
            text = steps[status].format(rows=count_rows(totals[status], result.lang))
            first = next(row for row in rows.failed if rows.status[row] == status)
            found.append(Step(text, "Failures", places.failures[first]))
        if status == "invalid" and (
            named := [row for row in rows.having("unknown_buyer") if row in places.failures]
        ):
            found.append(Step(steps["unknown_buyer"], "Failures", places.failures[named[0]]))
    if other := rows.having("differs_from_issued"):
        text = steps["differs"].format(rows=count_rows(len(other), result.lang))
        found.append(Step(text, "Rows", Places.row(other[0])))
    if "ready" in totals:
        found.append(Step(steps["ready"].format(rows=count_rows(totals["ready"], result.lang))))
    return found
