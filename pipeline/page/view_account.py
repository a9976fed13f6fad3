"""One's own account: its role and last login, and another password."""

import asyncio

from aiohttp import web

from pipeline.model.errors import InputProblem
from pipeline.model.message import Message, message
from pipeline.page import accounts, login_tries, sessions
from pipeline.page.html import see_other, shown
from pipeline.page.refused import Refused
from pipeline.page.serve_settings import SETTINGS
from pipeline.page.uploads import typed
from pipeline.page.view_login import LOOKING, begun, too_many_tries
from pipeline.page.visitor import visitor_of


async def account(request: web.Request) -> web.StreamResponse:
    """What a person may change of their own."""
    return await _shown(request)


async def _shown(request: web.Request, problem: Message | None = None, status: int = 200) -> web.Response:
    number = visitor_of(request).account
    folder = request.app[SETTINGS].folder
    return shown(
        request,
        "account.html",
        status=status,
        problem=problem,
        changed="changed" in request.query,
        sessions=await asyncio.to_thread(sessions.sessions_of, folder, number) if number else [],
        least=accounts.SHORTEST_PASSWORD,
        most=accounts.LONGEST_PASSWORD,
    )


async def own_password(request: web.Request) -> web.StreamResponse:
    """Change one's own password, knowing the present one; every session of the account ends, and this one begins anew."""
    folder, visitor = request.app[SETTINGS].folder, visitor_of(request)
    if visitor.account is None:
        raise Refused(403, message("Whoever opens the page by its link has no account, and no password"))
    present, new, again = [await typed(request, name) for name in ("present", "new", "again")]
    if new != again:
        return await _shown(
            request, message("The new password was not typed the same twice; type it again"), 400
        )
    if wait := await asyncio.to_thread(
        login_tries.begin_try, folder, visitor.name, f"account {visitor.account}"
    ):
        return await _shown(request, too_many_tries(wait), 429)
    async with request.app[LOOKING]:
        known = await asyncio.to_thread(accounts.with_password, folder, visitor.name, present)
    if known is None:
        return await _shown(
            request, message("The present password is not this one; nothing was changed"), 403
        )
    await asyncio.to_thread(login_tries.right, folder, visitor.name)
    try:
        async with request.app[LOOKING]:
            await asyncio.to_thread(accounts.set_password, folder, visitor.name, new)
    except InputProblem as problem:
        return await _shown(request, problem.message, 400)
    return await begun(request, known, known.name, "/account?changed=1")


async def end_other_sessions(request: web.Request) -> web.StreamResponse:
    """Log out everywhere else."""
    settings, number = request.app[SETTINGS], visitor_of(request).account
    if number is not None:
        token = request.cookies.get(sessions.cookie_name(settings, "session"), "")
        await asyncio.to_thread(sessions.end_others, settings.folder, number, token)
    raise see_other("/account")
