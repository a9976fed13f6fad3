"""A ledger that fails under the writer: what is known is spilled, and nothing acknowledged."""

from collections.abc import Sequence
from pathlib import Path

import apsw
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from pipeline.ledger.attempt_changes import (
    Again,
    Change,
    Ended,
    GotAnswer,
    Sending,
)
from pipeline.model.errors import LedgerProblem
from pipeline.model.outcome import Answered
from tests.crash.machine_answers import read
from tests.crash.machine_choices import ONE, several
from tests.crash.machine_life import DONE
from tests.crash.machine_model import Spilled
from tests.crash.machine_writing import Writing

#: How a ledger fails under the writer. The last one is the failed COMMIT that did reach the disk.
FAILURES = (ITS_NAME_IS_GONE, CAN_NOT_BE_WRITTEN, COMMIT_IS_REFUSED, COMMIT_FAILS_LATE) = (
    "its name is gone", "it can't be written", "COMMIT is refused", "COMMIT fails, and is on the disk",
)  # fmt: skip


def break_ledger(way: str, path: Path, connection: apsw.Connection) -> None:
    """Let the ledger fail from now on."""
    if way == ITS_NAME_IS_GONE:
        path.rename(path.with_name("elsewhere"))
    elif way == CAN_NOT_BE_WRITTEN:
        connection.execute("PRAGMA query_only = ON")
    elif way == COMMIT_IS_REFUSED:
        connection.set_commit_hook(lambda: True)
    else:
        connection.set_wal_hook(_fails_after_the_commit)


def _fails_after_the_commit(*_: object) -> int:
    raise apsw.IOError("the disk says no, when it is written already")


def heal_ledger(path: Path, connection: apsw.Connection) -> None:
    """Whatever it was is over."""
    if (elsewhere := path.with_name("elsewhere")).exists():
        elsewhere.rename(path)
    connection.execute("PRAGMA query_only = OFF")
    connection.set_commit_hook(None)
    connection.set_wal_hook(None)


class Failing(Writing):
    """A ledger that fails while a run writes."""

    @precondition(lambda self: self.running is not None and self.age > 6)
    @rule(number=ONE, way=st.sampled_from(FAILURES))
    def fail(self, number: int, way: str) -> None:
        """The ledger fails under the writer: nothing is acknowledged any more, what is known is spilled."""
        with self._step("writes spilled"):
            found = [
                change for each in several(self._new(number)) if (change := self._to_spill(each)) is not None
            ]
            changes = list({change.attempt_id: change for change in found}.values())
            if not self.failure and changes:
                way = self._break(way, changes)
                if way == COMMIT_FAILS_LATE:
                    changes = changes[:1]
            for change, result in zip(changes, self._commit(changes), strict=True):
                assert isinstance(result, LedgerProblem), (
                    f"{change} was acknowledged by a ledger that fails: {result}"
                )
                self._expect_spilled(change)

    def _to_spill(self, number: int) -> Change | None:
        """What may come next, as far as it has not been spilled already."""
        change = self._change(number)
        said = [entry.what for entry in self.spilled if change and entry.attempt_id == change.attempt_id]
        if not said or change is None or isinstance(change, Again):
            return change
        answers = [what for what in said if isinstance(what, Answered)]
        if len(said) == len(answers) and isinstance(change, Ended):
            return Ended(
                change.attempt_id,
                read(
                    answers[0], doubted=self.model.is_doubted(self.model.attempts[change.attempt_id].request)
                ),
            )
        return None

    def _break(self, way: str, changes: Sequence[Change]) -> str:
        """Let the ledger fail from now on, at these changes first."""
        if way == COMMIT_FAILS_LATE:
            expected = False if isinstance(changes[0], Again) else self._applied(changes[0])
            way = COMMIT_IS_REFUSED if expected is False else way
        self.failure = way
        self._say(f"the ledger fails: {way}")
        DONE[way] += 1
        break_ledger(way, self.path, self.connection)
        return way

    def _expect_spilled(self, change: Change) -> None:
        match change:
            case Sending():
                self.spilled.append(Spilled(change.attempt_id, None))
            case GotAnswer(_, answer):
                self.spilled.append(Spilled(change.attempt_id, answer))
            case Ended(_, outcome):
                self.spilled.append(Spilled(change.attempt_id, outcome))
