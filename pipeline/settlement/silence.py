"""When what a carrier's statement does not list was not issued: what has to be known of it first.

Silence settles an outcome for good, and what it settles wrongly is issued twice. So whoever runs a reconciliation has
to say for which kind of voucher and which days the statements are complete, and that alone proves nothing either:

- the statements must list at least OWN_NEEDED other requests of this ledger of that kind, issued in those days, one of
  them before the doubtful one and one after it, and lack none (another agency's statement or a broken off one would not).
  For each of its charges there must be one before and one after it of that charge and product, its market and its buyer
  (`Traits`): a statement that is filtered by any of these would not list such. What a wrong clock dated is neither before
  nor after. And in the orders in which people sort and filter (`Places`) there must be one below and one above each of its charges,
  or others of the same value before and after it: what was cut off after a page, or filtered by ticket or amount, lists all
  between any two that it lists. Where the doubtful one is the lowest or the highest that this ledger knows, silence can't
  be told from such a filter;
- it must be known when they were made: from the file itself, or said. A file's own time only makes it older;
- the request must have begun an hour after the days' begin, and ended an hour and `settle_after` before their end and
  before the statements were made: clocks differ;
- its times must not be those of a clock that is known to have been wrong;
- every line and every sheet of the statements must be understood, as far as it may be about that request, and every line of
  its tickets must be known for what it is: the carrier may call the doubtful charge by another's word.
"""

import datetime
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.model.evidence import (
    OWN_NEEDED,
    Complete,
    Evidence,
    Statement,
    StatementLine,
    Unsettled,
)
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import N_, NOTHING, Fact, Message, Private, SheetName, Term, joined, message
from pipeline.model.request import Identity
from pipeline.model.settled import Trouble
from pipeline.settlement.match import MatchedLines

#: What clocks here and at the carrier may differ by, and a statement's days from the carrier's.
MARGIN = datetime.timedelta(hours=1)
_KINDS = ("invoice", "itinerary")
_MINUTE = "%Y-%m-%d %H:%M"

#: What a statement may be filtered by, of a charge: charge, product, market, type of header, name and tax number of the
#: buyer, as they were asked for.
Traits = tuple[str, ...]
_OF_OURS = 4  # of them choices of columns

#: Where the charges of a request stand in the orders in which people sort statements, cut them off and filter them.
Places = Mapping[str, Sequence[int]]
_TICKET_NO, _AMOUNT, _TOTAL = N_("ticket number"), N_("amount"), N_("total amount")


@dataclass(frozen=True)
class Issued:
    """A request that this ledger has issued; `agreed` where the statements list all of it, as the ledger has it."""

    voucher: str
    number: str
    at: datetime.datetime
    listed: bool
    agreed: bool
    traits: frozenset[Traits]  # of each charge
    places: Places
    times_doubtful: bool


@dataclass(frozen=True)
class Completeness:
    """What is said of the statements together: `issued` is what this ledger issued in the days of `claims`."""

    claims: Sequence[Complete]
    statements: Sequence[Statement]
    lines: Sequence[StatementLine]
    unread: Sequence[str]  # the tickets of lines that can't be understood; "" where not even that
    issued: Sequence[Issued]
    settle_after: datetime.timedelta | None

    @property
    def made(self) -> datetime.datetime | None:
        """When the oldest of them was made; None where one does not say."""
        times = [statement.made for statement in self.statements]
        known = [time.astimezone(datetime.UTC) for time in times if time]
        return min(known, default=None) if len(known) == len(times) else None

    def lacking(self) -> Iterator[tuple[Complete, str, list[Issued]]]:
        """(claim, kind, what it must list and does not): the statements are not complete there, whoever says so."""
        for claim in self.claims:
            for kind in _KINDS:
                missing = self._lacking(claim, kind)
                if missing and (claim.kind or any(one.listed for one in self._of(claim, kind))):
                    yield claim, kind, missing

    def _of(self, claim: Complete, kind: str) -> list[Issued]:
        if claim.kind not in ("", kind):
            return []
        return [one for one in self.issued if one.voucher == kind and claim.since <= one.at < claim.until]

    def _lacking(self, claim: Complete, kind: str) -> list[Issued]:
        last = self._last(claim)
        return [
            one
            for one in self._of(claim, kind)
            if not one.listed and last is not None and claim.since + MARGIN <= one.at <= last
        ]

    def _last(self, claim: Complete) -> datetime.datetime | None:
        """The latest end of a request that these statements must list if it was issued; None where that is not known."""
        if self.made is None or self.settle_after is None:
            return None
        return min(claim.until, self.made) - self.settle_after - MARGIN

    def unproven(self, attempt: Unsettled) -> Message:
        """Why it proves nothing about an attempt that the statements do not list it; NOTHING where it proves that nothing was issued."""
        kind = attempt.voucher
        claims = [claim for claim in self.claims if claim.kind in ("", kind)]
        if objection := self._of_all(kind) or self._unread(attempt):
            return objection
        if attempt.times_doubtful:
            return message("a clock that is known to have been wrong wrote when it was sent")
        if not claims:
            return message(
                "nobody says that they are complete for this kind ({kind})", kind=Term(kind, "choice")
            )
        reasons = [self._of_claim(claim, attempt) for claim in claims]
        return reasons[0] if all(reasons) else NOTHING

    def claim_for(self, attempt: Unsettled) -> tuple[Complete, int]:
        """(what was said of the time of an attempt about which silence proves something, how many others of its kind they list)."""
        claim = next(claim for claim in self.claims if not self._of_claim(claim, attempt))
        return claim, sum(one.agreed for one in self._of(claim, attempt.voucher))

    def _of_all(self, kind: str) -> Message:
        """What the statements lack, whatever the attempt."""
        if self.settle_after is None:
            return message(
                "the profile does not say how long after a request the carrier's statement lists it; set settle_after_hours"
                " under [reconcile]"
            )
        if not self.lines:  # cut short, or not written yet
            return message("they list nothing")
        if unsaid := [statement.name for statement in self.statements if statement.made is None]:
            return message(
                "{files} does not say when it was made; say it with --statement-made", files=joined(unsaid)
            )
        if unread := [SheetName(name) for statement in self.statements for name in statement.unread]:
            return message("there are sheets that were not read: {sheets}", sheets=joined(unread))
        if not any(kind in statement.kinds for statement in self.statements):
            return message("they list vouchers of another kind (not {kind})", kind=Term(kind, "choice"))
        return NOTHING

    def _unread(self, attempt: Unsettled) -> Message:
        """The lines that can't be understood and may be about an attempt."""
        tickets = {identity.ticket_no for identity, _, _ in attempt.charges}
        count = sum(not ticket_no or ticket_no in tickets for ticket_no in self.unread)
        return message("{count} lines that may be about it can't be read", count=count) if count else NOTHING

    def _of_claim(self, claim: Complete, attempt: Unsettled) -> Message:
        """Why what was said of some days proves nothing about an attempt."""
        began, ended = (datetime.datetime.fromisoformat(text) for text in (attempt.began, attempt.ended))
        last, made, kind = self._last(claim), self.made, attempt.voucher
        if last is None or made is None or self.settle_after is None:  # said by _of_all
            return message("when they were made is not known")
        if began < claim.since + MARGIN or ended > last:
            hours = (self.settle_after + MARGIN) / datetime.timedelta(hours=1)
            return message(
                "it must have begun an hour after {since}, and ended {hours} hours before {until} and before the statement was made"
                " ({made} UTC)",
                since=f"{claim.since:{_MINUTE}}",
                hours=f"{hours:g}",
                until=f"{claim.until:{_MINUTE}}",
                made=f"{made:{_MINUTE}}",
            )
        if self._lacking(claim, kind):
            return message("they lack others of that kind ({kind})", kind=Term(kind, "choice"))
        agreed = [one for one in self._of(claim, kind) if one.agreed]
        timed = [one for one in agreed if not one.times_doubtful]
        before = [one.traits for one in timed if one.at <= ended]
        after = [one.traits for one in timed if one.at >= began]
        if len(agreed) < OWN_NEEDED or not before or not after:
            return message(
                "they must list at least {needed} others of that kind ({kind}) that this ledger issued in those days, one of them"
                " before it and one after it; they list {count} ({before} before, {after} after)",
                needed=OWN_NEEDED,
                kind=Term(kind, "choice"),
                count=len(agreed),
                before=len(before),
                after=len(after),
            )
        return _unlike(attempt, before, after) or _beyond(attempt, began, ended, timed)


def _unlike(
    attempt: Unsettled, before: Sequence[frozenset[Traits]], after: Sequence[frozenset[Traits]]
) -> Message:
    """Whether the statements may leave out what is like it."""
    for alike in sorted({_traits(identity, attempt) for identity, _, _ in attempt.charges}):
        for side, others in ((message("before"), before), (message("after"), after)):
            if lacking := _lacking_of(alike, others):
                return message(
                    "they list no other that is like it ({traits}) and that this ledger issued {side} it, so that they may leave such"
                    " out",
                    traits=joined(lacking),
                    side=side,
                )
    return NOTHING


def _beyond(
    attempt: Unsettled, began: datetime.datetime, ended: datetime.datetime, others: Sequence[Issued]
) -> Message:
    """Whether it is at an end of all that they list in an order in which they may be cut off or filtered."""
    for order, own in _places([(identity, amount) for identity, _, amount in attempt.charges]).items():
        listed = [(value, one.at) for one in others for value in one.places[order]]
        low, high = min(listed)[0], max(listed)[0]
        for value in own:
            alike = [at for other, at in listed if other == value]
            # Those of one amount may be listed in the order of their times, or the other way round.
            if low < value < high or (alike and min(alike) <= ended and max(alike) >= began):
                continue
            return message(
                "they list no other that this ledger issued in those days and whose {order} is {side}, nor others of the same before and"
                " after it, so that they may be cut off or filtered there; ask the carrier, and answer on the sheet Unknown",
                order=Message(order),
                side=message("lower") if value <= low else message("higher"),
            )
    return NOTHING


def issued_requests(holdings: Sequence[KnownCharge], lines: MatchedLines) -> list[Issued]:
    """The requests of charges that were issued, and whether the statements list them."""
    listed = lines.by_charge
    requests: dict[tuple[str, int], list[KnownCharge]] = defaultdict(list)
    for holding in holdings:
        requests[holding.request_id, holding.attempt].append(holding)
    return [
        Issued(
            of[0].voucher,
            of[0].number,
            datetime.datetime.fromisoformat(of[0].at),
            listed=all(one.identity in listed for one in of),
            agreed=all(any(agrees(one, line) for line in listed.get(one.identity, ())) for one in of),
            traits=frozenset(_traits(one.identity, one) for one in of),
            places=_places([(one.identity, one.amount) for one in of]),
            times_doubtful=any(one.times_doubtful for one in of),
        )
        for of in requests.values()
    ]


def _traits(identity: Identity, of: KnownCharge | Unsettled) -> Traits:
    return identity.charge, identity.product, of.market, of.header_type, of.header_name, of.tax_no


def _places(charges: Sequence[tuple[Identity, int]]) -> Places:
    return {
        _TICKET_NO: [int(identity.ticket_no) for identity, _ in charges],
        _AMOUNT: [amount for _, amount in charges],
        _TOTAL: [sum(amount for _, amount in charges)],
    }


def _lacking_of(alike: Traits, others: Sequence[frozenset[Traits]]) -> list[Fact]:
    """As many of these traits as none of the others has together, the last of them what is lacking; none where one is alike."""
    ahead = (alike[:many] for many in range(1, len(alike) + 1))
    had = {other[:many] for traits in others for other in traits for many in range(1, len(alike) + 1)}
    return next((_words(words) for words in ahead if words not in had), [])


def _words(traits: Traits) -> list[Fact]:
    """Traits as facts of a message: the first are choices of ours, a buyer's name and tax number are somebody's."""
    ours, theirs = traits[:_OF_OURS], traits[_OF_OURS:]
    return [
        *(Term(word, "choice") for word in ours if word),
        *(Private(word, whole=True) for word in theirs if word),
    ]


def agrees(holding: KnownCharge, line: StatementLine) -> bool:
    """Whether a line says what the ledger says. An invoice's number may be the carrier's own."""
    return (
        line.voucher == holding.voucher
        and line.amount in (None, holding.amount)
        and (line.voucher == "invoice" or line.number == holding.number)
    )


@dataclass(frozen=True)
class Silence:
    """What the statements do not list; `held` is what the ledger holds of the tickets on `lines` and of those in doubt."""

    evidence: Evidence
    lines: MatchedLines
    held: Mapping[Identity, KnownCharge]
    complete: Completeness

    @property
    def claimed(self) -> bool:
        """Whether somebody says of statements that they are complete."""
        return bool(self.evidence.complete and self.evidence.statements)

    def unproven(self, attempt: Unsettled) -> Message:
        """Why it proves nothing that the statements do not list an attempt; NOTHING where they would if it had been issued."""
        if (attempt.request_id, attempt.attempt) in self.evidence.unclear:
            return message("an answer about it lacks something; complete the answer first")
        return self._not_known(attempt) or self.complete.unproven(attempt)

    def _not_known(self, attempt: Unsettled) -> Message:
        """A line of one of its tickets that is not that of another charge held as issued: it may be the doubtful one's.

        Whatever charge it names. One voucher of ours explains one number.
        """
        explained: dict[Identity, str] = {}
        for ticket_no in sorted({identity.ticket_no for identity, _, _ in attempt.charges}):
            for line, identity in self.lines.by_ticket.get(ticket_no, ()):
                if (
                    identity is None
                    or (holding := self.held[identity]).state != "issued"
                    or holding.elsewhere
                    or not agrees(holding, line)
                    or explained.setdefault(identity, line.number) != line.number
                ):
                    return message(
                        "they list a voucher of ticket {ticket_no} ({number}) that is none of those known here",
                        ticket_no=ticket_no,
                        number=line.number,
                    )
        return NOTHING

    def told(self, attempt: Unsettled) -> Message:
        """The evidence for an attempt about which silence proves something."""
        evidence = self.evidence
        names = joined(f"{statement.name} ({statement.sha256[:12]})" for statement in evidence.statements)
        claim, others = self.complete.claim_for(attempt)
        return message(
            "not on the carrier's statement {names}, which {by} says is complete for {days}, and which lists {count} others of that"
            " kind",
            names=names,
            by=evidence.by,
            days=claim.text,
            count=others,
        )

    def incomplete(self) -> list[Trouble]:
        """Statements that lack what this ledger issued in their time are not complete, whoever says so."""
        names = joined(statement.name for statement in self.evidence.statements)
        return [
            Trouble(
                "contradiction",
                names,
                message(
                    "is said to be complete for {days}, and lacks {count} requests of that kind ({kind}) that were issued then, such"
                    " as {number}; so what it does not list of them is not taken for not issued",
                    days=claim.text,
                    count=len(lacking),
                    kind=Term(kind, "choice"),
                    number=lacking[0].number,
                ),
            )
            for claim, kind, lacking in self.complete.lacking()
        ]
