"""The sending of a run's requests by one of several workers: claim, send, interpret, record, so many at a time.

As `request_sender`, of a ledger that several machines share: what to send comes from claims, a try that reached nobody is planned anew for
anybody, and what stops the run stops it for all. But a wrong key is that of one machine: unless the run is issued there, the others go on.
"""

import asyncio
import functools
import json
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus

from pipeline.boot_time import boot_time
from pipeline.carrier.client import Client
from pipeline.carrier.crypto import Cipher, Undecryptable
from pipeline.carrier.key_redaction import Concealed
from pipeline.ledger.attempt_changes import Acknowledged, Again, Ended, GotAnswer
from pipeline.ledger_postgresql.shared_writer import SharedWriter
from pipeline.ledger_postgresql.worker_part import Part
from pipeline.ledger_postgresql.worker_turns import Claimed
from pipeline.model.message import NOTHING, Message, message, without_names
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Profile, Secrets
from pipeline.submission.attempt_sender import AttemptSender, Leaving, Record, Try
from pipeline.submission.failures_in_a_row import why_stop
from pipeline.submission.graceful_stop import Halt
from pipeline.submission.retry import may_be_tried_again, pause


@dataclass
class SharedSender:
    """One worker's part in one run; `ended` is told of every attempt's end. `wrong_key`: why this worker can send nothing, if it can't."""

    client: Client
    writer: SharedWriter
    keys: Secrets = field(repr=False)
    profile: Profile
    halt: Halt
    ended: Callable[[Claimed, Outcome], None] = field(default=lambda *_: None)

    def __post_init__(self) -> None:
        self._cipher = Cipher(self.keys.encryption_key)
        concealed = Concealed(self.keys.api_key, self.keys.encryption_key)
        self._attempts = AttemptSender(
            self.client, self.writer, self._cipher, self.profile.answers, self.halt, concealed, self._watch
        )
        self._replied = asyncio.Event()  # whether the first attempt came to anything
        self._run = 0
        self._issues = False
        self.wrong_key = NOTHING
        self._same_keys = False  # whether what was sealed opens with our key
        self._undecided: list[tuple[Claimed, Try]] = []
        self._done: asyncio.Queue[tuple[Claimed, Try] | None] = asyncio.Queue()

    async def take_part(self, run: int, lanes: int, *, issues: bool = False) -> Message:
        """Send what can be claimed of a run until nothing more can; why it was stopped, if it was.

        `issues`: the run is issued here, so that it goes on until the caller says that no more is claimed. The first goes alone, as in
        `RequestSender.submit`.
        """
        self._run, self._issues = run, issues
        part = Part(run, lanes, asyncio.get_running_loop(), self._counted, stays=issues)
        self.writer.begin(part)
        heeding = asyncio.create_task(self._heed_stop())
        try:
            async with asyncio.TaskGroup() as finishing:
                finishing.create_task(self._finish())
                async with asyncio.TaskGroup() as group:
                    for _ in range(lanes):
                        group.create_task(self._lane())
                        await self._replied.wait()
                for claimed, last in self._undecided:
                    self._done.put_nowait((claimed, self._decided(last)))
                    if self.wrong_key and last.outcome.state == "not_sent":  # others may send it
                        self.writer.commit(Again(claimed.attempt_id))
                self._done.put_nowait(None)
        finally:
            heeding.cancel()
            await self.writer.finish()
        return part.why

    async def _heed_stop(self) -> None:
        await self.halt.stopped()
        self.writer.claim_no_more(self.halt.reason)

    async def _finish(self) -> None:
        """Wait for outcomes to be on disk, which lanes don't, and let their connections be used again."""
        while one := await self._done.get():
            claimed, last = one
            await self._attempts.recorded(last)
            self.ended(claimed, last.outcome)

    async def _lane(self) -> None:
        """Attempts one after another; the next one is asked for when the answer to one goes into the ledger."""
        asked: list[asyncio.Future[Claimed | None]] = []
        record = functools.partial(self._record, asked)
        while claimed := await (asked.pop() if asked else self.writer.claim()):
            try:
                last = await self._sent(claimed, record)
            finally:
                if not asked:
                    self.writer.returned()
            self._replied.set()
            if last.undecided is None:
                self._done.put_nowait((claimed, last))
            else:
                self._undecided.append((claimed, last))
        self._replied.set()

    def _record(
        self, asked: "list[asyncio.Future[Claimed | None]]", answer: GotAnswer, _: float
    ) -> Awaitable[Acknowledged]:
        """Put an answer into the ledger, and with it the claim of the next attempt, unless this one may have to be tried again."""
        recorded = self.writer.commit(answer)
        usual = answer.answer.http_status == HTTPStatus.OK and self._replied.is_set()
        if usual and not self.halt.stopping:
            self.writer.returned()
            asked.append(self.writer.claim())
        return recorded

    async def _sent(self, claimed: Claimed, record: Record) -> Try:
        """One attempt; what reached nobody is planned anew, for anybody to claim after a pause."""
        await self.halt.pause(max(0.0, claimed.leave_at - boot_time()))
        if not self.halt.stopping and not self._is_ours(claimed):
            self.wrong_key = message(
                "VOUCHER_ENCRYPTION_KEY of {machine} is not the key that the run was planned with; nothing was sent from there",
                machine=socket.gethostname(),
            )
            self.halt.stop(self.wrong_key)
        if self.halt.stopping:  # others may send it
            return self._not_sent(claimed)
        one = Leaving(
            claimed.attempt_id, claimed.attempt, claimed.asked, claimed.body, claimed.doubted, claimed.send_by
        )
        last = await self._attempts.send(one, record)
        if last.undecided is None and may_be_tried_again(last.outcome, claimed.tries):
            self.writer.commit(Again(claimed.attempt_id, pause(claimed.tries, last.outcome.retry_after)))
        return last

    def _not_sent(self, claimed: Claimed) -> Try:
        outcome = Outcome("not_sent", "run_stopped", detail=self.halt.reason)
        recorded = self.writer.commit(Ended(claimed.attempt_id, outcome))
        self.writer.commit(Again(claimed.attempt_id))
        return Try(claimed.attempt, outcome, recorded)

    def _is_ours(self, claimed: Claimed) -> bool:
        """Whether a sealed body opens with our key: with another no answer could be read, and the run would stop in doubt."""
        if not self._same_keys:
            try:
                self._cipher.open(json.loads(claimed.body))
            except (Undecryptable, ValueError):
                return False
            self._same_keys = True
        return True

    def _decided(self, last: Try) -> Try:
        """A refusal judged again when every other answer of this worker is in."""
        self._attempts.decided(last)
        if last.outcome.state == "unknown":
            self.halt.stop(without_names(last.outcome.detail), anew=True)
            if self.wrong_key:  # it was accepted
                self.wrong_key = NOTHING
                self._stop_all(last.outcome.detail)
        return last

    def _watch(self, outcome: Outcome) -> None:
        """Stop where every further request would fare the same; failures in a row are counted by the ledger (`_counted`)."""
        if outcome.stop and outcome.reason == "key_refused" and not self._issues:
            self.wrong_key = self._found_here(outcome.detail)
            self.halt.stop(self.wrong_key)
        elif outcome.stop:
            self._stop_all(outcome.detail)

    def _counted(self, in_a_row: Counter[str], last: Outcome) -> None:
        """Stop the run where failures in a row, of all workers, are too many."""
        if why := why_stop(in_a_row, self.profile.submission.concurrency, last):
            self._stop_all(why)

    def _stop_all(self, why: Message) -> None:
        """Stop the run for everybody, who are told where to look."""
        why = self._found_here(why)
        self.halt.stop(why)
        self.writer.stop_run(self._run, why)

    def _found_here(self, why: Message) -> Message:
        here = {"machine": socket.gethostname(), "worker": self.writer.worker[:8]}
        return message("{why} (found on {machine}, worker {worker})", why=without_names(why), **here)
