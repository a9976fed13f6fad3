"""Proposing, approving and sending a month's plan, and stopping it."""

import asyncio
import time

from aiohttp import web

from pipeline.model.message import message
from pipeline.page import month_approval, month_history, work
from pipeline.page.html import see_other, shown
from pipeline.page.months import Month, Overtaken
from pipeline.page.serve_settings import SETTINGS, ServeSettings
from pipeline.page.uploads import typed
from pipeline.page.view_month import asked_for
from pipeline.page.visitor import Visitor, visitor_of
from pipeline.page.vocabulary import Words


async def propose(request: web.Request) -> web.StreamResponse:
    """Propose the plan that the person saw, for somebody else to approve."""
    return await _step(request, "proposed")


async def approve(request: web.Request) -> web.StreamResponse:
    """Approve the plan that was proposed, if it is the one that the person saw."""
    return await _step(request, "approved")


async def _step(request: web.Request, step: month_approval.Step) -> web.StreamResponse:
    settings, visitor, month = request.app[SETTINGS], visitor_of(request), await asked_for(request)
    digest = await typed(request, "digest")
    await asyncio.to_thread(month_approval.approve, settings.folder, month.id, step, digest, visitor.name)
    return see_other(f"/months/{month.id}")


async def question(request: web.Request) -> web.StreamResponse:
    """The question before anything is sent: how many requests, for how much, to whom."""
    settings, month = request.app[SETTINGS], await asked_for(request)
    _check_may_send(settings, month)
    return shown(
        request,
        "send.html",
        month=month,
        carrier=settings.owner.told,
        limits=settings.profile.limits,
        words=Words(visitor_of(request).lang),
    )


async def send(request: web.Request) -> web.StreamResponse:
    """Send the very plan that the person said yes to."""
    settings, visitor, month = request.app[SETTINGS], visitor_of(request), await asked_for(request)
    digest = await typed(request, "digest")
    await asyncio.to_thread(_begin, settings, visitor, month, digest)
    return see_other(f"/months/{month.id}")


def _begin(settings: ServeSettings, visitor: Visitor, month: Month, digest: str) -> None:
    _check_may_send(settings, month)
    if month.plan is None or month.plan.digest != digest:
        raise Overtaken("The plan has changed since you looked at it. Look at it again.")
    # Where one person may do all, whoever sends is who said yes.
    approval = {
        "digest": digest,
        "approved_by": month.approved_by or visitor.name,
        "approved_at": month.approved_at or time.time(),
        "proposed_by": month.proposed_by,
        "proposed_at": month.proposed_at,
        "prepared_by": sorted(month_approval.preparers(settings.folder, month.id)),
    }
    work.begin(settings, "send", visitor.name, month.id, approval=approval, lang=visitor.lang)


def _check_may_send(settings: ServeSettings, month: Month) -> None:
    """Raises Overtaken where the month is not as it has to be before it is sent; leads to it where somebody else is sending it."""
    if month.state == "sending":
        raise see_other(f"/months/{month.id}")
    if not month.may_be_sent(settings.profile.approval.people):
        raise Overtaken("There is nothing that can be sent now: look at the month again.")


async def stop(request: web.Request) -> web.StreamResponse:
    """Stop the sending of a month in good order."""
    settings, visitor, month = request.app[SETTINGS], visitor_of(request), await asked_for(request)

    def stopped() -> None:
        one = work.newest(settings.folder, month.id, "send")
        if one and work.stop(settings.folder, one.id, visitor.name):
            month_history.note(settings.folder, month.id, visitor.name, message("stopped the sending"))

    await asyncio.to_thread(stopped)
    return see_other(f"/months/{month.id}")
