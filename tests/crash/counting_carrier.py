"""A carrier for crash tests: it issues whatever it is asked for, as often as it is asked, and counts.

The sandbox refuses to issue a charge twice, and would hide it; this one does not. It runs on a thread of
the test's process, which is another than the program's.
"""

import asyncio
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from pipeline.carrier.crypto import Cipher
from pipeline.sandbox.answers import SUCCESS, SUCCESS_MESSAGE, envelope, sealed
from pipeline.sandbox.documents import (
    InvoiceRequest,
    ItineraryRequest,
    read_invoice,
    read_itinerary,
    read_json,
    result,
)

#: (ticket, charge, product), as the ledger has it.
Charge = tuple[str, str, str]
#: A ticket whose first request is told to come back later, and one whose first request gets a no.
BUSY, REFUSED = "9990000000021", "9990000000022"

_CHARGE = {"TICKET_FARE": "ticket_fare", "ANCILLARY_FEE": "ancillary"}
_PRODUCT = {"Flight": "flight", "Baggage": "baggage", "Seat": "seat"}
_SECONDS = 0.003  # an answer takes a moment, so that several requests are under way


@dataclass
class Remembered:
    """What the carrier has seen and done."""

    received: Counter[Charge] = field(default_factory=Counter)
    issued: dict[Charge, list[str]] = field(default_factory=dict)
    numbers: int = 0

    def copy(self) -> "Remembered":
        """The same, to be changed apart."""
        return Remembered(self.received.copy(), {c: list(n) for c, n in self.issued.items()}, self.numbers)


class Carrier:
    """The carrier, listening while the context lasts."""

    def __init__(self, encryption_key: str) -> None:
        self._cipher = Cipher(encryption_key)
        self._state = Remembered()
        self._log: Path | None = None
        self._arrivals: list[int] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="carrier")
        self.base_url = ""

    # -- for the test

    def begin(self, state: Remembered, log: Path | None = None) -> None:
        """Remember this and nothing else; `log` is where the run under test notes its calls."""
        self._state, self._log, self._arrivals = state.copy(), log, []

    def remembered(self) -> Remembered:
        """What it has seen and done so far."""
        return self._state.copy()

    @property
    def received(self) -> Counter[Charge]:
        """How often each charge was asked for."""
        return self._state.received

    @property
    def issued(self) -> dict[Charge, list[str]]:
        """Each charge's numbers; more than one is what must never be."""
        return self._state.issued

    @property
    def received_now(self) -> int:
        """Requests since `begin`."""
        return len(self._arrivals)

    @property
    def refused(self) -> bool:
        """Whether it has said its no, and nothing else since."""
        return any(c[0] == REFUSED and n == 1 for c, n in self._state.received.items())

    def received_after(self, call: int) -> int:
        """Requests that came when the run under test had made so many of the calls that are counted."""
        return sum(calls >= call for calls in self._arrivals)

    # -- the service

    async def _answer(self, call: web.Request) -> web.Response:
        self._arrivals.append(self._calls())
        plain = self._cipher.open(str(read_json(await call.read(), "the body")))
        asked = read_invoice(plain) if call.path.endswith("issueInvoice") else read_itinerary(plain)
        charges = _charges(asked)
        state = self._state
        state.received.update(charges)
        first = state.received[charges[0]] == 1
        await asyncio.sleep(_SECONDS)
        if first and charges[0][0] == BUSY:
            return web.Response(status=429, headers={"Retry-After": "0"})
        if first and charges[0][0] == REFUSED:
            no = result(asked, success=False, text="no", number="")
            return envelope(SUCCESS, SUCCESS_MESSAGE, sealed(no, self._cipher), "t")
        state.numbers += 1
        number = f"2{state.numbers:019}"
        for charge in charges:
            state.issued.setdefault(charge, []).append(number)
        yes = result(asked, success=True, text="yes", number=number)
        return envelope(SUCCESS, SUCCESS_MESSAGE, sealed(yes, self._cipher), "t")

    def _calls(self) -> int:
        return self._log.read_bytes().count(b"\n") if self._log and self._log.exists() else 0

    async def _listen(self) -> None:
        app = web.Application()
        app.router.add_post("/invoice/issueInvoice", self._answer)
        app.router.add_post("/itinerary/issueItinerary", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.base_url = f"http://127.0.0.1:{site.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _charges(asked: InvoiceRequest | ItineraryRequest) -> list[Charge]:
    if isinstance(asked, ItineraryRequest):
        return [(_digits(asked.ticket_no), "ticket_fare", "flight")]
    return [(_digits(c.ticket_no), _CHARGE[c.fee_type], _PRODUCT[c.product_type]) for c in asked.charges]


def _digits(ticket_no: str) -> str:
    return ticket_no.replace("-", "")
