"""What evidence settles: the carrier's statements and people's answers, against the unknown outcomes.

An outcome is settled only where all that is said of it agrees. A contradiction settles nothing, and is
reported with both sides. What a statement does not list is settled as not issued only where somebody says that
the statements are complete, and only long enough before they were made (carrier-interface.md shows no way to ask
the carrier, so a statement is all there is).
"""

import datetime
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from pipeline.model.evidence import (
    Answer,
    Complete,
    Misread,
    Reversal,
    Statement,
    StatementLine,
    Unsettled,
)
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import NOTHING, Fact, Message, SheetName, Term, joined, message, verbatim
from pipeline.model.places import about
from pipeline.model.request import Identity
from pipeline.settlement.completeness import Completeness, agrees, issued_requests
from pipeline.settlement.match import matched
from pipeline.settlement.voucher_numbers import has_shape

#: What a person may answer, in the words of either language.
RESOLVED_AS = {
    "issued": "issued", "已开具": "issued", "已开": "issued",
    "not issued": "not_sent", "not_issued": "not_sent", "未开具": "not_sent", "未开": "not_sent",
}  # fmt: skip


_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Settled:
    """An unknown outcome that the evidence decides: issued under a number, or not_sent."""

    attempt: Unsettled
    state: str
    number: str
    settled_by: str
    evidence: Message
    answered: str = ""  # the evidence as a person typed it, without its place
    place: Message = NOTHING  # where it stands


@dataclass(frozen=True)
class Trouble:
    """Evidence that settles nothing, and why: a person has to look at it."""

    code: str  # contradiction, stale, incomplete, misread, ambiguous, withdrawn
    place: Fact  # where it stands, or the name of a statement
    message: Message


@dataclass(frozen=True)
class Decided:
    """What the evidence comes to. `found` says of each statement line which charge of ours it speaks of."""

    settled: tuple[Settled, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    warnings: tuple[Message, ...] = ()
    elsewhere: tuple[StatementLine, ...] = ()
    lines: tuple[StatementLine, ...] = ()
    found: Mapping[int, Identity | None] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()  # why silence proved nothing
    answers: tuple[Answer, ...] = ()  # all but those whose evidence was withdrawn


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

    @property
    def lines(self) -> tuple[StatementLine, ...]:
        """The lines of all statements, a line that stands on two of them once."""
        once: dict[tuple[object, ...], StatementLine] = {}
        for statement in self.statements:
            for line in statement.lines:
                once.setdefault(_content(line), line)
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
    def set_aside(self) -> tuple[StatementLine, ...]:
        """The lines that settle nothing, for their numbers are of an odd shape."""
        return tuple(line for statement in self.statements for line in statement.set_aside)

    @property
    def misread(self) -> tuple[Misread, ...]:
        """The lines that could not be understood."""
        return tuple(misread for statement in self.statements for misread in statement.misread)


def decide(  # noqa: PLR0913 - everything that is weighed
    unsettled: Sequence[Unsettled],
    evidence: Evidence,
    held: Mapping[Identity, KnownCharge],
    taken: Mapping[str, Fact],
    earlier: Sequence[StatementLine] = (),
    issued: Sequence[KnownCharge] = (),
    gone: Mapping[Identity, tuple[str, str]] = MappingProxyType({}),
) -> Decided:
    """Weigh the evidence; nothing is changed here.

    `held` is what the ledger holds of the tickets on the statements and of those in doubt; `taken` says of a number
    what has it already; `earlier` is what earlier statements showed of the tickets in doubt and under
    the numbers that are brought; `issued` is what this ledger issued in the days for which the statements are said to be
    complete; `gone` are charges whose voucher was reversed: its number, and when that was recorded (UTC, ISO 8601).
    """
    known = set(map(_content, evidence.lines))
    lines = (*evidence.lines, *(line for line in earlier if _content(line) not in known))
    found = matched(lines, held)
    complete = Completeness(
        evidence.complete,
        evidence.statements,
        evidence.lines,
        # A red line may be about whatever was issued of its ticket.
        [*evidence.misread, *(Misread(red.place, red.ticket_no, NOTHING) for red in evidence.reversals)],
        issued_requests(issued, evidence.lines, {at: found[at] for at in range(len(evidence.lines))}),
        evidence.settle_after,
    )
    weighing = _Weighing(evidence, lines, found, held, taken, complete, gone)
    weighing.check_complete()
    for attempt in unsettled:
        weighing.weigh(attempt)
    weighing.keep_numbers_apart()
    troubles = [
        Trouble(
            "misread", misread.place, message("{problem}; the line proves nothing", problem=misread.problem)
        )
        for misread in evidence.misread
    ]
    troubles += [
        Trouble(
            "misread",
            statement.name,
            message(
                "sheet {sheet} was not read: it is hidden, or has no headings of a statement",
                sheet=SheetName(name),
            ),
        )
        for statement in evidence.statements
        for name in statement.unread
    ]
    return Decided(
        tuple(weighing.settled),
        (*weighing.troubles, *troubles, *weighing.unclear()),
        tuple(weighing.warnings()),
        tuple(weighing.elsewhere()),
        evidence.lines,
        {at: found[at] for at in range(len(evidence.lines))},
        tuple(weighing.notes()),
    )


class _Weighing:
    """One reconciliation's evidence, attempt by attempt."""

    def __init__(  # noqa: PLR0913 - everything that is weighed
        self,
        evidence: Evidence,
        lines: Sequence[StatementLine],
        found: Mapping[int, Identity | None],
        held: Mapping[Identity, KnownCharge],
        taken: Mapping[str, Fact],
        complete: Completeness,
        gone: Mapping[Identity, tuple[str, str]],
    ) -> None:
        self.settled: list[Settled] = []
        self.troubles: list[Trouble] = []
        self._evidence = evidence
        self._lines = lines
        self._found = found
        self._held = held
        self._taken = taken
        self._complete = complete
        self._gone = gone
        self._unproven: Counter[Message] = Counter()
        self._of: dict[Identity, list[StatementLine]] = defaultdict(list)
        self._tickets: dict[str, list[int]] = defaultdict(list)
        self._numbers: dict[str, list[int]] = defaultdict(list)
        for at, line in enumerate(lines):
            identity = found[at]
            if identity is not None:
                self._of[identity].append(line)
            self._tickets[line.ticket_no].append(at)
            self._numbers[line.number].append(at)
        self._doubtful = {
            (i.ticket_no, i.charge) for i, holding in held.items() if holding.state == "unknown"
        }
        self._answers: dict[tuple[str, int], list[Answer]] = defaultdict(list)
        for answer in evidence.answers:
            self._answers[answer.request_id, answer.attempt].append(answer)

    def check_complete(self) -> None:
        """Statements that lack what this ledger issued in their time are not complete, whoever says so."""
        names = joined(statement.name for statement in self._evidence.statements)
        self.troubles += [
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
            for claim, kind, lacking in self._complete.lacking()
        ]

    def weigh(self, attempt: Unsettled) -> None:
        """Settle one attempt, report what contradicts itself about it, or leave it as it is."""
        answers = self._answers.get((attempt.request_id, attempt.attempt), [])
        listed, problem = self._listed(attempt)
        said = {(RESOLVED_AS[answer.resolution.casefold()], answer.number) for answer in answers}
        if not problem and len(said) > 1:
            problem = message(
                "the answers to it contradict each other ({places}); clear the wrong one",
                places=joined((answer.place for answer in answers), "sentences"),
            )
        answer = answers[0] if answers else None
        state, number = next(iter(said)) if said else ("", "")
        of_others = self._of_denied(attempt) if problem else ()
        # It lists a part of it, under the number that the answer has; or all that it lists is that of earlier attempts.
        agree = self._agree(attempt, number) if state == "issued" else state and of_others
        if problem and len(said) == 1 and agree:
            self._settle(attempt, state, number, answer)
            return
        if (
            not problem
            and listed is not None
            and answer is not None
            and (state, number) != ("issued", listed)
        ):
            problem = message(
                "the statement lists it as {listed}, and {place} says {told}",
                listed=listed,
                place=answer.place,
                told=issued_as(number) if state == "issued" else message("not issued"),
            )
        silent = listed is None and not problem and self._silence_proves(attempt)
        if not problem and silent and state == "issued" and answer is not None:
            problem = message(
                "{place} says issued as {number}, and the statement, said to be complete, does not list it",
                place=answer.place,
                number=number,
            )
        if problem:
            if of_others:
                one = of_others[0]
                problem = message(
                    "{problem}. It may be that of request {request}, attempt {attempt}, which was said not to be issued ({entry}). If"
                    " only that one was issued, answer “not issued” to this one, then withdraw {entry}",
                    problem=problem,
                    request=one.request_id,
                    attempt=one.attempt,
                    entry=one.denial,
                )
            self.troubles.append(Trouble("contradiction", name_of(attempt), problem))
        elif listed is not None:
            self._settle(attempt, "issued", listed, answer, self._of[attempt.charges[0][0]][0].place)
        elif answer is not None:
            self._settle(attempt, state, number, answer)
        elif silent:
            self._settle(attempt, "not_sent", "", None, self._silence(attempt))

    def _settle(
        self, attempt: Unsettled, state: str, number: str, answer: Answer | None, seen: Message = NOTHING
    ) -> None:
        by, told, typed, place = self._evidence.by, NOTHING, "", NOTHING
        if answer:
            by, typed, place = answer.resolved_by, answer.evidence, answer.place
            told = about(place, verbatim(typed))
        both = message("{seen}; {told}", seen=seen, told=told) if seen and told else seen or told
        self.settled.append(Settled(attempt, state, number, by, both, typed, seen or place))

    def _listed(self, attempt: Unsettled) -> tuple[str | None, Message]:
        """(the number under which the statement lists all of it, else None; what is wrong with what it lists)."""
        charges = [identity for identity, _, _ in attempt.charges]
        by_charge = {identity: self._of.get(identity, []) for identity in charges}
        found = [line for lines in by_charge.values() for line in lines]
        if not found:
            return None, self._other_kind(attempt)
        numbers = sorted({line.number for line in found})
        vouchers = sorted({line.voucher for line in found})
        missing = [identity for identity, lines in by_charge.items() if not lines]
        if vouchers != [attempt.voucher]:
            problem = message(
                "it was asked for as {voucher}, and the statement lists it as {listed}",
                voucher=Term(attempt.voucher, "choice"),
                listed=joined((Term(voucher, "choice") for voucher in vouchers), "and"),
            )
        elif len(numbers) > 1:
            problem = message(
                "the statement lists it under several numbers: {numbers}", numbers=joined(numbers)
            )
        elif early := self._before(attempt, found):
            problem = message(
                "the statement says that {number} was issued on {day}, before it was asked for",
                number=early.number,
                day=str(early.issued_day),
            )
        elif missing:
            problem = message(
                "the statement lists only {listed} of its {count} charges as {number}; {ticket_no} is not among them",
                listed=len(charges) - len(missing),
                count=len(charges),
                number=numbers[0],
                ticket_no=missing[0].ticket_no,
            )
        elif self._of_others(numbers[0], attempt):
            problem = message(
                "the statement lists {number} for charges of other requests, too", number=numbers[0]
            )
        elif holder := self._taken.get(numbers[0]):
            problem = message(
                "the statement lists it as {number}, which {holder} has already",
                number=numbers[0],
                holder=holder,
            )
        elif old := self._may_be_gone(attempt, found):
            problem = message(
                "the statement lists it as {number}, which may be its voucher {old}, that was reversed, under another number. If it is:"
                " voucher ledger reverse {number}; if not, answer on the sheet Unknown",
                number=numbers[0],
                old=old,
            )
        else:
            return numbers[0], NOTHING
        return None, problem

    def _agree(self, attempt: Unsettled, number: str) -> bool:
        """Whether all that statements list of an attempt has this number, and none other has it."""
        charges = {identity for identity, _, _ in attempt.charges}
        found = [line for identity in charges for line in self._of.get(identity, [])]
        return (
            {(line.number, line.voucher) for line in found} == {(number, attempt.voucher)}
            and not self._of_others(number, attempt)
            and not self._before(attempt, found)
        )

    def _of_denied(self, attempt: Unsettled) -> tuple[Unsettled, ...]:
        """The earlier attempts, said not to be issued, that explain all that is listed of this one; none where something is left."""
        numbers = {line.number for identity, _, _ in attempt.charges for line in self._of.get(identity, ())}
        explained = {number: one for one in attempt.denied for number in numbers if self._fits(number, one)}
        return tuple(explained.values()) if explained.keys() == numbers else ()

    def _fits(self, number: str, denied: Unsettled) -> bool:
        """Whether what has this number is all of an attempt and nothing else: its charges, amounts, kind and day."""
        lines = [self._lines[at] for at in self._numbers[number]]
        amounts = {identity: amount for identity, _, amount in denied.charges}
        last = datetime.datetime.fromisoformat(denied.ended) + (
            self._evidence.settle_after or datetime.timedelta()
        )
        return (
            {Identity(line.ticket_no, line.charge, line.product) for line in lines} == amounts.keys()
            and number not in self._taken
            and not self._before(denied, lines)
            and all(
                line.voucher == denied.voucher
                and line.amount in (None, amounts[Identity(line.ticket_no, line.charge, line.product)])
                and (denied.times_doubtful or not line.issued_day or line.issued_day <= last.date() + _DAY)
                for line in lines
            )
        )

    def _of_others(self, number: str, attempt: Unsettled) -> StatementLine | None:
        """A line that has this number for what is none of its charges. One that names no product may be any of its ticket's."""
        charges = {identity for identity, _, _ in attempt.charges}
        named = {(identity.ticket_no, identity.charge) for identity in charges}
        for at in self._numbers[number]:
            line, of = self._lines[at], self._found[at]
            if of not in charges and (of or line.product or (line.ticket_no, line.charge) not in named):
                return line
        return None

    def _may_be_gone(self, attempt: Unsettled, found: Sequence[StatementLine]) -> str:
        """The number of a voucher that was reversed, which these lines may list in a way of numbering of their own; "" for none.

        A number as the service gives it is another voucher's than the one that was reversed, and so is one of a later day
        (two days: a day's difference may be the time zones').
        """
        for identity, _, _ in attempt.charges:
            number, at = self._gone.get(identity, ("", ""))
            later = datetime.datetime.fromisoformat(at).date() + datetime.timedelta(days=1) if at else None
            for line in found:
                if (
                    later
                    and not has_shape(line.voucher, line.number)
                    and (attempt.times_doubtful or not line.issued_day or line.issued_day <= later)
                ):
                    return number
        return ""

    @staticmethod
    def _before(attempt: Unsettled, found: Sequence[StatementLine]) -> StatementLine | None:
        """A line that was issued before it was first asked for; a day's difference may be the time zones'.

        It may be of an earlier attempt that was said by mistake not to be issued. None where a wrong clock said when that was.
        """
        if not attempt.first_asked:
            return None
        began = datetime.datetime.fromisoformat(attempt.first_asked).date()
        return next(
            (
                line
                for line in found
                if line.issued_day and line.issued_day < began - datetime.timedelta(days=1)
            ),
            None,
        )

    def _other_kind(self, attempt: Unsettled) -> Message:
        """What is wrong where the ticket's other charge stands on the statement as the other kind of voucher."""
        for identity, _, _ in attempt.charges:
            for at in self._tickets.get(identity.ticket_no, ()):
                line = self._lines[at]
                bound = {line.charge, identity.charge} <= {"ticket_fare", "refund"}
                if bound and line.voucher != attempt.voucher:
                    return message(
                        "the statement lists an {voucher} of ticket {ticket_no} ({number}) instead",
                        voucher=Term(line.voucher, "choice"),
                        ticket_no=identity.ticket_no,
                        number=line.number,
                    )
        return NOTHING

    def _silence_proves(self, attempt: Unsettled) -> bool:
        """Whether the statements would list it if it had been issued."""
        if not self._evidence.complete or not self._evidence.statements:
            return False
        why = self._unexplained(attempt) or self._complete.unproven(attempt)
        if (attempt.request_id, attempt.attempt) in self._evidence.unclear:
            why = message("an answer about it lacks something; complete the answer first")
        if why:
            self._unproven[why] += 1
        return not why

    def _unexplained(self, attempt: Unsettled) -> Message:
        """A line of one of its tickets that is not that of another charge held as issued: it may be the doubtful one's.

        Whatever charge it names: the carrier may call it by another's word. One voucher of ours explains one number.
        """
        explained: dict[Identity, str] = {}
        for ticket_no in sorted({identity.ticket_no for identity, _, _ in attempt.charges}):
            for at in self._tickets.get(ticket_no, ()):
                line, identity = self._lines[at], self._found[at]
                holding = self._held[identity] if identity else None
                if (
                    identity is None
                    or holding is None
                    or (holding.state, holding.elsewhere) != ("issued", False)
                    or not agrees(holding, line)
                    or explained.setdefault(identity, line.number) != line.number
                ):
                    return message(
                        "they list a voucher of ticket {ticket_no} ({number}) that is none of those known here",
                        ticket_no=ticket_no,
                        number=line.number,
                    )
        return NOTHING

    def _silence(self, attempt: Unsettled) -> Message:
        evidence = self._evidence
        names = joined(f"{statement.name} ({statement.sha256[:12]})" for statement in evidence.statements)
        claim, others = self._complete.claim_for(attempt)
        return message(
            "not on the carrier's statement {names}, which {by} says is complete for {days}, and which lists {count} others of that"
            " kind",
            names=names,
            by=evidence.by,
            days=claim.text,
            count=others,
        )

    def notes(self) -> list[Message]:
        """Why silence proved nothing about outcomes that no statement lists."""
        return [
            message(
                "{count} unknown outcomes are not on the statements, and that proves nothing: {why}",
                count=count,
                why=why,
            )
            for why, count in self._unproven.items()
        ]

    def keep_numbers_apart(self) -> None:
        """Two requests can't have one number: then neither is settled."""
        having: dict[str, list[Settled]] = defaultdict(list)
        for one in self.settled:
            having[one.number].append(one)
        clear = []
        for one in self.settled:
            others = [
                other for other in having[one.number] if other.attempt.attempt_id != one.attempt.attempt_id
            ]
            holder: Fact = self._taken.get(one.number, "")
            if others and not holder:
                holder = message(
                    "another request ({request}; {place})",
                    request=others[0].attempt.request_id,
                    place=others[0].place,
                )
            if (listed := self._of_others(one.number, one.attempt)) and not holder:
                holder = message(
                    "another request (ticket {ticket_no} on a statement)", ticket_no=listed.ticket_no
                )
            if one.number and holder:
                problem = message(
                    "is said to be issued as {number} ({place}), and {holder} has that number, too; nothing is settled by it. Ask the"
                    " carrier whose number it is, and correct the other",
                    number=one.number,
                    place=one.place,
                    holder=holder,
                )
                self.troubles.append(Trouble("contradiction", name_of(one.attempt), problem))
            else:
                clear.append(one)
        self.settled = clear

    def warnings(self) -> list[Message]:
        """Numbers that do not look like those that the carrier's interface shows."""
        return [
            message(
                "{attempt}: the number {number} has another shape than the carrier's interface shows; it is recorded as it is",
                attempt=name_of(one.attempt),
                number=one.number,
            )
            for one in self.settled
            if one.number and not has_shape(one.attempt.voucher, one.number)
        ]

    def _may_be_ours(self, line: StatementLine) -> bool:
        """Whether a line that does not say its product could speak of an unknown outcome of that ticket."""
        return not line.product and (line.ticket_no, line.charge) in self._doubtful

    def _settled_as(self, line: StatementLine) -> bool:
        """Whether a charge of the line's ticket is settled as issued under its number."""
        return any(
            one.number == line.number
            and any(of.ticket_no == line.ticket_no for of, _, _ in one.attempt.charges)
            for one in self.settled
        )

    def unclear(self) -> list[Trouble]:
        """Lines that may speak of a charge in doubt, or of another one."""
        return [
            Trouble(
                "ambiguous",
                line.place,
                message(
                    "lists an ancillary charge of ticket {ticket_no} as {number} and does not say which; it settles nothing. Ask the"
                    " carrier, and answer on the sheet Unknown",
                    ticket_no=line.ticket_no,
                    number=line.number,
                ),
            )
            for at, line in enumerate(self._lines)
            if self._found[at] is None and self._may_be_ours(line) and not self._settled_as(line)
        ]

    def elsewhere(self) -> list[StatementLine]:
        """Lines of charges that no attempt of this ledger issued, and those that contradict themselves about one.

        They are held, and remembered: what was said once counts at the next reconciliation, too. So are those that do not
        say which ancillary product they are about, unless their number is that of ours.
        """
        settled = {
            identity
            for one in self.settled
            for identity, _, _ in one.attempt.charges
            if one.state == "issued"
        }

        def to_hold(line: StatementLine, identity: Identity | None) -> bool:
            if identity is None:
                return bool(line.product) or not self._settled_as(line)
            of = self._held[identity]
            unsaid = not line.product and of.number != line.number
            return identity not in settled and (of.elsewhere or of.state == "unknown" or unsaid)

        return [line for at, line in enumerate(self._evidence.lines) if to_hold(line, self._found[at])]


def _content(line: StatementLine) -> tuple[object, ...]:
    """What a line says, wherever it stands."""
    return line.voucher, line.number, line.ticket_no, line.charge, line.product, line.amount


def name_of(attempt: Unsettled | Answer) -> Message:
    """An attempt, as messages name it."""
    return message(
        "request {request}, attempt {attempt}", request=attempt.request_id, attempt=attempt.attempt
    )


def issued_as(number: str) -> Message:
    """That an attempt was issued under a number."""
    return message("issued as {number}", number=number)
