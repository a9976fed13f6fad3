"""A ticket's history by its number: everything that the ledger knows of it, in time order, and the months that it stands in."""

import asyncio
import datetime
from zoneinfo import ZoneInfo

from aiohttp import web
from yarl import URL

from pipeline.model.columns import Lang
from pipeline.model.message import Message, message
from pipeline.page import months
from pipeline.page.html import see_other, shown
from pipeline.page.months import Month
from pipeline.page.refused import Refused
from pipeline.page.rows_file import Row, RowsFile
from pipeline.page.serve_settings import SETTINGS, ServeSettings
from pipeline.page.visitor import visitor_of
from pipeline.page.vocabulary import Words
from pipeline.reading.ticket_numbers import ticket_no
from pipeline.reading.unreadable import Unreadable
from pipeline.reporting.history import Recorded, events
from pipeline.run.ticket_history import history

_LONGEST = 40  # characters


async def search(request: web.Request) -> web.StreamResponse:
    """To the history of the number that was typed; without one, or with what is none, the form again."""
    typed = request.query.get("number", "").strip()[:_LONGEST]
    if not typed:
        return shown(request, "tickets.html", typed="", problem=None)
    try:
        return see_other(f"/tickets/{ticket_no(typed)}")
    except Unreadable:
        return shown(request, "tickets.html", status=404, typed=typed, problem=_no_ticket(typed))


def _no_ticket(typed: str) -> Message:
    return message("“{ticket}” is not a ticket number: it has 13 digits, as on the ticket.", ticket=typed)


async def ticket(request: web.Request) -> web.StreamResponse:
    """Everything that is known of a ticket; an address with a hyphen leads to the one without."""
    typed = request.match_info["ticket"]
    try:
        digits = ticket_no(typed[:_LONGEST])
    except Unreadable:
        raise Refused(404, _no_ticket(typed[:_LONGEST])) from None
    if digits != typed:
        raise web.HTTPSeeOther(URL("/tickets") / digits)
    settings, lang = request.app[SETTINGS], visitor_of(request).lang
    told = list[Message]()
    recorded = await asyncio.to_thread(_recorded, settings, digits, told)
    zone = ZoneInfo(settings.profile.carrier.time_zone)
    return shown(
        request, "ticket.html", number=f"{digits[:3]}-{digits[3:]}", told=told, zone=str(zone), words=Words(lang),
        events=[(_local(event.at, zone), event.name, event.text(lang)) for event in events(recorded, lang)],
        rows=await asyncio.to_thread(_rows, settings, digits, lang),
    )  # fmt: skip


def _recorded(settings: ServeSettings, digits: str, told: list[Message]) -> Recorded:
    """What the ledger knows; nothing while there is no ledger."""
    if not settings.ledger.exists():
        return Recorded()
    return history(settings.job, [digits], told.append)[digits]


def _rows(settings: ServeSettings, digits: str, lang: Lang) -> list[tuple[Month, Row]]:
    """The rows of the page's months that are about a ticket, the newest month first."""
    return [
        (month, row)
        for month in months.all_months(settings.folder)
        for row in RowsFile(months.folder_of(settings.folder, month.id) / "rows.sqlite", lang).tickets(digits)
    ]


def _local(at: str, zone: ZoneInfo) -> str:
    """A time of the ledger's as people read it."""
    try:
        return f"{datetime.datetime.fromisoformat(at).astimezone(zone):%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return at
