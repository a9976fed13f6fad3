"""A carrier for crash tests: it issues whatever it is asked for, as often as it is asked, and keeps count.

The sandbox refuses to issue a charge twice, and would hide it; this one does not: what is sent twice is issued
twice, and stands twice in what was received. It runs on a thread of the harness's process, so that it outlives
whatever happens to the program, which is another process.

How it answers is told by a ticket's last digit, so that each workload brings its own faults along.
"""

import asyncio
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from pipeline.carrier.crypto import Cipher
from pipeline.sandbox.envelopes import (
    SUCCESS,
    SUCCESS_MESSAGE,
    envelope_bytes,
    sealed,
)
from pipeline.sandbox.wire_documents import (
    InvoiceRequest,
    ItineraryRequest,
    read_invoice,
    read_itinerary,
    read_json,
    result,
)
from tests.crash.served_in_thread import ServedInThread

#: (ticket, charge, product), as the ledger has it.
Charge = tuple[str, str, str]

KEYS = {"VOUCHER_API_KEY": "canary-api-key-7f3a", "VOUCHER_ENCRYPTION_KEY": "canary-encryption-key-91bd"}
AGENCY = "AGENCY"
#: By a ticket's last digit: what it does, and what becomes of its answer. Else it just issues.
FAULTS = {
    "6": ("issued", "unreadable"),
    "7": ("busy", ""),  # 429 the first time
    "8": ("issued", "lost"),
    "9": ("refused", ""),  # a no the first time
}
#: Its wire codes are the program's own names.
_PROFILE = """
[carrier]
base_url = "{base_url}"
agency = "{agency}"
[codes.fee_type]
ticket_fare = "ticket_fare"
refund = "refund"
ancillary = "ancillary"
[codes.product_type]
flight = "flight"
baggage = "baggage"
seat = "seat"
[codes.header_type]
business = "business"
individual = "individual"
[submission]
connect_timeout_seconds = 20
response_timeout_seconds = 40
"""
_SLOWEST = 0.015  # seconds, so that answers come in while others are being written down


@dataclass(frozen=True)
class Received:
    """A request that reached the carrier, and what it did with it; `calls`: see `begin`."""

    charges: frozenset[Charge]
    did: str
    number: str
    answer: str
    calls: int = 0


class Carrier:
    """The carrier, listening while the context lasts."""

    def __init__(self) -> None:
        self._cipher = Cipher(KEYS["VOUCHER_ENCRYPTION_KEY"])
        self._received: list[Received] = []
        self._numbers = 0
        self._log: Path | None = None

    # -- for the harness

    def begin(self, earlier: Sequence[Received] = (), log: Path | None = None) -> list[Received]:
        """Remember this and nothing else: a list, to which is added whatever arrives.

        `log` is where the run under test notes its calls: how many it had made is kept with each request.
        """
        self._received, self._log = list(earlier), log
        return self._received

    @property
    def base_url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.port}"

    @property
    def profile(self) -> str:
        """What the program has to know of it, as a profile."""
        return _PROFILE.format(base_url=self.base_url, agency=AGENCY)

    def settled(self) -> None:
        """Wait until it has dealt with everything that was under way when a run ended or was killed."""
        # A connection of its own: it comes in after those that nobody has taken yet.
        with socket.create_connection(("127.0.0.1", self._server.port), timeout=30) as asking:
            asking.sendall(b"GET /settled HTTP/1.1\r\n\r\n")
            assert asking.recv(1) == b""

    def __enter__(self) -> Self:
        self._server = ServedInThread(self._talk)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.settled()
        self._server.end()

    # -- the service

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until either side ends it."""
        while answer := await self._answer(reader):
            writer.write(answer)
            await writer.drain()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        """Receive a request and act upon it; nothing where it is to be left without an answer."""
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET /settled"):
            await self._server.quiet(but=1)
            return b""
        calls = self._log.read_bytes().count(b"\n") if self._log and self._log.exists() else 0
        body = await reader.readexactly(int(re.findall(rb"(?i)content-length: *([0-9]+)", head)[0]))
        plain = self._cipher.open(str(read_json(body, "the body")))
        asked = read_invoice(plain) if b" /invoice/issueInvoice " in head else read_itinerary(plain)
        await asyncio.sleep(sum(int(ticket[-4:]) for ticket in asked.ticket_nos) % 16 / 16 * _SLOWEST)
        did, answer = self._fault(asked.ticket_nos)
        self._numbers += did == "issued"
        number = f"2{self._numbers:019}" if did == "issued" else ""
        self._received.append(Received(_charges(asked), did, number, answer, calls))
        if did == "busy":
            return _http(429, b"", "Retry-After: 0\r\n")
        if answer == "lost":
            return b""
        said = sealed(result(asked, success=bool(number), text=did, number=number), self._cipher)
        data = "?" if answer == "unreadable" else said
        return _http(200, envelope_bytes(SUCCESS, SUCCESS_MESSAGE, data, "t"))

    def _fault(self, tickets: Sequence[str]) -> tuple[str, str]:
        done = {(ticket, r.did) for r in self._received for ticket, _, _ in r.charges}
        for ticket in tickets:
            did, answer = FAULTS.get(ticket[-1], ("issued", ""))
            if answer or (did != "issued" and (ticket, did) not in done):
                return did, answer
        return "issued", ""


def _charges(asked: InvoiceRequest | ItineraryRequest) -> frozenset[Charge]:
    if isinstance(asked, ItineraryRequest):
        return frozenset({(asked.ticket_no, "ticket_fare", "flight")})
    return frozenset((c.ticket_no, c.fee_type, c.product_type) for c in asked.charges)


def _http(status: int, body: bytes, more: str = "") -> bytes:
    head = (
        f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    )
    return head.encode() + body
