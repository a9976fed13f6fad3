"""What is asked of the carrier: one voucher's charges, its buyer, and an identity made of content."""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Identity:
    """A charge's identity: what it is, never where it stood (no file name, no row number)."""

    ticket_no: str
    charge: str
    product: str


def wire_text(code: tuple[str, str] | None) -> str:
    """A charge's (feeType, productType) as one text; "" while the carrier has not named both.

    >>> wire_text(("TICKET_FARE", "Flight"))
    'TICKET_FARE/Flight'
    """
    return "/".join(code) if code else ""


@dataclass(frozen=True, slots=True)
class Charge:
    """One charge on one ticket. `amount` in minor units; `row` is its position among all charges (Rows)."""

    identity: Identity
    passenger_name: str
    amount: int
    row: int
    wire: tuple[str, str] | None  # (feeType, productType); None for a fare that only goes as itinerary


@dataclass(frozen=True, slots=True)
class Header:
    """The buyer as a voucher names it; `remarks` stands on invoices only."""

    header_type: str
    header_name: str
    tax_no: str
    phone: str
    email: str
    remarks: str = ""

    @property
    def values(self) -> tuple[str, ...]:
        """All of it, in the order of HEADER."""
        found: tuple[str, ...] = _VALUES(self)
        return found


#: What a header holds, by the names of its columns.
HEADER = tuple(field.name for field in fields(Header))
_VALUES = attrgetter(*HEADER)


class Asked(NamedTuple):
    """What has to be known of a request to understand an answer to it: its voucher, and the ticket number of each of its charges."""

    voucher: str
    tickets: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """One request to the carrier. An itinerary holds exactly one charge, a ticket's fare."""

    voucher: str  # invoice, itinerary
    market: str
    header: Header
    charges: tuple[Charge, ...]

    @cached_property
    def amount(self) -> int:
        """The total in minor units."""
        return sum(charge.amount for charge in self.charges)

    @property
    def asked(self) -> Asked:
        """What an answer is read by."""
        return Asked(self.voucher, tuple([charge.identity.ticket_no for charge in self.charges]))

    def content_of(self, charge: Charge) -> str:
        """All that is asked for a charge, as a digest: the same for a row that is unchanged, whatever is beside it."""
        return content_digest(self.voucher, self.market, self.header, charge)

    @cached_property
    def request_id(self) -> str:
        """The same content has the same ID, in whichever run or file it is asked for."""
        charges = sorted(
            (c.identity.ticket_no, c.identity.charge, c.identity.product, c.passenger_name, c.amount)
            for c in self.charges
        )
        each = [
            f"[{as_json(ticket_no)},{as_json(charge)},{as_json(product)},{as_json(passenger_name)},{amount}]"
            for ticket_no, charge, product, passenger_name, amount in charges
        ]
        return content_id(listed((self.voucher, self.market)), listed(self.header.values), each)


#: A text as JSON; lists of them are written here: a month has hundreds of thousands, and json takes twice as long.
as_json: Callable[[str], str] = json.encoder.encode_basestring_ascii


def listed(texts: Iterable[str]) -> str:
    """Texts as JSON has them in a list."""
    return ",".join(map(as_json, texts))


def content_id(kind: str, header: str, charges: Iterable[str]) -> str:
    """The ID of a request: the digest of its voucher and market, its header, and its charges in order, each as JSON."""
    content = f"[[{kind}],[{header}],[{','.join(charges)}]]"
    return f"R{hashlib.sha256(content.encode()).hexdigest()[:19]}"


def content_digest(voucher: str, market: str, header: Header, charge: Charge) -> str:
    """What is asked for one charge, as a digest of it as JSON."""
    identity = charge.identity
    asked = (
        voucher, market, *header.values, identity.ticket_no, identity.charge, identity.product, charge.passenger_name,
    )  # fmt: skip
    content = f"[{listed(asked)},{charge.amount}]"
    return hashlib.sha256(content.encode()).hexdigest()[:20]
