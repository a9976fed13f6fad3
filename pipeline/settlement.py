"""What evidence settles: the carrier's statements and people's answers, against the unknown outcomes.

An outcome is settled only where all that is said of it agrees. A contradiction settles nothing, and is
reported with both sides. What a statement does not list is settled as not issued only where somebody says that
the statements are complete, and only long enough before they were made (carrier-interface.md shows no way to ask
the carrier, so a statement is all there is).
"""

import datetime
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.evidence import Answer, Complete, Misread, Statement, StatementLine, Unsettled
from pipeline.holdings import Holding
from pipeline.matching import matched
from pipeline.request import Identity

#: The shapes that were observed (carrier-interface.md, Invoice result and Itinerary result).
_SHAPES = {"invoice": re.compile("[0-9]{18}"), "itinerary": re.compile("[0-9]{20}")}

#: What a person may answer, in the words of either language.
RESOLVED_AS = {
    "issued": "issued", "已开具": "issued", "已开": "issued",
    "not issued": "not_sent", "not_issued": "not_sent", "未开具": "not_sent", "未开": "not_sent",
}  # fmt: skip


@dataclass(frozen=True)
class Settled:
    """An unknown outcome that the evidence decides: issued under a number, or not_sent."""

    attempt: Unsettled
    state: str
    number: str
    settled_by: str
    evidence: str


@dataclass(frozen=True)
class Trouble:
    """Evidence that settles nothing, and why: a person has to look at it."""

    code: str  # contradiction, stale, incomplete, misread, ambiguous
    place: str
    message: str


@dataclass(frozen=True)
class Decided:
    """What the evidence comes to. `found` says of each statement line which charge of ours it speaks of."""

    settled: tuple[Settled, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    warnings: tuple[str, ...] = ()
    elsewhere: tuple[StatementLine, ...] = ()
    lines: tuple[StatementLine, ...] = ()
    found: Mapping[int, Identity | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """All that is brought to one reconciliation; `by` is who runs it, `settle_after` the profile's."""

    statements: tuple[Statement, ...]
    answers: tuple[Answer, ...]
    complete: Complete | None
    settle_after: datetime.timedelta | None
    by: str

    @property
    def lines(self) -> tuple[StatementLine, ...]:
        """The lines of all statements, a line that stands on two of them once."""
        once: dict[tuple[object, ...], StatementLine] = {}
        for statement in self.statements:
            for line in statement.lines:
                once.setdefault(_content(line), line)
        return tuple(once.values())

    @property
    def misread(self) -> tuple[Misread, ...]:
        """The lines that could not be understood."""
        return tuple(misread for statement in self.statements for misread in statement.misread)


def decide(  # noqa: PLR0913 - everything that is weighed
    unsettled: Sequence[Unsettled],
    evidence: Evidence,
    held: Mapping[Identity, Holding],
    taken: Mapping[str, bool],
    earlier: Sequence[StatementLine] = (),
    issued: Sequence[Holding] = (),
) -> Decided:
    """Weigh the evidence; nothing is changed here.

    `held` is what the ledger holds of the tickets on the statements and of those in doubt; `taken` says of a number
    whether another voucher has it already; `earlier` is what earlier statements showed of the charges in doubt;
    `issued` is what the statements must list if they are complete.
    """
    known = set(map(_content, evidence.lines))
    lines = (*evidence.lines, *(line for line in earlier if _content(line) not in known))
    found = matched(lines, held)
    weighing = _Weighing(evidence, lines, found, held, taken)
    weighing.check_complete(issued)
    for attempt in unsettled:
        weighing.weigh(attempt)
    weighing.keep_numbers_apart()
    troubles = [
        Trouble("misread", misread.place, f"{misread.problem}; the line proves nothing")
        for misread in evidence.misread
    ]
    troubles += [
        Trouble(
            "misread",
            statement.name,
            f"sheet {name} was not read: it is hidden, or has no headings of a statement",
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
    )


class _Weighing:
    """One reconciliation's evidence, attempt by attempt."""

    def __init__(
        self,
        evidence: Evidence,
        lines: Sequence[StatementLine],
        found: Mapping[int, Identity | None],
        held: Mapping[Identity, Holding],
        taken: Mapping[str, bool],
    ) -> None:
        self.settled: list[Settled] = []
        self.troubles: list[Trouble] = []
        self._evidence = evidence
        self._lines = lines
        self._found = found
        self._held = held
        self._taken = taken
        self._of: dict[Identity, list[StatementLine]] = defaultdict(list)
        self._tickets: dict[str, list[int]] = defaultdict(list)
        self._numbers: dict[str, set[Identity | None]] = defaultdict(set)
        for at, line in enumerate(lines):
            identity = found[at]
            if identity is not None:
                self._of[identity].append(line)
            self._tickets[line.ticket_no].append(at)
            self._numbers[line.number].add(identity)
        self._whole = not any(statement.unread for statement in evidence.statements)
        self._doubtful = {
            (i.ticket_no, i.charge) for i, holding in held.items() if holding.state == "unknown"
        }
        self._answers: dict[tuple[str, int], list[Answer]] = defaultdict(list)
        for answer in evidence.answers:
            self._answers[answer.request_id, answer.attempt].append(answer)

    def check_complete(self, issued: Sequence[Holding]) -> None:
        """Statements that lack what this ledger issued in their time are not complete, whoever says so."""
        listed = {identity for identity in self._found.values() if identity}
        lacking = [holding for holding in issued if holding.identity not in listed]
        if self._evidence.complete is None or not lacking:
            return
        self._whole = False
        self.troubles.append(
            Trouble(
                "contradiction",
                ", ".join(statement.name for statement in self._evidence.statements),
                f"is said to be complete for {self._evidence.complete.text}, and lacks {len(lacking)} charges that were issued"
                f" then, such as {lacking[0].number}; so what it does not list is not taken for not issued",
            )
        )

    def weigh(self, attempt: Unsettled) -> None:
        """Settle one attempt, report what contradicts itself about it, or leave it as it is."""
        answers = self._answers.get((attempt.request_id, attempt.attempt), [])
        listed, problem = self._listed(attempt)
        said = {(RESOLVED_AS[answer.resolution.casefold()], answer.number) for answer in answers}
        if not problem and len(said) > 1:
            problem = "the answers to it contradict each other"
        answer = answers[0] if answers else None
        state, number = next(iter(said)) if said else ("", "")
        if problem and len(said) == 1 and state == "issued" and self._agree(attempt, number):
            listed, problem = None, ""  # it lists a part of it, under the number that the answer has
            self._settle(attempt, "issued", number, answer, "")
            return
        if (
            not problem
            and listed is not None
            and answer is not None
            and (state, number) != ("issued", listed)
        ):
            told = f"issued as {number}" if state == "issued" else "not issued"
            problem = f"the statement lists it as {listed}, and {answer.place} says {told}"
        silent = listed is None and not problem and self._silence_proves(attempt)
        if not problem and silent and state == "issued" and answer is not None:
            problem = f"{answer.place} says issued as {number}, and the statement, said to be complete, does not list it"
        if problem:
            self.troubles.append(Trouble("contradiction", _name(attempt), problem))
        elif listed is not None:
            self._settle(attempt, "issued", listed, answer, self._of[attempt.charges[0][0]][0].place)
        elif answer is not None:
            self._settle(attempt, state, number, answer, "")
        elif silent:
            self._settle(attempt, "not_sent", "", None, self._silence())

    def _settle(self, attempt: Unsettled, state: str, number: str, answer: Answer | None, seen: str) -> None:
        by = answer.resolved_by if answer else self._evidence.by
        told = f"{answer.place}: {answer.evidence}" if answer else ""
        self.settled.append(Settled(attempt, state, number, by, "; ".join(filter(None, [seen, told]))))

    def _listed(self, attempt: Unsettled) -> tuple[str | None, str]:
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
            problem = f"it was asked for as {attempt.voucher}, and the statement lists it as {' and '.join(vouchers)}"
        elif len(numbers) > 1:
            problem = f"the statement lists it under several numbers: {', '.join(numbers)}"
        elif early := self._before(attempt, found):
            problem = f"the statement says that {early.number} was issued on {early.issued_day}, before it was asked for"
        elif missing:
            problem = (
                f"the statement lists only {len(charges) - len(missing)} of its {len(charges)} charges as {numbers[0]};"
                f" {missing[0].ticket_no} is not among them"
            )
        elif self._numbers[numbers[0]] - set(charges):
            problem = f"the statement lists {numbers[0]} for charges of other requests, too"
        elif self._taken.get(numbers[0]):
            problem = (
                f"the statement lists it as {numbers[0]}, which another request of this ledger has already"
            )
        else:
            return numbers[0], ""
        return None, problem

    def _agree(self, attempt: Unsettled, number: str) -> bool:
        """Whether all that statements list of an attempt has this number, and none other has it."""
        charges = {identity for identity, _, _ in attempt.charges}
        found = [line for identity in charges for line in self._of.get(identity, [])]
        return (
            {(line.number, line.voucher) for line in found} == {(number, attempt.voucher)}
            and not self._numbers[number] - charges
            and not self._before(attempt, found)
        )

    @staticmethod
    def _before(attempt: Unsettled, found: Sequence[StatementLine]) -> StatementLine | None:
        """A line that was issued before it was asked for; a day's difference may be the time zones'."""
        began = datetime.datetime.fromisoformat(attempt.began).date()
        return next(
            (
                line
                for line in found
                if line.issued_day and line.issued_day < began - datetime.timedelta(days=1)
            ),
            None,
        )

    def _other_kind(self, attempt: Unsettled) -> str:
        """What is wrong where the ticket's other charge stands on the statement as the other kind of voucher."""
        for identity, _, _ in attempt.charges:
            for at in self._tickets.get(identity.ticket_no, ()):
                line = self._lines[at]
                bound = {line.charge, identity.charge} <= {"ticket_fare", "refund"}
                if bound and line.voucher != attempt.voucher:
                    return f"the statement lists an {line.voucher} of ticket {identity.ticket_no} ({line.number}) instead"
        return ""

    def _silence_proves(self, attempt: Unsettled) -> bool:
        """Whether the statements would list it if it had been issued."""
        complete, after = self._evidence.complete, self._evidence.settle_after
        if complete is None or after is None or not self._evidence.statements or not self._whole:
            return False
        if not self._evidence.lines:  # cut short, or not written yet: what lists nothing shows nothing
            return False
        if not any(attempt.voucher in statement.kinds for statement in self._evidence.statements):
            return False
        tickets = {identity.ticket_no for identity, _, _ in attempt.charges}
        if any(not misread.ticket_no or misread.ticket_no in tickets for misread in self._evidence.misread):
            return False
        charges = {(identity.ticket_no, identity.charge) for identity, _, _ in attempt.charges}
        if any(
            (self._lines[at].ticket_no, self._lines[at].charge) in charges
            for t in tickets
            for at in self._tickets.get(t, ())
        ):
            return False
        made = min(statement.made for statement in self._evidence.statements)
        began, ended = (datetime.datetime.fromisoformat(text) for text in (attempt.began, attempt.ended))
        return complete.since <= began and ended + after <= min(complete.until, made)

    def _silence(self) -> str:
        evidence = self._evidence
        names = ", ".join(f"{statement.name} ({statement.sha256[:12]})" for statement in evidence.statements)
        said = evidence.complete.text if evidence.complete else ""
        return f"not on the carrier's statement {names}, which {evidence.by} says is complete for {said}"

    def keep_numbers_apart(self) -> None:
        """Two requests can't have one number: then neither is settled."""
        requests: dict[str, set[int]] = defaultdict(set)
        for one in self.settled:
            if one.number:
                requests[one.number].add(one.attempt.attempt_id)
        clear = []
        for one in self.settled:
            if one.number and (len(requests[one.number]) > 1 or self._taken.get(one.number)):
                problem = f"it is said to be issued as {one.number}, which another request has, too"
                self.troubles.append(Trouble("contradiction", _name(one.attempt), problem))
            else:
                clear.append(one)
        self.settled = clear

    def warnings(self) -> list[str]:
        """Numbers that do not look like those that the carrier's interface shows."""
        return [
            f"{_name(one.attempt)}: the number {one.number} has another shape than the carrier's interface shows;"
            " it is recorded as it is"
            for one in self.settled
            if one.number and not _SHAPES[one.attempt.voucher].fullmatch(one.number)
        ]

    def _may_be_ours(self, line: StatementLine) -> bool:
        """Whether a line that does not say its product could speak of an unknown outcome of that ticket."""
        return not line.product and (line.ticket_no, line.charge) in self._doubtful

    def unclear(self) -> list[Trouble]:
        """Lines that could speak of several charges in doubt."""
        return [
            Trouble(
                "ambiguous",
                line.place,
                f"may speak of several charges of ticket {line.ticket_no}; settle them by hand",
            )
            for at, line in enumerate(self._lines)
            if self._found[at] is None and self._may_be_ours(line)
        ]

    def elsewhere(self) -> list[StatementLine]:
        """Lines of charges that no attempt of this ledger issued, and those that contradict themselves about one.

        They are held, and remembered: what was said once counts at the next reconciliation, too.
        """
        settled = {
            identity
            for one in self.settled
            for identity, _, _ in one.attempt.charges
            if one.state == "issued"
        }
        return [
            line
            for at, line in enumerate(self._evidence.lines)
            if (identity := self._found[at]) not in settled
            and (
                identity is None or self._held[identity].elsewhere or self._held[identity].state == "unknown"
            )
        ]


def _content(line: StatementLine) -> tuple[object, ...]:
    """What a line says, wherever it stands."""
    return line.voucher, line.number, line.ticket_no, line.charge, line.product, line.amount


def _name(attempt: Unsettled) -> str:
    return f"request {attempt.request_id}, attempt {attempt.attempt}"
