"""The sending of requests: claim, send, interpret, record, for every request, so many at a time.

The order is the promise. `sending` is on disk before the first byte leaves (what follows is `attempt_sender`'s); only what provably reached
nobody is tried again, as a new attempt with a `sending` of its own; and when the ledger fails, the carrier refuses us, or attempts fail in
a row, no further request leaves.
"""

import asyncio
import contextlib
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from pipeline.carrier.client import Client
from pipeline.carrier.crypto import Cipher
from pipeline.carrier.documents import request_body
from pipeline.carrier.key_redaction import Concealed
from pipeline.ledger.attempt_changes import Again, Ended, Sending
from pipeline.ledger.group_commit import Writer
from pipeline.ledger.planning import Attempt
from pipeline.model.errors import LedgerProblem
from pipeline.model.job import Progress
from pipeline.model.known_charges import Doubts
from pipeline.model.message import without_names
from pipeline.model.outcome import Outcome, Result
from pipeline.model.profile import Profile
from pipeline.model.request import Request
from pipeline.submission.attempt_sender import AttemptSender, Leaving, Try
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
        undecided, self._undecided = self._undecided, []
        for attempt, last in undecided:
            await self._over((attempt, self._decided(last)))
        asyncio.get_running_loop().call_soon(self._tell)
        await asyncio.sleep(0)
        return [self._results[attempt.attempt_id] for attempt in attempts]

    async def _lane(self) -> None:
        """Requests one after another; what one came to and the next one's `sending` go to disk together, in that order."""
        before: _Sent | None = None
        while ready := self._next():
            attempt, one = ready
            last = await self._tried(attempt, one, before)
            self._replied.set()  # whatever it came to: the others need not wait for its retries
            tries = 1
            while may_be_tried_again(last.outcome, tries) and await self._planned_again(
                attempt, one, last, tries
            ):
                last = await self._tried(attempt, one)
                tries += 1
            before = (attempt, last) if last.undecided is None else None
            if before is None:
                self._undecided.append((attempt, last))
        await self._over(before)

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
        if not self._pace:  # else it may be long until it leaves
            self.writer.expect(attempt.attempt_id)

    def _make_ahead(self) -> None:
        """Make as many as leave together, at most."""
        with contextlib.suppress(Exception):  # whoever needs it finds it not made, and is told why
            while len(self._ready) < self.profile.submission.concurrency and self._made < len(self._planned):
                self._make_ready()

    async def _planned_again(self, attempt: Attempt, one: Leaving, last: Try, tries: int) -> bool:
        """Plan a request anew that reached nobody, after a pause; False where the run stops meanwhile."""
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
        return not self.halt.stopping

    def _stopped(self) -> Outcome:
        return Outcome("not_sent", "run_stopped", detail=self.halt.reason)

    async def _tried(self, attempt: Attempt, one: Leaving, before: _Sent | None = None) -> Try:
        """One attempt: claim, send, record the answer, interpret it, and hand in the outcome to be recorded."""
        if self.halt.stopping:
            await self._over(before)
            return Try(one.number, self._stopped())
        if self._pace:
            await self._over(before)  # it may be long until this one leaves
            before = None
            await self.halt.pause(self._pace.turn(time.monotonic()))
        claimed = False
        if not self.halt.stopping:
            try:
                await self.writer.commit(Sending(one.attempt_id))
                claimed = True
            except LedgerProblem as problem:
                self.halt.stop(problem.message)
        await self._over(before)  # which went to disk with it, so that its connection is free
        if not claimed:
            outcome = self._stopped()
            self.ended(attempt.request, one.number, outcome)
            return Try(one.number, outcome)
        while self._pace and not self.halt.stopping and (wait := self._pace.leave(time.monotonic())):
            await self.halt.pause(wait)
        if self.halt.stopping:  # it stopped while this was being written: the request stays here
            outcome = self._stopped()
            return Try(one.number, outcome, self.writer.commit(Ended(one.attempt_id, outcome)))
        return await self._attempts.send(one)

    def _decided(self, last: Try) -> Try:
        """A refusal judged again when every other answer of this run is in."""
        self._attempts.decided(last)
        if last.outcome.state == "unknown":
            self.halt.stop(without_names(last.outcome.detail), anew=True)
        return last

    async def _over(self, sent: _Sent | None) -> None:
        """Wait until what a request came to is on disk. It is counted and told soon: once for all whose outcomes went there together."""
        if sent is not None:
            attempt, last = sent
            if await self._attempts.recorded(last):
                self.ended(attempt.request, last.number, last.outcome)
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
