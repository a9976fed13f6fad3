"""A mailed itinerary file, as values: what was found, what was read of it, and what it comes to.

Statuses: interface.md and itinerary-files.md. Money in minor units; dates are the issuer's; a ticket number is its 13 digits.
"""

import datetime
from dataclasses import dataclass, field
from enum import StrEnum

from pipeline.model.message import NOTHING, Message


class FileStatus(StrEnum):
    """What a file comes to. Each has exactly one."""

    RECEIVED = "received"
    DIFFERS = "differs"
    ALTERED = "altered"
    DUPLICATE = "duplicate"
    RED = "red"
    FOREIGN = "foreign"
    UNKNOWN_TICKET = "unknown_ticket"
    UNCLEAR = "unclear"
    NOT_AN_ITINERARY = "not_an_itinerary"
    UNREADABLE = "unreadable"
    LINK_ONLY = "link_only"


class SealStatus(StrEnum):
    """What the electronic seal of a file says; `valid` needs a root certificate that the profile names."""

    VALID = "valid"
    INTACT = "intact"
    NONE = "none"
    PARTIAL = "partial"
    BROKEN = "broken"
    UNSUPPORTED = "unsupported"


class FieldSource(StrEnum):
    """Where in the file a field was read, the most trusted first."""

    XBRL = "xbrl"
    CUSTOM_TAG = "custom_tag"
    PAGE = "page"


@dataclass(frozen=True)
class FoundFile:
    """A file that was found in what was given, alone or inside other files.

    `place` says where, the names of archives and mails before the name of what lay in them, for people only: it is never opened.
    `problem` is the status of what can't be looked into further (`unreadable`, `link_only`), with its reason; `content` is empty then.
    """

    place: tuple[str, ...]
    content: bytes = b""
    problem: FileStatus | None = None
    reason: Message = NOTHING


@dataclass(frozen=True)
class ItineraryData:
    """What an itinerary file says. A field that it does not have is None, or empty.

    `number` has 20 digits; `tickets` are all numbers of a conjunction set. `red_of` is the number of the voucher that a red one takes back.
    Amounts: fare + fuel + vat + fund + other_taxes = total; fare and fuel are without VAT. `sources` names for each field that
    was read where it came from; `notes` are oddities that do not make the file another one.
    """

    number: str | None = None
    tickets: tuple[str, ...] = ()
    buyer_name: str | None = None
    buyer_tax_no: str | None = None
    fare: int | None = None
    fuel: int | None = None
    vat: int | None = None
    fund: int | None = None
    other_taxes: int | None = None
    total: int | None = None
    issued_on: datetime.date | None = None
    red_of: str | None = None
    sources: dict[str, FieldSource] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()


@dataclass(frozen=True)
class ReadFile:
    """A file as it was read: its data and its seal, or why there is none.

    `problem` is `altered` (with data), `not_an_itinerary`, `unreadable`, or `unclear` (an itinerary without number or ticket); None: to be
    matched. `reasons` say why, one message each.
    """

    data: ItineraryData | None
    seal: SealStatus
    problem: FileStatus | None = None
    reasons: tuple[Message, ...] = ()


@dataclass(frozen=True)
class CheckedFile:
    """A file that was found, read and kept: its bytes are told by their SHA-256 alone.

    `archived` is its path below the archive's folder, "" for what is not kept; `problem` and `reasons` as in ReadFile.
    """

    place: tuple[str, ...]
    sha256: str
    data: ItineraryData | None
    seal: SealStatus
    problem: FileStatus | None = None
    reasons: tuple[Message, ...] = ()
    archived: str = ""


@dataclass(frozen=True)
class KnownVoucher:
    """A ticket's voucher as the ledger has it: issued, reversed, or asked for and its outcome unknown (`state`).

    `attempt_id` None: a statement alone shows it, and `amount` None: it does not say that. `first` and `last`: the days, where the
    carrier is, on which it can have been issued; None where that is not known.
    """

    attempt_id: int | None
    request_id: str
    attempt: int
    voucher: str
    state: str
    number: str
    ticket_no: str
    header_name: str
    tax_no: str
    amount: int | None
    first: datetime.date | None = None
    last: datetime.date | None = None


@dataclass(frozen=True)
class EarlierFile:
    """What the ledger noted of a file: its SHA-256, status, and the attempt that it is of."""

    sha256: str
    status: FileStatus
    attempt_id: int | None


@dataclass(frozen=True)
class CollectedFile:
    """What a file comes to: its status and why, and the voucher of the ledger that it is about.

    `same`: a file of exactly this content was received before. `new`: the ledger does not have it so yet. `done`: the ledger
    has what it tells of, the reversal of an itinerary.
    """

    file: CheckedFile
    status: FileStatus
    reasons: tuple[Message, ...] = ()
    of: KnownVoucher | None = None
    same: bool = False
    new: bool = True
    done: bool = False


@dataclass(frozen=True)
class NotReceived:
    """An issued itinerary of which no file was received; `status` is that of the last file about it, `missing` where there is none.

    `issued` is the day where the carrier is, `days` how many went by since.
    """

    number: str
    ticket_no: str
    header_name: str
    email: str
    amount: int
    issued: datetime.date
    days: int
    status: str
    request_id: str
