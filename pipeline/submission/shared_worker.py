"""A worker that takes part in the sending of whatever runs there are on a shared ledger, until it is stopped."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from pipeline.carrier.client import Client, connected
from pipeline.ledger_postgresql.invitations import accept, installed
from pipeline.ledger_postgresql.open_runs import open_runs
from pipeline.ledger_postgresql.server_connection import connect, conninfo
from pipeline.ledger_postgresql.shared_writer import SharedWriter
from pipeline.ledger_postgresql.sqlstates import ServerAway
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job, Watch
from pipeline.model.message import NOTHING, Message, message
from pipeline.model.profile import Secrets
from pipeline.submission.graceful_stop import Halt, stopped_by_signals
from pipeline.submission.shared_sender import SharedSender

_LOOK_EVERY, _LOOK_OFTEN = (
    10.0,
    1.0,
)  # seconds, for runs that are on, where invitations come, and where none do


@dataclass
class _WorkerHalt(Halt):
    """The worker's own end: what it sends of a run at that time stops with it."""

    of_run: Halt | None = None

    def stop(self, reason: Message, *, anew: bool = False) -> None:
        super().stop(reason, anew=anew)
        if self.of_run:
            self.of_run.stop(reason)

    def abandon(self) -> None:
        super().abandon()
        if self.of_run:
            self.of_run.abandon()


@dataclass(frozen=True)
class Working:
    """What a worker works with: its job (address of the ledger, profile), keys, who watches it. `once`: it ends when nothing is to be sent."""

    job: Job
    keys: Secrets
    watch: Watch
    once: bool

    @property
    def address(self) -> str:
        """The ledger's address."""
        return self.job.ledger or ""


async def work(of: Working) -> Message:
    """Take part in runs until it is stopped, or, `once`, until none is left; why it can't go on, if it can't."""
    halt, job = _WorkerHalt(), of.job
    with stopped_by_signals(halt, of.watch.note, []):
        async with connected(job.profile, job.profile.carrier.base_url, of.keys.api_key) as client:
            while not halt.stopping:
                async with _joined(of) as writer:
                    if why := await _AtWork(of, client, writer, halt).to_the_end():
                        return why
                    if of.once and not writer.gone:
                        break
    return NOTHING


@contextlib.asynccontextmanager
async def _joined(of: Working) -> AsyncIterator[SharedWriter]:
    most = of.job.profile.submission.concurrency
    writer = await asyncio.to_thread(SharedWriter, of.address, of.watch.note, most)
    try:
        yield writer
    finally:
        await asyncio.to_thread(writer.close)


class _AtWork:
    """One worker, for as long as it is the same to the ledger."""

    def __init__(self, of: Working, client: Client, writer: SharedWriter, halt: _WorkerHalt) -> None:
        self.of, self.client, self.writer, self.halt = of, client, writer, halt
        self._turn = asyncio.Lock()  # one run at a time
        self._why = NOTHING

    async def to_the_end(self) -> Message:
        """Take part in one run after another; why it can't go on, if it can't."""
        while await self._look() and self._goes_on:
            pass
        if not self.of.once:
            await self._by_invitation()
        if self.writer.gone:
            self.of.watch.note(message("This worker was not heard for too long; it begins as another one"))
        return self._why

    @property
    def _goes_on(self) -> bool:
        return not (self.halt.stopping or self.writer.gone or self.writer.failed)

    async def _by_invitation(self) -> None:
        with contextlib.closing(await asyncio.to_thread(connect, self.of.address)) as connection:
            invited = installed(connection)
        accepting = asyncio.create_task(accept(conninfo(self.of.address), self._accept)) if invited else None
        while self._goes_on:
            await self.halt.pause(_LOOK_EVERY if invited else _LOOK_OFTEN)
            if self._goes_on:
                await self._look()
        async with self._turn:
            if accepting:
                accepting.cancel()

    async def _look(self) -> bool:
        """Take part in what is to be sent without being invited: a newcomer, or one whose invitation was lost; whether there was anything."""
        runs = [] if self._turn.locked() else await self._open_runs()
        for run in runs:
            await self._take_part(run)
        return bool(runs)

    async def _accept(self, run: int) -> None:
        """Take up an invitation, unless others have done it all meanwhile, or this worker itself."""
        if run in await self._open_runs():
            await self._take_part(run)

    async def _open_runs(self) -> list[int]:
        """The runs there are; none while the server is away, and where nothing may be sent with this ledger by us any more, which ends this
        worker.
        """
        try:
            return await asyncio.to_thread(open_runs, self.of.address, self.of.job.owner)
        except ServerAway:
            return []
        except InputProblem as problem:
            self._end(problem.message)
            return []

    async def _take_part(self, run: int) -> None:
        async with self._turn:
            if not self._goes_on:
                return
            of = self.of
            self.halt.of_run = Halt()
            of.watch.note(message("Run {run}: taking part", run=run))
            sender = SharedSender(self.client, self.writer, of.keys, of.job.profile, self.halt.of_run)
            why = await sender.take_part(run, of.job.profile.submission.concurrency)
            stopped, self.halt.of_run = self.halt.of_run.reason, None
            if sender.wrong_key:  # as it would be for every other run
                self._end(sender.wrong_key)
                return
            of.watch.note(_told(run, stopped or why))
            self._why = why if self.writer.failed else self._why

    def _end(self, why: Message) -> None:
        """Go on no more, for that reason."""
        self._why = self._why or why
        self.halt.stop(why)


def _told(run: int, why: Message) -> Message:
    if why:
        return message("Run {run}: stopped ({why})", run=run, why=why)
    return message("Run {run}: nothing more is to be sent", run=run)
