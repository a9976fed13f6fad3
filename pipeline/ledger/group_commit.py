"""Changes while requests are in flight: whatever has come up meanwhile is committed as one group.

A change is acknowledged only when its transaction is on disk, so `sending` is durable before the
first byte of its request leaves, at the price of one sync for everybody who waits. What a request came to is waited for by nobody:
it goes with the next request's change, or soon by itself. When the ledger
fails, or the process that writes it (`commit_process`), nothing more is acknowledged: what is known by then, and what still
comes in, goes to the spill file.

How long a request takes is a matter of who shares its commit. On a slow disk, one that takes longer than the program's own work does, all
requests should go through it together (in two halves that take turns, each would wait for two): so those that are at the carrier are waited
for, as long as more of them keep coming back. On a fast disk halves do take turns, one handed over while the other is still being committed.
On either, changes are written as they come up (`commit_process`), so that little but the sync itself is waited for.
"""

import asyncio
import contextlib
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from threading import Lock

from pipeline.ledger.attempt_changes import (
    Acknowledged,
    Again,
    Change,
    Ended,
    GotAnswer,
    Sending,
)
from pipeline.ledger.commit_process import Part, Written, unwritable
from pipeline.ledger.lock import Named
from pipeline.ledger.spill import Spill
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import NOTHING, message
from pipeline.pickled_values import PIECE, packed, taken

_OWN_WORK = 0.0001  # seconds, about, that the program itself needs for a request, half until it has left
_SHARES = 2  # of the requests: on a fast disk one is committed while the other is with the carrier
_LATER = 0.05  # seconds, by when outcomes go to disk that no request goes there with
_TOGETHER = 16  # changes that cross to the process at once while a slow disk's group comes up, which it writes meanwhile

_Waiting = tuple[Change, "asyncio.Future[Acknowledged]"]
_Group = Sequence[_Waiting]
_Results = Sequence[Acknowledged | LedgerProblem]


@contextlib.asynccontextmanager
async def group_commit(
    channel: socket.socket, named: Named, spill: Spill, in_flight: int
) -> AsyncIterator["Writer"]:
    """Commits a ledger's changes by the process at the other end of the channel; when it is left, all is on disk or spilled.

    `in_flight`: how many requests there are at once; each waits for one change at a time, its outcome aside. Raises
    LedgerProblem where the ledger can't be written; nothing may be sent then.
    """
    writer = Writer(channel, named, spill, in_flight)
    try:
        await writer.ready
        yield writer
    finally:
        await writer.settled()
        writer.close()


class Writer:
    """Hands groups of changes to the process that commits them, in turn, and tells everybody how his went."""

    def __init__(self, channel: socket.socket, named: Named, spill: Spill, in_flight: int) -> None:
        self._channel = channel
        self._named = named
        self._spill = spill
        self._in_flight = max(1, in_flight)
        self._loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = self._loop.create_future()  # the process has the ledger open
        self._waiting: list[_Waiting] = []  # of the next group
        self._written = 0  # so many of them the process has already
        self._requests = 0  # of them, those that a request waits for
        self._outcomes = False  # whether any wait that nobody has seen to
        self._hurried = False  # whether they go without a request
        self._meanwhile: Callable[[], None] = lambda: None
        self._handed_over: deque[_Group] = deque()  # that the process has said nothing of yet
        self._untold = 0  # groups that are with the process, or are being spilled
        self._looking = False  # whether it is going to be seen what is waiting
        self._idle = asyncio.Event()  # nothing waits, nor is being written, since somebody wanted to know
        self._last = 0.0  # seconds of the last commit
        self._slow = 0.0  # seconds of a commit on a slow disk, 0 on a fast one
        # So many requests that wait are not kept waiting for more: all there are on a slow disk.
        self._enough = self._in_flight / _SHARES
        self._said = bytearray()  # by the process, and not whole yet
        self._unsaid = bytearray()  # to the process, which has no room for it yet
        self._failure = NOTHING
        self._keeping = Lock()  # two groups may be given up at once
        channel.setblocking(False)
        self._loop.add_reader(channel, self._heard)

    def meanwhile(self, work: Callable[[], None]) -> None:
        """Do this work, which nobody waits for, whenever a group has been handed over: while it goes to disk."""
        self._meanwhile = work

    def commit(self, change: Change) -> "asyncio.Future[Acknowledged]":
        """Done when the change is on disk.

        Its problem is a LedgerProblem if it can't be put there; then nothing may be sent on the strength of it.
        """
        return self.commit_together(change)[0]

    def commit_together(self, *changes: Change) -> "list[asyncio.Future[Acknowledged]]":
        """As `commit`, of changes for which one request waits: they go to disk in one group."""
        done: list[asyncio.Future[Acknowledged]] = [self._loop.create_future() for _ in changes]
        self._waiting += zip(changes, done, strict=True)
        if self._slow and len(self._waiting) - self._written >= _TOGETHER:
            self._write(last=False)
        if not isinstance(changes[0], Ended):
            self._requests += 1
            self._look()
        elif not self._outcomes:
            self._outcomes = True
            self._loop.call_later(_LATER, self.soon)
        return done

    def soon(self) -> None:
        """Do not wait for requests with what they came to."""
        self._outcomes = False
        self._hurried = bool(self._waiting)
        self._look()

    @property
    def failed(self) -> bool:
        """Whether the ledger could not be written, so that it waits for the next start to put it in order."""
        return bool(self._failure)

    async def settled(self) -> None:
        """Wait until everything that was handed in is on disk or spilled."""
        self._idle.clear()
        self.soon()
        await self._idle.wait()

    def close(self) -> None:
        """Have no more for the process, which ends then."""
        self._loop.remove_reader(self._channel)
        self._loop.remove_writer(self._channel)
        self._channel.close()

    # When a group goes.

    def _took(self, seconds: float) -> None:
        """See by how long the last two commits took, of which one may have folded the -wal, too, whether the disk is a slow one."""
        sync, self._last = min(self._last, seconds), seconds
        self._slow = sync if 2 * sync > self._in_flight * _OWN_WORK else 0.0
        self._enough = self._in_flight if self._slow else self._in_flight / _SHARES

    def _look(self) -> None:
        """Hand over at once where enough requests wait, else when everybody had a turn to join the group and no other is under way."""
        if self._requests >= self._enough:
            self._hand_over()
        elif not self._looking:
            self._looking = True
            self._loop.call_soon(self._look_again, 0, self._loop.time() + self._slow)

    def _look_again(self, seen: int, until: float) -> None:
        """Hand over what is waiting, or on a slow disk wait for more while more keep coming, until a time at most."""
        self._looking = False
        if self._untold or not (self._requests or self._hurried):
            self._write(last=False)
            if not (self._untold or self._waiting):
                self._idle.set()
        elif len(self._waiting) > seen and self._loop.time() < until:
            self._write(last=False)
            self._looking = True
            # None is back before the others have left, and then more keep coming, if any do.
            moment = max(self._in_flight * _OWN_WORK / 2, self._slow / 4)
            self._loop.call_later(moment, self._look_again, len(self._waiting), until)
        else:
            self._hand_over()

    def _hand_over(self) -> None:
        self._write(last=True)
        group, self._waiting = self._waiting, []
        self._written = self._requests = 0
        self._hurried = False
        self._untold += 1
        self._loop.call_soon(self._meanwhile)
        if self._failure:
            self._give_up(group)
        else:
            self._handed_over.append(group)

    def _write(self, *, last: bool) -> None:
        """Let the process have what it has not yet, to be written while more comes up."""
        part = Part([change.plain() for change, _ in self._waiting[self._written :]], last)
        if (part.changes or last) and not self._failure:
            self._unsaid += packed(part)
            self._written = len(self._waiting)
            self._say()

    def _say(self) -> None:
        """At once, and not when the turn of the event loop is over: the process has a processor to itself."""
        try:
            del self._unsaid[: self._channel.send(self._unsaid)]
        except BlockingIOError:
            pass
        except OSError:  # it is gone, as its end of the channel says
            self._unsaid.clear()
        if self._unsaid:
            self._loop.add_writer(self._channel, self._say)
        else:
            self._loop.remove_writer(self._channel)

    # What becomes of it.

    def _heard(self) -> None:
        """The process has said something, or is gone."""
        try:
            data = self._channel.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._channel)
            ended = message(
                "{path}: the process that writes the ledger was ended from outside, perhaps for lack of memory or disk space; run the same command again",
                path=str(self._named.path),
            )
            for _ in range(max(1, len(self._handed_over))):
                self._tell(Written(ended))
        self._said += data
        for written in taken(self._said):
            self._tell(Written(*written))

    def _tell(self, written: Written) -> None:
        """What the process says: first that it is ready, then of each group what became of it; at any time that it is gone."""
        self._failure = self._failure or written.failure or NOTHING
        if not self.ready.done():
            if self._failure:
                self.ready.set_exception(LedgerProblem(self._failure))
            else:
                self.ready.set_result(None)
        elif self._handed_over:
            group = self._handed_over.popleft()
            self._took(written.seconds)
            if self._failure:
                self._give_up(group)
            else:
                self._take(group, written.results)

    def _take(self, group: _Group, results: _Results | None) -> None:
        if results is None:  # as they were handed in
            self._acknowledge(
                group, [change.outcome if isinstance(change, Ended) else None for change, _ in group]
            )
            return
        # An answer that the ledger itself refuses is not lost either: the next start asks a person.
        refused = [
            change
            for (change, _), result in zip(group, results, strict=True)
            if isinstance(result, LedgerProblem) and not isinstance(change, Sending)
        ]
        self._spilled(refused, group, results)

    def _give_up(self, group: _Group) -> None:
        problem = LedgerProblem(self._failure)
        self._spilled([change for change, _ in group], group, [problem for _ in group])

    def _spilled(self, changes: Sequence[Change], group: _Group, results: _Results) -> None:
        """Keep what the ledger could not take, beside the event loop, which goes on; then tell the group."""

        def told(kept: "asyncio.Future[None]") -> None:
            if error := kept.exception():  # a defect of ours; nobody may be told yes, nor wait for ever
                self._failure = self._failure or unwritable(self._named, f"{type(error).__name__}: {error}")
                self._acknowledge(group, [LedgerProblem(self._failure) for _ in group])
            else:
                self._acknowledge(group, results)

        self._loop.run_in_executor(None, self._keep, changes).add_done_callback(told)

    def _acknowledge(self, group: _Group, results: _Results) -> None:
        self._untold -= 1
        for (_, done), result in zip(group, results, strict=True):
            if done.cancelled():
                continue
            if isinstance(result, LedgerProblem):
                done.set_exception(result)
            else:
                done.set_result(result)
        # If there is not enough, whoever was waiting has its turn first: what comes of that goes with the next group then.
        self._look()

    def _keep(self, changes: Sequence[Change]) -> None:
        """Put into the spill file what is known and could not be put into the ledger; in no order, for no attempt is in two groups."""
        with self._keeping:
            for change in changes:
                match change:
                    case Sending(attempt_id):
                        self._spill.never_sent(attempt_id)
                    case GotAnswer(attempt_id, answer):
                        self._spill.answer(attempt_id, answer)
                    case Ended(attempt_id, outcome):
                        self._spill.ended(attempt_id, outcome)
                    case Again():
                        pass  # nothing has happened yet
