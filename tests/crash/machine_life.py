"""One ledger file's life without its rules: it is opened, put in order, compared with the model, closed."""

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
from hypothesis.stateful import RuleBasedStateMachine

from pipeline.ledger import attempts, integrity_check, opening
from pipeline.ledger.group_commit import Writer
from pipeline.ledger.recovery import recover
from pipeline.ledger.spill import Spill, spill_path
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.outcome import Answered, Outcome
from tests.crash.machine_answers import read
from tests.crash.machine_checks import Prescan, Rows, check_history, check_holdings, check_rows
from tests.crash.machine_choices import mixed
from tests.crash.machine_files import OWNER, empty_ledger, fast_folder
from tests.crash.machine_model import STATES, Model, Spilled, Tried
from tests.crash.machine_pool import TICKETS

#: What was done, over all examples of a process; the long form prints it.
DONE: Counter[str] = Counter()


@dataclass
class Running:
    """A run that is on."""

    run: int
    spill: Spill
    writer: Writer
    stack: contextlib.AsyncExitStack


class Life(RuleBasedStateMachine):
    """What all rules share. Every step ends with the comparison of the file and the model."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.trail: list[str] = []
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp(prefix="ledger-", dir=fast_folder()))
        os.environ["XDG_STATE_HOME"] = str(self.folder / "state")  # ledgers of all lives have one ID
        self.lives = self.age = 0
        self.salt = 0
        self.running: Running | None = None
        self.failure = ""
        self.is_sound = True
        self.spilled: list[Spilled] = []
        self.rows: Rows = {}
        self.times: dict[int, tuple[Any, ...]] = {}
        self.doubts: dict[int, bool] = {}
        self.older: bytes | None = None
        self.path = self._next_folder() / "test.ledger"
        shutil.copyfile(empty_ledger(), self.path)
        with self._told():
            self._open()
            self._compare()

    # A process's life: it opens the ledger, puts it in order, runs, ends or is killed.

    def _next_folder(self) -> Path:
        self.lives += 1
        folder = self.folder / str(self.lives)
        folder.mkdir()
        return folder

    def _open(self) -> None:
        """As `issue` begins: open, recover. Then the two other connections."""
        self.connection, self.lock = opening.open_for_run(self.path, OWNER, may_create=False)
        self._recover()
        self.look = Prescan(self.path)
        self.stranger = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
        self.older = self.path.read_bytes()
        self.age = 0

    def _recover(self) -> None:
        self.doubts = self.model.recover(self.spilled)
        recover(self.connection, self.path, self.lock, self._meaning)
        self.spilled.clear()
        assert not spill_path(self.path).exists(), "the spill file is still there"

    def _meaning(self, left: attempts.Interrupted, answer: Answered) -> Outcome:
        """How an answer on disk is read; what recovery says of its request must be so."""
        tried = self.model.attempts[left.attempt_id]
        expected = sorted(
            (c.identity.ticket_no, c.identity.charge, c.identity.product, c.amount)
            for c in tried.request.charges
        )
        seen = sorted(
            (c.identity.ticket_no, c.identity.charge, c.identity.product, c.amount)
            for c in left.request.charges
        )
        assert (seen, left.request.voucher, left.request.header) == (
            expected,
            tried.request.voucher,
            tried.request.header,
        )
        if left.attempt_id in self.doubts:  # not in a recovery that comes to nothing
            assert left.doubted == self.doubts[left.attempt_id], f"doubt of attempt {left.attempt_id}"
        DONE["answers read by recovery"] += 1
        return read(answer, doubted=left.doubted)

    def _stop_writing(self) -> None:
        assert self.running
        self.loop.run_until_complete(self.running.stack.aclose())
        self.running.spill.close()
        self.running = None

    def _close(self) -> None:
        if self.running is not None:
            self._stop_writing()
        self.look.connection.close()
        self.stranger.close()
        self.connection.set_commit_hook(None)
        self.connection.set_wal_hook(None)
        self.connection.close()
        self.lock.close()
        self.failure = ""

    def teardown(self) -> None:
        try:
            if not self.is_sound:
                return  # the violation is on its way already
            with self._told():
                looked = integrity_check.look(self.look.connection)
                assert looked.wrong == ()
                for ticket in TICKETS:
                    self._compare(ticket, every=True)
        finally:
            with contextlib.suppress(*() if self.is_sound else (apsw.Error,)):
                self._close()
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()
            shutil.rmtree(self.folder)

    # Comparing.

    def _compare(self, ticket: str = TICKETS[0], *, every: bool = False) -> None:
        before, self.rows = self.rows, self.look.everything()
        found = check_rows(self.model, self.rows, self.look)
        DONE["comparisons"] += 1
        if self.rows == before and not every:
            return  # nothing has changed, so what is told of it has not either
        check_holdings(self.model, self.look, found)
        check_history(self.model, self.look, found, ticket)
        times = {
            key: (row["planned_at"], row["sending_at"], row["state"], row["ended_at"])
            for key, row in found.items()
        }
        for key, (planned, sending, state, ended) in times.items():
            was = self.times.get(key, (planned, None, "planned", None))
            assert was[0] == planned
            assert was[1] in (None, sending), "the time of sending has changed"
            assert was[3] == ended or was[2] != state, "the time of ending has changed"
        self.times = times

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What went before is told with a violation, in words."""
        try:
            yield
        except (AssertionError, apsw.Error, LedgerProblem, InputProblem) as error:
            self.is_sound = False
            error.add_note("What was done:\n  " + "\n  ".join(self.trail))
            raise

    @contextlib.contextmanager
    def _step(self, what: str) -> Iterator[None]:
        DONE["steps"] += 1
        DONE[what] += 1
        self.age += 1
        with self._told():
            yield
            self._compare(TICKETS[DONE["steps"] % len(TICKETS)])

    # Choosing, and telling what was chosen.

    def _say(self, line: str) -> None:
        self.trail.append(line)

    def _chosen(self, number: int, *states: str) -> Tried | None:
        found = [tried for tried in self.model.of(*states) if tried.attempt_id > 0]
        return found[-1 - number % len(found)] if found else None

    def _new(self, number: int) -> int:
        """A number made of all that were drawn up to this one.

        Hypothesis likes to try a life again with a small change; so everything is another after it.
        """
        self.salt = mixed(self.salt + number)
        return self.salt

    def _any(self, number: int) -> Tried:
        """An attempt; first by its state, so that the rare ones are met as often as the others."""
        states = [state for state in STATES if self.model.of(state)]
        tried = self._chosen(number // len(states), states[number % len(states)])
        assert tried
        return tried
