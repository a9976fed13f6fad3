"""The socket: sealed bytes out, one raw reply in. One try, no decisions, nothing logged.

What tells "nothing was sent" from "something may have been": aiohttp writes a request in its `send` and nowhere
else (client_reqrep, 3.14), so a request whose `send` was never called has not left this machine. That is tried on a server of our
own before anything is sent (`send_is_called`); in a version of aiohttp where it is not so, a request counts as sent as soon as it
has a connection (TraceConfig), and each has a connection of its own. Redirects are not followed: 307 and 308
would send the body again, 301 to 303 would become a GET that looks like success. `connection_reuse` says when
a connection is used again.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import cast

import aiohttp
from aiohttp.connector import Connection

from pipeline.carrier.connection_reuse import HeldConnection, HeldResponse, connector, is_quiet
from pipeline.model.message import N_, Message, message
from pipeline.model.outcome import Answered, Lost, NotSent, Reply
from pipeline.model.profile import Profile

#: A result document is a few hundred bytes; an answer beyond this is none of the service's.
LARGEST_ANSWER = 64 * 1024
_TRIAL = 5  # seconds, for a request to our own server


class Client:
    """One run's connections to the carrier; made by `connected`."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        headers: Callable[[], Mapping[str, str]],
        proxy: str,
    ) -> None:
        # With each request and not with the session: a session's headers would be told to the proxy, in clear.
        # A function, so that nothing that shows this object shows the key.
        self._headers = headers
        self._session = session
        self._base_url = base_url
        self._proxy = proxy or None

    async def post(self, path: str, body: bytes) -> tuple[Reply, HeldConnection]:
        """Send one request once; what came of it, and the connection, for the caller to close or to give back.

        Cancelling it while it is under way leaves the request's fate open; the caller records that.
        """
        sent = _Body(body)
        try:
            answer = await self._answer_to(path, sent)
        except Exception as error:  # noqa: BLE001 - whatever it was, the request's fate is known by `over` alone
            # Never str() or repr() of the error: a ClientResponseError's holds the request headers.
            HeldConnection(sent.over).close()
            if sent.over is None and not sent.has_connection:
                return NotSent(_plain_name(error)), HeldConnection()
            broken = isinstance(error, aiohttp.ClientResponseError | aiohttp.ClientPayloadError)
            return Lost(_plain_name(error), readable=not broken), HeldConnection()
        except BaseException:
            HeldConnection(sent.over).close()
            raise
        return answer, HeldConnection(sent.over)

    async def _answer_to(self, path: str, sent: "_Body") -> Reply:
        async with self._session.post(
            self._base_url + path,
            data=sent,
            headers=self._headers(),
            proxy=self._proxy,
            allow_redirects=False,
            trace_request_ctx=sent,
        ) as response:
            answer = b""
            while len(answer) <= LARGEST_ANSWER and (more := await response.content.read(LARGEST_ANSWER)):
                answer += more
            if len(answer) > LARGEST_ANSWER:
                much = message(
                    "HTTP {status} with more than {bytes} bytes", status=response.status, bytes=LARGEST_ANSWER
                )
                return Lost(much, readable=False)
            return Answered(response.status, answer, _short_ascii(response.headers.get("Retry-After", "")))


def _short_ascii(header: str) -> str:
    """A header's text, if it is one that can be kept."""
    return header if header.isascii() and header.isprintable() and len(header) <= 100 else ""


class _Stray(aiohttp.ClientConnectionError):
    """Something came over an idle connection that nobody had asked for."""


#: What happened, in words without an address or a header in them.
ErrorNames = tuple[tuple[type[Exception] | tuple[type[Exception], ...], str], ...]
ERROR_NAMES: ErrorNames = (
    ((aiohttp.ClientConnectorDNSError, UnicodeError), N_("the carrier's name could not be resolved")),
    (aiohttp.ClientConnectorCertificateError, N_("the carrier's certificate is not trusted")),
    (aiohttp.ClientSSLError, N_("the secure connection failed")),
    (aiohttp.ClientProxyConnectionError, N_("the proxy could not be reached")),
    (aiohttp.ClientHttpProxyError, N_("the proxy refused")),
    (aiohttp.ConnectionTimeoutError, N_("the connection was not made in time")),
    (aiohttp.ClientConnectorError, N_("the connection was refused or could not be made")),
    (_Stray, N_("an answer came that nobody had asked for")),
    (aiohttp.ServerDisconnectedError, N_("the carrier closed the connection without an answer")),
    (aiohttp.SocketTimeoutError, N_("no answer in time")),
    (aiohttp.ClientPayloadError, N_("the answer broke off")),
    (aiohttp.ClientResponseError, N_("the answer is not HTTP")),
    (TimeoutError, N_("no answer in time")),
    (aiohttp.ClientOSError, N_("the connection broke")),
    (OSError, N_("the connection broke")),
)


def _plain_name(error: Exception) -> Message:
    return Message(
        next((words for kind, words in ERROR_NAMES if isinstance(error, kind)), type(error).__name__)
    )


class _Body(aiohttp.BytesPayload):
    """A request's body, and the connection over which it was begun to be written, None as long as it was not.

    `has_connection` is noted only where aiohttp does not call `send`.
    """

    over: Connection | None = None
    has_connection = False


class _OnQuietConnection(aiohttp.ClientRequest):
    """A request that leaves only over a connection on which nothing has come meanwhile, and says so before it does.

    What came while it was idle would be taken for this request's own.
    """

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        if not is_quiet(conn):
            raise _Stray
        if not isinstance(self.body, _Body):
            raise TypeError(type(self.body))
        self.body.over = conn
        return await super().send(conn)


async def send_is_called() -> bool:
    """Whether this version of aiohttp calls `send` before a request leaves, and takes our classes, tried on a server of our own."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    sent = _Body(b"{}")
    timeout = aiohttp.ClientTimeout(total=_TRIAL)
    try:
        async with (
            await asyncio.start_server(answer, "127.0.0.1") as server,
            aiohttp.ClientSession(
                request_class=_OnQuietConnection, response_class=HeldResponse, timeout=timeout
            ) as session,
            session.post(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", data=sent) as response,
        ):
            HeldConnection(cast("HeldResponse", response).held).close()
    except Exception:  # noqa: BLE001 - whatever it is that another version does otherwise
        return False
    return sent.over is not None


def _noting_connections() -> aiohttp.TraceConfig:
    """What notes that a request has a connection, over which it may have left."""
    trace = aiohttp.TraceConfig()

    async def note(_session: object, context: SimpleNamespace, _params: object) -> None:
        context.trace_request_ctx.has_connection = True

    trace.on_connection_create_end.append(note)
    trace.on_connection_reuseconn.append(note)
    return trace


def timeout_of(profile: Profile) -> aiohttp.ClientTimeout:
    """The profile's patience with a connection and with an answer, as aiohttp takes it."""
    submission = profile.submission
    connect = submission.connect_timeout_seconds
    return aiohttp.ClientTimeout(
        total=connect + submission.response_timeout_seconds,
        connect=connect,
        sock_read=submission.response_timeout_seconds,
    )


@asynccontextmanager
async def connected(
    profile: Profile, base_url: str, api_key: str, *, direct: bool = False
) -> AsyncIterator[Client]:
    """A client for one run. Every request carries Content-Type, agency and APIKEY.

    `direct` goes round the profile's proxy, for a carrier on this machine.
    """

    def headers() -> Mapping[str, str]:
        return {"Content-Type": "application/json", "agency": profile.carrier.agency, "APIKEY": api_key}

    called = await send_is_called()
    async with aiohttp.ClientSession(
        connector=connector(profile, keep=called),
        request_class=_OnQuietConnection if called else aiohttp.ClientRequest,
        response_class=HeldResponse if called else aiohttp.ClientResponse,
        trace_configs=None if called else [_noting_connections()],
        timeout=timeout_of(profile),
        trust_env=False,
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as session:
        yield Client(session, base_url, headers, "" if direct else profile.carrier.proxy)
