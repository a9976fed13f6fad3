"""What is done by hand: a person's settlements, and whatever a stranger's SQL may try."""

from typing import Any

import apsw
from hypothesis.stateful import precondition, rule

from pipeline.ledger import reversals, settlements, withdrawals
from pipeline.ledger.clock import utc_now
from pipeline.ledger.settlements import Settlement
from pipeline.model.errors import InputProblem
from tests.crash import machine_illegal_attempts as attempts
from tests.crash import machine_illegal_evidence as evidence
from tests.crash import machine_illegal_notes as notes
from tests.crash import machine_illegal_rows as rows
from tests.crash import machine_illegal_taken_back as taken_back
from tests.crash.machine_choices import ONE, parts, several
from tests.crash.machine_life import DONE, Life
from tests.crash.machine_model import STATES, Tried
from tests.crash.machine_pool import NUMBERS
from tests.crash.machine_target import Illegal, Target

ILLEGAL: tuple[Illegal, ...] = (
    attempts.identity_of_an_attempt,
    attempts.request_of_an_attempt,
    attempts.column_of_an_outcome,
    attempts.raw_answer,
    evidence.settled_with_less,
    attempts.delete,
    attempts.attempt_over_another,
    attempts.attempt_begun_wrong,
    rows.charge_added,
    rows.charge_changed,
    rows.sent_in_part,
    rows.request_changed,
    rows.request_over_another,
    rows.run_changed,
    evidence.evidence,
    evidence.evidence_twice,
    evidence.evidence_not_followed,
    rows.ledger_row,
    rows.everything_at_once,
    notes.noted_changed,
    notes.noted_deleted,
    notes.noted_over_another,
    notes.noted_by_no_run,
    notes.shown_again_or_not_whole,
    taken_back.epoch_changed,
    taken_back.withdrawal_that_is_none,
    taken_back.reversal_that_is_none,
    taken_back.marked_by_hand,
    taken_back.recorded_words_changed,
)
#: OR FAIL and OR IGNORE keep what they have done, OR REPLACE deletes, OR ROLLBACK ends a transaction.
EITHER = ("", "OR REPLACE", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ROLLBACK")


class ByHand(Life):
    """A ledger that others than its run change."""

    # Settling.

    @precondition(lambda self: self.running is not None and not self.failure and self.model.of("unknown"))
    @rule(number=ONE)
    def settle(self, number: int) -> None:
        """An attempt in doubt is settled by evidence, as a reconciliation does while it is on."""
        with self._step("settlements"):
            which, state, code = parts(self._new(number), 64, 2, 64)
            tried = self._chosen(which, "unknown")
            assert tried
            issued = NUMBERS[code % len(NUMBERS)] if state else ""
            new = "issued" if state else "not_sent"
            self._say(f"settled: {tried.attempt_id} as {new} {issued}")
            legal = not self.model.is_taken(issued) and (new, issued) not in tried.withdrawn
            try:
                settlements.settle(
                    self.connection,
                    tried.attempt_id,
                    Settlement(new, issued, "somebody", "the statement of May"),
                )
            except apsw.ConstraintError:
                assert not legal
            else:
                assert legal, f"number {issued} is given twice, or evidence that was withdrawn"
                self.model.settle(tried, new, issued)

    @precondition(lambda self: self.running is not None and not self.failure and self._entries())
    @rule(number=ONE)
    def withdraw(self, number: int) -> None:
        """Evidence is withdrawn: a settlement, what a statement showed, or a reversal."""
        with self._step("withdrawals"):
            entries = self._entries()
            entry = entries[number % len(entries)]
            kind, key = entry[0], int(entry[1:])
            if kind == "E":
                shown = self.model.shown[key - 1]
                legal, shown.withdrawn = not shown.withdrawn, True
            elif kind == "R":
                legal = self.model.withdraw_reversal(key - 1)
            else:
                of = "SELECT attempt_id FROM settlement WHERE settlement = ?"
                tried = self.model.attempts[self.connection.execute(of, (key,)).get]
                legal = self.model.withdraw(tried)
            self._say(f"withdrawn: {entry}, {'taken' if legal else 'refused'}")
            DONE[f"withdrawn {kind}: {'taken' if legal else 'refused'}"] += 1
            try:
                withdrawals.withdraw(self.connection, entry, withdrawn_by="li", why="the wrong month")
            except InputProblem:
                assert not legal, f"{entry} can't be withdrawn"
            else:
                assert legal, f"{entry} is withdrawn though it may not be"

    def _entries(self) -> list[str]:
        """What may be withdrawn, by name; what is withdrawn already among it, but for settlements."""
        standing = "SELECT settlement FROM settlement WHERE withdrawn = 0"
        return [
            *(f"S{key}" for (key,) in self.connection.execute(standing)),
            *(f"E{at}" for at in range(1, 1 + len(self.model.shown))),
            *(f"R{at}" for at in range(1, 1 + len(self.model.reversals))),
        ]

    @precondition(lambda self: self.running is not None and not self.failure)
    @rule(number=ONE)
    def reverse(self, number: int) -> None:
        """The carrier reverses a voucher; or somebody says so of one that there is not."""
        with self._step("reversals"):
            which, red = parts(self._new(number), 64, 64)
            issued = [one.number for one in (*self.model.of("issued"), *self.model.shown)]
            chosen = [*issued, "nobody's"][which % (1 + len(issued))]
            red_number = ("", "", *issued, *NUMBERS)[red % (2 + len(issued) + len(NUMBERS))]
            legal = self.model.reverse(chosen, red_number)
            self._say(f"reversed: {chosen} by {red_number}, {'taken' if legal else 'refused'}")
            DONE[f"reversed: {'taken' if legal else 'refused'}"] += 1
            try:
                reversals.reverse(
                    self.connection, reversals.SaidReversed(chosen, "li", "red letter", red_number=red_number)
                )
            except InputProblem:
                assert not legal, f"{chosen} can't be reversed"
            else:
                assert legal, f"{chosen} is reversed though it may not be"

    # A stranger with SQL.

    @precondition(lambda self: not self.failure and self.model.attempts)
    @rule(number=ONE)
    def move_by_hand(self, number: int) -> None:
        """Any state to any other, in every way of resolving conflicts: only what is legal is taken."""
        with self._step("moves by hand"):
            for each in several(self._new(number)):
                which, state, either, code, switches = parts(each, 64, len(STATES), len(EITHER), 64, 8)
                self._switch(switches)
                self._move_by_hand(self._any(which), STATES[state], EITHER[either], code)

    def _move_by_hand(self, tried: Tried, new: str, either: str, code: int) -> None:
        old = tried.state
        number = ("", *NUMBERS)[code % (1 + len(NUMBERS))] if new == "issued" or code % 8 == 0 else ""
        changes = {
            "state": new,
            "number": number,
            "sending_at" if new == "sending" else "ended_at": utc_now(),
        }
        columns = ", ".join(f"{name} = :{name}" for name in changes)
        legal = self._is_legal(tried, new, number)
        DONE[f"{old} to {new}: {'taken' if legal else 'refused'}"] += 1
        self._say(f"by hand: {tried.attempt_id}, {old} -> {new} {number}, {either}")
        statement = f"UPDATE {either} attempt SET {columns} WHERE attempt_id = :key"
        refused = self._is_refused([statement], {**changes, "key": tried.attempt_id})
        assert refused != legal, (
            f"attempt {tried.attempt_id}, {old} to {new}: {'refused' if refused else 'taken'}"
        )
        if legal:
            tried.state, tried.number = new, number
            tried.was_unknown = tried.was_unknown or new == "unknown"

    def _is_legal(self, tried: Tried, new: str, number: str) -> bool:
        if tried.state == "planned":
            return new == "sending" and number == "" and self.model.may_be_sent(tried)
        if tried.state == "sending" and new == "issued":
            return number != "" and not self.model.is_taken(number)
        return tried.state == "sending" and new in ("rejected", "not_sent", "unknown") and number == ""

    @precondition(lambda self: not self.failure and self.model.attempts)
    @rule(number=ONE)
    def tamper(self, number: int) -> None:
        """Illegal changes of every other kind: each is refused, and the file is as before."""
        with self._step("tampering"):
            for each in several(self._new(number)):
                what, which, dice, either, switches = parts(each, len(ILLEGAL), 64, 27720, len(EITHER), 8)
                statements = self._aimed(ILLEGAL[what], which, dice, EITHER[either])
                if statements is None:
                    continue
                self._switch(switches)
                DONE["illegal changes"] += 1
                DONE[f"illegal: {ILLEGAL[what].__name__.strip('_')}"] += 1
                self._say(f"tampering: {statements}, switches {switches}")
                assert self._is_refused(statements), f"taken: {statements}"
            now = self.look.everything()
            for table, rows in self.rows.items():
                assert now[table] == rows, f"{table} has changed"

    tamper_more = tamper

    def _aimed(self, illegal: Illegal, which: int, dice: int, either: str) -> list[str] | None:
        """The change, aimed at this attempt or else at the newest that it can be aimed at."""
        for tried in (self._any(which), *reversed(self.model.attempts.values())):
            if (statements := illegal(Target(self.model, tried, dice, either))) is not None:
                return statements
        return None

    def _switch(self, switches: int) -> None:
        """What any connection may set for itself."""
        for bit, name in enumerate(("foreign_keys", "recursive_triggers", "ignore_check_constraints")):
            self.stranger.execute(f"PRAGMA {name} = {switches >> bit & 1}")

    def _is_refused(self, statements: list[str], values: dict[str, Any] | None = None) -> bool:
        """Whether the database refuses the last of these statements, or one before it."""
        try:
            if len(statements) > 1:
                self.stranger.execute("BEGIN IMMEDIATE")
            for statement in statements:
                self.stranger.execute(statement, values)
        except apsw.ConstraintError:
            return True
        else:
            return False
        finally:
            if not self.stranger.get_autocommit():
                self.stranger.execute("ROLLBACK")
