"""The carrier profile: a carrier's answers to what its interface leaves open.

Plain frozen values; `profile_file` fills them from a TOML file. Every default is what
carrier-interface.md shows, or the cautious reading where it shows nothing.
"""

import datetime
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pipeline.model.message import Message, message
from pipeline.model.money import MINOR

_SANDBOX = "sandbox"  # in place of an address


@dataclass(frozen=True)
class Carrier:
    """Where the service is and who we are to it."""

    base_url: str = ""  # none is made up: without it nothing is sent, and no ledger is anybody's
    agency: str = "DEMO"
    time_zone: str = "Asia/Shanghai"
    ticket_prefixes: tuple[str, ...] = ()
    ticket_no_hyphen: bool = False
    currency: str = "CNY"
    proxy: str = ""
    ca_file: str = ""


@dataclass(frozen=True)
class Codes:
    """Wire values by our own names; "" is a value that the carrier has not told us yet."""

    fee_type: Mapping[str, str] = field(
        default_factory=lambda: {"ticket_fare": "", "refund": "REFUND_FEE", "ancillary": ""}
    )
    product_type: Mapping[str, str] = field(
        default_factory=lambda: {
            "flight": "Flight", "baggage": "", "seat": "", "upgrade": "", "meal": "", "lounge": "",
        }
    )  # fmt: skip
    header_type: Mapping[str, str] = field(default_factory=lambda: {"business": "BUSINESS", "individual": ""})


@dataclass(frozen=True)
class Limits:
    """Amounts in minor units (carrier-interface.md, Limits); `max_charges_per_invoice` 0: none known."""

    domestic_invoice_max: int = 10_000 * MINOR
    international_invoice_max: int = 100_000 * MINOR
    max_charges_per_invoice: int = 0

    def of_market(self, market: str) -> int:
        """The most that one invoice of that market may amount to, in minor units."""
        return self.domestic_invoice_max if market == "domestic" else self.international_invoice_max


@dataclass(frozen=True)
class Required:
    """Buyer columns that the carrier asks for beside name, tax number and an itinerary's e-mail."""

    invoice: tuple[str, ...] = ()
    itinerary: tuple[str, ...] = ()


@dataclass(frozen=True)
class Submission:
    """How hard to press. Times in seconds; `rate_per_second` 0: no limit."""

    concurrency: int = 16
    rate_per_second: float = 0
    connect_timeout_seconds: float = 10
    response_timeout_seconds: float = 60
    keepalive_seconds: float = 2


@dataclass(frozen=True)
class Answers:
    """What an answer other than 200/success means, as far as the carrier has explained itself."""

    not_processed_http: tuple[int, ...] = (429,)
    not_processed_codes: tuple[int, ...] = ()
    rejected_codes: tuple[int, ...] = ()
    key_refused_codes: tuple[int, ...] = (401, 403)


@dataclass(frozen=True)
class Reconcile:
    """`settle_after_hours` None: a statement's silence never proves that nothing was issued."""

    settle_after_hours: float | None = None


@dataclass(frozen=True)
class ItineraryFiles:
    """`archive`: the folder in which the files are kept, "" for one beside the ledger. `seal_roots`: files with the certificates that
    a valid seal goes back to; without any, no seal is called valid, and none is asked for.
    """

    archive: str = ""
    seal_roots: tuple[str, ...] = ()


@dataclass(frozen=True)
class ApprovalTerms:
    """How many `people` a plan needs: 2: what one prepared another approves, on the page, and nothing is sent elsewhere."""

    people: int = 1


@dataclass(frozen=True)
class Profile:
    """The whole of it; sections as in interface.md ("Carrier profile")."""

    carrier: Carrier = field(default_factory=Carrier)
    codes: Codes = field(default_factory=Codes)
    limits: Limits = field(default_factory=Limits)
    required: Required = field(default_factory=Required)
    submission: Submission = field(default_factory=Submission)
    answers: Answers = field(default_factory=Answers)
    reconcile: Reconcile = field(default_factory=Reconcile)
    itinerary_files: ItineraryFiles = field(default_factory=ItineraryFiles)
    approval: ApprovalTerms = field(default_factory=ApprovalTerms)

    def wire(self, charge: str, product: str) -> tuple[str, str] | None:
        """(feeType, productType) of a charge, None while the carrier has not named both."""
        fee, kind = self.codes.fee_type.get(charge, ""), self.codes.product_type.get(product, "")
        return (fee, kind) if fee and kind else None


@dataclass(frozen=True)
class Terms:
    """What rows are judged by: the carrier's calendar day and the carrier profile."""

    as_of: datetime.date
    profile: Profile


@dataclass(frozen=True)
class Secrets:
    """The APIKEY header and the encryption key string."""

    api_key: str = field(repr=False)
    encryption_key: str = field(repr=False)


@dataclass(frozen=True)
class Owner:
    """The one carrier that a ledger belongs to."""

    base_url: str
    agency: str

    def __str__(self) -> str:
        return str(self.told)

    @property
    def told(self) -> Message:
        """The carrier, for a message."""
        if self.is_sandbox:
            return message("sandbox as agency {agency}", agency=self.agency)
        return message("{carrier} as agency {agency}", carrier=self.base_url, agency=self.agency)

    @property
    def is_sandbox(self) -> bool:
        """Whether nothing that its ledgers hold was issued by a real carrier."""
        return self.base_url == _SANDBOX


def sandbox_owner(agency: str) -> Owner:
    """The owner of ledgers of `--sandbox` runs: one carrier, though its port is another each time."""
    return Owner(_SANDBOX, agency)


def is_loopback(url: str) -> bool:
    """Whether the URL's host is this machine's loopback.

    >>> is_loopback("http://127.0.0.1:8080"), is_loopback("http://localhost"), is_loopback("http://10.0.0.1")
    (True, True, False)
    """
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
