"""A run on a ledger that several machines share: planned, sent with everybody's help, waited for, and its results read back.

Whoever issues it is a worker, too: when it is heard no more, nothing more of its run is sent by anybody. A stop of the run is one for all.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from pipeline.carrier.client import connected
from pipeline.ledger_postgresql.issued_run import IssuedRun
from pipeline.ledger_postgresql.postgresql_ledger import PostgresqlLedger
from pipeline.ledger_postgresql.shared_writer import SharedWriter
from pipeline.ledger_postgresql.sqlstates import ServerAway
from pipeline.ledger_postgresql.worker_turns import Claimed
from pipeline.model.job import Progress
from pipeline.model.message import Message, joined, message
from pipeline.model.outcome import Outcome, Result
from pipeline.model.request import Request
from pipeline.splitting import Judged
from pipeline.submission.charge_details import charge_details
from pipeline.submission.event_loop import event_loop
from pipeline.submission.graceful_stop import Halt, stopped_by_signals
from pipeline.submission.recovered_answers import meaning
from pipeline.submission.sending_run import Run, Sent
from pipeline.submission.shared_sender import SharedSender

_LOOK_EVERY = 0.5  # seconds
_SAY_AFTER, _SAY_AGAIN = 10.0, 60.0  # seconds, in which nothing came of what others are sending
_SHARE = 20  # of the time, at most one part of so many goes into looking how far the run is


def planned_and_sent(run: Run, rows: Judged, requests: Sequence[Request]) -> Sent:
    """Plan, send with all workers that there are, and wait for the end; each request has a result then.

    Raises LedgerProblem where the ledger can't be reached in the end: the same command again says then what it has.
    """
    submission, of_rows = run.job.profile.submission, rows.verdicts.rows
    ledger, address = run.ledger, run.job.ledger or ""
    if not isinstance(ledger, PostgresqlLedger):
        raise TypeError(f"{ledger.name} is not shared")
    writer = ledger.sender()
    with contextlib.closing(IssuedRun(address, run.number)) as issued:
        issued.open(writer.worker, submission.rate_per_second, submission.concurrency)
        before = issued.progress()  # of what was sent by this run already
        ledger.plan(run.number, requests, of_rows, charge_details(rows.table, of_rows))
        halt = Halt()
        with event_loop() as runner:
            runner.run(_Sending(run, writer, issued, halt, _Whole(len(requests), before)).to_the_end())
        with contextlib.suppress(ServerAway):
            ledger.reach_again(address)
            ledger.read_answers(meaning(run.job, run.keys), run.watch.note)
        found = issued.results(halt.reason)
        issued.forget()
    # Of a run whose issuer was not heard the ledger has dropped what was planned.
    dropped = (0, Outcome("not_sent", "run_stopped", detail=halt.reason))
    results = tuple(Result(request, *found.get(request.request_id, dropped)) for request in requests)
    return Sent(results, halt.reason, writer.failed)


class _Whole(NamedTuple):
    """How many requests there are, and the states of attempts that the run had before them."""

    requests: int
    before: Counter[str]


class _Sending:
    """What the issuing process does until its run has ended."""

    def __init__(self, run: Run, writer: SharedWriter, issued: IssuedRun, halt: Halt, whole: _Whole) -> None:
        self.run, self.writer, self.issued, self.halt, self.whole = run, writer, issued, halt, whole
        self._states = Counter[str]()
        self._says_at = 0.0  # monotonic

    async def to_the_end(self) -> None:
        """Take part, and wait until nothing of the run is planned or being sent."""
        job, keys = self.run.job, self.run.keys
        with stopped_by_signals(self.halt, self.run.watch.note, self.run.late):
            async with connected(job.profile, job.profile.carrier.base_url, keys.api_key) as client:
                sender = SharedSender(client, self.writer, keys, job.profile, self.halt, self._ended)
                lanes = min(job.profile.submission.concurrency, self.whole.requests)
                own = asyncio.create_task(sender.take_part(self.run.number, lanes, issues=True))
                stopping = asyncio.create_task(self._stop_for_all())
                try:
                    await self._ended_everywhere(own)
                    self.writer.claim_no_more()
                    await own
                    await self.writer.settled()
                finally:
                    stopping.cancel()

    def _ended(self, claimed: Claimed, outcome: Outcome) -> None:
        self.run.note_ended(claimed, claimed.attempt, outcome)

    async def _stop_for_all(self) -> None:
        await self.halt.stopped()
        self.writer.stop_run(self.run.number, self.halt.reason)

    async def _ended_everywhere(self, own: "asyncio.Task[Message]") -> None:
        every, away = _LOOK_EVERY, False
        while True:
            await asyncio.wait((own,), timeout=every)
            if own.done():
                await self._stopped_by_itself(own)
            stopped = self.halt.stopping  # before the look: what is claimed then was claimed before the stop
            begun = time.monotonic()
            try:
                states = await asyncio.to_thread(self.issued.progress)
                await self._say_whom_it_waits_for(states)
            except ServerAway:
                if own.done() and stopped:
                    return
                away = True
                await asyncio.sleep(every)
                continue
            every = max(_LOOK_EVERY, _SHARE * (time.monotonic() - begun))
            if away:
                away = False
                continue
            self._tell(states)
            if states["sending"] == 0 and (stopped or states["planned"] == 0):
                return
            if own.done() and self.halt.abandoned:
                return
            if own.done():
                await asyncio.sleep(every)

    async def _stopped_by_itself(self, own: "asyncio.Task[Message]") -> None:
        """Nothing more of the run is claimed here: it was stopped, or this worker was not heard for too long."""
        if not self.halt.stopping:
            self.halt.stop(await own or message("the run was ended from elsewhere"))

    async def _say_whom_it_waits_for(self, states: Counter[str]) -> None:
        """Name the workers that are sending requests of the run, where nothing has come of any for a while."""
        now = time.monotonic()
        if states != self._states:
            self._states, self._says_at = states, now + _SAY_AFTER
        elif states["sending"] and now >= self._says_at:
            self._says_at = now + _SAY_AGAIN
            if senders := await asyncio.to_thread(self.issued.other_senders):
                self.run.watch.note(
                    message(
                        "Waits for the requests that other workers are sending: {workers}. Those of a worker that is not heard for a lease are"
                        " unknown from then on; who is heard: voucher ledger workers",
                        workers=joined(senders),
                    )
                )

    def _tell(self, states: Counter[str]) -> None:
        """Every attempt but the last at its request has reached nobody."""
        requests, before = self.whole
        made = Counter({name: states[name] - before[name] for name in states})
        ended = Counter({name: made[name] for name in ("issued", "rejected", "unknown", "not_sent")})
        ended["not_sent"] += made["barred"] - (made.total() - requests)
        self.run.watch.progress(Progress(requests, +ended))
