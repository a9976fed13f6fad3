"""The mapping assistant: what a month's files are read as, and what somebody says of it, saved as the month's mapping or the team's."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from aiohttp import web

from pipeline.model.columns import COLUMNS
from pipeline.model.message import Message, message
from pipeline.model.survey import Survey
from pipeline.page import mapping_form, months, survey_file, team_mapping, work
from pipeline.page.html import see_other, shown
from pipeline.page.mapping_form import MappingForm
from pipeline.page.months import Month, Overtaken
from pipeline.page.refused import Refused
from pipeline.page.serve_settings import SETTINGS, ServeSettings
from pipeline.page.uploads import fields, whole_number
from pipeline.page.view_month import asked_for
from pipeline.page.view_work import ended, live_of_month
from pipeline.page.visitor import Visitor, visitor_of
from pipeline.page.vocabulary import Words
from pipeline.reporting.columns_file_text import mapping_text
from pipeline.reporting.survey_text import USES


async def columns(request: web.Request) -> web.StreamResponse:
    """What every sheet, heading and value is read as; where that is not known yet, it is found out now."""
    settings, month = request.app[SETTINGS], await asked_for(request)
    survey = await asyncio.to_thread(_survey, settings, month)
    finding: work.Work | None = None
    if survey is None:
        finding = await ended(
            request, await asyncio.to_thread(_begun, settings, month, visitor_of(request).name)
        )
        survey = await asyncio.to_thread(_survey, settings, month)
    return shown(
        request, "columns.html", month=month, finding=finding, form=MappingForm(survey) if survey else None,
        mapping=await asyncio.to_thread(team_mapping.of_month, settings.folder, month.id),
        team=(team := await asyncio.to_thread(team_mapping.present, settings.folder)), team_stamp=team_mapping.stamp(team),
        words=Words(visitor_of(request).lang), columns=[column.name for column in COLUMNS], uses=USES,
        present=mapping_form.present, carried=mapping_form.CARRIED,
    )  # fmt: skip


def _survey(settings: ServeSettings, month: Month) -> Survey | None:
    return survey_file.read(months.folder_of(settings.folder, month.id), month.version)


def _begun(settings: ServeSettings, month: Month, by: str) -> work.Work:
    """The finding out, begun now unless it is on already, or has failed since the month was changed: then a person has it begun."""
    last, judging = (work.newest(settings.folder, month.id, kind) for kind in ("survey", "judge"))
    changed = judging.begun_at if judging else 0.0
    if last and (last.is_on or (last.problem and last.begun_at > changed)):
        return last
    return _begin(settings, month, by)


def _begin(settings: ServeSettings, month: Month, by: str) -> work.Work:
    try:
        return work.begin(settings, "survey", by, month.id)
    except Overtaken:
        if found := work.newest(settings.folder, month.id, "survey"):
            return found
        raise


async def columns_live(request: web.Request) -> web.StreamResponse:
    """For the script: whether it is found out."""
    return await live_of_month(request, "survey")


async def change(request: web.Request) -> web.StreamResponse:
    """Save what the form says as the month's mapping; or keep that as the team's, take the team's, or remove either."""
    settings, visitor, month = request.app[SETTINGS], visitor_of(request), await asked_for(request)
    given = await fields(request)
    what, team = given.get("do", ""), given.get("team", "")
    seen = replace(month, version=whole_number(given.get("version", "")))

    def changed() -> None:
        match what:
            case "keep":
                team_mapping.keep(settings.folder, seen, visitor.name, team)
            case "look":
                _begin(settings, month, visitor.name)
            case "forget":
                team_mapping.forget(settings.folder, seen, visitor.name, team)
            case "take":
                team_mapping.take(settings.folder, seen, visitor.name, team)
            case "remove":
                said = message("removed the mapping")
                team_mapping.change(settings.folder, seen, "", visitor.name, said)
            case _:
                _save(settings, visitor, seen, given)
        if what not in ("keep", "forget", "look"):
            work.judge(settings, month.id, visitor.name)

    await asyncio.to_thread(changed)
    raise see_other(f"/months/{month.id}" if what == "save" else f"/months/{month.id}/columns")


def _save(settings: ServeSettings, visitor: Visitor, seen: Month, given: Mapping[str, str]) -> None:
    survey = _survey(settings, seen)
    if survey is None:  # of another version by now
        raise Overtaken(team_mapping.MONTH_CHANGED)
    lines, left = MappingForm(survey).said(given)
    text = mapping_text(survey, lines, left, visitor.lang)
    team_mapping.change(settings.folder, seen, text, visitor.name, _SAVED)


_SAVED: Message = message("saved a mapping of headings and values")


async def mapping(request: web.Request) -> web.StreamResponse:
    """The month's mapping as a file, to be saved."""
    month = await asked_for(request)
    text = await asyncio.to_thread(team_mapping.of_month, request.app[SETTINGS].folder, month.id)
    if not text:
        raise Refused(404, message("This month has no mapping."))
    return web.Response(
        body=text.encode(),
        content_type="application/toml",
        headers={"Content-Disposition": 'attachment; filename="columns.toml"'},
    )
