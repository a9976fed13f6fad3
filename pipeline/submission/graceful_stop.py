"""Stopping in good order: Ctrl-C, SIGTERM, a closed terminal or a failed ledger while requests are in flight.

No further request leaves, and the answers under way are waited for; a second signal stops waiting, and what was in flight
becomes unknown. What comes when the sending has ended stops nothing but a further sending: what was sent is told to the end.
"""

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from pipeline.carrier.client import Client
from pipeline.carrier.connection_reuse import HeldConnection
from pipeline.model.message import NOTHING, Message, Note, message
from pipeline.model.outcome import Lost, Reply
from pipeline.signals import ENDING


@dataclass
class Halt:
    """The one way to stop sending; what is in flight is waited for. Usable from a signal handler."""

    reason: Message = NOTHING
    stopping: bool = False  # whether there is a reason, which is asked several times for each request
    abandoned: bool = False  # answers are waited for no more
    _event: asyncio.Event = field(default_factory=asyncio.Event)
    _waiting: set["asyncio.Task[object]"] = field(default_factory=set)

    def stop(self, reason: Message, *, anew: bool = False) -> None:
        """No further request leaves; the first reason is kept, unless it is said anew."""
        self.reason, self.stopping = reason if anew else self.reason or reason, True
        self._event.set()

    def abandon(self) -> None:
        """Stop waiting for answers too: what is in flight becomes unknown."""
        self.stop(message("interrupted"))
        self.abandoned = True
        for task in self._waiting:
            task.cancel()

    async def stopped(self) -> None:
        """Wait until the run stops."""
        await self._event.wait()

    async def pause(self, seconds: float) -> None:
        """Wait so long, or until the run stops."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)

    async def answer_to(
        self, client: Client, path: str, body: bytes, send_by: float | None = None
    ) -> tuple[Reply, HeldConnection]:
        """Post, by `send_by` (see `Client.post`), and wait; abandoned while waiting, the request's fate is open."""
        task = cast("asyncio.Task[object]", asyncio.current_task())  # as always within an event loop
        self._waiting.add(task)
        try:
            return await client.post(path, body, send_by)
        except asyncio.CancelledError:
            if not self.stopping:
                raise
            task.uncancel()
            return Lost(message("the run was interrupted while it waited for the answer")), HeldConnection()
        finally:
            self._waiting.discard(task)


@contextlib.contextmanager
def stopped_by_signals(halt: Halt, note: Note, late: list[int]) -> Iterator[None]:
    """Ctrl-C, SIGTERM and a closed terminal stop sending and wait for what is in flight; a second one stops waiting.

    `late` takes those that come afterwards, until the program ends: they are too late for this sending, and a further one begins to stop by
    them.
    """
    loop = asyncio.get_running_loop()

    def interrupted() -> None:
        if halt.stopping:
            halt.abandon()
        else:
            note(
                message(
                    "Stopping: no further request leaves; waiting for the answers under way (once more stops waiting)"
                )
            )
            halt.stop(message("interrupted"))

    if late:
        halt.stop(message("interrupted"))
    # Ctrl-C may be ignored by what started this, as a shell's background jobs have it; `kill -INT` means it.
    before = {number: signal.getsignal(number) for number in ENDING}
    caught = [n for n in ENDING if n is signal.SIGINT or before[n] is not signal.SIG_IGN]
    for number in caught:
        loop.add_signal_handler(number, interrupted)
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
            ignored = before[number] is signal.SIG_IGN
            signal.signal(number, signal.SIG_IGN if ignored else lambda number, _: late.append(number))
