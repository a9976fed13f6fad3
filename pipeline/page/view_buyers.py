"""A month's buyers: those of its files, and what was added or corrected here."""

import asyncio

from aiohttp import web

from pipeline.model.columns import BUYER_COLUMNS
from pipeline.model.message import message
from pipeline.page import month_corrections, work
from pipeline.page.html import see_other, shown
from pipeline.page.month_corrections import BuyerCorrection
from pipeline.page.refused import Refused
from pipeline.page.serve_settings import SETTINGS
from pipeline.page.uploads import typed
from pipeline.page.view_month import asked_for
from pipeline.page.view_rows import known_buyers, rows_of
from pipeline.page.visitor import visitor_of
from pipeline.page.vocabulary import Words
from pipeline.rules.buyer_lookup import name_key

_COLUMNS = tuple(column.name for column in BUYER_COLUMNS)
_LONGEST = 200


async def buyers(request: web.Request) -> web.StreamResponse:
    """The buyers, and the form for one of them (`buyer` in the address) or a new one."""
    month = await asked_for(request)
    known = await asyncio.to_thread(known_buyers, request, month)
    wanted = request.query.get("buyer", "")
    seen = next((one for one in known if one["buyer"] == wanted), dict.fromkeys(_COLUMNS, ""))
    return shown(
        request, "buyers.html", month=month, buyers=[{"by": ""} | one for one in known], columns=_COLUMNS,
        seen=seen, chosen=seen | {"buyer": wanted[:_LONGEST]}, words=Words(visitor_of(request).lang),
    )  # fmt: skip


async def correct(request: web.Request) -> web.StreamResponse:
    """Add a buyer, or let one be other than the files say, where it still says what the person saw (`seen.COLUMN`)."""
    settings, by, month = request.app[SETTINGS], visitor_of(request).name, await asked_for(request)
    said = {column: (await typed(request, column)).strip()[:_LONGEST] for column in _COLUMNS}
    seen = {column: await typed(request, f"seen.{column}") for column in _COLUMNS}
    key = name_key(said["buyer"])
    if not key or not said["header_name"]:
        raise Refused(
            400, message("A buyer needs the name that rows call it by, and the name on the voucher.")
        )

    def saved() -> None:
        files = (one for one in rows_of(request, month).buyers() if name_key(one["buyer"]) == key)
        month_corrections.correct_buyer(
            settings.folder, month.id, BuyerCorrection(said, seen, next(files, {})), by
        )
        work.judge(settings, month.id, by)

    await asyncio.to_thread(saved)
    return see_other(f"/months/{month.id}/buyers")
