"""Runs that begin, plan and end."""

from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from pipeline.ledger import records, runs
from pipeline.ledger.spill import Spill, spill_path
from pipeline.ledger.writer import Writer
from pipeline.request import Request
from tests.crash.machine_choices import ONE, mixed, several
from tests.crash.machine_faults import heal_ledger
from tests.crash.machine_life import Life, Running
from tests.crash.machine_pool import PLACES, POOL, shown


class Runs(Life):
    """A ledger that runs begin and end with."""

    @precondition(lambda self: self.running is None)
    @rule(number=ONE)
    def begin(self, number: int) -> None:
        """A run begins and plans, with room for what may have to be spilled."""
        with self._step("runs begun"):
            run = runs.begin(self.connection, self.lock, "issue", "2026-11-20", ["tickets.xlsx"])
            assert run not in self.model.runs
            self.model.runs[run] = (False, None)
            spill = Spill(spill_path(self.path), records.ledger_id(self.connection), 1)

            async def writer() -> Writer:
                return Writer(self.connection, spill)

            self.running = Running(run, spill, self.loop.run_until_complete(writer()))
            self._say(f"run {run} begins")
            self._plan(run, number)

    begin_soon = begin  # under several names, rules are chosen so many times as often
    begin_at_once = begin

    @precondition(lambda self: self.running is not None and not self.failure)
    @rule(number=ONE)
    def plan(self, number: int) -> None:
        assert self.running
        with self._step("plans"):
            self._plan(self.running.run, number)

    def _plan(self, run: int, number: int) -> None:
        found = [self._wanted(mixed(each)) for each in several(self._new(number))]
        requests = list({request.request_id: request for request in found}.values())
        attempts = records.plan(self.connection, run, requests, PLACES)
        assert [attempt.request for attempt in attempts] == requests
        for attempt in attempts:
            tried = self.model.plan(attempt.attempt_id, attempt.request, run)
            assert attempt.attempt == tried.attempt
            self._say(f"planned: {attempt.attempt_id} = {shown(attempt.request)}")

    def _wanted(self, number: int) -> Request:
        """What somebody asks for: often what came to nothing before, also after a doubt."""
        number, kind = divmod(number, 3)
        again = self._chosen(number, "not_sent", "rejected") if kind == 0 else None
        return again.request if again else POOL[number % len(POOL)]

    @precondition(lambda self: self.running is not None and self.age > 8)
    @rule(code=st.integers(0, 4))
    def end(self, code: int) -> None:
        """A run ends well; or after its ledger failed, which is left to the next start to put in order."""
        assert self.running
        with self._step("runs ended"):
            run, failed = self.running.run, self.failure
            self._stop_writing()
            heal_ledger(self.path, self.connection)
            self.failure = ""
            self._say(f"run {run} ends with {code} {failed and f'({failed})'}")
            if not failed:
                runs.end(self.connection, self.lock, run, code)
                self.model.runs[run] = (True, code)
                self.model.drop_planned()
            self._compare()
            self._close()
            assert Path(f"{self.path}-wal").exists() == bool(failed), (
                "the -wal stays with a run that has not ended"
            )
            self._open()
