"""A connection to the page: what every answer says of itself, and what is answered to what is no HTTP."""

import asyncio
from typing import Any, cast

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
#: On every answer.
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Server": "voucher",
}
#: Who connects and has asked for nothing after so many seconds is cut off; aiohttp's own timer begins after the first request.
_FIRST_REQUEST_SECONDS = 60


class Connection(RequestHandler):
    """aiohttp's, but that what it refuses by itself is refused like everything else, and nobody connects only to wait."""

    asked = False  # whether a request has come

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Give it some time for its first request."""
        super().connection_made(transport)
        asyncio.get_running_loop().call_later(_FIRST_REQUEST_SECONDS, self._cut_off_if_silent)

    def _cut_off_if_silent(self) -> None:
        if not self.asked:
            self.force_close()

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, *_given: Any, **_more: Any
    ) -> web.StreamResponse:
        """What is no HTTP: its status, and nothing of what was sent or of what is behind it."""
        if cast("Any", request.writer).output_size > 0:
            raise ConnectionError("An answer was begun already")
        response = web.Response(
            status=status, text=f"HTTP {status}\n", headers={**HEADERS, "Cache-Control": "no-store"}
        )
        response.force_close()
        return response
