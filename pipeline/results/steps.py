"""What a person is to do after a run, in plain sentences, and where it begins."""

from collections.abc import Callable
from typing import NamedTuple

from pipeline.account import Account, RowAccount
from pipeline.chinese import in_language
from pipeline.results.links import Places
from pipeline.results.tallies import differing, failing
from pipeline.results.words import WORDS


class Step(NamedTuple):
    """One thing to do; `sheet` and `link` lead to the first row or request that it speaks of."""

    text: str
    sheet: str = ""
    link: str = ""


def next_steps(account: Account, places: Places) -> list[Step]:
    """What a person is to do, the most urgent first; nothing where every row is issued."""
    words, totals = WORDS[account.lang], account.totals
    steps, found = words.steps, []
    if account.stopped:
        stopped = in_language(account.stopped, account.lang).rstrip(".。")
        found.append(Step(steps["stopped"].format(stopped=stopped)))
    if account.doubts:
        requests = words.count_requests(len(account.doubts))
        first = places.doubts[account.doubts[0].request_id]
        found.append(Step(steps["unknown"].format(requests=requests), "Unknown", first))
    for status in ("not_sent", "invalid", "ineligible", "rejected", "waiting"):
        if status in totals:
            text = steps[status].format(rows=words.count_rows(totals[status]))
            found.append(_failure(text, account, places, _ending_in(status)))
        if status == "invalid" and failing(account, "unknown_buyer"):
            named = _having("unknown_buyer")
            found.append(_failure(steps["unknown_buyer"], account, places, named))
    if other := differing(account):
        has = _having("differs_from_issued")
        first = Places.row(next(row.index for row in account.rows if has(row)))
        found.append(Step(steps["differs"].format(rows=words.count_rows(other)), "Rows", first))
    if "ready" in totals:
        found.append(Step(steps["ready"].format(rows=words.count_rows(totals["ready"]))))
    return found


def _ending_in(status: str) -> Callable[[RowAccount], bool]:
    return lambda row: row.status == status


def _having(code: str) -> Callable[[RowAccount], bool]:
    return lambda row: any(reason.code == code for reason in row.reasons)


def _failure(text: str, account: Account, places: Places, speaks_of: Callable[[RowAccount], bool]) -> Step:
    """A step about rows of the sheet Failures, with the first of them."""
    first = next(row.index for row in account.rows if row.failed and speaks_of(row))
    return Step(text, "Failures", places.failures[first])
