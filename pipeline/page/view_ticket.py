"""A ticket's history by its number: everything that the ledger knows of it, in time order, and the months that it stands in."""

import asyncio
import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from zoneinfo import ZoneInfo

from aiohttp import web
from yarl import URL

from pipeline.ledger.first_ledger import check_never_was
from pipeline.model.columns import Lang
from pipeline.model.itinerary_file import FileStatus
from pipeline.model.message import Message, message
from pipeline.page import collection_work, months
from pipeline.page.html import see_other, shown
from pipeline.page.months import Month
from pipeline.page.refused import Refused
from pipeline.page.rows_file import Row, RowsFile
from pipeline.page.serve_settings import SETTINGS, ServeSettings
from pipeline.page.visitor import visitor_of
from pipeline.page.vocabulary import Words
from pipeline.reading.ticket_number import ticket_no
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
        request, "ticket.html", files=[_File.of(row, zone) for row in reversed(recorded.files)], awaited=_awaited(recorded), number=f"{digits[:3]}-{digits[3:]}", told=told, zone=str(zone), words=Words(lang),
        events=[(_local(event.at, zone), event.name, event.text(lang)) for event in events(recorded, lang)],
        rows=await asyncio.to_thread(_rows, settings, digits, lang),
    )  # fmt: skip


def _recorded(settings: ServeSettings, digits: str, told: list[Message]) -> Recorded:
    """What the ledger knows; nothing while there is no ledger yet."""
    if settings.ledger_file and not settings.ledger_file.exists():
        check_never_was(settings.job, settings.ledger_file)
        return Recorded()
    return history(settings.job, [digits], told.append)[digits]


@dataclass(frozen=True)
class _File:
    """An itinerary file about the ticket, as it is shown."""

    at: str
    status: str
    tone: str
    seal: str
    number: str
    why: Message

    @classmethod
    def of(cls, row: Mapping[str, Any], zone: ZoneInfo) -> Self:
        status = row["status"]
        return cls(
            _local(row["received_at"], zone), status, collection_work.tone(status), row["seal"], row["number"], row["detail"],
        )  # fmt: skip


def _awaited(recorded: Recorded) -> list[str]:
    """The numbers of the ticket's itineraries of which no file was received."""
    issued = [
        row["number"]
        for row in recorded.attempts
        if row["voucher"] == "itinerary" and row["state"] == "issued"
    ]
    reversed_ = {row["number"] for row in recorded.reversals if not row["withdrawn"]}
    received = {row["number"] for row in recorded.files if row["status"] == FileStatus.RECEIVED}
    return [number for number in dict.fromkeys(issued) if number not in reversed_ | received]


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
