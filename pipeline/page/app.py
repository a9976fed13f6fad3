"""The application: the routes of the one table, and what stands before each of them.

From the outside in: headers on every answer, what goes wrong as pages, the host, the session, the role, the form's token.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from functools import partial

from aiohttp import web
from yarl import URL

from pipeline.messages.translate import rendered
from pipeline.model.columns import LANGS, Lang
from pipeline.model.errors import Stop
from pipeline.model.exit_code import ExitCode
from pipeline.model.message import Message, message
from pipeline.page import sessions
from pipeline.page.connection import HEADERS, Connection
from pipeline.page.defects import log_defect
from pipeline.page.host_check import CERTIFIED, is_ours, is_own_origin
from pipeline.page.html import LANG_COOKIE, LEAST, canonical, of_ours, seen, shown
from pipeline.page.months import Overtaken
from pipeline.page.page_database import NO_ROOM, is_full
from pipeline.page.page_words import told
from pipeline.page.refused import Refused
from pipeline.page.routes import BACKGROUND, ROUTES
from pipeline.page.serve_settings import SETTINGS, ServeSettings
from pipeline.page.uploads import MOST_TYPED, MOST_UPLOADED, token_given, too_large
from pipeline.page.view_login import LOOKING
from pipeline.page.visitor import VISITOR, Visitor, visitor_of

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_YEAR = 365 * 24 * 60 * 60
_SAFE = ("GET", "HEAD")


def application(
    settings: ServeSettings, link: sessions.OneTimeLink, certified: tuple[str, ...] = ()
) -> web.Application:
    """The application of these settings."""
    app = web.Application(
        middlewares=[_errors, _host, _session, _role, _token], client_max_size=MOST_TYPED,
    )  # fmt: skip
    app[SETTINGS] = settings
    app[CERTIFIED] = certified
    app[sessions.LINK] = link
    app[sessions.BEFORE] = secrets.token_bytes(32)
    app[LOOKING] = asyncio.Semaphore(2)
    app[LEAST] = {(route.method, route.path): route.least for route in ROUTES}
    for route in ROUTES:
        app.router.add_route(route.method, route.path, route.handler)
        if route.method == "GET":
            app.router.add_route("HEAD", route.path, route.handler)
    app.on_response_prepare.append(_headers)
    return app


async def _headers(request: web.Request, response: web.StreamResponse) -> None:
    for name, value in HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("Cache-Control", "no-store")
    if request.app[SETTINGS].tls:
        response.headers["Strict-Transport-Security"] = f"max-age={_YEAR}"


# --- what goes wrong, as pages ------------------------------------------------------------------


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    if isinstance(request.protocol, Connection):
        request.protocol.asked = True
    request[VISITOR] = Visitor("", None, _lang_of_browser(request), "")  # until the session is known
    try:
        return await handler(request)
    except Refused as refused:
        return _problem(request, refused.status, refused.said)
    except web.HTTPRedirection:
        raise
    except web.HTTPRequestEntityTooLarge:
        most = too_large()
        return _problem(request, most.status, most.said)
    except web.HTTPException as error:
        response = _problem(request, error.status, _of_status(error.status))
        if allow := error.headers.get("Allow"):
            response.headers["Allow"] = allow
        return response
    except Stop as stop:
        return _problem(request, _status_of(stop), stop.message)
    except (asyncio.CancelledError, ConnectionError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is: the visitor gets a page, and whoever mends it a line on stderr
        return _failed(request, error)


def _failed(request: web.Request, error: Exception) -> web.Response:
    """The page about what nobody has foreseen, but for a disk that is full."""
    if is_full(error):
        return _problem(request, 507, NO_ROOM)
    said = message(
        "This is a defect of the program (number {number} in the server's log); please report it."
        " Try again, or go back to the months",
        number=log_defect(error),
    )
    return _problem(request, 500, said)


def _status_of(stop: Stop) -> int:
    if isinstance(stop, Overtaken):
        return 409
    return 400 if stop.exit_code == ExitCode.WRONG_USAGE else 503


def _of_status(status: int) -> Message:
    if status in (404, 410):
        return message("There is no such page; it may have been removed")
    if status == 405:
        return message("A page can't be asked for in this way; go back and try again")
    return message("The request can't be understood (HTTP {status}); go back and try again", status=status)


def _problem(request: web.Request, status: int, said: Message) -> web.Response:
    """A page that says what is wrong; for the script, the same as JSON."""
    if request.headers.get("Accept", "").startswith("application/json"):
        return web.json_response(
            {"problem": seen(rendered(told(said), visitor_of(request).lang))}, status=status
        )
    return shown(request, "error.html", status=status, problem=said, back=_back(request))


def _back(request: web.Request) -> str:
    """Where what went wrong was begun, if the address of a form tells: the same page, or the month that it is of."""
    if request.method in _SAFE:
        return ""
    month = request.match_info.get("month", "")
    same = ("GET", canonical(request)) in request.app[LEAST]
    return request.path if same else f"/months/{month}" if month else ""


# --- before every handler -----------------------------------------------------------------------


@web.middleware
async def _host(request: web.Request, handler: Handler) -> web.StreamResponse:
    if not is_ours(request):
        raise Refused(
            421,
            message(
                "The page is not known by the name that it was called by; call it by the address that voucher serve printed, or by a name"
                " of its certificate or of --behind-proxy"
            ),
        )
    return await handler(request)


@web.middleware
async def _session(request: web.Request, handler: Handler) -> web.StreamResponse:
    settings = request.app[SETTINGS]
    token = request.cookies.get(sessions.cookie_name(settings, "session"), "")
    used = (request.method, canonical(request)) not in BACKGROUND
    session = (
        await asyncio.to_thread(
            partial(sessions.session_of, settings.folder, token, local=settings.loopback, used=used)
        )
        if token
        else None
    )
    lang = _lang_of_browser(request)
    if session:
        request[VISITOR] = Visitor(
            session.name, session.role, session.lang or lang, sessions.form_token(token), session.account
        )
        return await handler(request)
    before = request.cookies.get(sessions.cookie_name(settings, "before"), "")
    cookie = before or secrets.token_urlsafe(32)
    request[VISITOR] = Visitor(
        "", None, lang, sessions.form_token_before(request.app[sessions.BEFORE], cookie)
    )
    response = await handler(request)
    if not before and not response.prepared and response.content_type == "text/html":
        sessions.set_cookie(response, settings, "before", cookie)
    return response


def _lang_of_browser(request: web.Request) -> Lang:
    """The language that was last chosen in this browser, else the one that it prefers, else the server's."""
    wished = [request.cookies.get(LANG_COOKIE, "")]
    wished += [
        part.partition(";")[0].strip() for part in request.headers.get("Accept-Language", "").split(",")
    ]
    for wish in wished:
        for lang in LANGS:
            if wish.lower().partition("-")[0] == lang:
                return lang
    return request.app[SETTINGS].lang


@web.middleware
async def _role(request: web.Request, handler: Handler) -> web.StreamResponse:
    if request.match_info.http_exception is not None:  # no such route
        return await handler(request)
    visitor = visitor_of(request)
    resource = request.match_info.route.resource
    method = "GET" if request.method == "HEAD" else request.method
    least = request.app[LEAST][method, resource.canonical if resource else ""]
    if visitor.may(least):
        return await handler(request)
    if visitor.role is not None:
        raise Refused(403, message("Your role does not allow this; ask an administrator of the page"))
    if request.headers.get("Accept", "").startswith("application/json"):
        raise Refused(401, message("Your session has ended; log in again"))
    wanted = of_ours(request.path_qs) if request.method in _SAFE else "/"
    raise web.HTTPSeeOther(URL("/login").with_query({"next": wanted}) if wanted != "/" else "/login")


@web.middleware
async def _token(request: web.Request, handler: Handler) -> web.StreamResponse:
    """No other site's form or script has the visitor's browser change anything (CSRF)."""
    if request.method in _SAFE or request.match_info.http_exception is not None:
        return await handler(request)
    if (request.content_length or 0) > MOST_UPLOADED + MOST_TYPED:
        raise too_large()
    origin = request.headers.get("Origin", "null")  # a browser that tells no referrer says "null"
    elsewhere = request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none")
    foreign = origin != "null" and not is_own_origin(request.app[SETTINGS], request.headers["Host"], origin)
    expected = visitor_of(request).csrf
    given = "" if elsewhere or foreign else await token_given(request)
    if not secrets.compare_digest(given.encode(errors="replace"), expected.encode()):
        raise Refused(
            403,
            message(
                "The form is from before you logged in or from elsewhere, and nothing was changed; open the page again and repeat it"
            ),
        )
    return await handler(request)
