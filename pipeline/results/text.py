"""The last lines of a run on the terminal: counts and money by status, and the commonest reasons."""

from pipeline.account import Account
from pipeline.chinese import in_language
from pipeline.columns import HEADER_FIELDS, Lang
from pipeline.reasons import STATUS, column_heading
from pipeline.results.fields import cells_wide
from pipeline.results.plain import one_line
from pipeline.results.words import WORDS
from pipeline.table import MINOR
from pipeline.wording import ReasonText

_MOST_REASONS = 8
_MOST_LETTERS = 160
_PERSONAL = (*HEADER_FIELDS, "buyer", "passenger_name", "remarks")
#: Reasons whose messages may name a buyer (the carrier's words may); what to do about them names nobody.
_NAMES_BUYERS = ("differs_from_issued", "carrier_rejected")


def summary_lines(account: Account) -> list[str]:
    """Short lines in the account's language, safe to print."""
    words = WORDS[account.lang]
    tallies = account.fates.charges.tallies()
    rows, charges = account.fates.size, sum(count for count, _ in tallies.values())
    counted = (
        words.count_rows(rows)
        if rows == charges
        else words.bills.format(rows=words.count_rows(rows), charges=charges)
    )
    lines = [words.judged.format(rows=counted, as_of=account.as_of)]
    named = {name: STATUS[name].word(account.lang) for name in tallies}
    widest = max((cells_wide(word) for word in named.values()), default=0)
    for name, (count, amount) in tallies.items():
        gap = " " * (widest - cells_wide(named[name]))
        lines.append(f"  {named[name]}{gap} {count:>9,}  {account.currency} {amount / MINOR:>16,.2f}")
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
    first = {code: int(rows[0]) for code, rows in account.fates.having.items() if code != "issued_before"}
    said = {code: [reason.code for reason in account.rows[row].reasons] for code, row in first.items()}
    commonest = sorted(
        first, key=lambda code: (-len(account.fates.having[code]), first[code], said[code].index(code))
    )
    words = WORDS[account.lang]
    return [
        "  "
        + words.example.format(
            count=len(account.fates.having[code]),
            code=code,
            message=_short(_message(account.rows[first[code]].reasons[said[code].index(code)], account.lang)),
        )
        for code in commonest[:_MOST_REASONS]
    ]


def _message(reason: ReasonText, lang: Lang) -> str:
    """What a reason says, without what was seen of a person or buyer: it goes to logs and cron's mail."""
    said = reason.cure if reason.code in _NAMES_BUYERS else reason.message
    personal = reason.column in _PERSONAL and reason.code != "missing_value"
    return f"{column_heading(reason.column, lang)}: …" if personal else said


def _short(message: str) -> str:
    line = one_line(message)
    return line if len(line) <= _MOST_LETTERS else line[:_MOST_LETTERS] + "…"
