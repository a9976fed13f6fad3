"""Both ledgers against one model, by moves that Hypothesis makes up: a model that is small says what each ledger has to hold after each.

What differs is what the ledgers are: where the sender of a file dies, its run is over and what it had planned is dropped, and a file has one sender,
which nobody stops from elsewhere; the shared one asks who sent before it believes that nothing was issued. A longer form:

    python -m tests.contract.test_both_ledgers_machine [--lives 200] [--moves 50]

Seen to catch, in the ledgers, planted one at a time: see `tests/crash/README.md`, "The shared ledger".
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

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
from pipeline.ledger_postgresql.sqlstates import ClaimsShut
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.evidence import StatementLine
from pipeline.model.message import verbatim
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.request import Request
from tests.contract.ledgers import OneFile, Shared, charge, invoice, itinerary, one_file, shared
from tests.postgresql_server import programs, server

LIVE = ("sending", "issued", "unknown")
ANY = (*LIVE, "rejected", "not_sent")
#: Few tickets, so that requests meet: fares, refunds and others of three, alone and together.
REQUESTS = [
    *(invoice(charge(number)) for number in range(1, 4)), *(itinerary(number) for number in range(1, 3)), invoice(charge(1, "refund")),
    invoice(charge(1), charge(2)), invoice(charge(2, "ancillary", "baggage"), charge(3, "ancillary", "baggage")), invoice(charge(1, amount=200_00)),
]  # fmt: skip
_KINDS = ("ticket_fare", "refund")


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
    settlement: int = 0

    @property
    def live(self) -> bool:
        return self.state in LIVE and not self.freed

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
    elsewhere: set[tuple[str, ...]] = field(default_factory=set)
    claimed_by_word: list[Attempt] = field(
        default_factory=list
    )  # a sender says that it was issued, against evidence
    numbers: int = 0
    gap: bool = False
    stopped: bool = False
    settlements: int = 0
    ended: set[Any] = field(default_factory=set)  # senders

    def of(self, *states: str) -> list[Attempt]:
        return [one for one in self.attempts.values() if one.state in states]

    def obstacle(self, attempt: Attempt) -> bool:
        held = [each for other in self.attempts.values() if other.live for each in other.charges]
        held += [each for other in self.claimed_by_word for each in other.charges]
        return any(meet(own, other) for own in attempt.charges for other in [*held, *self.elsewhere])

    def drop_planned(self) -> None:
        for one in self.of("planned"):
            del self.attempts[one.attempt_id]

    def new_number(self) -> str:
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

    @rule(dice=st.integers(0, 99))
    def answer(self, dice: int) -> None:
        if one := self.pick(dice, *ANY):
            (done,) = self.ledger.record(GotAnswer(one.attempt_id, Answered(200, b"answer %d" % dice)))
            fits = one.state == "sending" and one.sender == self.sender and not one.answered
            assert (done is None) == fits, done
            one.answered = one.answered or fits

    @rule(
        dice=st.integers(0, 99),
        state=st.sampled_from(["issued", "rejected", "not_sent", "unknown"]),
        taken=st.booleans(),
    )
    def end(self, dice: int, state: str, taken: bool) -> None:
        if one := self.pick(dice, *ANY):
            others = [other.number for other in self.model.of("issued") if other is not one]
            number = "" if state != "issued" else others[0] if taken and others else self.model.new_number()
            (done,) = self.ledger.record(Ended(one.attempt_id, Outcome(state, "reason", number)))  # type: ignore[arg-type]
            if one.state != "sending" or one.sender != self.sender:
                as_it_is = (one.state, one.number) == (state, number) or (
                    self.is_shared and one.state == "unknown" and state == "issued"
                )
                assert isinstance(done, LedgerProblem) or as_it_is
                return
            if number in others:
                state, number = "unknown", ""
            assert done.state == state
            one.state, one.number, one.was_unknown = state, number, state == "unknown"

    @rule(dice=st.integers(0, 99))
    def again(self, dice: int) -> None:
        one = self.pick(dice, "not_sent")
        if (
            one is None
            or one.sender != self.sender
            or one.settlement
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

    @rule(dice=st.integers(0, 99), state=st.sampled_from(["issued", "rejected", "not_sent", "unknown"]))
    def late_word(self, dice: int, state: str) -> None:
        """Of the shared ledger by whoever sent it; of a file's a spill file, which the next start takes in."""
        one = self.pick(
            dice,
            *(("sending", "unknown", "not_sent", "issued", "rejected") if self.is_shared else ("sending",)),
        )
        if one is None or one.sender is None:
            return
        number = self.model.new_number() if state == "issued" else ""
        if not self.is_shared:
            self.ledger.late(one.attempt_id, Outcome(state, "reason", number))  # type: ignore[arg-type]
            one.state, one.number, one.was_unknown = state, number, state == "unknown"
            self._ends_here()
            self._next_sender()
            return
        said = self.senders[one.sender].late(one.attempt_id, Outcome(state, "reason", number))  # type: ignore[arg-type]
        if one.state == "sending":
            one.state, one.number, one.was_unknown = state, number, state == "unknown"
        elif one.state == "unknown" and state != "unknown" and not one.settlement:
            one.state, one.number = state, number
            self.model.settlements += 1
            one.settlement = self.model.settlements
        elif state == "issued" and not one.live:
            self.model.claimed_by_word.append(one)
        assert (said.state, said.number) == (one.state, one.number)

    # Evidence.

    @rule(
        dice=st.integers(0, 99),
        state=st.sampled_from(["issued", "not_sent"]),
        taken=st.booleans(),
        old=st.booleans(),
    )
    def settle(self, dice: int, state: str, taken: bool, old: bool) -> None:
        one = self.pick(dice, "unknown", *ANY)
        if one is None:
            return
        others = [other.number for other in self.model.of("issued")]
        number = "" if state != "issued" else others[0] if taken and others else self.model.new_number()
        as_of = None
        if old and self.is_shared:  # from before its sender's end
            ((sent_at,),) = self.ledger.rows(
                f"SELECT sending_at FROM attempt WHERE attempt_id = {one.attempt_id}"
            )
            as_of = sent_at + timedelta(microseconds=1)
        said = Settlement(state, number, "chen", "a letter", "", as_of)
        proven = state == "issued" or not self.is_shared or (one.sender in self.model.ended and not as_of)
        if one.state != "unknown" or number in others or not proven:
            self.refused(lambda: self.ledger.operations.settle(one.attempt_id, said))
            return
        self.ledger.operations.settle(one.attempt_id, said)
        one.state, one.number = state, number
        self.model.settlements += 1
        one.settlement = self.model.settlements

    @rule(ticket=st.integers(1, 3), kind=st.sampled_from(_KINDS))
    def hold_elsewhere(self, ticket: int, kind: str) -> None:
        number = f"E{ticket}{kind}"
        place = charge(ticket, kind).identity
        line = StatementLine(
            "invoice", number, place.ticket_no, kind, "flight", 100_00, None, "", verbatim("row 2"), "s.csv"
        )
        wire = "/".join(charge(ticket, kind).wire)
        self.ledger.operations.hold_elsewhere(self.ledger.run, [(line, wire)], "chen")
        self.model.elsewhere.add((place.ticket_no, kind, "flight", wire, "invoice"))

    @rule(dice=st.integers(0, 99))
    def reverse(self, dice: int) -> None:
        one = self.pick(dice, "issued")
        said = SaidReversed(one.number if one else "N0", "chen", "a letter")
        if one is None or one.freed:
            self.refused(lambda: self.ledger.operations.reverse(said, self.ledger.run))
            return
        self.ledger.operations.reverse(said, self.ledger.run)
        one.freed = True

    # Gaps, stops and ends.

    @precondition(lambda self: not self.model.of("sending"))
    @rule()
    def gap(self) -> None:
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

    @precondition(lambda self: self.is_shared)
    @rule()
    def stop_or_lift(self) -> None:
        if self.model.stopped:
            self.ledger.operations.lift(self.ledger.run)
        else:
            self.ledger.operations.stop(self.ledger.run, verbatim("enough"))
        self.model.stopped = not self.model.stopped

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
    live(lambda: new_file(tmp_path), 4, 20)


@pytest.mark.slow
def test_a_shared_ledger_holds_what_the_model_says(postgresql: Any, database: str) -> None:
    live(lambda: shared(lambda role: postgresql.url(database, role)), 8, 40)


@click.command()
@click.option("--lives", default=200)
@click.option("--moves", default=50)
@click.option("--only", type=click.Choice(["file", "shared"]))
def main(lives: int, moves: int, only: str | None) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.delenv("VOUCHER_WITNESS", raising=False)
        patch.setenv("XDG_STATE_HOME", name)
        if only != "shared":
            live(lambda: new_file(Path(name)), lives, moves)
            click.echo(f"a file: {lives} lives of {moves} moves")
        found = programs()
        if only != "file" and found:
            with server(found) as own:
                database = own.new_database()
                live(lambda: shared(lambda role: own.url(database, role)), lives, moves)
                click.echo(f"a shared ledger: {lives} lives of {moves} moves")


if __name__ == "__main__":
    main()
