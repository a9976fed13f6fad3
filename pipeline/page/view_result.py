"""A month's result as it stands, written without sending anything: after outcomes were settled, or vouchers issued elsewhere."""

import asyncio

from aiohttp import web

from pipeline.page import work
from pipeline.page.html import see_other
from pipeline.page.months import Month, Overtaken
from pipeline.page.serve_settings import SETTINGS
from pipeline.page.view_month import asked_for
from pipeline.page.view_work import ended, live_of_month
from pipeline.page.visitor import visitor_of


async def write(request: web.Request) -> web.StreamResponse:
    """Write the result as it stands; where that takes long, the month's page follows it."""
    settings, visitor, month = request.app[SETTINGS], visitor_of(request), await asked_for(request)
    _check_may_be_written(month)
    begun = await asyncio.to_thread(
        lambda: work.begin(settings, "result", visitor.name, month.id, lang=visitor.lang)
    )
    await ended(request, begun)
    return see_other(f"/months/{month.id}")


def _check_may_be_written(month: Month) -> None:
    """Raises Overtaken where it is not known what it would be of."""
    if not month.may_be_written:
        raise Overtaken("The month has to be judged first, and is not while it is sent: look at it again.")


async def live(request: web.Request) -> web.StreamResponse:
    """For the script: whether it is written."""
    return await live_of_month(request, "result")
