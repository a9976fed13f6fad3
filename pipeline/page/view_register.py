"""The register of vouchers: of a month or of everything, whole, by buyer or masked; made by a process of its own, then saved."""

import asyncio

from aiohttp import web

from pipeline.page import work
from pipeline.page.html import see_other, shown
from pipeline.page.serve_settings import SETTINGS
from pipeline.page.uploads import month_asked_for
from pipeline.page.view_month import attachment
from pipeline.page.view_work import ended, work_asked_for, written
from pipeline.page.visitor import visitor_of

KINDS: tuple[work.Kind, ...] = ("register",)
#: Seconds that a download waits for its register; a longer one has a page on which it appears.
_PATIENCE = 25


async def register_form(request: web.Request) -> web.StreamResponse:
    """Which register is wanted, and those that were made here."""
    folder = request.app[SETTINGS].folder
    return shown(request, "register.html", works=await asyncio.to_thread(work.latest, folder, "register", 20))


async def download(request: web.Request) -> web.StreamResponse:
    """Make the register that the address asks for, and give it to be saved; where that takes long, or it is empty, its page."""
    settings, visitor, asked = request.app[SETTINGS], visitor_of(request), request.query
    month = month_asked_for(request)
    begun = await asyncio.to_thread(
        lambda: work.begin(
            settings, "register", visitor.name,
            month_asked=month, split=bool(asked.get("split")), masked=bool(asked.get("masked")), lang=visitor.lang,
        )
    )  # fmt: skip
    done = await ended(request, begun, _PATIENCE)
    if not done.files:
        raise see_other(f"/register/{done.id}")
    return attachment(written(request, done, done.files[0]))


async def register(request: web.Request) -> web.StreamResponse:
    """A register that is being made, or was."""
    return shown(request, "register_made.html", work=await work_asked_for(request, KINDS))
