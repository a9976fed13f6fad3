"""What a fault looks like from outside: one answer, or no answer, for each kind in `fault_file`."""

import base64
import socket
import struct
from dataclasses import dataclass

from aiohttp import web

from pipeline.carrier.crypto import Cipher
from pipeline.sandbox.envelopes import (
    SUCCESS,
    SUCCESS_MESSAGE,
    envelope,
    envelope_bytes,
    sealed,
)
from pipeline.sandbox.fault_file import Fault
from pipeline.sandbox.wire_documents import (
    RECEIVED,
    InvoiceRequest,
    Request,
    result,
)

_NOT_JSON = "<html><body>The service is being serviced.</body></html>"
_REFUSED = "The carrier refused the request: a fault file told it to."
_NEVER_ISSUED = "99999999999999999999"
# Not whole blocks, so that no key can open it by chance.
_SEALED_BY_NOBODY = base64.b64encode(b"this was never sealed").decode("ascii")


@dataclass(frozen=True)
class Truth:
    """What the answer would be about: the request, and its result if it was judged."""

    request: Request
    result: dict[str, object] | None
    trace_id: str
    cipher: Cipher


async def misbehave(fault: Fault, call: web.Request, truth: Truth) -> web.StreamResponse:
    """Answer as the fault wants, whatever the truth."""
    match fault.kind:
        case "reset" | "close":
            return _cut(call, reset=fault.kind == "reset")
        case "truncated":
            return await _truncated(call, truth)
        case "garbage":
            return web.Response(text=_NOT_JSON, content_type="application/json")
        case "http":
            return _http(fault)
        case "envelope":
            return envelope(fault.code, fault.message, "", truth.trace_id)
    return envelope(SUCCESS, SUCCESS_MESSAGE, _data(fault, truth), truth.trace_id)


def _data(fault: Fault, truth: Truth) -> str:
    """Make the data field of an envelope that says success."""
    match fault.kind:
        case "refuse":
            refused = result(truth.request, success=False, text=fault.message or _REFUSED, number="")
            return sealed(refused, truth.cipher)
        case "undecryptable":
            return _SEALED_BY_NOBODY
        case "nonsense":
            return truth.cipher.seal(b"this is not JSON")
        case "wrong_ticket":
            return sealed(_about_another(truth), truth.cipher)
    raise AssertionError(fault.kind)


def _http(fault: Fault) -> web.Response:
    headers = {}
    if fault.retry_after is not None:
        headers["Retry-After"] = str(fault.retry_after)
    if fault.location:
        headers["Location"] = fault.location
    return web.Response(text=fault.body, status=fault.status, headers=headers)


def _told(truth: Truth) -> dict[str, object]:
    """Give the result of the request, or a made-up success if nothing was judged."""
    if truth.result is not None:
        return truth.result
    return result(truth.request, success=True, text=RECEIVED, number=_NEVER_ISSUED)


def _about_another(truth: Truth) -> dict[str, object]:
    told = _told(truth)
    if isinstance(truth.request, InvoiceRequest):
        return {name: value for name, value in told.items() if name != "invoiceId"}
    itinerary = told["itineraryResult"]
    assert isinstance(itinerary, dict)  # noqa: S101 - documents.itinerary_result made it
    asked = truth.request.ticket_no
    other = asked[:-1] + ("1" if asked.endswith("0") else "0")
    return {"itineraryResult": itinerary | {"ticketNo": other}}


async def _truncated(call: web.Request, truth: Truth) -> web.StreamResponse:
    whole = envelope_bytes(SUCCESS, SUCCESS_MESSAGE, sealed(_told(truth), truth.cipher), truth.trace_id)
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = len(whole)
    await response.prepare(call)
    await response.write(whole[: len(whole) // 2])
    if call.transport is not None:
        call.transport.close()  # after what is written has left
    return response


def _cut(call: web.Request, *, reset: bool) -> web.StreamResponse:
    """End the connection without an answer: with an RST, or in order."""
    transport = call.transport
    if transport is not None and reset:
        # A socket that lingers for no time at all is closed with an RST.
        endpoint = transport.get_extra_info("socket")
        endpoint.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    elif transport is not None:
        transport.close()
    return web.Response()  # goes nowhere
