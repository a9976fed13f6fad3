"""Changes while requests are in flight: whatever has come up meanwhile is committed as one group.

A change is acknowledged only when its transaction is on disk, so `sending` is durable before the
first byte of its request leaves, at the price of one sync for everybody who waits. When the ledger
fails, nothing more is acknowledged: what is known by then, and what still comes in, goes to the spill
file.

A thread commits, so that requests go on leaving and answers are taken in meanwhile, however long the disk takes.
SQLite lets Python go on while it works; what the thread needs of Python between two of its steps is little, and the
program that sends sees to it that it gets it at once (`sending`).
"""

import asyncio
import queue
import threading
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

_Waiting = tuple[Change, "asyncio.Future[Acknowledged]"]


class Writer:
    """Commits changes in groups; made and used inside one event loop, closed when all is settled."""

    def __init__(self, connection: apsw.Connection, spill: Spill) -> None:
        self._connection = connection
        self._spill = spill
        self._loop = asyncio.get_running_loop()
        self._named = Named(Path(connection.filename))
        self._waiting: list[_Waiting] = []  # the loop's alone, as is the next
        self._idle = asyncio.Event()  # no group is being written, nor about to be handed over
        self._idle.set()
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
        if self._idle.is_set():
            self._idle.clear()
            self._loop.call_soon(self._hand_over)
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

    def _hand_over(self) -> None:
        group, self._waiting = self._waiting[:_GROUP], self._waiting[_GROUP:]
        if group:
            self._groups.put(group)
        else:
            self._idle.set()

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
        # Whoever was waiting has its turn first: what comes of that goes with the next group, and not with the one after it.
        self._loop.call_soon(self._hand_over)

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
                self._connection.execute("COMMIT")
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
