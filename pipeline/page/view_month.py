"""A month: its files, what they came to, what was done, and what can be done next."""

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
from aiohttp import web

from pipeline.messages.translate import rendered
from pipeline.model.approval import may_approve
from pipeline.model.message import NOTHING, Message, message
from pipeline.model.status import STATUS
from pipeline.page import (
    dropped_files,
    month_approval,
    month_corrections,
    month_history,
    month_uploads,
    months,
    work,
)
from pipeline.page.html import see_other, shown
from pipeline.page.month_files import Form, received
from pipeline.page.months import Month
from pipeline.page.refused import Refused
from pipeline.page.serve_settings import SETTINGS, ServeSettings
from pipeline.page.uploads import typed, whole_number
from pipeline.page.visitor import Role, visitor_of
from pipeline.page.vocabulary import Words


async def asked_for(request: web.Request) -> Month:
    """The month that the address names. Raises Refused (404) where there is none."""
    folder = request.app[SETTINGS].folder
    found = await asyncio.to_thread(months.find, folder, request.match_info["month"])
    if found is None:
        raise Refused(404, message("There is no such month, or it was taken out."))
    return found


async def month(request: web.Request) -> web.StreamResponse:
    """The month as it stands."""
    settings, standing = request.app[SETTINGS], await asked_for(request)
    visitor = visitor_of(request)
    beside = await asyncio.to_thread(_beside, settings, standing, visitor.name)
    return shown(request, "month.html", month=standing, words=Words(visitor.lang), **beside)


def _beside(settings: ServeSettings, standing: Month, person: str) -> dict[str, Any]:
    """What a month's page shows beside the month."""
    folder = settings.folder
    work.note_ended(settings)
    written = work.of_month(folder, standing.id, "send", "result")
    sendings = [one for one in written if one.kind == "send"]
    judging = work.newest(folder, standing.id, "judge")
    results = months.folder_of(folder, standing.id) / "results"
    people = settings.profile.approval.people
    return {
        "uploads": month_uploads.uploads(folder, standing.id),
        "corrections": month_corrections.corrections(folder, standing.id),
        "changes": month_history.changes(folder, standing.id),
        "written": written,
        "sendings": sendings,
        "newest": next((file for one in written for file in one.files if (results / file).is_file()), None),
        "writing": next((one for one in written[:1] if one.kind == "result" and one.is_on), None),
        "reconciliations": work.of_month(folder, standing.id, "reconcile"),
        "collections": work.of_month(folder, standing.id, "collect"),
        "evidence": month_uploads.EVIDENCE,
        "judging": judging,
        "refused": _refused(standing, written[0], judging) if written else NOTHING,
        "may_approve": may_approve(person, month_approval.preparers(folder, standing.id)),
        "statuses": STATUS,
        "limits": settings.profile.limits,
        "left": work.time_left(sendings[0]) if sendings else NOTHING,
        "people": people,
        "may_be_sent": standing.may_be_sent(people),
    }


def _refused(standing: Month, last: work.Work, judging: work.Work | None) -> Message:
    """Why the last sending or result came to nothing, until the month was judged again since because somebody asked for it."""
    judged_since = judging and judging.id > last.id and judging.by and standing.is_judged
    return NOTHING if last.is_on or judged_since else last.problem


async def state(request: web.Request) -> web.StreamResponse:
    """What the script asks for while a month is judged or sent: its state, and how far the sending is (JSON)."""
    settings, standing = request.app[SETTINGS], await asked_for(request)
    sending = await asyncio.to_thread(_sending, settings, standing.id)
    lang = visitor_of(request).lang
    told: dict[str, Any] = {"stamp": standing.stamp}
    if sending and sending.progress:
        total, states = sending.progress
        done = sum(states.values())
        text = message("{done} of {total} requests", done=done, total=total)
        told |= {
            "total": total,
            "done": done,
            "text": rendered(text, lang),
            "left": rendered(work.time_left(sending), lang),
        }
    return web.Response(body=orjson.dumps(told), content_type="application/json")


def _sending(settings: ServeSettings, standing: str) -> work.Work | None:
    work.note_ended(settings)
    return work.newest(settings.folder, standing, "send")


async def add_files(request: web.Request) -> web.StreamResponse:
    """More files for a month: what each is shows from what is in it, unless it is said to be tickets or buyers."""
    settings, visitor, standing = request.app[SETTINGS], visitor_of(request), await asked_for(request)
    if standing.state == "sending":
        raise Refused(
            409,
            message(
                "This month is being sent: nothing of it can be changed until that has ended, or was stopped. A statement of the carrier's,"
                " or answers, are taken meanwhile under Reconcile, and wait for its end."
            ),
        )
    reconcile_in = visitor.lang if visitor.may(Role.APPROVER) else ""

    def kept(form: Form) -> None:
        said = form.fields.get("kind", "")
        kind = said if said in ("workbook", "buyers") else "new"
        form.keep(settings.folder, standing.id, kind, visitor.name, reconcile_in)
        work.judge(settings, standing.id, visitor.name)

    async with received(request, settings.folder, "workbooks", "evidence") as form:
        await asyncio.to_thread(kept, form)
    return see_other(f"/months/{standing.id}")


async def _number(request: web.Request) -> int:
    """The upload that a form names, 0 for none."""
    return whole_number(await typed(request, "number"))


async def reconcile_with(request: web.Request) -> web.StreamResponse:
    """Reconcile with evidence that somebody brought who may not do that, or do it once more."""
    settings, visitor, standing = request.app[SETTINGS], visitor_of(request), await asked_for(request)
    number = await _number(request)

    def begun() -> work.Work | None:
        upload = month_uploads.reconcile_with(settings.folder, standing.id, number, visitor.lang)
        return dropped_files.reconcile(settings, standing.id, upload, visitor.name) if upload else None

    found = await asyncio.to_thread(begun)
    if found is None:
        raise Refused(404, message("There is no such file any more."))
    return see_other(f"/{'itineraries' if found.kind == 'collect' else 'reconcile'}/{found.id}")


async def take_out(request: web.Request) -> web.StreamResponse:
    """Take an uploaded file out of a month."""
    settings, by, standing = request.app[SETTINGS], visitor_of(request).name, await asked_for(request)
    number = await _number(request)
    await asyncio.to_thread(month_uploads.take_out, settings.folder, standing.id, number, by)
    await asyncio.to_thread(work.judge, settings, standing.id, by)
    return see_other(f"/months/{standing.id}")


async def judge_again(request: web.Request) -> web.StreamResponse:
    """Judge a month anew: time went on, or vouchers were issued meanwhile."""
    settings, by, standing = request.app[SETTINGS], visitor_of(request).name, await asked_for(request)
    await asyncio.to_thread(months.judge_again, settings.folder, standing.id)
    await asyncio.to_thread(work.judge, settings, standing.id, by)
    return see_other(f"/months/{standing.id}")


async def result(request: web.Request) -> web.StreamResponse:
    """One of a month's results, to be saved."""
    settings, standing, name = request.app[SETTINGS], await asked_for(request), request.match_info["name"]
    written = await asyncio.to_thread(work.of_month, settings.folder, standing.id, "send", "result")
    if not any(name in one.files for one in written):
        raise Refused(404, message("There is no such file any more."))
    path = months.folder_of(settings.folder, standing.id) / "results" / name
    return attachment(path)


def attachment(path: Path) -> web.FileResponse:
    """A file of ours, to be saved under its name and never shown."""
    kept = web.FileResponse(path)
    kept.headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(path.name)}"
    kept.content_type = "application/octet-stream"
    return kept
