"""The Summary's table of what presses: charges without a voucher whose last day to request is near, soonest first."""

import datetime
import heapq
from collections.abc import Iterator
from typing import Any

from pipeline.account import Account, ChargeAccount, RowAccount
from pipeline.columns import CHARGES, PRODUCTS, VOUCHERS, Lang
from pipeline.reasons import STATUS
from pipeline.results.links import Places
from pipeline.results.page import Page
from pipeline.results.words import WORDS
from pipeline.table import MINOR

#: How far ahead the table looks, in days.
NEAR = 30
_MOST = 15

_WORD = {choice.name: choice for choice in (*CHARGES, *PRODUCTS, *VOUCHERS)}
_COLUMNS = ("place", "last_day", "ticket", "days_left", "what", "status", "amount")

Due = tuple[datetime.date, int, int, RowAccount, ChargeAccount]


def due(account: Account) -> Iterator[Due]:
    """(last day, index, position, row, charge) of every charge that still can be asked for and must be soon."""
    today = datetime.date.fromisoformat(account.as_of)
    until = today + datetime.timedelta(NEAR)
    for row in account.rows:
        for position, charge in enumerate(row.charges):
            if charge.last_day is not None and today <= charge.last_day <= until:
                yield charge.last_day, row.index, position, row, charge


def _urgency(found: Due) -> tuple[Any, ...]:
    """The soonest first, and of one day the largest amounts: not all of them are shown."""
    last_day, index, position, _, charge = found
    return last_day, -(charge.amount or 0), index, position


def _what(charge: ChargeAccount, lang: Lang) -> str:
    """A charge and the voucher that it is to have."""
    name = charge.product if charge.charge == "ancillary" else charge.charge
    words = [_WORD[part].word(lang) for part in (name, charge.voucher) if part in _WORD]
    return " · ".join(words)


def add_deadlines(page: Page, account: Account) -> None:
    """Write the table, where anything presses; how many lines were left out is said below it."""
    words, coming = WORDS[account.lang], list(due(account))
    page.heading(words.deadlines.format(days=NEAR))
    if not coming:
        page.spread(0, words.no_deadlines, page.text)
        page.row += 1
        return
    for column, name in enumerate(_COLUMNS):
        number = name in ("days_left", "amount")
        page.put(column, words.columns[name], page.number_heading if number else page.column_heading)
    page.row += 1
    today = datetime.date.fromisoformat(account.as_of)
    for last_day, index, _, row, charge in heapq.nsmallest(_MOST, coming, _urgency):
        place = words.place.format(file=row.file, sheet=row.sheet, row=row.row)
        page.line(place, page.name_link, Places.row(index))
        page.put(1, last_day, page.day)
        page.put(2, row.ticket_no, page.name)
        page.put(3, (last_day - today).days, page.count)
        page.put(4, _what(charge, account.lang), page.name)
        page.put(5, STATUS[charge.status].word(account.lang), page.tones[STATUS[charge.status].tone])
        page.put(6, None if charge.amount is None else charge.amount / MINOR, page.money)
        page.row += 1
    if len(coming) > _MOST:
        page.spread(0, words.more_deadlines.format(count=len(coming) - _MOST), page.label)
        page.row += 1
