"""A run that sends, from planned attempts to results, with what it takes: spill file, ledger's writer, client, sandbox."""

import contextlib
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pipeline.carrier.client import connected
from pipeline.carrier.crypto import Cipher
from pipeline.carrier.key_redaction import Concealed
from pipeline.ledger.group_commit import group_commit
from pipeline.ledger.operations import RunLedger
from pipeline.ledger.planning import Attempt
from pipeline.ledger.session import OpenLedger
from pipeline.ledger.spill import Spill, spill_path
from pipeline.model.job import Job, Watch, no_log
from pipeline.model.known_charges import Doubts
from pipeline.model.message import NOTHING, Message, message
from pipeline.model.outcome import Outcome, Result
from pipeline.model.profile import Secrets
from pipeline.model.table import Table
from pipeline.submission.event_loop import event_loop
from pipeline.submission.graceful_stop import Halt, stopped_by_signals
from pipeline.submission.request_sender import RequestSender
from pipeline.submission.sandbox_carrier import inside


class Attempted(Protocol):
    """What an attempt was of, for a log: a request, or what was claimed of a shared ledger."""

    @property
    def request_id(self) -> str:
        """Its request."""

    @property
    def voucher(self) -> str:
        """The kind of it: invoice or itinerary."""


@dataclass(frozen=True)
class Run:
    """A run that sends: the command that began it, what it is asked for, its ledger and its number there, keys, who watches it.

    `late` are the interruptions that came after a sending of it (`stopped_by_signals`).
    """

    command: str
    job: Job
    ledger: RunLedger
    number: int
    keys: Secrets
    watch: Watch
    late: list[int] = field(default_factory=list)

    @property
    def file(self) -> OpenLedger:
        """Its ledger where that is a file, whose changes a process of its own commits while requests are in flight."""
        if not isinstance(self.ledger, OpenLedger):
            raise TypeError(f"{self.ledger.name} is no file")
        return self.ledger

    def note_ended(self, of: Attempted, attempt: int, outcome: Outcome) -> None:
        """Log what an attempt came to."""
        if self.watch.log is no_log:  # as mostly, and for each request that would be said to nobody
            return
        self.watch.log(
            "request_ended",
            request=of.request_id,
            attempt=attempt,
            voucher=of.voucher,
            state=outcome.state,
            reason=outcome.reason,
            trace_id=_plain(outcome.trace_id),
        )


@dataclass(frozen=True)
class Sent:
    """What sending came to, why it stopped early if it did, and whether the ledger was the reason."""

    results: tuple[Result, ...] = ()
    stopped: Message = NOTHING
    ledger_failed: bool = False


def send(run: Run, channel: socket.socket, attempts: Sequence[Attempt], table: Table, doubts: Doubts) -> Sent:
    """Send every planned attempt; each has a result afterwards, whatever happened.

    `channel` leads to what commits the ledger's changes (`OpenLedger.committing`); `table` has the rows that the attempts come from, for a
    sandbox; `doubts` are the charges that were in doubt before.
    Raises LedgerProblem, before anything is sent, if there is no room to keep outcomes safe.
    """
    job, keys, watch = run.job, run.keys, run.watch
    ledger = run.file
    in_flight = min(job.profile.submission.concurrency, len(attempts))
    spill = Spill(spill_path(ledger.path.resolve()), ledger.ledger_id, in_flight)
    sent = Sent()

    async def sending() -> None:
        # It hands over nothing itself: at its end asyncio writes the task out as text, with whatever it holds.
        nonlocal sent
        halt = Halt()
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(stopped_by_signals(halt, watch.note, run.late))
            writer = await stack.enter_async_context(group_commit(channel, ledger.named, spill, in_flight))
            base_url = job.profile.carrier.base_url
            if job.sandbox:
                base_url = await stack.enter_async_context(inside(job, table, keys, watch.note))
            client = await stack.enter_async_context(
                connected(job.profile, base_url, keys.api_key, direct=job.sandbox)
            )
            cipher = Cipher(keys.encryption_key)
            concealed = Concealed(keys.api_key, keys.encryption_key)
            sender = RequestSender(
                client, writer, cipher, job.profile, halt, doubts, watch.progress, concealed, run.note_ended
            )
            results = await sender.submit(attempts)
        sent = Sent(tuple(results), halt.reason, writer.failed)

    with spill, event_loop() as runner:
        runner.run(sending())
    for line in spill.failed:
        watch.warn(message("Could not be kept on disk; keep this line for reconciling: {line}", line=line))
    return sent


def _plain(trace_id: str) -> str:
    """A trace ID that looks like one; what else a carrier may have put there is none of a log's business."""
    return trace_id if re.fullmatch(r"[A-Za-z0-9._-]{1,64}", trace_id) else ""
