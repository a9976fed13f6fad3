"""aiohttp's protocol, which takes an answer of the usual form as it came; its parser, which costs more than all else here, reads any other.

Of the usual form is what came at once and whole: a short 200 of HTTP/1.1 with its length, and with nothing that says more of how it is
to be read, or of the connection. The parser would make the same of it.
"""

import asyncio
import contextlib
import re
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler

from pipeline.model.outcome import Answered

#: A header line that says nothing to whoever reads the answer.
_LINE = (
    rb"(?!content-length:|content-encoding:|transfer-encoding:|connection:(?! keep-alive\r)|upgrade:|retry-after:)"
    rb"[a-z0-9-]{1,99}:[ -~]{0,999}\r\n"
)
_USUAL = re.compile(
    rb"HTTP/1\.1 200 [ -~]{0,99}\r\n(?i:(?:%b){0,30}content-length: ?([0-9]{1,4})\r\n(?:%b){0,30})\r\n"
    % (_LINE, _LINE)
)


class AnswerProtocol(ResponseHandler):
    """Of a connection; `awaited` has an answer of the usual form, `read` any other."""

    #: Of an answer that is awaited, until anything of it has come.
    _first: "asyncio.Future[Answered | None] | None" = None
    #: Whether the last answer is over. What comes then is a stray; a part of one, which aiohttp's parser may keep without a sign of it,
    #: too.
    over = False
    _stray = False

    def awaited(self) -> "asyncio.Future[Answered | None]":
        """An answer is awaited from now on: done when it has come, or with None where `read` has it, gives more of it, or raises why not."""
        self.over = False
        first: asyncio.Future[Answered | None] = self._loop.create_future()
        self._first = first
        return first

    def data_received(self, data: bytes) -> None:
        """Some bytes came."""
        if self.over:
            self._stray = True
            self.force_close()
            self.abort()
            return
        if self._first is not None:
            found = _USUAL.match(data)
            if found and len(data) == found.end() + int(found[1]):
                self.over = True
                self._has_come(Answered(200, data[found.end() :]))
                return
            self.set_response_params(read_until_eof=True)
            self._has_come(None)
        super().data_received(data)

    async def stray_within(self, seconds: float) -> bool:
        """Whether a stray has come, or comes so soon; sooner where the connection ends."""
        if (closed := self.closed) is not None and not (self._buffer or self._tail):
            with contextlib.suppress(Exception):  # it ended, in whatever way, or time is up
                async with asyncio.timeout(seconds):
                    await closed
        return bool(self._stray or self._buffer or self._tail)

    def set_exception(self, *why: Any, **how: Any) -> None:
        """Nothing more comes, for that reason."""
        super().set_exception(*why, **how)
        self._has_come(None)

    def give_up(self) -> None:
        """Time is up for the answer, whatever of it has come."""
        error = aiohttp.SocketTimeoutError()
        self.set_exception(error)
        if self._payload is not None:
            self._payload.set_exception(error)

    def _has_come(self, answer: Answered | None) -> None:
        first, self._first = self._first, None
        if first is not None and not first.done():  # as it is where nobody waits any more
            first.set_result(answer)

    def close(self) -> None:
        """End the connection at once: nobody is kept waiting, nor a socket open, for TLS to say good-bye."""
        self.abort()
