"""The run that a worker takes part in: its lanes, which wait for what is claimed, and how they are told, in their event loop."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pipeline.ledger.attempt_changes import Acknowledged
from pipeline.ledger_postgresql.worker_turns import Claimed
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import NOTHING, Message
from pipeline.model.outcome import Outcome

#: Who waits for a change to be in the ledger, and what they are told.
Answer = tuple[asyncio.Future[Acknowledged] | None, Acknowledged | LedgerProblem | None]
#: Lanes, and the attempt that each is given; None where nothing more is claimed.
Handed = Sequence[tuple[asyncio.Future[Claimed | None], Claimed | None]]


@dataclass
class Part:
    """A run that this worker takes part in. `stays`: it waits for the run's end, as others' requests may be tried again.

    `counted` is told of failures in a row, of all workers, with the last of them. `over` says why nothing more is claimed, once it is so.
    """

    run: int
    lanes: int
    loop: asyncio.AbstractEventLoop
    counted: Callable[[Counter[str], Outcome], None]
    stays: bool = False
    over: bool = False
    why: Message = NOTHING
    slots: int = 0
    busy: int = 0
    waits_from: float = (
        0.0  # monotonic, for others to let go of what may be in flight; told when it is infinite
    )
    looks_at: float = 0.0  # when to claim again, monotonic
    allots_at: float = 0.0  # when to ask again how many may be in flight here, monotonic
    claims: list[asyncio.Future[Claimed | None]] = field(default_factory=list)

    @property
    def wanted(self) -> int:
        """How many attempts its lanes have room for."""
        return max(0, min(len(self.claims), self.slots - self.busy))

    def hand_out(self, claimed: Sequence[Claimed]) -> Handed:
        """Which lane gets which attempt; those that no lane wants any more are the last."""
        handed = list(zip(self.claims, claimed, strict=False))
        del self.claims[: len(handed)]
        self.busy += len(handed)
        return handed

    def end(self, why: Message) -> None:
        """Claim nothing more of it; the first reason is kept."""
        if self.over:
            return
        self.over, self.why = True, why
        waiting, self.claims = self.claims, []
        self.loop.call_soon_threadsafe(give, [(one, None) for one in waiting])

    def tell(self, told: Callable[[], None]) -> None:
        """Have something told in its event loop, if that has not ended."""
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(told)


def give(handed: Handed) -> None:
    """Give lanes what they waited for."""
    for asked, claimed in handed:
        if not asked.done():
            asked.set_result(claimed)


def answer(answers: Iterable[Answer]) -> None:
    """Tell those who wait what became of their changes."""
    for done, said in answers:
        if done is None or done.done():
            continue
        if isinstance(said, LedgerProblem):
            done.set_exception(said)
            done.exception()  # nobody need ask for it
        else:
            done.set_result(said)
