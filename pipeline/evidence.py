"""Evidence about outcomes, as values: what a carrier's statement lists, and what people answer.

Amounts in minor units; times as the statement has them. `place` names file, sheet and row.
"""

import datetime
from dataclasses import dataclass

from pipeline.request import Identity


@dataclass(frozen=True)
class Unsettled:
    """An attempt whose outcome is unknown, with all that was in it; `began` and `ended` are UTC, ISO 8601."""

    attempt_id: int
    request_id: str
    attempt: int
    voucher: str
    market: str
    header_name: str
    amount: int
    reason: str
    detail: str
    trace_id: str
    began: str
    ended: str
    place: str  # of its first charge
    charges: tuple[tuple[Identity, str, int], ...]  # what it is, its code for the carrier, minor units


@dataclass(frozen=True)
class StatementLine:
    """One issued charge on the carrier's statement.

    `product` is "" where the statement does not say which ancillary product it was; `amount` None and
    `issued` None where it says nothing of them.
    """

    voucher: str
    number: str
    ticket_no: str
    charge: str
    product: str
    amount: int | None
    issued: datetime.datetime | datetime.date | None
    buyer: str
    place: str
    statement: str  # the file's name

    @property
    def issued_text(self) -> str:
        """When it was issued, as ISO text; "" where the statement does not say."""
        return self.issued.isoformat() if self.issued else ""

    @property
    def issued_day(self) -> datetime.date | None:
        """The calendar day on which it was issued."""
        return self.issued.date() if isinstance(self.issued, datetime.datetime) else self.issued


@dataclass(frozen=True)
class Misread:
    """A line of a statement that can't be understood, and so proves nothing; `ticket_no` "" where not even that."""

    place: str
    ticket_no: str
    problem: str


@dataclass(frozen=True)
class Statement:
    """One statement of the carrier's; `made` is when its file was last written (UTC).

    `kinds` are the kinds of voucher that its columns and sheets can list; `unread` names sheets that hold something
    and were not read, so that it may list more than is known of it.
    """

    name: str
    sha256: str
    made: datetime.datetime
    lines: tuple[StatementLine, ...]
    misread: tuple[Misread, ...] = ()
    kinds: frozenset[str] = frozenset({"invoice", "itinerary"})
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a person found out about one attempt, as the Unknown sheet has it. `resolution` as it was typed."""

    ledger_id: str
    request_id: str
    attempt: int
    resolution: str
    number: str
    resolved_by: str
    evidence: str
    place: str


@dataclass(frozen=True)
class Complete:
    """The time for which somebody says that the statements list everything: [since, until), aware times."""

    since: datetime.datetime
    until: datetime.datetime
    text: str  # as it was said
