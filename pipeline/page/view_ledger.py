"""The ledger as a whole, for administrators: looked over, copied, and what it may lack said and settled."""

import asyncio
import datetime
from typing import Any
from zoneinfo import ZoneInfo

from aiohttp import web

from pipeline.model.message import message
from pipeline.page import work
from pipeline.page.html import see_other, shown
from pipeline.page.refused import Refused
from pipeline.page.serve_settings import SETTINGS
from pipeline.page.uploads import MOMENT, typed
from pipeline.page.view_work import ended, work_asked_for
from pipeline.page.visitor import visitor_of

KINDS: tuple[work.Kind, ...] = ("ledger_check", "backup", "gap")
_SHOWN = 20


async def ledger(request: web.Request) -> web.StreamResponse:
    """What can be done with the ledger, and what was."""
    return await _ledger(request, None)


async def ledger_work(request: web.Request) -> web.StreamResponse:
    """The same, with what came of one thing that was done."""
    return await _ledger(request, await work_asked_for(request, KINDS))


async def _ledger(request: web.Request, standing: work.Work | None) -> web.Response:
    settings = request.app[SETTINGS]

    def done() -> list[work.Work]:
        work.note_ended(settings)
        found = [one for kind in KINDS for one in work.latest(settings.folder, kind, _SHOWN)]
        return sorted(found, key=lambda one: -one.id)[:_SHOWN]

    return shown(request, "ledger.html", work=standing, works=await asyncio.to_thread(done))


async def _begin(request: web.Request, kind: work.Kind, **asked: Any) -> web.StreamResponse:
    settings, by = request.app[SETTINGS], visitor_of(request).name
    begun = await asyncio.to_thread(lambda: work.begin(settings, kind, by, **asked))
    raise see_other(f"/ledger/{(await ended(request, begun)).id}")


async def check(request: web.Request) -> web.StreamResponse:
    """Look at all of it."""
    return await _begin(request, "ledger_check")


async def backup(request: web.Request) -> web.StreamResponse:
    """Copy it, to be saved elsewhere."""
    return await _begin(request, "backup")


async def mark_gap(request: web.Request) -> web.StreamResponse:
    """Say that it may lack what was issued from a time on; or that it lacks nothing, though its last run is not noted."""
    why, since = (await typed(request, "why")).strip(), (await typed(request, "since")).strip()
    step = await typed(request, "step")
    if not why:
        raise Refused(400, message("Say why, for whoever audits the ledger."))
    if step not in ("mark", "nothing_missing"):
        raise Refused(400, message("Say whether anything may be missing."))
    if since and step == "nothing_missing":
        raise Refused(
            400,
            message(
                "From when on something may be missing can't be said where nothing is; clear one of them."
            ),
        )
    if since and not MOMENT.fullmatch(since):
        raise Refused(400, message("From when on is a day and a time, such as 2026-11-20 09:30."))
    zone = ZoneInfo(request.app[SETTINGS].profile.carrier.time_zone)
    try:
        at = datetime.datetime.fromisoformat(since).replace(tzinfo=zone).isoformat() if since else ""
    except ValueError:
        raise Refused(400, message("From when on is a day and a time, such as 2026-11-20 09:30.")) from None
    return await _begin(request, "gap", step=step, why=why, since=at)


async def close_gap(request: web.Request) -> web.StreamResponse:
    """Say that it lacks nothing any more, and what shows that."""
    evidence = (await typed(request, "evidence")).strip()
    if not evidence:
        raise Refused(400, message("Say what the carrier's complete statement over that time showed."))
    anyway = await typed(request, "anyway") == "1"
    return await _begin(request, "gap", step="close", evidence=evidence, anyway=anyway)
