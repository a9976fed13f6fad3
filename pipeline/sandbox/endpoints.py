"""The two operations over HTTP, as carrier-interface.md ("Endpoints") has them.

What the interface leaves open, this carrier answers so: a wrong key or agency is HTTP 401 with an
envelope of code 401; a request that can't be understood is an envelope of code 400, its text in the
message; a request that a rule forbids is a success at the envelope whose result says no.

Beside them is what a person at the carrier does: `POST /sandbox/reverse` with {"number": "…"} reverses a voucher (red
invoice) and answers with the red one's number, 404 where none of that number stands.
"""

import asyncio
import hmac
import logging
from dataclasses import dataclass
from uuid import uuid4

from aiohttp import web

from pipeline.carrier.crypto import Cipher, Undecryptable
from pipeline.sandbox.envelopes import (
    SUCCESS,
    SUCCESS_MESSAGE,
    envelope,
    sealed,
)
from pipeline.sandbox.fault_answers import Truth, misbehave
from pipeline.sandbox.fault_file import Fault, Faults, Operation
from pipeline.sandbox.mail_delivery import MailDelivery
from pipeline.sandbox.mail_process import Delivered
from pipeline.sandbox.preconditions import Books, Refusal, judge
from pipeline.sandbox.wire_documents import (
    RECEIVED,
    InvoiceRequest,
    MalformedError,
    Request,
    read_invoice,
    read_itinerary,
    read_json,
    result,
)

# Request-size limits are not shown: large enough for any invoice, small enough for this machine.
_BODY_MAX = 64 * 1024 * 1024

_log = logging.getLogger(__name__)


@dataclass
class Counts:
    """What came in and what became of it; `issued` counts vouchers, `refused` what a rule forbade.

    A request can be counted as issued and as faulty: its answer went wrong afterwards. `delivered` is known once the carrier has
    ended, where it mails files.
    """

    received: int = 0
    issued: int = 0
    refused: int = 0
    malformed: int = 0
    unauthorised: int = 0
    faulty: int = 0
    delivered: Delivered | None = None


class Service:
    """The issuing service of one carrier."""

    def __init__(
        self, books: Books, faults: Faults, counts: Counts, delivery: MailDelivery | None = None
    ) -> None:
        self._books = books
        self._cipher = Cipher(books.settings.encryption_key)
        self._faults = faults
        self._counts = counts
        self._delivery = delivery

    def application(self) -> web.Application:
        """Make the aiohttp application, ready to be run."""
        app = web.Application(client_max_size=_BODY_MAX)
        app.router.add_post("/invoice/issueInvoice", self._issue_invoice)
        app.router.add_post("/itinerary/issueItinerary", self._issue_itinerary)
        app.router.add_post("/sandbox/reverse", self._reverse)
        return app

    async def _issue_invoice(self, call: web.Request) -> web.StreamResponse:
        return await self._answer(call, "invoice")

    async def _issue_itinerary(self, call: web.Request) -> web.StreamResponse:
        return await self._answer(call, "itinerary")

    async def _reverse(self, call: web.Request) -> web.StreamResponse:
        try:
            red = self._reversed((await call.json())["number"])
        except (KeyError, TypeError, ValueError):
            raise web.HTTPNotFound(text="no voucher of this number stands") from None
        return web.json_response({"number": red})

    def _reversed(self, number: str) -> str:
        """Reverse a voucher, and mail the red itinerary's file; the red one's number. Raises as `Issued.reverse` does."""
        red = self._books.issued.reverse(number)
        if self._delivery:
            self._delivery.reversed(number, red)
        return red

    async def _answer(self, call: web.Request, operation: Operation) -> web.StreamResponse:
        self._counts.received += 1
        trace_id = uuid4().hex
        if not self._authorised(call):
            self._counts.unauthorised += 1
            _log.info("%s %s: wrong agency or key", trace_id, operation)
            return envelope(401, "agency or APIKEY is not accepted", "", trace_id, status=401)
        try:
            request = await self._understood(call, operation)
        except MalformedError as error:
            self._counts.malformed += 1
            _log.info("%s %s: malformed: %s", trace_id, operation, error)
            return envelope(400, str(error), "", trace_id)

        strike = self._faults.strike(operation, request.ticket_nos)
        await asyncio.sleep(strike.seconds_before)
        if fault := strike.hits("before"):
            return await self._misbehave(fault, call, Truth(request, None, trace_id, self._cipher))
        decided = self._decide(request, operation, trace_id)
        await asyncio.sleep(strike.seconds_after)
        if fault := strike.hits("after"):
            return await self._misbehave(fault, call, Truth(request, decided, trace_id, self._cipher))
        return envelope(SUCCESS, SUCCESS_MESSAGE, sealed(decided, self._cipher), trace_id)

    def _authorised(self, call: web.Request) -> bool:
        """Source: carrier-interface.md, Authentication, Headers."""
        settings = self._books.settings
        return _same(call.headers.getall("agency", []), settings.agency) & _same(
            call.headers.getall("APIKEY", []), settings.api_key
        )

    async def _understood(self, call: web.Request, operation: Operation) -> Request:
        """Read the request document. Source: carrier-interface.md, Endpoints, "Common conventions"."""
        if call.content_type != "application/json":
            raise MalformedError("Content-Type must be application/json")
        literal = read_json(await call.read(), "the body")
        if not isinstance(literal, str):
            raise MalformedError("the body must be one JSON string")
        try:
            plaintext = self._cipher.open(literal)
        except Undecryptable:
            raise MalformedError("the body can't be decrypted") from None
        return read_invoice(plaintext) if operation == "invoice" else read_itinerary(plaintext)

    def _decide(self, request: Request, operation: Operation, trace_id: str) -> dict[str, object]:
        """Judge the request and, if nothing is against it, issue what it asks for.

        Not a coroutine, and syncs the statement without waiting elsewhere: between judging and
        remembering no other request may be judged, or one charge could be issued twice.
        """
        charges = judge(request, self._books)
        if isinstance(charges, Refusal):
            self._counts.refused += 1
            _log.info("%s %s refused: %s", trace_id, operation, charges.text)
            return result(request, success=False, text=charges.text, number="")
        number = self._books.issued.issue(operation, charges, request.buyer.name)
        self._counts.issued += 1
        if self._delivery and operation == "itinerary":
            strike = self._faults.strike_file(request.ticket_nos[0])
            self._delivery.issued(number, charges[0], request.buyer, strike)
            if "red" in strike.kinds:
                self._reversed(number)
        _log.info("%s %s issued: %s, charges: %d", trace_id, operation, number, len(charges))
        return result(request, success=True, text=RECEIVED, number=number)

    async def _misbehave(self, fault: Fault, call: web.Request, truth: Truth) -> web.StreamResponse:
        self._counts.faulty += 1
        operation = "invoice" if isinstance(truth.request, InvoiceRequest) else "itinerary"
        _log.info("%s %s fault: %s %s issuing", truth.trace_id, operation, fault.kind, fault.when)
        return await misbehave(fault, call, truth)


def _same(given: list[str], wanted: str) -> bool:
    """Whether the header was given once and is right, in a time that tells nothing of it."""
    # aiohttp reads header bytes that are not UTF-8 as surrogates.
    return len(given) == 1 and hmac.compare_digest(
        given[0].encode("utf-8", "surrogateescape"), wanted.encode("utf-8")
    )
