"""A worker that takes part in the sending of whatever runs there are on a shared ledger, until it is stopped."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from pipeline.carrier.client import Client, connected
from pipeline.carrier.crypto import Cipher
from pipeline.carrier.key_redaction import Concealed
from pipeline.ledger_postgresql.invitations import accept, installed
from pipeline.ledger_postgresql.open_runs import open_runs
from pipeline.ledger_postgresql.server_connection import connect, conninfo
from pipeline.ledger_postgresql.shared_writer import SharedWriter
from pipeline.ledger_postgresql.sqlstates import ServerAway
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

    def stop(self, reason: Message) -> None:
        super().stop(reason)
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
    with stopped_by_signals(halt, of.watch.note):
        async with connected(job.profile, job.profile.carrier.base_url, of.keys.api_key) as client:
            while not halt.reason:
                async with _joined(of) as writer:
                    if why := await _while_heard(of, client, writer, halt):
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


async def _while_heard(of: Working, client: Client, writer: SharedWriter, halt: _WorkerHalt) -> Message:
    """Take part in one run after another, for as long as this is the same worker to the ledger; why it can't go on, if it can't."""
    why = NOTHING
    turn = asyncio.Lock()

    def goes_on() -> bool:
        return not (halt.reason or writer.gone or writer.failed)

    async def take_part(run: int) -> None:
        nonlocal why
        async with turn:
            if goes_on():
                halt.of_run = Halt()
                of.watch.note(message("Run {run}: taking part", run=run))
                sender = _sender(of, client, writer, halt.of_run)
                said = await sender.take_part(run, of.job.profile.submission.concurrency)
                of.watch.note(_told(run, halt.of_run.reason or said))
                halt.of_run = None
                why = said if writer.failed else NOTHING

    async def look() -> bool:
        """Take part in what is to be sent without being invited: a newcomer, or one whose invitation was lost; whether there was anything."""
        runs: list[int] = []
        if not turn.locked():
            with contextlib.suppress(ServerAway):
                runs = await asyncio.to_thread(open_runs, of.address)
        for run in runs:
            await take_part(run)
        return bool(runs)

    while await look() and goes_on():
        pass
    if of.once:
        return why
    with contextlib.closing(await asyncio.to_thread(connect, of.address)) as connection:
        invited = installed(connection)
    accepting = asyncio.create_task(accept(conninfo(of.address), take_part)) if invited else None
    while goes_on():
        await halt.pause(_LOOK_EVERY if invited else _LOOK_OFTEN)
        if goes_on():
            await look()
    async with turn:
        if accepting:
            accepting.cancel()
    if writer.gone:
        of.watch.note(message("This worker was not heard for too long; it begins as another one"))
    return why


def _sender(of: Working, client: Client, writer: SharedWriter, halt: Halt) -> SharedSender:
    keys = of.keys
    concealed = Concealed(keys.api_key, keys.encryption_key)
    return SharedSender(client, writer, Cipher(keys.encryption_key), of.job.profile, halt, concealed)


def _told(run: int, why: Message) -> Message:
    if why:
        return message("Run {run}: stopped ({why})", run=run, why=why)
    return message("Run {run}: nothing more is to be sent", run=run)
