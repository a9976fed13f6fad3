"""Itinerary files: brought as they were mailed, collected, and tied to the itineraries that were issued; those that have not come."""

import asyncio
from typing import Any

from aiohttp import web

from pipeline.model.file_status import FILE_STATUSES
from pipeline.model.message import message
from pipeline.page import collection_work, evidence_kept, work
from pipeline.page.html import see_other, shown
from pipeline.page.month_files import Form, received
from pipeline.page.months import Overtaken
from pipeline.page.refused import Refused
from pipeline.page.serve_settings import SETTINGS, ServeSettings
from pipeline.page.uploads import month_asked_for
from pipeline.page.view_work import ended, work_asked_for
from pipeline.page.visitor import Visitor, visitor_of
from pipeline.run.itineraries_received import itineraries_received

KINDS: tuple[work.Kind, ...] = ("collect",)


async def itineraries(request: web.Request) -> web.StreamResponse:
    """What has come and what has not, of a month or of all; where files are brought, and the collections that were made here."""
    settings, month = request.app[SETTINGS], month_asked_for(request)

    def look() -> tuple[dict[str, Any] | None, list[work.Work]]:
        work.note_ended(settings)
        said = itineraries_received(settings.job, month)
        return collection_work.standing(said) if said else None, work.latest(settings.folder, "collect")

    standing, works = await asyncio.to_thread(look)
    return shown(
        request, "itineraries.html", standing=standing, works=works, month=month, tone=collection_work.tone
    )


async def collect(request: web.Request) -> web.StreamResponse:
    """Collect the files that were brought, and show what that came to."""
    settings, visitor = request.app[SETTINGS], visitor_of(request)
    async with received(request, settings.folder, "files", "anything") as form:
        if not form.files:
            raise Refused(400, message("No file was chosen: choose the files or mails that were received."))
        begun = await asyncio.to_thread(_begun, settings, visitor, form)
    raise see_other(f"/itineraries/{(await ended(request, begun)).id}")


def _begun(settings: ServeSettings, visitor: Visitor, form: Form) -> work.Work:
    with evidence_kept.kept(settings.folder, form) as paths:
        files = [str(path) for path in paths]
        return work.begin(settings, "collect", visitor.name, files=files, lang=visitor.lang)


async def collection(request: web.Request) -> web.StreamResponse:
    """What a collection came to."""
    standing = await work_asked_for(request, KINDS)
    folder = work.results(request.app[SETTINGS].folder, standing.id)
    return shown(
        request, "collection.html", work=standing, came_to=await asyncio.to_thread(collection_work.shown_of, folder),
        tone=collection_work.tone, meanings={one.status: message(one.meaning) for one in FILE_STATUSES},
    )  # fmt: skip


async def collect_again(request: web.Request) -> web.StreamResponse:
    """Collect once more what was brought before: after a kill, or when more is known. It is safe to be repeated."""
    settings, visitor, before = (
        request.app[SETTINGS], visitor_of(request), await work_asked_for(request, KINDS),
    )  # fmt: skip
    if before.is_on:
        raise Overtaken("This is being done already: wait for it to end.")

    def begun() -> work.Work:
        files = work.asked_of(settings.folder, before.id)["files"]
        return work.begin(settings, "collect", visitor.name, before.month, files=files, lang=visitor.lang)

    again = await asyncio.to_thread(begun)
    raise see_other(f"/itineraries/{(await ended(request, again)).id}")
