"""Whether the connection of an answer is used again: only after a clear yes that is on disk, and for as long as the profile says.

The answer to one request must never be taken for that of the next. So a connection is held until it is known what its answer
means (`HeldConnection`); it is closed after anything but a yes; and it is left alone if anything came over it meanwhile (`is_quiet`).
"""

import asyncio
import functools
import ssl
from typing import Any

import aiohttp
from aiohttp.connector import Connection

from pipeline.carrier.answer_protocol import AnswerProtocol
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Profile


class HeldConnection:
    """The connection over which an answer came: out of use until it is known whether further requests may have it."""

    def __init__(self, connection: Connection | None = None) -> None:
        self._connection = connection  # None: none was made, or it is closed already

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
        if self._connection is not None:
            self._connection.release()

    def close(self) -> None:
        """End it; what still comes over it is nobody's answer."""
        if self._connection is not None:
            self._connection.close()


def is_quiet(connection: Connection) -> bool:
    """Whether nothing has come over a connection while it was idle: a second answer, a proxy's 408.

    aiohttp asks `should_close` before it keeps a connection, but not before it takes one again.
    """
    protocol = connection.protocol
    return protocol is not None and protocol.transport is not None and not protocol.should_close


def connector(profile: Profile) -> aiohttp.TCPConnector:
    """A run's connections; one that is given back is kept for `keepalive_seconds`, or not at all."""
    submission, carrier = profile.submission, profile.carrier
    verify = ssl.create_default_context(cafile=carrier.ca_file) if carrier.ca_file else True
    if submission.keepalive_seconds > 0:
        connections = aiohttp.TCPConnector(
            limit=submission.concurrency, ssl=verify, keepalive_timeout=submission.keepalive_seconds
        )
    else:
        connections = aiohttp.TCPConnector(limit=submission.concurrency, ssl=verify, force_close=True)
    protocol: Any = functools.partial(AnswerProtocol, loop=asyncio.get_running_loop())
    connections._factory = protocol  # noqa: SLF001 - nothing else tells it which one to make
    return connections
