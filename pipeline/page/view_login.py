"""Logging in and out, the one-time link, and the language."""

import asyncio
import math

from aiohttp import web

from pipeline.model.columns import LANGS
from pipeline.model.message import Message, counted, message
from pipeline.page import accounts, login_tries, sessions
from pipeline.page.host_check import address_of
from pipeline.page.html import LANG_COOKIE, of_ours, shown
from pipeline.page.refused import Refused
from pipeline.page.serve_settings import SETTINGS
from pipeline.page.uploads import typed
from pipeline.page.visitor import visitor_of

#: Passwords are looked at so many at once: each takes 64 MB.
LOOKING: web.AppKey[asyncio.Semaphore] = web.AppKey("looking", asyncio.Semaphore)
_YEAR = 365 * 24 * 60 * 60
_LINK_EVERY = 5  # seconds


async def login_form(request: web.Request) -> web.StreamResponse:
    """The login; on loopback without accounts, how the page is opened."""
    wanted = of_ours(request.query.get("next", "/"))
    if visitor_of(request).role is not None:
        return _to(wanted)
    settings = request.app[SETTINGS]
    if settings.loopback and not await asyncio.to_thread(accounts.any_account, settings.folder):
        return shown(
            request, "link.html", printed="printed" in request.query, minutes=sessions.LINK_SECONDS // 60
        )
    return _login(request, wanted)


def _login(
    request: web.Request, wanted: str, problem: Message | None = None, status: int = 200
) -> web.Response:
    return shown(request, "login.html", status=status, next=wanted, problem=problem)


async def login(request: web.Request) -> web.StreamResponse:
    """Look at a name and a password; what is wrong is not told, only how long to wait."""
    settings = request.app[SETTINGS]
    name, password = await typed(request, "name"), await typed(request, "password")
    wanted = of_ours(await typed(request, "next") or "/")
    wait = await asyncio.to_thread(login_tries.begin_try, settings.folder, name, address_of(request))
    if wait:
        return _login(request, wanted, too_many_tries(wait), status=429)
    async with request.app[LOOKING]:
        account = await asyncio.to_thread(accounts.with_password, settings.folder, name, password)
    if account is None:
        return _login(request, wanted, message("The name or the password is wrong"), status=401)
    await asyncio.to_thread(login_tries.right, settings.folder, name)
    return await begun(request, account, account.name, wanted)


def too_many_tries(wait: float) -> Message:
    """How long to wait."""
    return counted(
        "Too many wrong passwords; try again in {count} minute",
        "Too many wrong passwords; try again in {count} minutes",
        math.ceil(wait / 60),
    )


async def begun(
    request: web.Request, account: accounts.Account | None, name: str, wanted: str
) -> web.StreamResponse:
    """A new session, whatever there was before it."""
    settings = request.app[SETTINGS]
    if before := request.cookies.get(sessions.cookie_name(settings, "session")):
        await asyncio.to_thread(sessions.end_session, settings.folder, before)
    token = await asyncio.to_thread(sessions.begin_session, settings.folder, account, name)
    response = _to(wanted)
    sessions.set_cookie(response, settings, "session", token)
    sessions.drop_cookie(response, settings, "before")
    return response


async def logout(request: web.Request) -> web.StreamResponse:
    """End the session."""
    settings = request.app[SETTINGS]
    token = request.cookies.get(sessions.cookie_name(settings, "session"), "")
    await asyncio.to_thread(sessions.end_session, settings.folder, token)
    response = _to("/login")
    sessions.drop_cookie(response, settings, "session")
    return response


async def open_by_link(request: web.Request) -> web.StreamResponse:
    """Take the one-time link: on loopback, while there are no accounts."""
    settings = request.app[SETTINGS]
    local = settings.loopback and not await asyncio.to_thread(accounts.any_account, settings.folder)
    if not local or not request.app[sessions.LINK].take(request.query.get("token", "")):
        if visitor_of(request).role is not None:  # opened twice in one browser
            return _to("/")
        raise Refused(
            403,
            message(
                "This link was used already, or is too old; it opens the page once. Go to the first page for another"
            ),
        )
    return await begun(request, None, settings.login, "/")


async def another_link(request: web.Request) -> web.StreamResponse:
    """Print another link on the terminal, which only whoever started the page sees."""
    settings = request.app[SETTINGS]
    link = request.app[sessions.LINK]
    if settings.loopback and not await asyncio.to_thread(accounts.any_account, settings.folder):
        if link.age > _LINK_EVERY:
            request.app[sessions.TELL_LINK](link.fresh())
        return _to("/login?printed=1")
    return _to("/login")


async def language(request: web.Request) -> web.StreamResponse:
    """Choose the language, for this browser and for the person's account."""
    settings, visitor = request.app[SETTINGS], visitor_of(request)
    wished = await typed(request, "lang")
    lang = next((each for each in LANGS if each == wished), visitor.lang)
    if visitor.role is not None:
        token = request.cookies.get(sessions.cookie_name(settings, "session"), "")
        await asyncio.to_thread(sessions.note_lang, settings.folder, token, visitor.account, lang)
    response = _to(of_ours(await typed(request, "next") or "/"))
    response.set_cookie(
        LANG_COOKIE, lang, max_age=_YEAR, path="/", secure=settings.tls, httponly=True, samesite="Strict"
    )
    return response


def _to(path: str) -> web.Response:
    return web.Response(status=303, headers={"Location": path})
