"""The requests of unknown outcome, over the whole ledger, and the form by which somebody says what the carrier says of one."""

import asyncio
import re
from datetime import datetime

from aiohttp import web

from pipeline.model.evidence import Answer
from pipeline.model.message import NOTHING, Message, message
from pipeline.page import evidence_kept, work
from pipeline.page.html import see_other, shown
from pipeline.page.ledger_work import as_asked
from pipeline.page.month_files import Form, received
from pipeline.page.refused import Refused
from pipeline.page.serve_settings import SETTINGS, ServeSettings
from pipeline.page.view_work import ended
from pipeline.page.visitor import Visitor, visitor_of
from pipeline.page.vocabulary import Words
from pipeline.reporting.unknown_attempts import earlier_unknowns
from pipeline.run.unknown_outcomes import UnknownOutcomes, unknown_outcomes

PAGE = 25  # attempts a screen
_MOST_DIGITS = 8


async def unknown(request: web.Request) -> web.StreamResponse:
    """What is unknown, the oldest first, a screen at a time."""
    settings, lang = request.app[SETTINGS], visitor_of(request).lang
    told = list[Message]()
    found = await asyncio.to_thread(_found, settings, told)
    pages = max(1, -(-len(found.attempts) // PAGE))
    asked = request.query.get("page", "1")
    plain = asked.isascii() and asked.isdigit() and len(asked) < _MOST_DIGITS
    page = min(max(int(asked) if plain else 1, 1), pages)
    attempts = found.attempts[(page - 1) * PAGE : page * PAGE]
    zone = settings.profile.carrier.time_zone
    return shown(
        request, "unknown.html", count=len(found.attempts), in_flight=found.in_flight, told=told, page=page, pages=pages,
        attempts=[
            (attempt, datetime.fromisoformat(one.began or one.ended).timestamp())
            for attempt, one in zip(earlier_unknowns(attempts, lang, zone), attempts, strict=True)
        ],
        words=Words(lang), page_address="/unknown?page={}".format,
    )  # fmt: skip


def _found(settings: ServeSettings, told: list[Message]) -> UnknownOutcomes:
    return unknown_outcomes(settings.job, told.append)


async def answer(request: web.Request) -> web.StreamResponse:
    """Record what somebody says became of a request, as an answer in a resolved workbook is: by a reconciliation."""
    settings, visitor = request.app[SETTINGS], visitor_of(request)
    async with received(request, settings.folder, "file", "anything") as form:
        if problem := _lacks(form):
            raise Refused(400, problem)
        begun = await asyncio.to_thread(_begun, settings, visitor, form)
    done = await ended(request, begun)
    raise see_other(f"/reconcile/{done.id}")


def _lacks(form: Form) -> Message:  # noqa: PLR0911 - a line for each thing that may lack
    """What the form lacks to be an answer; nothing where it is one."""
    said = form.fields
    if said.get("resolution") not in ("issued", "not issued"):
        return message("Say whether it was issued or not.")
    if said["resolution"] == "issued" and not said.get("number"):
        return message("Where it was issued, the voucher's number is needed.")
    if said["resolution"] != "issued" and said.get("number"):
        return message("Where it was not issued there is no voucher's number: clear one of them.")
    if not said.get("who"):
        return message("Say who of the carrier, or of yours, says so.")
    if not said.get("evidence") and not form.files:
        return message("Say what shows it, or give a file that does.")
    attempt = said.get("attempt", "")
    if not (attempt.isascii() and attempt.isdigit() and len(attempt) < _MOST_DIGITS):
        return message("The form is not as it was shown; open the page again.")
    return NOTHING


def _begun(settings: ServeSettings, visitor: Visitor, form: Form) -> work.Work:
    said = form.fields
    who = said["who"]
    with evidence_kept.kept(settings.folder, form) as paths:
        files = [evidence_kept.named(settings.folder, path) for path in paths]
        given = Answer(
            said.get("ledger", ""),
            said.get("request", ""),
            int(said["attempt"]),
            said["resolution"],
            re.sub(r"\s", "", said.get("number", "")),
            who if who == visitor.name else f"{who} ({visitor.name})",
            "; ".join(filter(None, (said.get("evidence", ""), *files))),
            NOTHING,
        )
        answers = [as_asked(given)]
        return work.begin(settings, "reconcile", visitor.name, files=[], answers=answers, lang=visitor.lang)
