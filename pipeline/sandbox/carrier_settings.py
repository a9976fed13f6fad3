"""What carrier-interface.md leaves open, as this carrier has settled it; and its secrets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo
from pathlib import Path


def _now() -> datetime:
    return datetime.now().astimezone()


@dataclass(frozen=True, kw_only=True)
class SandboxSettings:
    """One carrier's answers to what the interface marks "not shown".

    The codes go from the vocabulary's names (`ticket_fare`, `baggage`, `business`) to what stands on
    the wire; a name without a code, or with a blank one, is something this carrier does not issue.
    `as_of` is the carrier's today, asked anew for each request. `now` stamps the statement; it must
    know its time zone. Limits are in minor units of the currency. Without a `statement` the carrier
    forgets what it issued when it stops. The files of itineraries are mailed into the folder `deliver_to`, with dates of the
    time zone `zone` (None: this machine's).
    """

    agency: str
    api_key: str = field(repr=False)
    encryption_key: str = field(repr=False)
    as_of: Callable[[], date]
    fee_type: Mapping[str, str]
    product_type: Mapping[str, str]
    header_type: Mapping[str, str]
    domestic_invoice_max: int
    international_invoice_max: int
    statement: Path | None = None
    deliver_to: Path | None = None
    zone: tzinfo | None = None
    now: Callable[[], datetime] = _now
