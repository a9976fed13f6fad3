"""The socket: sealed bytes out, one raw reply in. One try, no decisions, nothing logged.

What tells "nothing was sent" from "something may have been": a request is written in `Client.post`, head and body at once,
and nowhere else; what has no connection has not left this machine. Redirects are not followed, for nobody here follows
any: 307 and 308 would send the body again, 301 to 303 would become a GET that looks like success. `connection_reuse` says
when a connection is used again.

Of aiohttp the connector (names, TLS, proxies, connections that are kept) and the protocol that reads answers are used
directly: what its session does for each request beside them costs several times what they do, and nothing of it is wanted
here. They are not in its manual. So its version is bounded in pyproject.toml, and before anything is sent one request
goes to a server of our own (`connected`).
"""

import asyncio
import contextlib
import errno
import functools
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError
from yarl import URL

from pipeline.boot_time import boot_time
from pipeline.carrier.answer_protocol import AnswerProtocol
from pipeline.carrier.connection_reuse import HeldConnection, SpareConnections, connector, is_quiet
from pipeline.model.errors import InputProblem
from pipeline.model.message import N_, Message, message
from pipeline.model.outcome import Answered, Lost, NotSent, Reply
from pipeline.model.profile import Profile

#: A result document is a few hundred bytes; an answer beyond this is none of the service's.
LARGEST_ANSWER = 64 * 1024
_TRIAL = 5  # seconds, for requests to our own server
#: What that answers: in the usual form (`answer_protocol`), and in one that aiohttp's parser reads.
_TRIED = (
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
)
#: Turns of the event loop in which it reads what has come with a connection: with the end of TLS's handshake, or while a proxy was asked.
_TURNS = 3
_SWITCHING = 101  # the one status below 200 after which no other comes
_TOO_LATE = N_("it could not be written in time after it was claimed")


class Stray(Exception):
    """Something came over a connection before anything was asked over it."""


class Client:
    """One run's connections to the carrier; made by `connected`."""

    def __init__(
        self,
        connections: aiohttp.BaseConnector,
        profile: Profile,
        made: Callable[[str], aiohttp.ClientRequest],
        spare: SpareConnections | None,
    ) -> None:
        self._connections = connections
        self._profile = profile
        self._response_timeout = profile.submission.response_timeout_seconds
        # What has the request to a path: a function, so that nothing that shows this object shows the key.
        self._made = made
        self._spare = spare  # None where each request needs aiohttp for its connection
        self._heads: dict[str, bytes] = {}  # by path, where no proxy is told anything in them

    async def post(
        self, path: str, body: bytes, send_by: float | None = None
    ) -> tuple[Reply, HeldConnection]:
        """Send one request once; what came of it, and the connection, for the caller to close or to give back.

        It is written by `send_by` (boot_time) or not at all: beyond that its attempt may be counted as lost, and its charges be sent anew.
        Cancelling it while it is under way leaves the request's fate open; the caller records that.
        """
        try:
            request = self._made(path)
            connection = self._spare.take() if self._spare else None
            if connection is None:
                connection = await connect(self._connections, request, self._profile, self._spare)
        except Exception as error:  # noqa: BLE001 - whatever it was, there is nothing that the request could have left over
            # Never str() or repr() of the error: one of a proxy holds headers.
            return NotSent(_plain_name(error)), HeldConnection()
        held = HeldConnection(connection, self._spare)
        protocol: Any = connection.protocol  # an AnswerProtocol, which a quiet connection has
        try:
            if (head := self._heads.get(path)) is None:
                head = _head(request)
                if request.proxy is None:
                    self._heads[path] = head
            first: asyncio.Future[Answered | None] = protocol.awaited()
            # A timer by itself: a `timeout` around all of it would cost as much as reading the answer does.
            late = asyncio.get_running_loop().call_later(self._response_timeout, protocol.give_up)
            try:
                # Nothing is waited for between this look and the write.
                if send_by is not None and boot_time() > send_by:
                    return NotSent(Message(_TOO_LATE), too_late=True), held
                protocol.transport.write(b"%s%d\r\n\r\n%s" % (head, len(body), body))
                return await first or await _read(protocol), held
            finally:
                late.cancel()
                protocol.over = True
                held.idle_since = time.monotonic()
        except Exception as error:  # noqa: BLE001 - whatever it was, the request may have arrived
            held.close()
            broken = isinstance(error, HttpProcessingError | aiohttp.ClientPayloadError)
            return Lost(_plain_name(error), readable=not broken), HeldConnection()
        except BaseException:
            held.close()
            raise


async def _read(protocol: AnswerProtocol) -> Reply:
    """An answer of any other form than the usual one."""
    head, content = await protocol.read()
    while 100 <= head.code < 200 and head.code != _SWITCHING:  # what announces another answer is none
        head, content = await protocol.read()
    answer = b""
    while len(answer) <= LARGEST_ANSWER and (more := await content.read(LARGEST_ANSWER)):
        answer += more
    if len(answer) > LARGEST_ANSWER:
        much = message("HTTP {status} with more than {bytes} bytes", status=head.code, bytes=LARGEST_ANSWER)
        return Lost(much, readable=False)
    return Answered(head.code, answer, _short_ascii(head.headers.get("Retry-After", "")))


async def connect(
    connections: aiohttp.BaseConnector,
    request: aiohttp.ClientRequest,
    profile: Profile,
    spare: SpareConnections | None = None,
) -> Connection:
    """A connection for a request, one that was kept or a new one; what came with it is read. A kept one that is not as it was is passed
    over.

    Raises aiohttp's errors, also where it has ended meanwhile, and Stray; nothing was sent then.
    """
    patience = _patience(profile.submission.connect_timeout_seconds)
    while True:
        try:
            connection = spare.take_kept() if spare else None
            connection = connection or await connections.connect(request, [], patience)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError from error
        try:
            for _ in range(_TURNS):
                await asyncio.sleep(0)
        except BaseException:
            connection.close()
            raise
        if is_quiet(connection):
            return connection
        protocol: Any = connection.protocol
        why = Stray if protocol.is_connected() else aiohttp.ClientOSError
        connection.close()
        if not protocol.over:
            raise why


@functools.cache  # likewise
def _patience(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(connect=seconds)


def _head(request: aiohttp.ClientRequest) -> bytes:
    """A request's first lines, up to the length of its body; a proxy's own header comes in with the first connection."""
    whole = request.proxy is not None and not request.is_ssl()  # a proxy without a tunnel is told whom to ask
    request.headers.popall("Content-Length", None)  # aiohttp's own, which knows of no body
    target = str(request.url) if whole else request.url.raw_path_qs
    lines = [f"{name}: {value}" for name, value in request.headers.items()]
    return "\r\n".join((f"POST {target} HTTP/1.1", *lines, "Content-Length: ")).encode()


def _short_ascii(header: str) -> str:
    """A header's text, if it is one that can be kept."""
    return header if header.isascii() and header.isprintable() and len(header) <= 100 else ""


#: What happened, in words without an address or a header in them.
ErrorNames = tuple[tuple[type[Exception] | tuple[type[Exception], ...], str], ...]
ERROR_NAMES: ErrorNames = (
    (Stray, N_("an answer came that nobody had asked for")),
    ((aiohttp.ClientConnectorDNSError, UnicodeError), N_("the carrier's name could not be resolved")),
    (aiohttp.ClientConnectorCertificateError, N_("the carrier's certificate is not trusted")),
    (aiohttp.ClientSSLError, N_("the secure connection failed")),
    (aiohttp.ClientProxyConnectionError, N_("the proxy could not be reached")),
    (aiohttp.ClientHttpProxyError, N_("the proxy refused")),
    (aiohttp.ConnectionTimeoutError, N_("the connection was not made in time")),
    (aiohttp.ClientConnectorError, N_("the connection was refused or could not be made")),
    (aiohttp.ServerDisconnectedError, N_("the carrier closed the connection without an answer")),
    (aiohttp.SocketTimeoutError, N_("no answer in time")),
    (aiohttp.ClientPayloadError, N_("the answer broke off")),
    (HttpProcessingError, N_("the answer is not HTTP")),
    (TimeoutError, N_("no answer in time")),
    (aiohttp.ClientOSError, N_("the connection broke")),
    (OSError, N_("the connection broke")),
)


def _plain_name(error: Exception) -> Message:
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return message("this machine lets the program open no more files and connections: raise ulimit -n")
    return Message(
        next((words for kind, words in ERROR_NAMES if isinstance(error, kind)), type(error).__name__)
    )


@asynccontextmanager
async def connected(
    profile: Profile, base_url: str, api_key: str, *, direct: bool = False
) -> AsyncIterator[Client]:
    """A client for one run. Every request carries Content-Type, agency and APIKEY.

    `direct` goes round the profile's proxy, for a carrier on this machine. Raises InputProblem where the aiohttp that is
    installed can't be used as it is here.
    """
    if not await _can_post():
        raise InputProblem(
            "nothing was sent: this program can't send with aiohttp {version}; install the program anew, with the versions that it names",
            version=aiohttp.__version__,
        )
    async with _connected(profile, base_url, api_key, "" if direct else profile.carrier.proxy) as client:
        yield client


@asynccontextmanager
async def _connected(profile: Profile, base_url: str, api_key: str, proxy: str) -> AsyncIterator[Client]:
    @functools.cache  # else made for each request
    def made(path: str) -> aiohttp.ClientRequest:
        headers = {"Content-Type": "application/json", "agency": profile.carrier.agency, "APIKEY": api_key}
        if connections.force_close:
            headers["Connection"] = "close"
        return aiohttp.ClientRequest(
            "POST", URL(base_url + path), headers=headers, proxy=URL(proxy) if proxy else None
        )

    async with connector(profile) as connections:
        # None is used twice without keepalive, and aiohttp tells a proxy who asks.
        alone = connections.force_close or proxy
        spare = None if alone else SpareConnections(profile.submission.keepalive_seconds)
        try:
            yield Client(connections, profile, made, spare)
        finally:
            if spare is not None:
                spare.close()


async def _can_post() -> bool:
    """Whether the aiohttp that is installed has what is used of it here, tried on a server of our own."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        door.setblocking(False)
        answering = asyncio.create_task(_answer(door))
        try:
            with contextlib.suppress(TimeoutError):
                address = f"http://127.0.0.1:{door.getsockname()[1]}"
                async with asyncio.timeout(_TRIAL), _connected(Profile(), address, "", "") as client:
                    for _ in _TRIED:
                        reply, connection = await client.post("/", b"{}")
                        connection.give_back()
                        if reply != Answered(200, b"{}"):
                            # Where not even this machine can be connected to, nothing will be sent, and what will be told is why.
                            return isinstance(reply, NotSent)
                    return True
        finally:
            answering.cancel()
            await asyncio.wait({answering})
    return False


async def _answer(door: socket.socket) -> None:
    """Answer on the first connection that comes in; however it goes, it does not stay open, as one of asyncio's servers might."""
    loop = asyncio.get_running_loop()
    line, _ = await loop.sock_accept(door)
    with line, contextlib.suppress(OSError):
        for answer in _TRIED:
            asked = b""
            while not asked.endswith(b"{}") and (more := await loop.sock_recv(line, 4096)):
                asked += more
            await loop.sock_sendall(line, answer)
