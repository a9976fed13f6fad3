"""Runs that begin, plan and end."""

import contextlib
from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from pipeline.ledger import (
    inbox_files,
    issued_elsewhere,
    judgements,
    opening,
    planning,
    runs,
)
from pipeline.ledger.inbox_files import Handled
from pipeline.ledger.judgements import Judgement
from pipeline.ledger.spill import Spill, spill_path
from pipeline.model.evidence import StatementLine
from pipeline.model.request import Identity, Request
from tests.committing import writer_by
from tests.crash.machine_choices import ONE, mixed, parts, several
from tests.crash.machine_faults import heal_ledger
from tests.crash.machine_life import DONE, Life, Running
from tests.crash.machine_model import Shown
from tests.crash.machine_pool import PLACES, POOL, TICKETS, on_the_wire, shown_as

MOST_SHOWN = 4  # in one life: what is issued elsewhere can not be sent any more


class Runs(Life):
    """A ledger that runs begin and end with."""

    @precondition(lambda self: self.running is None)
    @rule(number=ONE)
    def begin(self, number: int) -> None:
        """A run begins and plans, with room for what may have to be spilled."""
        with self._step("runs begun"):
            run = runs.begin(
                self.connection, self.lock, runs.RunStart("issue", "2026-11-20", ["tickets.xlsx"])
            )
            assert run not in self.model.runs
            self.model.runs[run] = (False, None)
            spill = Spill(spill_path(self.path), opening.ledger_id(self.connection), 1)

            stack = contextlib.AsyncExitStack()
            writer = self.loop.run_until_complete(
                stack.enter_async_context(writer_by(self.connection, spill, 4))
            )
            self.running = Running(run, spill, writer, stack)
            self._say(f"run {run} begins")
            self._note(run)
            self._show(run, self._new(number))
            self._plan(run, number)

    def _note(self, run: int) -> None:
        """What every reconciliation leaves: a judgement that is new, and a file that it has dealt with."""
        row = (
            "ticket_fare",
            "flight",
            "invoice",
            100_00,
            "waiting",
            "ticket_still_open",
            "tickets.xlsx",
            "Tickets",
        )
        judgements.note(self.connection, run, [Judgement(TICKETS[run % len(TICKETS)], *row, run)])
        inbox_files.record(
            self.connection, run, Handled(f"{run}", "tickets", "tickets.xlsx", "", "", unfinished=False)
        )

    def _show(self, run: int, number: int) -> None:
        """Now and then a statement shows a charge that was issued elsewhere; before anything is sent, as it is."""
        seldom, which, what = parts(number, 2, len(POOL), 5)
        if seldom or len(self.model.shown) >= MOST_SHOWN:
            return
        charge, voucher = POOL[which].charges[0], "invoice"
        identity, wire = charge.identity, on_the_wire(charge)
        if what == 0:  # the ticket is bound to the other kind of voucher, also for its refund
            identity, wire, voucher = Identity(identity.ticket_no, "ticket_fare", "flight"), "", "itinerary"
        elif what == 1:  # on the wire the same as a lounge
            identity, wire = Identity(identity.ticket_no, "ancillary", "meal"), "EXTRA/Other"
        elif what == 2 and identity.charge == "ancillary":  # it may be any
            identity, wire = replace(identity, product=""), ""
        shown = Shown(identity, wire, voucher, f"E{run}", run)
        i = shown.identity
        line = StatementLine(
            shown.voucher,
            shown.number,
            i.ticket_no,
            i.charge,
            i.product,
            None,
            None,
            "Acme",
            "october.csv, row 2",
            "october.csv",
        )
        assert issued_elsewhere.record(self.connection, run, [(line, shown.wire)], "chen") == [line]
        self.model.shown.append(shown)
        DONE["shown by statements"] += 1
        self._say(f"a statement shows {shown}")

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
        attempts = planning.plan(self.connection, run, requests, PLACES)
        assert [attempt.request for attempt in attempts] == requests
        for attempt in attempts:
            tried = self.model.plan(attempt.attempt_id, attempt.request, run)
            assert attempt.attempt == tried.attempt
            self._say(f"planned: {attempt.attempt_id} = {shown_as(attempt.request)}")

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
