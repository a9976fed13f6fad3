"""The last lines of a run on the terminal: counts and money by status, and the commonest reasons."""

from collections import Counter

from pipeline.account import Account
from pipeline.chinese import in_language
from pipeline.columns import HEADER_FIELDS
from pipeline.reasons import STATUS, column_heading
from pipeline.results.fields import cells_wide
from pipeline.results.plain import one_line
from pipeline.results.tallies import by_status, everything
from pipeline.results.words import WORDS
from pipeline.table import MINOR

_MOST_REASONS = 8
_MOST_LETTERS = 160
_PERSONAL = (*HEADER_FIELDS, "buyer", "passenger_name", "remarks")
#: Reasons whose messages may name a buyer (the carrier's words may); what to do about them names nobody.
_NAMES_BUYERS = ("differs_from_issued", "carrier_rejected")


def summary_lines(account: Account) -> list[str]:
    """Short lines in the account's language, safe to print."""
    words = WORDS[account.lang]
    tallies = by_status(account)
    rows, charges = len(account.rows), everything(tallies.values()).charges
    counted = (
        words.count_rows(rows)
        if rows == charges
        else words.bills.format(rows=words.count_rows(rows), charges=charges)
    )
    lines = [words.judged.format(rows=counted, as_of=account.as_of)]
    named = {name: STATUS[name].word(account.lang) for name in tallies}
    widest = max((cells_wide(word) for word in named.values()), default=0)
    for name, tally in tallies.items():
        gap = " " * (widest - cells_wide(named[name]))
        lines.append(
            f"  {named[name]}{gap} {tally.charges:>9,}  {account.currency} {tally.amount / MINOR:>16,.2f}"
        )
    lines += _reasons(account)
    if account.doubts:
        requests = words.count_requests(len(account.doubts))
        lines.append(words.steps["unknown"].format(requests=requests))
    if account.stopped:
        lines.append(
            words.steps["stopped"].format(stopped=in_language(account.stopped, account.lang).rstrip(".。"))
        )
    return [one_line(line) if not line.startswith("  ") else line for line in lines]


def _reasons(account: Account) -> list[str]:
    """The commonest reasons with one row's message each."""
    codes: Counter[str] = Counter()
    messages: dict[str, str] = {}
    for row in account.rows:
        for code in {reason.code: None for reason in row.reasons if reason.code != "issued_before"}:
            codes[code] += 1
        for reason in row.reasons:
            # What was seen of a person or buyer stays in the workbook; this goes to logs and cron's mail.
            personal = reason.column in _PERSONAL and reason.code != "missing_value"
            heading = column_heading(reason.column, account.lang)
            message = reason.cure if reason.code in _NAMES_BUYERS else reason.message
            messages.setdefault(reason.code, f"{heading}: …" if personal else message)
    words = WORDS[account.lang]
    return [
        "  " + words.example.format(count=count, code=code, message=_short(messages[code]))
        for code, count in codes.most_common(_MOST_REASONS)
    ]


def _short(message: str) -> str:
    line = one_line(message)
    return line if len(line) <= _MOST_LETTERS else line[:_MOST_LETTERS] + "…"
