"""Both ledgers against one model, by moves that Hypothesis makes up: a model that is small says what each ledger has to hold after each.

What differs is what the ledgers are: where the sender of a file dies, its run is over and what it had planned is dropped, and a file has one sender,
which nobody stops from elsewhere; the shared one asks who sent before it believes that nothing was issued. A longer form:

    python -m tests.contract.test_both_ledgers_machine [--lives 200] [--moves 50] [--planted BUG]

Numbers are drawn from few, and some moves are stories of several steps, so that what matters comes up in every life. `PLANTED` has the bugs that it is
known to see; what it took to see each is in `tests/crash/README.md`, "The shared ledger".
"""

import itertools
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import click
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pipeline.ledger.attempt_changes import Again, Ended, GotAnswer
from pipeline.ledger.reversals import SaidReversed
from pipeline.ledger.settlements import Settlement
from pipeline.ledger_postgresql import server_schema
from pipeline.ledger_postgresql.sqlstates import ClaimsShut
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.evidence import StatementLine
from pipeline.model.message import verbatim
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.request import Request
from tests.contract.ledgers import OneFile, Shared, charge, invoice, itinerary, one_file, shared
from tests.postgresql_server import programs, server

DICE = st.integers(0, 99)
LIVE = ("sending", "issued", "unknown")
ANY = (*LIVE, "rejected", "not_sent")
#: Few tickets, so that requests meet: fares, refunds and others of three, alone and together.
REQUESTS = [
    *(invoice(charge(number)) for number in range(1, 4)), *(itinerary(number) for number in range(1, 3)), invoice(charge(1, "refund")),
    invoice(charge(1), charge(2)), invoice(charge(2, "ancillary", "baggage"), charge(3, "ancillary", "baggage")), invoice(charge(1, amount=200_00)),
]  # fmt: skip
_KINDS = ("ticket_fare", "refund")
#: Bugs of the shared ledger: what stands in its statements, and what stands there instead.
PLANTED: Mapping[str, Sequence[tuple[str, str]]] = {
    "evidence from before its sender's end counts": [("of_then < shown_from", "false")],
    "a gap holds nothing": [("IF EXISTS (SELECT FROM voucher.gap WHERE closed_at IS NULL) THEN\n        RAISE EXCEPTION 'nothing is sent", "IF false THEN\n        RAISE EXCEPTION 'nothing is sent")],
    "a number that another has is taken": [
        ("WHERE number = _number AND state = 'issued' AND attempt_id <> _attempt;", "WHERE false;"),
        ("CREATE UNIQUE INDEX number_once", "CREATE INDEX number_once"),
    ],
    "a late yes against evidence holds nothing": [("late_word.state = 'issued' AND NOT late_word.taken", "false")],
    "what is settled stays so though that is withdrawn": [
        ("WHERE attempt_id = (SELECT attempt_id FROM voucher.settlement WHERE settlement = new.settlement);", "WHERE false;"),
    ],
    "what was withdrawn is said again by anybody": [("AND (new.answered = '' OR (before.settled_by, before.answered) = (new.settled_by, new.answered))", "AND false")],
    "a voucher whose reversal is withdrawn holds nothing": [
        ("UPDATE voucher.charge SET live = true WHERE attempt_id = (SELECT attempt_id FROM voucher.reversal", "UPDATE voucher.charge SET live = true WHERE false AND attempt_id = (SELECT attempt_id FROM voucher.reversal"),
    ],
    "evidence is withdrawn though its voucher was reversed": [
        ("WHERE attempt_id = of AND NOT withdrawn;", "WHERE false;"),
        ("WHERE settlement.settlement = new.settlement AND NOT reversal.withdrawn", "WHERE false"),
    ],
}  # fmt: skip


@dataclass
class Said:
    """What settled an attempt, as the ledger names it."""

    entry: str
    state: str
    number: str
    answered: str
    withdrawn: bool = False


@dataclass
class Attempt:
    """An attempt as the ledger has to have it. `barred`: it met another when it was claimed; `sender`: whose it is; `freed`: its voucher was reversed."""

    attempt_id: int
    request: Request
    attempt: int
    state: str = "planned"
    number: str = ""
    was_unknown: bool = False
    barred: bool = False
    answered: bool = False
    sender: Any = None
    freed: bool = False
    said: list[Said] = field(default_factory=list)  # what settled it
    words: dict[tuple[str, str], tuple[bool, int]] = field(
        default_factory=dict
    )  # of its sender's afterwards: whether it was taken, and how much had been said by then

    @property
    def live(self) -> bool:
        return self.state in LIVE and not self.freed

    @property
    def settlement(self) -> Said | None:
        """What it is settled by."""
        return next((one for one in self.said if not one.withdrawn), None)

    @property
    def claimed_by_word(self) -> bool:
        """Whether its sender says that it was issued, against what is recorded, and nobody has said anything of it since."""
        return any(
            state == "issued" and not taken and before == len(self.said)
            for (state, _), (taken, before) in self.words.items()
        )

    @property
    def charges(self) -> list[tuple[str, str, str, str, str]]:
        """Ticket, charge, product, code on the wire, and kind of voucher."""
        return [
            (one.identity.ticket_no, one.identity.charge, one.identity.product, "/".join(one.wire), self.request.voucher)
            for one in self.request.charges
        ]  # fmt: skip

    def row(self) -> tuple[Any, ...]:
        live = len(self.charges) if self.live else 0
        return (
            self.attempt_id,
            self.request.request_id,
            self.attempt,
            self.state,
            self.number,
            self.was_unknown,
            live,
        )


def meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether a charge stands in another's way."""
    ticket, kind, product, wire, voucher = one
    return ticket == other[0] and (
        (kind, product) == other[1:3]
        or wire == other[3]
        or (voucher != other[4] and kind in _KINDS and other[1] in _KINDS)
    )


@dataclass
class Model:
    """What is to be in the ledger."""

    attempts: dict[int, Attempt] = field(default_factory=dict)
    elsewhere: dict[tuple[str, ...], tuple[str, str]] = field(default_factory=dict)  # its entry and number
    reversals: dict[str, Attempt] = field(default_factory=dict)  # that stand, by entry
    not_reversed: set[str] = field(default_factory=set)  # numbers whose reversal was withdrawn
    withdrawn: list[str] = field(default_factory=list)  # entries
    numbers: int = 0
    gap: bool = False
    stopped: bool = False
    ended: set[Any] = field(default_factory=set)  # senders

    def of(self, *states: str) -> list[Attempt]:
        return [one for one in self.attempts.values() if one.state in states]

    def obstacle(self, attempt: Attempt) -> bool:
        held = [
            each
            for other in self.attempts.values()
            if other.live or other.claimed_by_word
            for each in other.charges
        ]
        return any(meet(own, other) for own in attempt.charges for other in [*held, *self.elsewhere])

    def held_by_another(self, attempt: Attempt) -> bool:
        return any(
            meet(own, each)
            for other in self.attempts.values()
            if other.live and other is not attempt
            for each in other.charges
            for own in attempt.charges
        )

    def number_is_taken(self, attempt: Attempt, number: str) -> bool:
        tickets = {ticket for ticket, *_ in attempt.charges}
        return any(other.number == number and other is not attempt for other in self.of("issued")) or any(
            of == number and ticket not in tickets for (ticket, *_), (_, of) in self.elsewhere.items()
        )

    def drop_planned(self) -> None:
        for one in self.of("planned"):
            del self.attempts[one.attempt_id]

    def number(self, dice: int, attempt: Attempt) -> str:
        """Of few, so that they meet: a new one, one that was ever said, or one that a statement showed for another ticket."""
        said = [f"N{at}" for at in range(1, self.numbers + 1)]
        said += [number for _, number in self.elsewhere.values() if self.number_is_taken(attempt, number)]
        if dice % 5 >= 3 and said:
            return said[dice % len(said)]
        self.numbers += 1
        return f"N{self.numbers}"


class BothLedgers(RuleBasedStateMachine):
    """A ledger that lives; `begun` begins one."""

    begun: Callable[[], AbstractContextManager[OneFile | Shared]]

    @initialize()
    def begin(self) -> None:
        self._context = self.begun()
        self.ledger: Any = self._context.__enter__()
        self.model = Model()
        self.is_shared = isinstance(self.ledger, Shared)
        self.senders: dict[Any, Any] = {}  # a worker by its ID
        self.sender: Any = None
        self._next_sender()

    def teardown(self) -> None:
        if hasattr(self, "_context"):
            self._context.__exit__(None, None, None)

    def _next_sender(self) -> None:
        if self.is_shared:
            self.sender = self.ledger.worker.worker
            self.senders[self.sender] = self.ledger.worker
        else:
            self.sender = object()

    def pick(self, dice: int, *states: str) -> Attempt | None:
        """One of the first of these states nearly always, else of any of them: what is legal comes up often enough then."""
        found = (self.model.of(states[0]) if dice < 80 else []) or self.model.of(*states)
        return found[dice % len(found)] if found else None

    # Moves.

    @rule(
        wanted=st.lists(
            st.sampled_from(REQUESTS), min_size=1, max_size=3, unique_by=lambda one: one.request_id
        )
    )
    def plan(self, wanted: list[Request]) -> None:
        for request, attempt_id in zip(wanted, self.ledger.plan(*wanted), strict=True):
            before = [
                one.attempt
                for one in self.model.attempts.values()
                if one.request.request_id == request.request_id
            ]
            self.model.attempts[attempt_id] = Attempt(attempt_id, request, 1 + max(before, default=0))

    @rule(wanted=st.sampled_from(REQUESTS))
    def plan_and_claim(self, wanted: Request) -> None:
        self.plan([wanted])
        self.claim(4)

    @rule(twice=st.sampled_from(REQUESTS))
    def plan_twice_at_once(self, twice: Request) -> None:
        self.refused(lambda: self.ledger.plan(REQUESTS[2], twice, twice))

    @rule(most=st.integers(1, 4))
    def claim(self, most: int) -> None:
        try:
            got = self.ledger.claim(most)
            while 0 < len(got) < most and (more := self.ledger.claim(most - len(got))):
                got += more  # where attempts meet that are claimed at once, it gives fewer first
        except ClaimsShut:
            assert self.model.gap
            return
        expected = []
        if not (self.model.stopped and self.is_shared):
            for one in self.model.of("planned"):
                if len(expected) == most or one.barred:
                    continue
                if self.model.gap or self.model.obstacle(one):
                    one.barred = True
                    continue
                one.state, one.sender = "sending", self.sender
                expected.append(one.attempt_id)
        assert got == expected

    @rule(dice=DICE)
    def answer(self, dice: int) -> None:
        if one := self.pick(dice, *(ANY if self.is_shared else ("sending",))):
            (done,) = self.ledger.record(GotAnswer(one.attempt_id, Answered(200, b"answer %d" % dice)))
            fits = one.state == "sending" and one.sender == self.sender and not one.answered
            assert (done is None) == fits, done
            one.answered = one.answered or fits
            if not self.is_shared:  # else a start would have to read it
                self._end(one, "rejected", "")

    @rule(dice=DICE, state=st.sampled_from(["issued", "issued", "rejected", "not_sent", "unknown"]))
    def end(self, dice: int, state: str) -> None:
        # What a file refuses is kept beside it, and its next start asks a person what that is.
        if one := self.pick(dice, *(ANY if self.is_shared else ("sending",))):
            self._end(one, state, self.model.number(dice, one) if state == "issued" else "")

    def _end(self, one: Attempt, state: str, number: str) -> None:
        (done,) = self.ledger.record(Ended(one.attempt_id, Outcome(state, "reason", number)))  # type: ignore[arg-type]
        if one.state != "sending" or one.sender != self.sender:
            as_it_is = (one.state, one.number) == (state, number) or (
                self.is_shared and one.state == "unknown" and state == "issued"
            )
            assert isinstance(done, LedgerProblem) or as_it_is
            return
        self._ended(one, state, number)
        assert done.state == one.state

    def _ended(self, one: Attempt, state: str, number: str) -> None:
        if number and self.model.number_is_taken(one, number):
            state, number = "unknown", ""
        one.state, one.number, one.was_unknown = state, number, state == "unknown"

    @rule(pair=st.sampled_from([(0, 1), (1, 2), (4, 2)]))
    def both_are_issued_under_one_number(self, pair: tuple[int, int]) -> None:
        self.plan([REQUESTS[at] for at in pair])
        self.claim(4)
        number = self.model.number(0, self.model.attempts[max(self.model.attempts)])
        for one in [one for one in self.model.of("sending") if one.sender == self.sender][-2:]:
            self._end(one, "issued", number)

    @rule(dice=DICE)
    def again(self, dice: int) -> None:
        one = self.pick(dice, "not_sent")
        if (
            one is None
            or one.sender != self.sender
            or one.said
            or (self.is_shared and one.attempt_id not in self.ledger.worker._bodies)
        ):
            return
        later = [
            other
            for other in self.model.attempts.values()
            if other.request is one.request and other.attempt > one.attempt
        ]
        if not later:
            ((attempt_id, attempt),) = self.ledger.record(Again(one.attempt_id))
            assert attempt == one.attempt + 1
            self.model.attempts[attempt_id] = Attempt(attempt_id, one.request, attempt)
            if not self.is_shared:
                self.ledger._planned.append(attempt_id)

    @rule()
    def sender_dies(self) -> None:
        self.ledger.sender_dies()
        self._ends_here()
        self._next_sender()

    def _ends_here(self) -> None:
        self.model.ended.add(self.sender)
        for one in self.model.of("sending"):
            one.state, one.was_unknown = "unknown", True
        if not self.is_shared:
            self.model.drop_planned()

    @rule(dice=DICE, state=st.sampled_from(["issued", "issued", "rejected", "not_sent", "unknown"]))
    def late_word(self, dice: int, state: str) -> None:
        """Of the shared ledger by whoever sent it, of what was settled most of all; of a file's a spill file, which the next start takes in."""
        settled = [one for one in self.model.of("not_sent") if one.said and one.sender]
        one = (settled[dice % len(settled)] if settled and dice % 2 else None) or self.pick(
            dice,
            *(("sending", "unknown", "not_sent", "issued", "rejected") if self.is_shared else ("sending",)),
        )
        if one is None or one.sender is None or (not self.is_shared and one.state != "sending"):
            return
        number = self.model.number(dice, one) if state == "issued" else ""
        if self.is_shared:
            self._late(one, state, number)
            return
        self.ledger.late(one.attempt_id, Outcome(state, "reason", number))  # type: ignore[arg-type]
        self._ended(one, state, number)
        self._ends_here()
        self._next_sender()

    def _late(self, one: Attempt, state: str, number: str) -> None:
        said = self.senders[one.sender].late(one.attempt_id, Outcome(state, "reason", number))  # type: ignore[arg-type]
        if one.state == "sending":
            self._ended(one, state, number)
        elif (one.state, one.number) != (state, number):
            takes = one.state == "unknown" != state and not (
                any((of.state, of.number) == (state, number) for of in one.said)
                or (number and self.model.number_is_taken(one, number))
            )
            one.words.setdefault((state, number), (takes, len(one.said)))
            if takes:
                self._settled(one, state, number, "")
        assert (said.state, said.number) == (one.state, one.number)

    def _settled(self, one: Attempt, state: str, number: str, answered: str) -> None:
        ((entry,),) = self.ledger.rows("SELECT max(settlement) FROM settlement")
        one.said.append(Said(f"S{entry}", state, number, answered))
        one.state, one.number = state, number

    @rule(wanted=st.sampled_from(REQUESTS), dice=DICE)
    def a_yes_comes_when_it_was_denied(self, wanted: Request, dice: int) -> None:
        """It is sent, its sender is lost, somebody says that it was not issued; then the sender is heard, and it is planned once more."""
        self.plan_and_claim(wanted)
        self.sender_dies()
        for one in [one for one in self.model.of("unknown") if one.request is wanted]:
            self._settle(one, "not_sent", "", "no", None)
            if self.is_shared and one.sender is not None:
                self._late(one, "issued", self.model.number(dice, one))
        self.plan_and_claim(wanted)

    # Evidence.

    @rule(
        dice=DICE,
        state=st.sampled_from(["issued", "not_sent"]),
        answered=st.sampled_from(["", "no", "no, again"]),
        old=st.booleans(),
    )
    def settle(self, dice: int, state: str, answered: str, old: bool) -> None:
        one = self.pick(dice, "unknown", *ANY)
        if one is None:
            return
        number = self.model.number(dice, one) if state == "issued" else ""
        as_of = self._while_it_was_sent(one) if old else None
        self._settle(one, state, number, answered, as_of)

    def _while_it_was_sent(self, one: Attempt) -> datetime | None:
        """A moment before its sender's end; None of a file, which asks nobody for that."""
        if not self.is_shared:
            return None
        ((sent_at,),) = self.ledger.rows(
            f"SELECT sending_at FROM attempt WHERE attempt_id = {one.attempt_id}"
        )
        moment: datetime = sent_at + timedelta(microseconds=1)
        return moment

    def _settle(self, one: Attempt, state: str, number: str, answered: str, as_of: datetime | None) -> None:
        said = Settlement(state, number, "chen", "a letter", answered, as_of)
        proven = state == "issued" or not self.is_shared or (one.sender in self.model.ended and not as_of)
        withdrawn = any(
            (of.state, of.number) == (state, number) and answered in ("", of.answered) for of in one.said
        )
        if (
            one.state != "unknown"
            or not proven
            or withdrawn
            or (number and self.model.number_is_taken(one, number))
        ):
            self.refused(lambda: self.ledger.operations.settle(one.attempt_id, said))
            return
        self.ledger.operations.settle(one.attempt_id, said)
        self._settled(one, state, number, answered)

    @precondition(lambda self: self.is_shared or not self.model.of("sending"))
    @rule(dice=DICE)
    def withdraw(self, dice: int) -> None:
        entries = [
            *(of.entry for one in self.model.attempts.values() for of in one.said),
            *(entry for entry, _ in self.model.elsewhere.values()), *self.model.reversals,
        ]  # fmt: skip
        if entries := entries if dice < 90 else [*self.model.withdrawn, "S99999"]:
            self._withdraw(entries[dice % len(entries)])

    def _withdraw(self, entry: str) -> None:
        def change(ledger: Any) -> bool:
            try:
                ledger.withdraw(entry, withdrawn_by="chen", why="a mistake")
            except InputProblem:
                return False
            return True

        model = self.model
        if self.is_shared:
            done = change(self.ledger.operations)
        else:
            done = self.ledger.change(change)
            model.drop_planned()
            model.ended.add(self.sender)
            self._next_sender()
        found = next(
            ((one, of) for one in model.attempts.values() for of in one.said if of.entry == entry), None
        )
        if entry in model.withdrawn or entry == "S99999":
            assert not done
        elif entry in model.reversals:
            assert done != model.held_by_another(model.reversals[entry])
        elif found:
            one, of = found
            assert done == (not one.freed and (of.state == "issued" or not model.held_by_another(one)))
        else:
            assert done
        if done:
            self._withdrawn(entry, found)

    def _withdrawn(self, entry: str, found: tuple[Attempt, Said] | None) -> None:
        model = self.model
        model.withdrawn.append(entry)
        if found:
            one, of = found
            of.withdrawn, one.state, one.number = True, "unknown", ""
        elif one := model.reversals.pop(entry, None):  # type: ignore[assignment]
            one.freed = False
            model.not_reversed.add(one.number)
        else:
            model.elsewhere = {held: of for held, of in model.elsewhere.items() if of[0] != entry}

    @rule(wanted=st.sampled_from(REQUESTS), again=st.sampled_from(["", "no", "no, again"]))
    def denied_by_mistake(self, wanted: Request, again: str) -> None:
        """Somebody says that it was not issued, withdraws that, and says it again: in the same words, in others, or in none."""
        self.plan_and_claim(wanted)
        self.sender_dies()
        for one in [one for one in self.model.of("unknown") if one.request is wanted]:
            if self.is_shared:
                self._settle(one, "not_sent", "", "no", self._while_it_was_sent(one))
            self._settle(one, "not_sent", "", "no", None)
            if one.settlement:
                self._withdraw(one.settlement.entry)
            self._settle(one, "not_sent", "", again, None)

    @rule(wanted=st.sampled_from(REQUESTS), dice=DICE)
    def reversed_by_mistake(self, wanted: Request, dice: int) -> None:
        """A voucher that evidence shows is reversed, which is withdrawn: its charges are held as before."""
        self.plan_and_claim(wanted)
        self.sender_dies()
        for one in [one for one in self.model.of("unknown") if one.request is wanted]:
            self._settle(one, "issued", self.model.number(dice, one), "no", None)
            self._reverse(one)
            if one.settlement:
                self._withdraw(one.settlement.entry)
            for entry in [entry for entry, of in self.model.reversals.items() if of is one]:
                self._withdraw(entry)
        self.plan_and_claim(wanted)

    @rule(ticket=st.integers(1, 3), kind=st.sampled_from(_KINDS))
    def hold_elsewhere(self, ticket: int, kind: str) -> None:
        number = f"E{ticket}{kind}"
        place = charge(ticket, kind).identity
        line = StatementLine(
            "invoice", number, place.ticket_no, kind, "flight", 100_00, None, "", verbatim("row 2"), "s.csv"
        )
        wire = "/".join(charge(ticket, kind).wire)
        self.ledger.operations.hold_elsewhere(self.ledger.run, [(line, wire)], "chen")
        ((entry,),) = self.ledger.rows(f"SELECT max(elsewhere) FROM elsewhere WHERE number = '{number}'")
        held = place.ticket_no, kind, "flight", wire, "invoice"
        self.model.elsewhere.setdefault(held, (f"E{entry}", number))

    @rule(dice=DICE)
    def reverse(self, dice: int) -> None:
        self._reverse(self.pick(dice, "issued"))

    def _reverse(self, one: Attempt | None) -> None:
        said = SaidReversed(one.number if one and one.number else "N0", "chen", "a letter")
        if (
            one is None
            or one.state != "issued"
            or one.freed
            or one.number in self.model.not_reversed  # a statement says so again, and not a person
        ):
            self.refused(lambda: self.ledger.operations.reverse(said, self.ledger.run))
            return
        entry = self.ledger.operations.reverse(said, self.ledger.run).entry
        self.model.reversals[entry] = one
        one.freed = True

    # Gaps, stops and ends.

    @precondition(lambda self: not self.model.of("sending"))
    @rule(wanted=st.sampled_from(REQUESTS))
    def gap(self, wanted: Request) -> None:
        def change(ledger: Any) -> None:
            if self.model.gap:
                assert len(ledger.close_gaps("chen", verbatim("the statement"))) == 1
            else:
                ledger.mark_gap("2026-11-01T00:00:00.000+00:00", verbatim("a disk failed"))

        self.ledger.change(change)
        self.model.drop_planned()
        self.model.gap, self.model.stopped = not self.model.gap, False
        if not self.is_shared:
            self.model.ended.add(self.sender)
            self._next_sender()
        if self.model.gap:
            self.plan_and_claim(wanted)

    @precondition(lambda self: self.is_shared)
    @rule()
    def stop(self) -> None:
        self.ledger.stop(verbatim("enough"))
        self.model.stopped = True

    @precondition(lambda self: self.is_shared and self.model.of("sending"))
    @rule()
    def end_while_sending(self) -> None:
        self.refused(lambda: self.ledger.operations.end(self.ledger.run, 0))

    # What has to be so.

    def refused(self, what: Callable[[], object]) -> None:
        with pytest.raises((LedgerProblem, InputProblem)):
            what()

    @invariant()
    def holds_what_the_model_says(self) -> None:
        if not hasattr(self, "ledger"):
            return
        found = self.ledger.rows(
            "SELECT attempt_id, request_id, attempt, state, number, was_unknown,"
            " (SELECT coalesce(sum(CASE WHEN live THEN 1 ELSE 0 END), 0) FROM charge WHERE charge.attempt_id = attempt.attempt_id)"
            " FROM attempt ORDER BY attempt_id"
        )
        assert [tuple(row) for row in found] == [
            self.model.attempts[at].row() for at in sorted(self.model.attempts)
        ]
        assert bool(self.ledger.operations.lacking()) == self.model.gap


def live(begun: Callable[[], AbstractContextManager[Any]], lives: int, moves: int) -> None:
    """So many lives of so many moves."""
    machine = type("Lives", (BothLedgers,), {"begun": staticmethod(begun)})
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine,
        settings=settings(
            max_examples=lives, stateful_step_count=moves, deadline=None, database=None,
            suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink] if lives > 20 else [Phase.generate],
        ),
    )  # fmt: skip


@contextmanager
def new_file(folder: Path) -> Iterator[OneFile]:
    with tempfile.TemporaryDirectory(dir=folder) as own, one_file(Path(own) / "a.ledger") as ledger:
        yield ledger


@pytest.mark.slow
def test_a_file_holds_what_the_model_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOUCHER_WITNESS", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    live(lambda: new_file(tmp_path), 4, 16)


@pytest.mark.slow
def test_a_shared_ledger_holds_what_the_model_says(postgresql: Any, database: str) -> None:
    live(lambda: shared(lambda role: postgresql.url(database, role)), 8, 40)


@contextmanager
def planted(bug: str) -> Iterator[None]:
    """Meanwhile a shared ledger is made with a bug of `PLANTED`."""
    text = server_schema.statements()
    for old, new in PLANTED.get(bug, ()):
        assert old in text, old
        text = text.replace(old, new)
    with mock.patch.object(server_schema, "statements", return_value=text):
        yield


@click.command()
@click.option("--lives", default=200)
@click.option("--moves", default=50)
@click.option("--only", type=click.Choice(["file", "shared"]))
@click.option("--planted", "bug", type=click.Choice([*PLANTED]), default=None)
def main(lives: int, moves: int, only: str | None, bug: str | None) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.delenv("VOUCHER_WITNESS", raising=False)
        patch.setenv("XDG_STATE_HOME", name)
        if only != "shared" and not bug:
            live(lambda: new_file(Path(name)), lives, moves)
            click.echo(f"a file: {lives} lives of {moves} moves")
        found = programs()
        if only != "file" and found:
            with server(found) as own, planted(bug or ""):
                database, begun = own.new_database(), itertools.count(1)

                def begin() -> AbstractContextManager[Shared]:
                    click.echo(f"life {next(begun)}", err=True)
                    return shared(lambda role: own.url(database, role))

                live(begin, lives, moves)
                click.echo(f"a shared ledger: {lives} lives of {moves} moves")


if __name__ == "__main__":
    main()
