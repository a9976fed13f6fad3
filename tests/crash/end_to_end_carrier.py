"""The carrier of the end-to-end harness: it issues whatever it is asked for, keeps its books, and answers badly.

What it issues it writes down with the time of its own clock, which is right. What it answers is chosen for each request among
`faults`, by chance; some of them issue and do not say so. A 429 and a refusal never issue: that is what they mean. Nor does a
401, 403, 404 or 405 as long as nothing was accepted in that run; afterwards it may come from something in front of the
carrier, which has passed the request on.

It takes vouchers back, whole or in part, and shows that by red lines. It may refuse what it has issued already (`refuses_again`),
in lives where somebody says by mistake that something was not issued; how often it was asked for it again is counted.
"""

import asyncio
import datetime
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
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
    ItineraryRequest,
    read_invoice,
    read_itinerary,
    read_json,
    result,
)
from tests.crash.counting_carrier import AGENCY, KEYS, Charge, _charges, _http
from tests.crash.served_in_thread import ServedInThread

PROFILE = """
[carrier]
base_url = "http://127.0.0.1:{port}"
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
[limits]
max_charges_per_invoice = 3
[submission]
concurrency = {concurrency}
connect_timeout_seconds = 5
response_timeout_seconds = 10
[reconcile]
settle_after_hours = {hours}
"""
#: Statuses that say "nothing was issued" only until key and address have been accepted.
IN_FRONT = (401, 403, 404, 405)
#: What may become of a request: (issued, what the answer is, whether the answer comes twice).
FAULTS: Mapping[str, tuple[bool, str, bool]] = {
    "issued": (True, "yes", False),
    "issued, said twice": (True, "yes", True),
    "busy": (False, "429", False),
    "busy, said twice": (False, "429", True),
    "refused": (False, "no", False),
    "refused, said twice": (False, "no", True),
    "unavailable": (False, "503", False),
    "unavailable, and issued": (True, "503", False),
    "unavailable, said twice": (False, "503", True),
    "closed": (False, "", False),
    "closed, and issued": (True, "", False),
    "unreadable, and issued": (True, "?", False),
    "in front": (False, "front", False),
    "in front, and issued": (True, "front", False),
}


@dataclass(frozen=True)
class Voucher:
    """What was issued, when by the carrier's clock, and whether its number was told.

    `reversed`: it counts no more; `taken_off`: these charges of it don't. `amounts` as they were asked for.
    """

    number: str
    kind: str
    charges: frozenset[Charge]
    at: datetime.datetime
    told: bool
    amounts: Mapping[Charge, str] = field(default_factory=dict)
    reversed: bool = False
    taken_off: frozenset[Charge] = frozenset()

    @property
    def counting(self) -> frozenset[Charge]:
        """The charges that stand on it and were not taken back."""
        return frozenset() if self.reversed else self.charges - self.taken_off


@dataclass(frozen=True)
class Red:
    """Red lines, by which a voucher is taken back: so much of each charge."""

    number: str
    original: Voucher
    amounts: Mapping[Charge, str]
    at: datetime.datetime


@dataclass
class Carrier:
    """The carrier, listening while the context lasts; its books are begun anew by `begin`."""

    now: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC)
    faults: Mapping[str, float] = field(default_factory=dict)
    vouchers: list[Voucher] = field(default_factory=list)
    reds: list[Red] = field(default_factory=list)
    amount_of: Callable[[Charge], str] = lambda _: ""
    #: What it was asked for though it had issued it, where it refuses that.
    again: Counter[Charge] = field(default_factory=Counter)
    refuses_again: bool = False
    #: By how much the clock of what fails to tell its number is ahead of the other clocks.
    drift: datetime.timedelta = datetime.timedelta()
    requests: int = 0
    words: str = "no"  # of a refusal
    trace: str = "t"
    only: str = ""  # the kind of voucher that is struck by faults, "" for both
    _random: Random = field(default_factory=lambda: Random(0))
    _numbers: int = 0
    _accepted: bool = False
    _one_at_a_time: bool = True

    def begin(
        self, rng: Random, now: Callable[[], datetime.datetime], amount_of: Callable[[Charge], str]
    ) -> None:
        """Have issued nothing so far."""
        self.now, self.amount_of, self._random, self._numbers = now, amount_of, rng, 0
        self.vouchers, self.reds, self.again = [], [], Counter()
        self.refuses_again, self.drift = False, datetime.timedelta()

    def next_run(self, faults: Mapping[str, float], only: str, *, one_at_a_time: bool) -> None:
        """A run of the program begins: so probable is each fault in it, and `only` that kind of voucher is struck."""
        self.faults, self.only, self._accepted, self.requests = faults, only, False, 0
        self._one_at_a_time = one_at_a_time

    def twice(self) -> list[str]:
        """Charges that stand on two vouchers that count."""
        seen: dict[Charge, str] = {}
        found = []
        for voucher in self.vouchers:
            for charge in sorted(voucher.counting):
                if charge in seen:
                    found.append(f"{charge} is on {seen[charge]} and on {voucher.number}")
                seen[charge] = voucher.number
        return found

    def reverse(self, voucher: Voucher) -> None:
        """Take a voucher back: its charges may be issued again."""
        self._red(voucher, voucher.amounts, replace(voucher, reversed=True))

    def reverse_charge(self, voucher: Voucher, charge: Charge) -> None:
        """Take one of a voucher's charges back: the others stand on it still."""
        taken_off = voucher.taken_off | {charge}
        self._red(voucher, {charge: voucher.amounts[charge]}, replace(voucher, taken_off=taken_off))

    def reverse_amount(self, voucher: Voucher, charge: Charge, amount: str) -> None:
        """Take so much of a charge back: it stands on its voucher still."""
        self._red(voucher, {charge: amount}, voucher)

    def _red(self, voucher: Voucher, amounts: Mapping[Charge, str], after: Voucher) -> None:
        self._numbers += 1
        number = f"{'2' if voucher.kind == 'itinerary' else '1'}3{self._numbers:0{18 if voucher.kind == 'itinerary' else 16}}"
        self.reds.append(Red(number, voucher, amounts, self.now()))
        self.vouchers[self.vouchers.index(voucher)] = after

    def __enter__(self) -> Self:
        self._cipher = Cipher(KEYS["VOUCHER_ENCRYPTION_KEY"])
        self._server = ServedInThread(self._talk)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.end()

    def profile(self, concurrency: int, hours: float) -> str:
        """What the program has to know of it, as a profile."""
        return PROFILE.format(port=self._server.port, agency=AGENCY, concurrency=concurrency, hours=hours)

    def settled(self) -> None:
        """Wait until it has dealt with everything that was under way when a run ended or was killed."""
        self._server.settled()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            answer, twice = await self._answer(reader)
            if not answer:
                break
            writer.write(answer)
            await writer.drain()
            if twice:
                await asyncio.sleep(self._random.choice((0, 0, 0.002, 0.02)))
                writer.write(answer)
                await writer.drain()

    async def _answer(self, reader: asyncio.StreamReader) -> tuple[bytes, bool]:
        """Receive a request, act upon it; (the answer, whether it comes twice)."""
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(int(re.findall(rb"(?i)content-length: *([0-9]+)", head)[0]))
        plain = self._cipher.open(str(read_json(body, "the body")))
        asked = read_invoice(plain) if b" /invoice/issueInvoice " in head else read_itinerary(plain)
        self.requests += 1
        kind = "itinerary" if isinstance(asked, ItineraryRequest) else "invoice"
        issues, answer, twice = FAULTS[self._fault() if self.only in ("", kind) else "issued"]
        number, charges = "", _charges(asked)
        before = [charge for one in self.vouchers for charge in charges & one.counting]
        if issues and self.refuses_again and before:
            self.again.update(before)
            issues = False
        if issues:
            self._numbers += 1
            number = f"2{self._numbers:019}" if kind == "itinerary" else f"1{self._numbers:017}"
            told = answer == "yes"
            at = self.now() if told else self.now() + self.drift
            amounts = {charge: self.amount_of(charge) for charge in charges}
            self.vouchers.append(Voucher(number, kind, charges, at, told, amounts))
        if answer in ("429", "503", "front"):
            status = self._random.choice(IN_FRONT) if answer == "front" else int(answer)
            return _http(status, b"", "Retry-After: 0\r\n"), twice
        if not answer:
            return b"", False
        said = sealed(result(asked, success=issues, text=self.words, number=number), self._cipher)
        self._accepted = self._accepted or answer == "yes"
        return _http(
            200, envelope_bytes(SUCCESS, SUCCESS_MESSAGE, said if answer != "?" else "?", self.trace)
        ), twice

    def _fault(self) -> str:
        chance = self._random.random()
        for name, probability in self.faults.items():
            # In front of the carrier, once the key was accepted: in time for the client to have seen that.
            if (chance := chance - probability) < 0:
                if "in front" in name and not (self._accepted and self._one_at_a_time):
                    return "issued"
                return name
        return "issued"
