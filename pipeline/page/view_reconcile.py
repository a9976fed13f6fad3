"""Reconciliation: statements and resolved workbooks are brought, weighed, and what they settle is shown; nothing is sent.

Itinerary files are weighed with them; alone they are a collection (view_itineraries.py).
"""

import asyncio
import re
from typing import Any

from aiohttp import web

from pipeline.model.message import NOTHING, Message, message
from pipeline.page import demonstration, evidence_kept, ledger_work, months, work
from pipeline.page.html import see_other, shown
from pipeline.page.month_files import Form, is_workbook, received
from pipeline.page.refused import Refused
from pipeline.page.serve_settings import SETTINGS, ServeSettings
from pipeline.page.uploads import MOMENT, MONTH
from pipeline.page.view_month import attachment
from pipeline.page.view_work import ended, work_asked_for
from pipeline.page.visitor import Visitor, visitor_of

KINDS: tuple[work.Kind, ...] = ("reconcile",)
_DAY = re.compile(r"20\d{2}-\d{2}-\d{2}")
_VOUCHERS = ("", "invoice", "itinerary")


async def reconcile_form(request: web.Request) -> web.StreamResponse:
    """Where evidence is brought, and the reconciliations that were made here."""
    settings = request.app[SETTINGS]
    return shown(
        request, "reconcile.html", works=await asyncio.to_thread(work.latest, settings.folder, "reconcile"),
        made_up=demonstration.statement(settings) is not None,
    )  # fmt: skip


async def made_up_statement(request: web.Request) -> web.StreamResponse:
    """The statement of the demonstration's carrier, to be saved."""
    if path := demonstration.statement(request.app[SETTINGS]):
        return attachment(path)
    raise Refused(404, message("There is no such file any more."))


async def reconcile(request: web.Request) -> web.StreamResponse:
    """Reconcile with what was brought, and show what that came to."""
    settings, visitor = request.app[SETTINGS], visitor_of(request)
    async with received(request, settings.folder, "evidence", "evidence") as form:
        if problem := _wrong(form.fields):
            raise Refused(400, problem)
        begun = await asyncio.to_thread(_begun, settings, visitor, form)
    page = "itineraries" if begun.kind == "collect" else "reconcile"
    raise see_other(f"/{page}/{(await ended(request, begun)).id}")


def _wrong(said: dict[str, str]) -> Message:
    """What is wrong with the fields; nothing where they can be meant so."""
    days = [said.get(name, "") for name in ("from", "to")]
    if any(days) and not all(map(_DAY.fullmatch, days)):
        return message(
            "Of the days for which the statement is complete both the first and the last are needed."
        )
    if days[0] > days[1]:
        return message("The first of the days for which the statement is complete comes after the last.")
    if said.get("made") and not MOMENT.fullmatch(said["made"]):
        return message("When the statement was made is a day and a time, such as 2026-11-01 09:30.")
    if said.get("month") and not MONTH.fullmatch(said["month"]):
        return message("A month is written like 2026-10.")
    return NOTHING


def _begun(settings: ServeSettings, visitor: Visitor, form: Form) -> work.Work:
    """The reconciliation that was begun; where only itinerary files were brought, their collection."""
    said = form.fields
    kind = said.get("kind", "") if said.get("kind") in _VOUCHERS else ""
    complete = f"{f'{kind}:' if kind else ''}{said['from']}..{said['to']}" if said.get("from") else ""
    with evidence_kept.kept(settings.folder, form) as paths:
        files = [str(path) for path in paths]
        if not any(is_workbook(path.name) for path in paths):
            return work.begin(settings, "collect", visitor.name, files=files, lang=visitor.lang)
        asked: dict[str, Any] = {
            "files": files,
            "complete": [complete] if complete else [],
            "made": said.get("made", ""),
            "compare": said.get("month", ""),
            "lang": visitor.lang,
        }
        return work.begin(settings, "reconcile", visitor.name, **asked)


async def reconciliation(request: web.Request) -> web.StreamResponse:
    """What a reconciliation came to."""
    standing = await work_asked_for(request, KINDS)
    folder, lang = request.app[SETTINGS].folder, visitor_of(request).lang
    return shown(
        request, "reconciliation.html", work=standing,
        lines=await asyncio.to_thread(ledger_work.lines_of, work.results(folder, standing.id), lang),
        months=await asyncio.to_thread(_in_doubt, request.app[SETTINGS]),
    )  # fmt: skip


def _in_doubt(settings: ServeSettings) -> list[months.Month]:
    """The months that had requests of unknown outcome when they were judged or sent: what was settled shows there once they are judged
    again.
    """
    return [one for one in months.all_months(settings.folder) if one.plan and one.plan.unknown]
