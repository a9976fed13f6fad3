"""The plan of a month, request by request: what an approver says yes to."""

import asyncio

from aiohttp import web

from pipeline.page.html import shown
from pipeline.page.view_month import asked_for
from pipeline.page.view_rows import page_asked, rows_of
from pipeline.page.visitor import visitor_of
from pipeline.page.vocabulary import Words


async def requests(request: web.Request) -> web.StreamResponse:
    """Every request that would be sent, with what is on its voucher, a screen at a time."""
    month = await asked_for(request)
    screen = await asyncio.to_thread(rows_of(request, month).plan, page_asked(request))
    return shown(
        request, "requests.html", month=month, screen=screen, words=Words(visitor_of(request).lang),
        page_address=f"/months/{month.id}/requests?page={{}}".format,
    )  # fmt: skip
