"""The answers as they leave: the envelope, and the result sealed in it."""

import json
from collections.abc import Mapping

from aiohttp import web

from pipeline.carrier.crypto import Cipher

#: carrier-interface.md, Response envelope: the code and message of a call that succeeded.
SUCCESS = 200
SUCCESS_MESSAGE = "success"

_JSON = "application/json"


def envelope(code: int, message: str, data: str, trace_id: str, *, status: int = 200) -> web.Response:
    """Source: carrier-interface.md, "Response envelope (outer, as received)"."""
    return web.Response(body=envelope_bytes(code, message, data, trace_id), status=status, content_type=_JSON)


def envelope_bytes(code: int, message: str, data: str, trace_id: str) -> bytes:
    """Write the envelope's JSON text in UTF-8."""
    return _encoded({"code": code, "message": message, "data": data, "traceId": trace_id})


def sealed(result: Mapping[str, object], cipher: Cipher) -> str:
    """Seal a result document as the envelope's data field. Source: "Payload encryption"."""
    return cipher.seal(_encoded(result))


def _encoded(document: Mapping[str, object]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
