"""Runs: what the ledger has of them, and what was done on the page, by whom."""

import asyncio
import datetime

from aiohttp import web

from pipeline.ledger.run_people import RunPerson
from pipeline.ledger.runs import PastRun
from pipeline.page import months, work
from pipeline.page.html import shown
from pipeline.page.serve_settings import SETTINGS, ServeSettings
from pipeline.run.past_runs import past_runs

_MOST = 100


async def runs(request: web.Request) -> web.StreamResponse:
    """The last of both, the newest first."""
    settings = request.app[SETTINGS]
    of_ledger, works, titles = await asyncio.to_thread(_found, settings)
    return shown(
        request, "runs.html", works=works, titles=titles, most=_MOST,
        runs=[(one, people, _seconds(one.started_at), _seconds(one.ended_at)) for one, people in of_ledger],
    )  # fmt: skip


def _found(
    settings: ServeSettings,
) -> tuple[list[tuple[PastRun, list[RunPerson]]], list[work.Work], dict[str, str]]:
    work.note_ended(settings)
    titles = {month.id: month.title for month in months.all_months(settings.folder)}
    return past_runs(settings.job, _MOST), work.latest(settings.folder, most=_MOST), titles


def _seconds(at: str | None) -> float | None:
    """A time of the ledger's in seconds since 1970."""
    return None if at is None else datetime.datetime.fromisoformat(at).timestamp()
