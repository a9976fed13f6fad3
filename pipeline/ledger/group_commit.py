"""Changes while requests are in flight: whatever has come up meanwhile is committed as one group.

A change is acknowledged only when its transaction is on disk, so `sending` is durable before the
first byte of its request leaves, at the price of one sync for everybody who waits. When the ledger
fails, nothing more is acknowledged: what is known by then, and what still comes in, goes to the spill
file.

A thread commits, so that requests go on leaving and answers are taken in meanwhile, however long the disk takes.
SQLite lets Python go on while it works; what the thread needs of Python between two of its steps is little, and the
program that sends sees to it that it gets it at once (`sending`).

A request waits for two commits, so that how long it takes is a matter of who shares them. On a slow disk, one that takes longer
than the program's own work does, all requests should go through each commit together (in two halves that take turns, each would
wait for four): so those that are at the carrier are waited for, as long as more of them keep coming back.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import apsw

from pipeline.ledger import attempt_changes
from pipeline.ledger.attempt_changes import (
    Acknowledged,
    Again,
    Change,
    Ended,
    GotAnswer,
    Sending,
)
from pipeline.ledger.lock import Named
from pipeline.ledger.spill import Spill
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import NOTHING, Message, message, system_error

_GROUP = 512  # changes in one transaction at the most, so that none waits for an endless group
_OWN_WORK = 0.0001  # seconds, about, that the program itself needs for a request
_A_MOMENT = 0.002  # seconds in which more come back, if any; event loops know hardly less

_Waiting = tuple[Change, "asyncio.Future[Acknowledged]"]


class Writer:
    """Commits changes in groups; made and used inside one event loop, closed when all is settled."""

    def __init__(self, connection: apsw.Connection, spill: Spill, in_flight: int) -> None:
        """`in_flight`: how many requests there are at once; each waits for one change at a time, its outcome aside."""
        self._connection = connection
        self._spill = spill
        self._in_flight = in_flight
        self._loop = asyncio.get_running_loop()
        self._named = Named(Path(connection.filename))
        self._waiting: list[_Waiting] = []  # the loop's alone, as are the next four
        self._requests = 0  # of them, those that a request waits for
        self._writing = False  # a group
        self._looking = False  # whether it is going to be seen what is waiting
        self._idle = asyncio.Event()  # nothing waits, nor is being written
        self._idle.set()
        self._took = (0.0, 0.0)  # seconds of the last two commits
        self._groups: queue.SimpleQueue[list[_Waiting] | None] = queue.SimpleQueue()
        self._failure = NOTHING
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)
        self._thread.start()

    def commit(self, change: Change) -> "asyncio.Future[Acknowledged]":
        """Done when the change is on disk.

        Its problem is a LedgerProblem if it can't be put there; then nothing may be sent on the strength of it.
        """
        done: asyncio.Future[Acknowledged] = self._loop.create_future()
        self._waiting.append((change, done))
        self._requests += not isinstance(change, Ended)
        self._idle.clear()
        self._look()
        return done

    @property
    def failed(self) -> bool:
        """Whether the ledger could not be written, so that it waits for the next start to put it in order."""
        return bool(self._failure)

    async def close(self) -> None:
        """Wait until everything that was handed in is on disk or spilled."""
        await self._idle.wait()
        self._groups.put(None)
        await asyncio.to_thread(self._thread.join)

    @property
    def _slow(self) -> float:
        """The seconds of a commit on a slow disk, 0 on a fast one; of the last two the shorter: one of many folds the -wal, too."""
        sync = min(self._took)
        return sync if 2 * sync > self._in_flight * _OWN_WORK else 0.0

    def _look(self) -> None:
        """Hand over at once where all requests wait, else when everybody had a turn to join the group."""
        if self._writing:
            return
        if self._requests >= self._in_flight:  # all there are
            self._hand_over()
        elif not self._looking:
            self._looking = True
            self._loop.call_soon(self._look_again, 0, self._loop.time() + self._slow)

    def _look_again(self, seen: int, until: float) -> None:
        """Hand over what is waiting, or on a slow disk wait for more while more keep coming, until a time at most."""
        self._looking = False
        if self._writing:
            return
        if not self._waiting:
            self._idle.set()
        elif len(self._waiting) > seen and self._loop.time() < until:
            self._looking = True
            self._loop.call_later(max(_A_MOMENT, self._slow / 4), self._look_again, len(self._waiting), until)
        else:
            self._hand_over()

    def _hand_over(self) -> None:
        group, self._waiting = self._waiting[:_GROUP], self._waiting[_GROUP:]
        self._requests = sum(not isinstance(change, Ended) for change, _ in self._waiting)
        self._writing = True
        self._groups.put(group)

    def _work(self) -> None:
        while (group := self._groups.get()) is not None:
            self._loop.call_soon_threadsafe(self._acknowledge, group, self._committed(group))

    def _committed(self, group: Sequence[_Waiting]) -> list[Acknowledged | LedgerProblem]:
        """Commit a group; there is a result for everybody who waits, whatever happens: a request in flight waits for it."""
        try:
            return self._results([change for change, _ in group])
        except Exception as error:  # noqa: BLE001 - a defect of ours; nobody may be told yes, nor wait for ever
            self._failure = self._failure or self._unwritable(f"{type(error).__name__}: {error}")
            return [LedgerProblem(self._failure) for _ in group]

    def _acknowledge(
        self, group: Sequence[_Waiting], results: Sequence[Acknowledged | LedgerProblem]
    ) -> None:
        for (_, done), result in zip(group, results, strict=True):
            if done.cancelled():
                continue
            if isinstance(result, LedgerProblem):
                done.set_exception(result)
            else:
                done.set_result(result)
        # If there is not enough, whoever was waiting has its turn first: what comes of that goes with the next group then.
        self._writing = False
        self._look()

    def _results(self, group: Sequence[Change]) -> list[Acknowledged | LedgerProblem]:
        """One transaction for the group; what can't be kept in the ledger is kept in the spill file."""
        results: list[Acknowledged | LedgerProblem] = []
        if not self._failure and (gone := self._named.gone):
            self._failure = message(
                "{path}: the ledger is not under its name any more ({why}); put it back, with the files that"
                " lie beside it, then run again",
                path=str(self._named.path),
                why=gone,
            )
        if not self._failure:
            try:
                results = attempt_changes.write(self._connection, group)
                begun = time.monotonic()
                self._connection.execute("COMMIT")
                self._took = (self._took[1], time.monotonic() - begun)
            except Exception as error:  # noqa: BLE001 - whatever it was, nobody may be told yes
                # A failed COMMIT may or may not have reached the disk; the next start reads which.
                self._failure = self._unwritable(system_error(error))
                if not self._connection.get_autocommit():
                    self._give_up()
        if self._failure:
            return [self._spilled(change) for change in group]
        for change, result in zip(group, results, strict=True):
            # An answer that the ledger itself refuses is not lost either: the next start asks a person.
            if isinstance(result, LedgerProblem) and not isinstance(change, Sending):
                self._keep(change)
        return results

    def _give_up(self) -> None:
        try:
            self._connection.execute("ROLLBACK")
        except apsw.Error:
            return  # the failure is already known, and the next start recovers the file

    def _spilled(self, change: Change) -> LedgerProblem:
        self._keep(change)
        return LedgerProblem(self._failure)

    def _unwritable(self, why: str | Message) -> Message:
        return message(
            "{path}: the ledger can't be written ({why}); free disk space or mend the disk, then run again",
            path=str(self._named.path),
            why=why,
        )

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
