"""A worker at work: what lanes in an event loop call, for all that are sending.

They ask for attempts (`claim`) and hand in what came of them (`commit`); one thread speaks with the shared ledger for all of them
(`turn_thread`), and another has the worker be heard (`worker_membership`).
"""

import asyncio
import contextlib
import threading
import time

from pipeline.ledger.attempt_changes import Acknowledged, Change
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.server_schema import about
from pipeline.ledger_postgresql.sqlstates import as_problem
from pipeline.ledger_postgresql.turn_thread import Turns
from pipeline.ledger_postgresql.worker_membership import Heart, Membership
from pipeline.ledger_postgresql.worker_part import Part
from pipeline.ledger_postgresql.worker_queue import WorkerQueue
from pipeline.ledger_postgresql.worker_spill import WorkerSpill
from pipeline.ledger_postgresql.worker_turns import Claimed
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import NOTHING, Message, Note, message


class SharedWriter:
    """One worker, joined and heard from when this is made until `close`."""

    def __init__(self, address: str, note: Note, most: int) -> None:
        """`most`: requests that may be in flight here at once. Raises what `connect` does, and LedgerProblem without room to keep outcomes."""
        self._note = note
        self._member = Membership(address)
        try:
            self._about = about(self._member.connection)
            self._queue = WorkerQueue(WorkerSpill(self._about.ledger_id, self._member.worker.worker, most))
        except BaseException:
            self._member.connection.close()
            raise
        self._turns = Turns(self._member, self._queue, self._about.lease, note)
        self._heart = Heart(self._member, self._about.lease, self._turns.heard)
        self._thread = threading.Thread(target=self._turns.work, name="turns", daemon=True)
        self._thread.start()

    @property
    def worker(self) -> str:
        """The worker's ID."""
        return str(self._member.worker.worker)

    @property
    def failed(self) -> bool:
        """Whether nothing can be relied on any more that this ledger says."""
        return self._queue.failed

    @property
    def gone(self) -> bool:
        """Whether it was not heard for too long, or called dead: it claims nothing more."""
        return self._queue.gone

    def begin(self, part: Part) -> None:
        """Take part in a run from now on; no other is on here."""
        queue = self._queue
        with queue.condition:
            queue.part = part
            part.waits_from = time.monotonic()
            part.over = part.over or queue.gone or queue.failed
            part.why = queue.problem
            queue.condition.notify()

    def claim(self) -> asyncio.Future[Claimed | None]:
        """The next attempt for a lane that has none; None where nothing more is claimed of this run here."""
        part = self._of_run()
        asked: asyncio.Future[Claimed | None] = part.loop.create_future()
        with self._queue.condition:
            if part.over:
                asked.set_result(None)
            else:
                part.claims.append(asked)
                self._queue.condition.notify()
        return asked

    def returned(self) -> None:
        """A lane is done with its attempt at the carrier."""
        with self._queue.condition:
            self._of_run().busy -= 1
            self._queue.condition.notify()

    def commit(self, change: Change) -> asyncio.Future[Acknowledged]:
        """Done when the change is in the ledger, or, of an answer while the server is away, on this machine's disk."""
        done: asyncio.Future[Acknowledged] = self._of_run().loop.create_future()
        with self._queue.condition:
            self._queue.changes.append((change, done))
            self._queue.condition.notify()
        return done

    def claim_no_more(self, why: Message = NOTHING) -> None:
        """Nothing more of this run is claimed here; what is in flight goes on."""
        with self._queue.condition:
            self._queue.end_part(why)
            self._queue.condition.notify()

    def stop_run(self, run: int, why: Message) -> None:
        """Have nothing more of a run claimed, by any worker; here from now on."""
        queue = self._queue
        with queue.condition:
            queue.stops = queue.stops or (run, why)
            if queue.part and queue.part.run == run:
                queue.part.end(why)
            queue.condition.notify()

    async def settled(self) -> None:
        """Wait until all that was handed in is in the ledger, or can't be put there: then it is kept on this machine."""
        queue = self._queue
        while True:
            with queue.condition:
                if not (queue.changes or queue.stops) or ((queue.away or queue.failed) and queue.all_kept):
                    return
            await asyncio.sleep(0.02)

    async def finish(self) -> None:
        """Take part in the run no more, once all is settled."""
        await self.settled()
        queue = self._queue
        with queue.condition:
            part, queue.part = self._of_run(), None
        if not (queue.away or queue.failed or queue.gone):
            with contextlib.suppress(LedgerProblem):
                await asyncio.to_thread(self._let_go, part.run)

    def _let_go(self, run: int) -> None:
        with contextlib.closing(connect(self._member.address)) as connection, as_problem():
            connection.execute("SELECT voucher.allot(%s, %s, 0, 0)", (self._member.worker.worker, run))

    def _of_run(self) -> Part:
        if self._queue.part is None:
            raise RuntimeError("this worker takes part in no run")
        return self._queue.part

    def close(self) -> None:
        """Leave in good order, as far as the server can be reached; what it could not be told stays on this machine."""
        queue, spill = self._queue, self._queue.spill
        with queue.condition:
            queue.closing = True
            queue.condition.notify()
        self._thread.join()
        self._heart.end()
        self._member.leave(away=queue.away, gone=queue.gone, failed=queue.failed)
        if spill.used:
            self._note(
                message(
                    "{count} outcomes could not be told to the ledger; they are kept in {path}, and go in when voucher issue or voucher worker is"
                    " started here again",
                    count=len(queue.changes),
                    path=str(spill.path),
                )
            )
        for line in spill.failed:
            self._note(
                message("Could not be kept on disk; keep this line for reconciling: {line}", line=line)
            )
        spill.close()
