"""The sending of requests: claim, send, interpret, record, for every request, so many at a time.

The order is the promise. `sending` is on disk before the first byte leaves (what follows is `attempt_sender`'s); only what provably reached
nobody is tried again, as a new attempt with a `sending` of its own; and when the ledger fails, the carrier refuses us, or attempts fail in
a row, no further request leaves.

A request waits for the disk once. The next one's `sending` goes there with its answer, and it leaves when it is known what the answer
means: no more are in doubt after a crash than there may be in flight. The outcome goes there with the answer after that; until then the
ledger would make it out again from the answer.
"""

import asyncio
import contextlib
import functools
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

from pipeline.carrier.client import Client
from pipeline.carrier.crypto import Cipher
from pipeline.carrier.documents import request_body
from pipeline.carrier.key_redaction import Concealed
from pipeline.ledger.attempt_changes import Acknowledged, Again, Ended, GotAnswer, Sending
from pipeline.ledger.group_commit import Writer
from pipeline.ledger.planning import Attempt
from pipeline.model.errors import LedgerProblem
from pipeline.model.job import Progress
from pipeline.model.known_charges import Doubts
from pipeline.model.message import without_names
from pipeline.model.outcome import Outcome, Result
from pipeline.model.profile import Profile
from pipeline.model.request import Request
from pipeline.submission.attempt_sender import AttemptSender, Leaving, Record, Try
from pipeline.submission.failures_in_a_row import FailuresInARow
from pipeline.submission.graceful_stop import Halt
from pipeline.submission.rate_limit import Pace
from pipeline.submission.retry import may_be_tried_again, pause

_SOON = 0.005  # seconds, by when the requests that take the place of others have left

_Ready = tuple[Attempt, Leaving]
_Sent = tuple[Attempt, Try]


@dataclass
class RequestSender:
    """One run's sending. `submit` is the way in; the attempts' states are in the ledger throughout."""

    client: Client
    writer: Writer
    cipher: Cipher
    profile: Profile
    halt: Halt
    doubts: Doubts
    progress: Callable[[Progress], None]
    concealed: Concealed
    ended: Callable[[Request, int, Outcome], None]  # told of every attempt's end

    def __post_init__(self) -> None:
        rate = self.profile.submission.rate_per_second
        self._pace = Pace(rate) if rate else None
        self._in_a_row = FailuresInARow(self.profile.submission.concurrency)
        self._attempts = AttemptSender(
            self.client,
            self.writer,
            self.cipher,
            self.profile.answers,
            self.halt,
            self.concealed,
            self._watch,
        )
        self._replied = asyncio.Event()  # whether the first attempt came to anything
        self._planned: Sequence[Attempt] = ()
        self._made = 0  # of these, so many were made ready
        self._ready: deque[_Ready] = deque()
        self._results: dict[int, Result] = {}
        self._states: Counter[str] = Counter()
        self._numbers: set[str] = set()  # of vouchers
        self._undecided: list[_Sent] = []
        self._uncounted: list[_Sent] = []  # what they came to is on disk, and nobody has been told

    async def submit(self, attempts: Sequence[Attempt]) -> list[Result]:
        """Send every request; the results in the order of the attempts.

        The first goes alone: what stops the run for all of them (a wrong encryption key) leaves one in doubt then, not as
        many as may be in flight.
        """
        self._planned, self._made = attempts, 0
        self.writer.meanwhile(self._make_ahead)
        async with asyncio.TaskGroup() as lanes:
            for _ in range(min(self.profile.submission.concurrency, len(attempts))):
                lanes.create_task(self._lane())
                await self._replied.wait()
        await self.writer.settled()
        undecided, self._undecided = self._undecided, []
        for attempt, last in undecided:
            await self._over((attempt, self._decided(last)))
        asyncio.get_running_loop().call_soon(self._tell)
        await asyncio.sleep(0)
        return [self._results[attempt.attempt_id] for attempt in attempts]

    async def _lane(self) -> None:
        """Requests one after another."""
        claimed: list[_Ready] = []  # the next one, where its `sending` went to disk with the answer before it
        record = functools.partial(self._record, claimed)
        while ready := claimed.pop() if claimed else self._next():
            await self._through(ready, claimed, record)

    async def _through(self, ready: _Ready, claimed: list[_Ready], record: Record) -> None:
        """One request, with whatever tries it takes."""
        attempt, one = ready
        last = await self._tried(attempt, one, record)
        self._replied.set()  # whatever it came to: the others need not wait for its retries
        tries = 1
        while may_be_tried_again(last.outcome, tries):
            if claimed:  # nor does what is claimed already, which would be in doubt after a crash
                await self._through(claimed.pop(), [], self._record_alone)
            if not await self._planned_again(attempt, one, last, tries):
                break
            last = await self._tried(attempt, one, record)
            tries += 1
        if last.undecided is not None:
            self._undecided.append((attempt, last))
        elif self._is_new(last.outcome) and claimed and last.recorded:
            last.recorded.add_done_callback(functools.partial(self._recorded, (attempt, last)))
        else:
            await self._over((attempt, last))

    def _record(self, claimed: list[_Ready], answer: GotAnswer, took: float) -> Awaitable[Acknowledged]:
        """Put an answer on disk, and with it the `sending` of a request that was made ahead, where it is likely to leave at once."""
        # After another status than 200 a request is tried again after a pause, or none may follow. And where an answer takes longer than
        # a connection may be idle, no place may have two of them in turns.
        usual = answer.answer.http_status == HTTPStatus.OK and self._replied.is_set()
        usual = usual and not 0 < self.profile.submission.keepalive_seconds < took
        if usual and self._ready and not self._pace and not self.halt.stopping:
            claimed.append(self._ready.popleft())
            _, one = claimed[0]
            recorded, one.claimed = self.writer.commit_together(answer, Sending(one.attempt_id))
            return recorded
        return self.writer.commit(answer)

    def _record_alone(self, answer: GotAnswer, _: float) -> Awaitable[Acknowledged]:
        return self.writer.commit(answer)

    def _is_new(self, outcome: Outcome) -> bool:
        """Whether no other request of this run has the number of this one; else what the ledger makes of it is waited for."""
        if outcome.state != "issued":
            return True
        before = len(self._numbers)
        self._numbers.add(outcome.number)
        return len(self._numbers) > before

    def _next(self) -> _Ready | None:
        if not self._ready and self._made < len(self._planned):
            self._make_ready()
        return self._ready.popleft() if self._ready else None

    def _make_ready(self) -> None:
        """Make one more request, so that it can leave as soon as it is claimed."""
        attempt = self._planned[self._made]
        request = attempt.request
        body = request_body(request, self.profile, self.cipher)
        doubted = self.doubts.about(request)
        one = Leaving(attempt.attempt_id, attempt.attempt, request.asked, body, doubted)
        self._ready.append((attempt, one))
        self._made += 1

    def _make_ahead(self) -> None:
        """Make as many as leave together, at most."""
        with contextlib.suppress(Exception):  # whoever needs it finds it not made, and is told why
            while len(self._ready) < self.profile.submission.concurrency and self._made < len(self._planned):
                self._make_ready()

    async def _planned_again(self, attempt: Attempt, one: Leaving, last: Try, tries: int) -> bool:
        """Plan a request anew that reached nobody, after a pause; False where the run stops meanwhile."""
        self.writer.soon()
        if await self._attempts.recorded(last):
            self.ended(attempt.request, last.number, last.outcome)
        await self.halt.pause(pause(tries, last.outcome.retry_after))
        if not self.halt.stopping:
            try:
                again = await self.writer.commit(Again(one.attempt_id))
            except LedgerProblem as problem:
                self.halt.stop(problem.message)
            else:
                one.attempt_id, one.number = cast("tuple[int, int]", again)
                one.claimed = None
        return not self.halt.stopping

    def _stopped(self) -> Outcome:
        return Outcome("not_sent", "run_stopped", detail=self.halt.reason)

    async def _tried(self, attempt: Attempt, one: Leaving, record: Record) -> Try:
        """One attempt: claim, send, record the answer, interpret it, and hand in the outcome to be recorded."""
        if one.claimed is None and self.halt.stopping:
            return Try(one.number, self._stopped())
        if self._pace:
            await self.halt.pause(self._pace.turn(time.monotonic()))
        claimed = False
        try:
            if one.claimed is None and not self.halt.stopping:
                one.claimed = self.writer.commit(Sending(one.attempt_id))
            if one.claimed is not None:
                await one.claimed
                claimed = True
        except LedgerProblem as problem:
            self.halt.stop(problem.message)
        if not claimed:
            outcome = self._stopped()
            self.ended(attempt.request, one.number, outcome)
            return Try(one.number, outcome)
        while self._pace and not self.halt.stopping and (wait := self._pace.leave(time.monotonic())):
            await self.halt.pause(wait)
        if self.halt.stopping:  # it stopped while this was being written: the request stays here
            outcome = self._stopped()
            return Try(one.number, outcome, self.writer.commit(Ended(one.attempt_id, outcome)))
        return await self._attempts.send(one, record)

    def _decided(self, last: Try) -> Try:
        """A refusal judged again when every other answer of this run is in."""
        self._attempts.decided(last)
        if last.outcome.state == "unknown":
            self.halt.stop(without_names(last.outcome.detail), anew=True)
        return last

    async def _over(self, sent: _Sent) -> None:
        """Wait until what a request came to is on disk."""
        attempt, last = sent
        self.writer.soon()
        recorded = await self._attempts.recorded(last)
        self._count(sent)
        if recorded:
            self.ended(attempt.request, last.number, last.outcome)

    def _recorded(self, sent: _Sent, recorded: "asyncio.Future[Acknowledged]") -> None:
        """What a request came to is on disk."""
        attempt, last = sent
        self._attempts.taken(last, recorded)
        self._count(sent)
        self.ended(attempt.request, last.number, last.outcome)

    def _count(self, sent: _Sent) -> None:
        """It is counted and told soon: once for all whose outcomes went to disk together."""
        if not self._uncounted:
            asyncio.get_running_loop().call_later(_SOON, self._tell)
        self._uncounted.append(sent)

    def _tell(self) -> None:
        """Count, and tell how far it is. Called by the event loop alone: a failure to tell must not keep anybody from the results."""
        if self._uncounted:
            for attempt, last in self._uncounted:
                self._results[attempt.attempt_id] = Result(attempt.request, last.number, last.outcome)
                self._states[last.outcome.state] += 1
            self._uncounted.clear()
            self.progress(Progress(len(self._planned), self._states))

    def _watch(self, outcome: Outcome) -> None:
        """Stop the run where every further request would fare the same."""
        if why := self._in_a_row.after(outcome):
            self.halt.stop(why)
