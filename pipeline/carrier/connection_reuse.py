"""Whether the connection of an answer is used again: only after a clear yes that is on disk, and for as long as the profile says.

The answer to one request must never be taken for that of the next. So a connection is held until it is known what its answer
means (`HeldConnection`); it is closed after anything but a yes; and it is left alone if anything came over it meanwhile (`is_quiet`).
"""

import asyncio
import contextlib
import functools
import resource
import socket
import ssl
import time
from typing import Any

import aiohttp
from aiohttp.connector import Connection

from pipeline.carrier.answer_protocol import AnswerProtocol
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Profile

_OTHER_FILES = 200  # that a process has open beside its connections, and more than it ever has


class HeldConnection:
    """The connection over which an answer came: out of use until it is known whether further requests may have it."""

    __slots__ = ("_connection", "_spare", "idle_since")

    def __init__(self, connection: Connection | None = None, spare: "SpareConnections | None" = None) -> None:
        self._connection = connection  # None: none was made, or it is closed or given back already
        self._spare = spare
        self.idle_since = time.monotonic()

    async def stray_within(self, seconds: float) -> bool:
        """Whether something came over it after the answer, or does so soon: then the answer may have been nobody's, and that is the
        request's own.
        """
        protocol: Any = self._connection.protocol if self._connection else None
        return protocol is not None and await protocol.stray_within(seconds)

    def understood(self, outcome: Outcome) -> None:
        """That is what the answer means; a yes is not believed before the ledger has taken it (`recorded`)."""
        if outcome.state != "issued":
            self.close()

    def recorded(self, outcome: Outcome | None) -> None:
        """That is what the ledger has taken an answer for, None where it could take nothing.

        A clear yes, on disk, with a number that no other request has: the connection is in step.
        """
        if outcome is not None and outcome.state == "issued":
            self.give_back()
        else:
            self.close()

    def give_back(self) -> None:
        """Let further requests have it."""
        connection, self._connection = self._connection, None
        if connection is not None and self._spare is not None:
            self._spare.put(connection, self.idle_since)
        elif connection is not None:
            connection.release()

    def close(self) -> None:
        """End it; what still comes over it is nobody's answer."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


class SpareConnections:
    """Connections that further requests may have. For aiohttp to keep one and to look for it again would cost time with each request."""

    def __init__(self, keepalive_seconds: float) -> None:
        self._keepalive = keepalive_seconds
        self._over = False
        # Given back in this turn of the event loop, and in earlier ones; each with the time since when it is idle.
        self._fresh: list[tuple[Connection, float]] = []
        self._kept: list[tuple[Connection, float]] = []

    def put(self, connection: Connection, since: float) -> None:
        """Have a connection for whoever takes one; idle since then (monotonic)."""
        if self._over:
            connection.close()
            return
        if not self._fresh:
            asyncio.get_running_loop().call_soon(self._keep)
        self._fresh.append((connection, since))

    def take(self) -> Connection | None:
        """One that was given back in this turn and can be used again, None where there is none."""
        return self._usable(self._fresh)

    def take_kept(self) -> Connection | None:
        """One that was given back earlier, over which something may have come that the event loop has not read yet."""
        return self._usable(self._kept)

    def close(self) -> None:
        """End them, and what is given back from now on."""
        self._over = True
        self._keep()
        while self._kept:
            self._kept.pop()[0].close()

    def _keep(self) -> None:
        self._kept += self._fresh
        self._fresh.clear()

    def _usable(self, spare: list[tuple[Connection, float]]) -> Connection | None:
        while spare:
            connection, since = spare.pop()
            # A machine may stand still for any time.
            if is_quiet(connection) and time.monotonic() - since <= self._keepalive:
                return connection
            connection.close()
        return None


def is_quiet(connection: Connection) -> bool:
    """Whether a connection is there, and nothing has come over it while it was idle: a second answer, a proxy's 408.

    aiohttp asks `should_close` before it keeps a connection, but not before it takes one again.
    """
    protocol = connection.protocol
    return protocol is not None and protocol.is_connected() and not protocol.should_close


class _Socket(socket.socket):
    """A socket that is closed by whoever has it in use, and never because Python forgets it.

    The event loop closes the socket of a connection. Where that ends while TLS begins, uvloop may do so by the file descriptor,
    and Python's object does not know of it (uvloop 0.23; its issue 738 is a case of it): forgotten, it would close the
    descriptor once more, which is another connection's by then. `python -m tests.crash.uvloop_tls`.
    """

    def __del__(self) -> None:
        pass


def _allow_files(connections: int) -> None:
    """Let this process have so many connections beside its files, as far as the system has it: often 1,024, and more when asked."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _OTHER_FILES
    if 0 <= soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):  # then it is told where a connection can't be made
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def connector(profile: Profile) -> aiohttp.TCPConnector:
    """A run's connections; one that is given back is kept for `keepalive_seconds`, or not at all."""
    submission, carrier = profile.submission, profile.carrier
    _allow_files(2 * submission.concurrency)
    verify = ssl.create_default_context(cafile=carrier.ca_file) if carrier.ca_file else True
    until: dict[str, Any] = {"force_close": True}
    if submission.keepalive_seconds > 0:
        until = {"keepalive_timeout": submission.keepalive_seconds}
    connections = aiohttp.TCPConnector(
        limit=0,  # no more are in use than requests are in flight, and held than outcomes are on their way to disk
        ssl=verify,
        socket_factory=lambda address: _Socket(*address[:3]),
        **until,
    )
    protocol: Any = functools.partial(AnswerProtocol, loop=asyncio.get_running_loop())
    connections._factory = protocol  # noqa: SLF001 - nothing else tells it which one to make
    return connections
