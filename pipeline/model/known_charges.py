"""What a ledger says of charges, as plain values that the rules can judge by."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from pipeline.model.message import Message, from_text, message
from pipeline.model.places import held_at
from pipeline.model.request import Identity, Request, wire_text


@dataclass(frozen=True, slots=True)
class KnownCharge:
    """A charge in a live attempt: issued, or in doubt (`state` is issued or unknown).

    `amount` in minor units; `at` is the UTC time of the attempt, ISO 8601; `reason` and `detail` say why it is unknown, or was until
    evidence settled it as issued. `elsewhere`: known from a carrier's statement alone, with `file` saying which and where, and `issued_at`
    as the statement has it. `in_hand`: another run is sending it, and a ledger that hears of whoever sends says so. `market` and
    `times_doubtful` (a wrong clock may have written `at`) are known of what was issued in some days alone.
    """

    identity: Identity
    wire: str
    voucher: str
    state: str
    number: str
    amount: int
    header_type: str
    header_name: str
    tax_no: str
    request_id: str
    attempt: int
    run: int
    at: str
    reason: str
    detail: Message
    file: str
    sheet: str
    row: int
    elsewhere: bool = False
    issued_at: str = ""
    market: str = ""
    times_doubtful: bool = False
    in_hand: bool = False

    def day(self, time_zone: str) -> str:
        """The attempt's calendar day where the carrier is."""
        return self.issued_at[:10] or day_of(self.at, time_zone)

    @property
    def place(self) -> Message:
        """The workbook row that it was issued from, for a message."""
        return from_text(self.file) if self.elsewhere else held_at(self.file, self.sheet, self.row, self.run)


def day_of(at: str, time_zone: str) -> str:
    """The calendar day of a UTC time in a time zone.

    >>> day_of("2026-11-20T23:30:00.000+00:00", "Asia/Shanghai")
    '2026-11-21'
    """
    return str(datetime.datetime.fromisoformat(at).astimezone(ZoneInfo(time_zone)).date())


def in_doubt_since(day: str, place: Message) -> Message:
    """What is put before the reason of a doubt that an earlier run left."""
    return message("In doubt since {day}, {place}: ", day=day, place=place)


@dataclass(frozen=True)
class Refusal:
    """The carrier's no to a charge, which was the last thing asked for it; `content` says what was asked.

    `reversed_number`: it was issued under this number, which the carrier has reversed since; "" where it said no.
    """

    content: str
    detail: Message
    reversed_number: str = ""


@dataclass(frozen=True)
class Doubts:
    """Charges that ever had an unknown attempt: what they are, and (ticket, code) as the carrier was told."""

    identities: frozenset[Identity] = frozenset()
    wires: frozenset[tuple[str, str]] = frozenset()

    def about(self, request: Request) -> bool:
        """Whether the carrier's no to this request may mean that a charge of it is issued already."""
        return bool(self.identities or self.wires) and any(
            charge.identity in self.identities
            or (charge.identity.ticket_no, wire_text(charge.wire)) in self.wires
            for charge in request.charges
        )


@dataclass(frozen=True)
class KnownCharges:
    """All that the ledger knows of some tickets.

    `held` by identity; `apart` are charges whose invoice of several was rejected, so that they go one
    to a request from now on; `doubts` are those that were ever unknown; `both_kinds` are tickets of whose fare or
    refund statements show invoices and itineraries, so that neither kind can be asked for any more.
    """

    held: Mapping[Identity, KnownCharge] = field(default_factory=dict)
    apart: frozenset[Identity] = frozenset()
    doubts: Doubts = field(default_factory=Doubts)
    both_kinds: frozenset[str] = frozenset()
