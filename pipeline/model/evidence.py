"""Evidence about outcomes, as values: what a carrier's statement lists, what people answer, and all that is brought at once.

Amounts in minor units; times as the statement has them. `place` names file, sheet and row.
"""

import datetime
from dataclasses import dataclass, replace
from functools import cached_property

from pipeline.model.itinerary_file import KnownVoucher
from pipeline.model.message import NOTHING, Message, message
from pipeline.model.request import Identity

#: So many of our own vouchers must stand on a statement before it is believed beyond what it lists: that it numbers
#: vouchers in a way of its own, or that what it lacks was not issued. Fewer may stand there by chance.
OWN_NEEDED = 3
#: What a person may answer, in the words of either language.
_RESOLVED_AS = {
    "issued": "issued", "已开具": "issued", "已开": "issued",
    "not issued": "not_sent", "not_issued": "not_sent", "未开具": "not_sent", "未开": "not_sent",
}  # fmt: skip


@dataclass(frozen=True)
class Unsettled:
    """An attempt whose outcome is unknown, with all that was in it; `began` and `ended` are UTC, ISO 8601.

    `epoch` is the ID of its epoch, which an answer about it names in the column `ledger`. `first_asked` is when a charge of it was
    first asked for by an attempt whose outcome was unknown, this one or an earlier one; "" where a wrong clock wrote that.
    `denied` are earlier attempts at charges of it that were in doubt too, and were settled as not issued; `denial` is the entry that
    settled such a one so.
    """

    attempt_id: int
    request_id: str
    attempt: int
    voucher: str
    market: str
    header_name: str
    amount: int
    reason: str
    detail: Message
    trace_id: str
    began: str
    ended: str
    place: Message  # of its first charge
    charges: tuple[tuple[Identity, str, int], ...]  # what it is, its code for the carrier, minor units
    times_doubtful: bool  # a clock known to be wrong wrote `began` or `ended`: they prove nothing
    epoch: str
    header_type: str
    tax_no: str
    first_asked: str
    denial: str = ""
    denied: tuple["Unsettled", ...] = ()


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
    place: Message
    statement: str  # the file's name

    @property
    def identity(self) -> Identity:
        """The charge that it names; `product` may be missing in it."""
        return Identity(self.ticket_no, self.charge, self.product)

    @property
    def content(self) -> tuple[object, ...]:
        """What it says, wherever it stands."""
        return self.voucher, self.number, self.ticket_no, self.charge, self.product, self.amount

    @property
    def issued_text(self) -> str:
        """When it was issued, as ISO text; "" where the statement does not say."""
        return self.issued.isoformat() if self.issued else ""

    @property
    def issued_day(self) -> datetime.date | None:
        """The calendar day on which it was issued."""
        return self.issued.date() if isinstance(self.issued, datetime.datetime) else self.issued


@dataclass(frozen=True)
class Reversal:
    """A red line of a statement: the carrier has reversed the voucher `original`, or this charge of it.

    `voucher` and `charge` "" and `amount` None where the line does not say; the amount is above zero.
    """

    original: str
    number: str
    voucher: str
    ticket_no: str
    charge: str
    product: str
    amount: int | None
    place: Message


@dataclass(frozen=True)
class Misread:
    """A line of a statement that can't be understood, and so proves nothing; `ticket_no` "" where not even that.

    `place` is the row of the headings where these lack a column.
    """

    place: Message
    ticket_no: str
    problem: Message


@dataclass(frozen=True)
class Statement:
    """One statement of the carrier's; `written` is when its file was last written (UTC).

    `said_made` is when it was made, as the file or whoever brings it says; None where nobody does. `kinds` are the kinds of voucher that
    its columns and sheets can list; `unread` names sheets that hold something and were not read, so that it may list more than is known of
    it. Lines that are `set_aside` settle nothing: their numbers may be no vouchers'.
    """

    name: str
    sha256: str
    written: datetime.datetime
    lines: tuple[StatementLine, ...]
    misread: tuple[Misread, ...] = ()
    kinds: frozenset[str] = frozenset({"invoice", "itinerary"})
    unread: tuple[str, ...] = ()
    said_made: datetime.datetime | None = None
    reversals: tuple[Reversal, ...] = ()
    set_aside: tuple[StatementLine, ...] = ()

    @property
    def made(self) -> datetime.datetime | None:
        """When it was made, None where nobody says it. The file's time can only make it older: a copy is written later."""
        return None if self.said_made is None else min(self.said_made, self.written)


@dataclass(frozen=True)
class Answer:
    """What a person found out about one attempt, as the Unknown sheet has it. `resolution` as it was typed.

    `problem` is what is wrong with a cell of it, so that it settles nothing.
    """

    ledger_id: str
    request_id: str
    attempt: int
    resolution: str
    number: str
    resolved_by: str
    evidence: str
    place: Message
    problem: Message | None = None

    @property
    def about(self) -> tuple[str, str, int]:
        """The attempt that it is about: epoch, request and attempt."""
        return self.ledger_id, self.request_id, self.attempt

    @property
    def state(self) -> str:
        """What it says that became of the attempt: issued or not_sent; "" where that is no answer."""
        return _RESOLVED_AS.get(self.resolution.casefold(), "")

    @property
    def typed(self) -> tuple[str, str, str, str]:
        """The cells that a person fills in, in their order."""
        return self.resolution, self.number, self.resolved_by, self.evidence


@dataclass(frozen=True)
class Complete:
    """The time for which somebody says that the statements list all vouchers of a kind: [since, until), aware times.

    `kind` "": of the kinds in which they agree with the ledger.
    """

    since: datetime.datetime
    until: datetime.datetime
    text: str  # as it was said
    kind: str = ""


@dataclass(frozen=True)
class Evidence:
    """All that is brought to one reconciliation; `by` is who runs it, `settle_after` the profile's."""

    statements: tuple[Statement, ...]
    answers: tuple[Answer, ...]
    complete: tuple[Complete, ...]
    settle_after: datetime.timedelta | None
    by: str
    #: Requests and attempts about which an answer was given that lacks something: what it means is not known yet.
    unclear: frozenset[tuple[str, int]] = frozenset()
    #: Contents of lines that may be anybody's: they settle what nothing speaks against, and are not remembered where they do not.
    passing: frozenset[tuple[object, ...]] = frozenset()
    #: The IDs of attempts in doubt about which itinerary files are brought, whatever these prove.
    filed: frozenset[int] = frozenset()

    @cached_property
    def lines(self) -> tuple[StatementLine, ...]:
        """The lines of all statements, a line that stands on two of them once."""
        once: dict[tuple[object, ...], StatementLine] = {}
        for statement in self.statements:
            for line in statement.lines:
                once.setdefault(line.content, line)
        return tuple(once.values())

    @property
    def reversals(self) -> tuple[Reversal, ...]:
        """The red lines of all statements, a line that stands on two of them once."""
        once: dict[Reversal, Reversal] = {}
        for statement in self.statements:
            for red in statement.reversals:
                once.setdefault(replace(red, place=NOTHING), red)
        return tuple(once.values())

    @property
    def claimed(self) -> tuple[datetime.datetime, datetime.datetime] | None:
        """From the first to the last of the days for which the statements are said to be complete; None where nobody says it."""
        if not self.complete:
            return None
        return min(claim.since for claim in self.complete), max(claim.until for claim in self.complete)

    @property
    def set_aside(self) -> tuple[StatementLine, ...]:
        """The lines that settle nothing, for their numbers are of an odd shape."""
        return tuple(line for statement in self.statements for line in statement.set_aside)

    @property
    def misread(self) -> tuple[Misread, ...]:
        """The lines that could not be understood."""
        return tuple(misread for statement in self.statements for misread in statement.misread)


def attempt_name(attempt: Unsettled | Answer | KnownVoucher) -> Message:
    """An attempt, as messages name it."""
    return message(
        "request {request}, attempt {attempt}", request=attempt.request_id, attempt=attempt.attempt
    )
