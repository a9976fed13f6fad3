"""Changes while requests are in flight: one thread that commits whatever has queued up as one group.

A change is acknowledged only when its transaction is on disk, so `sending` is durable before the
first byte of its request leaves, at the price of one sync for everybody who waits. When the ledger
fails, nothing more is acknowledged: what is known by then, and what still comes in, goes to the spill
file.
"""

import asyncio
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

from pipeline.carrier.replies import Answered, Outcome
from pipeline.errors import LedgerProblem
from pipeline.ledger import records
from pipeline.ledger.clock import utc_now
from pipeline.ledger.naming import Named
from pipeline.ledger.spill import Spill

_GROUP = 512  # changes in one transaction at the most, so that none waits for an endless group


@dataclass(frozen=True)
class Sending:
    """The request is about to leave."""

    attempt_id: int


@dataclass(frozen=True)
class GotAnswer:
    """An answer came in and nobody has looked at it yet."""

    attempt_id: int
    answer: Answered


@dataclass(frozen=True)
class Ended:
    """What the attempt came to; acknowledged with the outcome as it is recorded."""

    attempt_id: int
    outcome: Outcome


@dataclass(frozen=True)
class Again:
    """A new attempt like an ended one of this run; acknowledged with its (attempt_id, attempt)."""

    attempt_id: int


Change = Sending | GotAnswer | Ended | Again
Acknowledged = tuple[int, int] | Outcome | None
_Waiting = tuple[Change, "asyncio.Future[Acknowledged]"]


class Writer:
    """Commits changes in groups; made and used inside one event loop, closed when all is settled."""

    def __init__(self, connection: apsw.Connection, spill: Spill) -> None:
        self._connection = connection
        self._spill = spill
        self._loop = asyncio.get_running_loop()
        self._named = Named(Path(connection.filename))
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._failure = ""
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)
        self._thread.start()

    async def commit(self, change: Change) -> Acknowledged:
        """Return when the change is on disk.

        Raises LedgerProblem if it can't be put there; then nothing may be sent on the strength of it.
        """
        done: asyncio.Future[Acknowledged] = self._loop.create_future()
        self._queue.put((change, done))
        return await done

    @property
    def failed(self) -> bool:
        """Whether the ledger could not be written, so that it waits for the next start to put it in order."""
        return bool(self._failure)

    async def close(self) -> None:
        """Wait until everything queued is on disk or spilled."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        closing = False
        while not closing:
            group: list[_Waiting] = []
            taken = self._queue.get()
            while True:
                if taken is None:
                    closing = True
                    break
                group.append(taken)
                if len(group) == _GROUP:
                    break
                try:
                    taken = self._queue.get_nowait()
                except queue.Empty:
                    break
            if group:
                self._commit(group)

    def _commit(self, group: Sequence[_Waiting]) -> None:
        """Commit a group and tell everybody who waits, whatever happens: a request in flight waits for that."""
        try:
            results = self._results(group)
        except Exception as error:  # noqa: BLE001 - a defect of ours; nobody may be told yes, nor wait for ever
            self._failure = self._failure or self._unwritable(f"{type(error).__name__}: {error}")
            results = [LedgerProblem(self._failure) for _ in group]
        self._loop.call_soon_threadsafe(_acknowledge, [done for _, done in group], results)

    def _results(self, group: Sequence[_Waiting]) -> list[Acknowledged | LedgerProblem]:
        """One transaction for the group; a change that the ledger refuses is refused alone."""
        results: list[Acknowledged | LedgerProblem] = []
        if not self._failure and (gone := self._named.gone):
            self._failure = (
                f"{self._named.path}: the ledger is not under its name any more ({gone}); put it back, with the files that"
                " lie beside it, then run again"
            )
        if not self._failure:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                results = [self._apply(change) for change, _ in group]
                self._connection.execute("COMMIT")
            except Exception as error:  # noqa: BLE001 - whatever it was, nobody may be told yes
                # A failed COMMIT may or may not have reached the disk; the next start reads which.
                self._failure = self._unwritable(str(error))
                if not self._connection.get_autocommit():
                    self._give_up()
        if self._failure:
            return [self._spilled(change) for change, _ in group]
        for (change, _), result in zip(group, results, strict=True):
            # An answer that the ledger itself refuses is not lost either: the next start asks a person.
            if isinstance(result, LedgerProblem) and not isinstance(change, Sending):
                self._keep(change)
        return results

    def _give_up(self) -> None:
        try:
            self._connection.execute("ROLLBACK")
        except apsw.Error:
            return  # the failure is already known, and the next start recovers the file

    def _apply(self, change: Change) -> Acknowledged | LedgerProblem:
        """Make one change; what the ledger refuses is a problem of this change alone."""
        connection, done = self._connection, None
        try:
            match change:
                case Sending(attempt_id):
                    connection.execute(
                        "UPDATE attempt SET state = 'sending', sending_at = ? WHERE attempt_id = ?",
                        (utc_now(), attempt_id),
                    )
                case GotAnswer(attempt_id, answer):
                    records.record_answer(connection, attempt_id, answer)
                case Ended(attempt_id, outcome):
                    done = records.record_outcome(connection, attempt_id, outcome)
                case Again(attempt_id):
                    return records.plan_again(connection, attempt_id)
        except apsw.ConstraintError as error:
            return LedgerProblem(f"the ledger refused a change: {error}")
        if connection.changes() != 1:
            return LedgerProblem(
                f"attempt {attempt_id} is not in the ledger any more, or has ended there: another program has changed the"
                " ledger during this run. Keep this run's result workbook, and look the ledger over: voucher ledger check"
            )
        return done

    def _spilled(self, change: Change) -> LedgerProblem:
        self._keep(change)
        return LedgerProblem(self._failure)

    def _unwritable(self, why: str) -> str:
        return f"{self._named.path}: the ledger can't be written ({why}); free disk space or mend the disk, then run again"

    def _keep(self, change: Change) -> None:
        """Put into the spill file what is known and could not be put into the ledger."""
        match change:
            case Sending(attempt_id):
                self._spill.never_sent(attempt_id)
            case GotAnswer(attempt_id, answer):
                self._spill.answer(attempt_id, answer)
            case Ended(attempt_id, outcome):
                self._spill.ended(attempt_id, outcome)
            case Again():
                pass  # nothing has happened yet


def _acknowledge(
    waiting: Sequence["asyncio.Future[Acknowledged]"], results: Sequence[Acknowledged | LedgerProblem]
) -> None:
    for done, result in zip(waiting, results, strict=True):
        if done.cancelled():
            continue
        if isinstance(result, LedgerProblem):
            done.set_exception(result)
        else:
            done.set_result(result)
