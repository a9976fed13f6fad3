"""aiohttp's protocol, which takes an answer of the usual form as it came; its parser, which costs more than all else here, reads any other.

Of the usual form is what came at once and whole: a short 200 of HTTP/1.1 with its length, and with nothing that says more of how it is
to be read, or of the connection. The parser would make the same of it.
"""

import re
from typing import Any, cast

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
    """Of what `read` gives, an answer of the usual form is an `Answered`."""

    #: Whether an answer is awaited of which nothing has come yet.
    awaited = False
    #: Whether the last answer is over. What comes then is a stray; a part of one, which aiohttp's parser may keep without a sign of it, too.
    over = False

    def data_received(self, data: bytes) -> None:
        """Some bytes came."""
        if self.over:
            self.force_close()
        if self.awaited:
            self.awaited = False
            found = _USUAL.match(data)
            if found and len(data) == found.end() + int(found[1]):
                self.feed_data(cast("Any", Answered(200, data[found.end() :])))
                return
            self.set_response_params(read_until_eof=True)
        super().data_received(data)

    def close(self) -> None:
        """End the connection at once: nobody is kept waiting, nor a socket open, for TLS to say good-bye."""
        self.abort()
