"""The last days on which vouchers may still be asked for, over all months, the soonest first."""

import asyncio
import datetime
from dataclasses import dataclass

from aiohttp import web

from pipeline.page import months
from pipeline.page.html import shown
from pipeline.page.months import Month
from pipeline.page.rows_file import RowsFile
from pipeline.page.serve_settings import SETTINGS, ServeSettings

_MOST = 300  # lines
#: Days ahead, within which a day presses.
_NEAR = 7


@dataclass(frozen=True)
class Deadline:
    """Of one month the rows of one last day: how many days are left, how many rows, and their money in minor units."""

    day: datetime.date
    left: int
    month: Month
    rows: int
    amount: int

    @property
    def near(self) -> bool:
        """Whether it presses."""
        return self.left <= _NEAR


async def deadlines(request: web.Request) -> web.StreamResponse:
    """All of them from today on."""
    found = await asyncio.to_thread(coming, request.app[SETTINGS])
    return shown(request, "deadlines.html", deadlines=found[:_MOST], more=len(found) - _MOST)


def coming(settings: ServeSettings) -> list[Deadline]:
    """The last days from today on of rows that have no voucher yet, by the carrier's calendar."""
    today = settings.job.terms.as_of
    found = list[Deadline]()
    for month in months.all_months(settings.folder):
        path = months.folder_of(settings.folder, month.id) / "rows.sqlite"
        for text, rows, amount in RowsFile(path, settings.lang).last_days(today.isoformat()):
            day = datetime.date.fromisoformat(text)
            found.append(Deadline(day, (day - today).days, month, rows, amount))
    return sorted(found, key=lambda one: (one.day, -one.amount))
