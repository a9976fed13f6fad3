"""What a person is to do after a run, in plain sentences."""

from pipeline.account import Account
from pipeline.chinese import in_language
from pipeline.results.tallies import differing, failing
from pipeline.results.words import WORDS


def next_steps(account: Account) -> list[str]:
    """What a person is to do, the most urgent first; nothing where every row is issued."""
    words, totals = WORDS[account.lang], account.totals
    steps = words.steps
    found = (
        [steps["stopped"].format(stopped=in_language(account.stopped, account.lang).rstrip(".。"))]
        if account.stopped
        else []
    )
    if account.doubts:
        found.append(steps["unknown"].format(requests=words.count_requests(len(account.doubts))))
    for status in ("not_sent", "invalid", "ineligible", "rejected", "waiting"):
        if status in totals:
            found.append(steps[status].format(rows=words.count_rows(totals[status])))
        if status == "invalid" and failing(account, "unknown_buyer"):
            found.append(steps["unknown_buyer"])
    if other := differing(account):
        found.append(steps["differs"].format(rows=words.count_rows(other)))
    if "ready" in totals:
        found.append(steps["ready"].format(rows=words.count_rows(totals["ready"])))
    return found
