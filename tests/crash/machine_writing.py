"""A run's changes through the real writer: those that may be, and those that must be refused."""

import asyncio
from collections.abc import Sequence
from typing import Any

from hypothesis.stateful import precondition, rule

from pipeline.ledger.attempt_changes import (
    Again,
    Change,
    Ended,
    GotAnswer,
    Sending,
)
from pipeline.model.errors import LedgerProblem
from pipeline.model.outcome import Outcome
from tests.crash.machine_answers import answer_of, outcome_of, read
from tests.crash.machine_choices import ONE, parts, several
from tests.crash.machine_life import DONE, Life


class Writing(Life):
    """A ledger that a writer changes."""

    @precondition(lambda self: self.running is not None and not self.failure)
    @rule(number=ONE)
    def write(self, number: int) -> None:
        """Changes through the writer, all waiting at once, allowed or not."""
        with self._step("writes"):
            changes, expected = [], []
            for each in several(self._new(number)):
                change = self._change(each)
                # Claimed twice in one group, the first of them may be the one that is taken, though the model refuses it: see _check_written.
                if change is not None and not (isinstance(change, Sending) and change in changes):
                    changes.append(change)
                    expected.append(self._applied(change))
            for change, result, wanted in zip(changes, self._commit(changes), expected, strict=True):
                self._check_written(change, result, wanted)

    write_more = write
    write_still_more = write
    write_on_and_on = write

    def _change(self, number: int) -> Change | None:
        """Something that may come next for some attempt, whether or not the ledger may take it."""
        kind, which, what, code = parts(number, 12, 64, 10, 64)
        planned, sending = self._chosen(which, "planned"), self._chosen(which, "sending")
        if kind == 0:
            ended = self._chosen(which, "not_sent", "not_sent", "rejected", "issued", "unknown")
            return Again(ended.attempt_id) if ended else None
        if planned and (sending is None or kind <= 6):
            return Sending(planned.attempt_id)
        if sending is None:
            return None
        outcome = outcome_of(what, code)
        if sending.answer is None and kind <= 8:
            return GotAnswer(sending.attempt_id, answer_of(outcome))
        if sending.answer is not None:
            outcome = read(sending.answer, doubted=self.model.is_doubted(sending.request))
        return Ended(sending.attempt_id, outcome)

    def _applied(self, change: Change) -> Any:
        """The change in the model: what the writer must acknowledge, False where it must refuse."""
        tried = self.model.attempts[change.attempt_id]
        match change:
            case Sending():
                if not self.model.may_be_sent(tried):
                    DONE["claims refused"] += 1
                    return False
                tried.state = "sending"
                return None
            case GotAnswer(_, answer):
                tried.answer = answer
                return None
            case Ended(_, outcome):
                return self.model.ends(tried, outcome)
            case Again():
                if self.model.runs[tried.run][0]:
                    return False
                return self.model.plan(-len(self.model.attempts) - 1, tried.request, tried.run)

    def _commit(self, changes: Sequence[Change]) -> list[Any]:
        assert self.running
        writer = self.running.writer

        async def all_at_once() -> list[Any]:
            return await asyncio.gather(*map(writer.commit, changes), return_exceptions=True)

        results = self.loop.run_until_complete(all_at_once())
        for change, result in zip(changes, results, strict=True):
            self._say(f"{change} -> {result}")
        return results

    def _check_written(self, change: Change, result: Any, expected: Any) -> None:
        if expected is False and isinstance(change, Sending) and result is None:
            # Written as sets, a group's ends come before its claims: what one of them let go may be claimed in it.
            tried = self.model.attempts[change.attempt_id]
            assert self.model.may_be_sent(tried), f"{change} must be refused, and came to {result}"
            tried.state, expected = "sending", None
        if expected is False:
            assert isinstance(result, LedgerProblem), f"{change} must be refused, and came to {result}"
        elif isinstance(change, Again):
            assert isinstance(result, tuple), f"{change} came to {result}"
            self.model.attempts.pop(expected.attempt_id)
            assert result[0] not in self.model.attempts
            assert result[1] == expected.attempt
            expected.attempt_id = result[0]
            self.model.attempts[result[0]] = expected
        elif isinstance(change, Ended):
            assert isinstance(result, Outcome), f"{change} came to {result}"
            assert (result.state, result.number) == (expected.state, expected.number)
        else:
            assert result is None, f"{change} came to {result}"
        if expected is not False:
            state = expected.state if isinstance(change, Ended) else ""
            DONE[f"written: {type(change).__name__} {state}".strip()] += 1
