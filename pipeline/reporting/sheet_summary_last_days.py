"""The Summary's table of what presses: charges without a voucher whose last day to request is near, soonest first."""

import datetime

import numpy as np

from pipeline.messages.translate import choice_word, status_word
from pipeline.model.columns import (
    Lang,
)
from pipeline.model.message import message
from pipeline.model.money import MINOR
from pipeline.model.result import RunResult
from pipeline.model.result_values import ChargeResult
from pipeline.model.status import STATUS
from pipeline.model.table import Indices
from pipeline.reporting.links import Places
from pipeline.reporting.sheet_page import Page

#: How far ahead the table looks, in days.
NEAR = 30
_MOST = 15

_HEADINGS = {
    "place": message("Where"), "last_day": message("Last day"), "ticket": message("Ticket"), "days_left": message("Days left"),
    "what": message("Charge and voucher"), "status": message("Status"), "amount": message("Amount"),
}  # fmt: skip


def due(result: RunResult) -> Indices:
    """The charges that still can be asked for and must be soon, by their position: the soonest first.

    Of one day the largest amounts come first: not all of them are shown.
    """
    charges, today = result.columns.charges, np.datetime64(result.as_of)
    soon = np.flatnonzero(
        (charges.last_day >= today) & (charges.last_day <= today + np.timedelta64(NEAR, "D"))
    )
    urgency = np.lexsort((soon, -charges.amount[soon], charges.last_day[soon]))
    found: Indices = soon[urgency]
    return found


def _what(charge: ChargeResult, lang: Lang) -> str:
    """A charge and the voucher that it is to have."""
    name = charge.product if charge.charge == "ancillary" else charge.charge
    words = [choice_word(part, lang) for part in (name, charge.voucher) if part]
    return " · ".join(words)


def add_deadlines(page: Page, result: RunResult) -> None:
    """Write the table, where anything presses; how many lines were left out is said below it."""
    coming, columns = due(result), result.columns
    page.heading(message("Last days to request in the next {days} days", days=NEAR))
    if not len(coming):
        page.spread(0, message("None: no charge without a voucher has its last day so soon."), page.text)
        page.row += 1
        return
    page.table_heading(tuple(_HEADINGS), _HEADINGS)
    today = datetime.date.fromisoformat(result.as_of)
    for at in coming[:_MOST].tolist():
        row = result.rows[int(columns.charges.line[at])]
        charge, last_day = (
            row.charges[at - int(columns.first[row.index])],
            columns.charges.last_day[at].item(),
        )
        place = message("{file}, {sheet}, row {row}", file=row.file, sheet=row.sheet, row=row.row)
        page.line(place, page.name_link, Places.row(row.index))
        page.put(1, last_day, page.day)
        page.put(2, row.ticket_no, page.name)
        page.put(3, (last_day - today).days, page.count)
        page.put(4, _what(charge, result.lang), page.name)
        page.put(5, status_word(charge.status, result.lang), page.tones[STATUS[charge.status].tone])
        page.put(6, None if charge.amount is None else charge.amount / MINOR, page.money)
        page.row += 1
    if (more := len(coming) - _MOST) > 0:
        said = message("… and {count} more: sort the sheet Rows by last_day.", count=more)
        page.spread(0, said, page.label)
        page.row += 1
