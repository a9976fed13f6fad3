"""The first page: the months, and the form that begins a new one."""

import asyncio

from aiohttp import web

from pipeline.page import months, team_mapping, work
from pipeline.page.html import see_other, shown
from pipeline.page.month_files import Form, received
from pipeline.page.serve_settings import SETTINGS
from pipeline.page.visitor import visitor_of

_LONGEST_TITLE = 120


async def home(request: web.Request) -> web.StreamResponse:
    """The months, the newest first, and the form that begins one."""
    folder = request.app[SETTINGS].folder
    return shown(request, "home.html", months=await asyncio.to_thread(months.all_months, folder))


async def new_month(request: web.Request) -> web.StreamResponse:
    """A new month of the files that were uploaded, and its page."""
    settings, by = request.app[SETTINGS], visitor_of(request).name

    def begun(form: Form) -> str:
        title = form.fields.get("title") or ", ".join(form.files)
        month = months.begin(settings.folder, by, title[:_LONGEST_TITLE])
        form.keep(settings.folder, month, "workbook", by)
        team_mapping.begin_with(settings.folder, month, by)
        work.judge(settings, month, by)
        return month

    async with received(request, settings.folder, "workbooks") as form:
        month = await asyncio.to_thread(begun, form)
    return see_other(f"/months/{month}")
