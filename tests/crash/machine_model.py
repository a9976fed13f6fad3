"""The model: the promise in plain Python, written from the design and from interface.md.

It shares no code with the ledger: of the program it knows the requests and what an outcome is made of.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipeline.model.message import to_text
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.request import Charge, Identity, Request
from tests.crash.machine_answers import read

STATES = ("planned", "sending", "issued", "rejected", "not_sent", "unknown")
LIVE = ("sending", "issued", "unknown")


@dataclass
class Tried:
    """An attempt, as the model has it. `detail` None: the ledger's own words, not compared."""

    attempt_id: int
    request: Request
    attempt: int
    run: int
    state: str = "planned"
    reason: str = ""
    number: str = ""
    trace_id: str = ""
    detail: str | None = ""
    was_unknown: bool = False
    answer: Answered | None = None
    settled: tuple[str, str] | None = None  # state, number
    withdrawn: list[tuple[str, str]] = field(default_factory=list)  # what it was settled as before
    reversed: bool = False

    @property
    def live(self) -> bool:
        """Whether it holds its charges."""
        return self.state in LIVE and not self.reversed

    def enter(self, outcome: Outcome, *, any_detail: bool = False) -> None:
        """Take on an outcome; a doubt is remembered whatever comes after it."""
        self.state, self.reason, self.number = outcome.state, outcome.reason, outcome.number
        self.trace_id, self.detail = outcome.trace_id, None if any_detail else to_text(outcome.detail)
        self.was_unknown = self.was_unknown or outcome.state == "unknown"


@dataclass(frozen=True)
class Spilled:
    """A line of the spill file: a raw answer, an outcome, or (None) that it was never sent."""

    attempt_id: int
    what: Answered | Outcome | None


@dataclass
class Shown:
    """A charge that a statement showed as issued, though no attempt here issued it; product "": it may be any."""

    identity: Identity
    wire: str
    voucher: str
    number: str
    run: int
    withdrawn: bool = False
    reversed: bool = False

    def holds(self, voucher: str, charge: Charge) -> bool:
        """Whether a charge can't be sent as that kind of voucher any more."""
        mine, theirs = self.identity, charge.identity
        if self.withdrawn or self.reversed:
            return False
        if mine.ticket_no != theirs.ticket_no:
            return False
        if mine.charge == theirs.charge and mine.product in ("", theirs.product):
            return True
        if self.wire and charge.wire and self.wire == "/".join(charge.wire):
            return True
        flight = ("ticket_fare", "refund")
        return self.voucher != voucher and mine.charge in flight and theirs.charge in flight


def same_charge(one: Charge, other: Charge) -> bool:
    """Charges are one by their content, or where the carrier could not tell them apart."""
    if one.identity == other.identity:
        return True
    return bool(one.wire) and one.identity.ticket_no == other.identity.ticket_no and one.wire == other.wire


def is_of_the_flight(charge: Charge) -> bool:
    return charge.identity.charge in ("ticket_fare", "refund")


@dataclass
class Model:
    """The promise in plain Python: which states there are, who may be sent, what is remembered."""

    attempts: dict[int, Tried] = field(default_factory=dict)
    runs: dict[int, tuple[bool, int | None]] = field(default_factory=dict)  # ended, exit code
    requests: dict[str, Request] = field(default_factory=dict)
    shown: list[Shown] = field(default_factory=list)
    reversals: list[tuple[str, str, bool]] = field(default_factory=list)  # number, red number, withdrawn

    def of(self, *states: str) -> list[Tried]:
        return [tried for tried in self.attempts.values() if tried.state in states]

    def plan(self, attempt_id: int, request: Request, run: int) -> Tried:
        assert attempt_id not in self.attempts, "an attempt's ID is given twice"
        self.requests.setdefault(request.request_id, request)
        same = [
            tried.attempt
            for tried in self.attempts.values()
            if tried.request.request_id == request.request_id
        ]
        tried = Tried(attempt_id, request, 1 + max(same, default=0), run)
        self.attempts[attempt_id] = tried
        return tried

    def may_be_sent(self, tried: Tried) -> bool:
        """Planned, by a run that is on, and none of its charges in a live attempt, this one included."""
        mine = tried.request.charges
        return (
            tried.state == "planned"
            and not self.runs[tried.run][0]
            and not any(shown.holds(tried.request.voucher, charge) for shown in self.shown for charge in mine)
            and not any(same_charge(one, other) for one, other in itertools.combinations(mine, 2))
            and self.is_free(tried)
        )

    def is_free(self, tried: Tried) -> bool:
        """No other live attempt holds a charge of it, or binds its ticket to the other kind of voucher."""
        mine = tried.request.charges
        theirs = [
            (other.request.voucher, charge)
            for other in self.attempts.values()
            if other.live and other is not tried
            for charge in other.request.charges
        ]
        return not any(same_charge(charge, other) for charge in mine for _, other in theirs) and not any(
            voucher != tried.request.voucher and charge.identity.ticket_no == other.identity.ticket_no
            for charge in mine
            for voucher, other in theirs
            if is_of_the_flight(charge) and is_of_the_flight(other)
        )

    def is_taken(self, number: str) -> bool:
        """By what is issued, reversed or not, or by what reversed it."""
        red = any(number == red for _, red, withdrawn in self.reversals if red and not withdrawn)
        return red or any(other.number == number for other in self.of("issued"))

    def withdraw(self, tried: Tried) -> bool:
        """Withdraw what settled it; False where that is refused."""
        assert tried.settled
        if tried.reversed or not self.is_free(tried):
            return False
        tried.withdrawn.append(tried.settled)
        tried.state, tried.number, tried.settled = "unknown", "", None
        return True

    def reverse(self, number: str, red: str) -> bool:
        """Reverse a voucher; False where none of that number is held as issued, or what reverses it is such a one."""
        tried = [one for one in self.of("issued") if one.number == number and not one.reversed]
        shown = [one for one in self.shown if one.number == number and not one.reversed and not one.withdrawn]
        known = (*self.of("issued"), *(one for one in self.shown if not one.withdrawn))
        if not (tried or shown) or any(one.number == red for one in known):
            return False
        for one in (*tried, *(one for one in self.shown if one.number == number)):
            one.reversed = True
        self.reversals.append((number, red, False))
        return True

    def withdraw_reversal(self, at: int) -> bool:
        """Withdraw a reversal; False where its charges were sent again since."""
        number, red, withdrawn = self.reversals[at]
        tried = [one for one in self.of("issued") if one.number == number]
        if withdrawn or not all(map(self.is_free, tried)):
            return False
        for one in (*tried, *(one for one in self.shown if one.number == number)):
            one.reversed = False
        self.reversals[at] = (number, red, True)
        return True

    def ends(self, tried: Tried, outcome: Outcome, *, any_detail: bool = False) -> Tried:
        """An outcome of an attempt that is being sent; a number that is another's makes it unknown."""
        assert tried.state == "sending"
        if outcome.state == "issued" and self.is_taken(outcome.number):
            outcome = Outcome("unknown", "answer_unexplained", trace_id=outcome.trace_id)
            any_detail = True
        tried.enter(outcome, any_detail=any_detail)
        return tried

    def settle(self, tried: Tried, state: str, number: str) -> None:
        tried.state, tried.number, tried.settled = state, number, (state, number)

    def drop_planned(self) -> None:
        self.attempts = {key: tried for key, tried in self.attempts.items() if tried.state != "planned"}

    def end_runs(self) -> None:
        self.runs = {run: (True, code) for run, (_, code) in self.runs.items()}

    def doubted(self) -> list[Charge]:
        """Charges that ever had an unknown attempt."""
        return [
            charge
            for tried in self.attempts.values()
            if tried.was_unknown and not tried.reversed
            for charge in tried.request.charges
        ]

    def is_doubted(self, request: Request) -> bool:
        """Whether a no to this request may be the carrier's way to say that it did this already."""
        return any(
            same_charge(charge, other) for charge, other in itertools.product(request.charges, self.doubted())
        )

    def apart(self) -> set[Identity]:
        several = [tried for tried in self.of("rejected") if len(tried.request.charges) > 1]
        return {charge.identity for tried in several for charge in tried.request.charges}

    def recover(self, spilled: Sequence[Spilled]) -> dict[int, bool]:
        """A start: the spill file, then what was being sent, then what was planned, then the runs.

        Of each attempt whose answer is read: whether a charge of it was ever in doubt.
        """
        doubts = {}
        for entry in spilled:
            tried = self.attempts.get(entry.attempt_id)
            if tried is None or tried.state != "sending":
                continue
            if isinstance(entry.what, Answered):
                tried.answer = entry.what
            elif entry.what is None:
                self.ends(tried, Outcome("not_sent", "run_stopped"), any_detail=True)
            else:
                self.ends(tried, entry.what)
        for tried in sorted(self.of("sending"), key=lambda tried: tried.attempt_id):
            if tried.answer is None:
                self.ends(tried, Outcome("unknown", "run_killed"), any_detail=True)
            else:
                before = self.is_doubted(tried.request)
                doubts[tried.attempt_id] = before
                self.ends(tried, read(tried.answer, doubted=before))
        self.drop_planned()
        self.end_runs()
        return doubts
