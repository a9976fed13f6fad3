"""What lanes hand in for the ledger, until it has it: changes, a stop, an end; and what of it is kept on this machine meanwhile."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipeline.ledger.attempt_changes import Acknowledged, Change
from pipeline.ledger_postgresql.worker_part import Part
from pipeline.ledger_postgresql.worker_spill import WorkerSpill
from pipeline.model.message import NOTHING, Message

#: A change, and whoever waits until it is in the ledger.
Waiting = tuple[Change, asyncio.Future[Acknowledged] | None]


@dataclass
class WorkerQueue:
    """What lanes and the thread that makes turns hand to each other. Whoever reads or changes it has `condition`.

    `kept`: so many of the changes are in the spill file. `stops`: a run that is to be stopped for all, and why. `problem`: why nothing can
    be relied on any more that this ledger says; `gone`: this worker claims nothing more; `away`: the server can't be reached.
    """

    spill: WorkerSpill
    condition: threading.Condition = field(default_factory=threading.Condition)
    part: Part | None = None
    changes: list[Waiting] = field(default_factory=list)
    kept: int = 0
    stops: tuple[int, Message] | None = None
    closing: bool = False
    problem: Message = NOTHING
    gone: bool = False
    away: bool = False

    @property
    def failed(self) -> bool:
        """Whether there is a problem."""
        return bool(self.problem)

    @property
    def all_kept(self) -> bool:
        """Whether all that was handed in is in the spill file."""
        return self.kept == len(self.changes)

    def end_part(self, why: Message) -> None:
        """Nothing more is claimed of the run that this worker takes part in."""
        if self.part:
            self.part.end(why)

    def recorded(self, count: int) -> None:
        """The ledger has the first so many changes."""
        del self.changes[:count]
        self.kept = 0
        if not self.changes:
            self.spill.empty()

    def fresh(self) -> Sequence[Waiting]:
        """The changes that are not in the spill file yet; whoever asks puts them there."""
        fresh = self.changes[self.kept :]
        self.kept = len(self.changes)
        return fresh
