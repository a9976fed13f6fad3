"""What pages that begin a piece of work have in common: they wait a moment for its end, follow it, and give what it wrote."""

import asyncio
import time
from collections.abc import Collection
from pathlib import Path

from aiohttp import web

from pipeline.model.message import message
from pipeline.page import work
from pipeline.page.html import shown
from pipeline.page.refused import Refused
from pipeline.page.serve_settings import SETTINGS
from pipeline.page.view_month import asked_for, attachment
from pipeline.page.work import Kind, Work

#: Seconds that a form's answer waits for the end of what it began, so that most of it is seen at once.
PATIENCE = 8
_OFTEN = 0.1
_MOST_DIGITS = 12


async def work_asked_for(request: web.Request, kinds: Collection[Kind]) -> Work:
    """The work that the address names, if it is of these kinds. Raises Refused (404) where there is none."""
    settings, number = request.app[SETTINGS], request.match_info["work"]

    def look() -> Work | None:
        work.note_ended(settings)
        try:
            return work.find(settings.folder, int(number))
        except KeyError:
            return None

    plain = number.isascii() and number.isdigit() and len(number) < _MOST_DIGITS
    found = await asyncio.to_thread(look) if plain else None
    if found is None or found.kind not in kinds:
        raise _no_such_work()
    return found


def _no_such_work() -> Refused:
    return Refused(404, message("There is no such work; it may have been removed."))


async def ended(request: web.Request, begun: Work, patience: float = PATIENCE) -> Work:
    """The work when it has ended, or after so many seconds as it stands then."""
    settings, until = request.app[SETTINGS], time.monotonic() + patience

    def look() -> Work:
        work.note_ended(settings)
        return work.find(settings.folder, begun.id)

    while (now := await asyncio.to_thread(look)).is_on and time.monotonic() < until:  # noqa: ASYNC110 - another process ends it
        await asyncio.sleep(_OFTEN)
    return now


async def live(request: web.Request, kinds: Collection[Kind]) -> web.StreamResponse:
    """For the script: what is told while it is on; when it has ended, that the page is to be loaded again."""
    return _live(request, await work_asked_for(request, kinds))


async def live_of_month(request: web.Request, kind: Kind) -> web.StreamResponse:
    """The same of the newest work of a kind on the month that the address names."""
    month = await asked_for(request)
    standing = await asyncio.to_thread(work.newest, request.app[SETTINGS].folder, month.id, kind)
    if standing is None:
        raise _no_such_work()
    return _live(request, standing)


def _live(request: web.Request, standing: Work) -> web.Response:
    response = shown(request, "work_on.html", work=standing)
    if not standing.is_on:
        response.headers["X-Reload"] = "1"
    return response


async def file(request: web.Request, kinds: Collection[Kind]) -> web.StreamResponse:
    """One of the files that a piece of work wrote, to be saved."""
    standing, name = await work_asked_for(request, kinds), request.match_info["name"]
    return attachment(written(request, standing, name))


def written(request: web.Request, standing: Work, name: str) -> Path:
    """Where a file lies that a piece of work wrote. Raises Refused (404) where there is none of that name any more."""
    path = work.results(request.app[SETTINGS].folder, standing.id) / name
    if name not in standing.files or not path.is_file():
        raise Refused(404, message("There is no such file any more."))
    return path
