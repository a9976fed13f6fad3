"""One attempt at the carrier, the same whichever ledger it is of: sent, its answer kept, understood, and what it came to handed in.

The order is the promise. Whoever calls has `sending` on disk; the raw answer is on disk before anybody looks at it; and a connection
is used again only when the outcome is on disk, too.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, cast

from pipeline.carrier.client import Client
from pipeline.carrier.connection_reuse import HeldConnection
from pipeline.carrier.crypto import Cipher
from pipeline.carrier.documents import PATHS
from pipeline.carrier.key_redaction import Concealed
from pipeline.carrier.replies import Before, interpret, is_the_services_own
from pipeline.ledger.attempt_changes import Acknowledged, Change, Ended, GotAnswer
from pipeline.model.errors import LedgerProblem
from pipeline.model.message import message
from pipeline.model.outcome import Answered, Outcome, Reply
from pipeline.model.profile import Answers
from pipeline.model.request import Asked
from pipeline.submission.graceful_stop import Halt

_SHORTEST_LOOK, _LONGEST_LOOK = 0.25, 5.0  # seconds


class Commits(Protocol):
    """What puts changes into the ledger."""

    def commit(self, change: Change) -> "asyncio.Future[Acknowledged]":
        """Done when the change is on disk; its problem is a LedgerProblem if it can't be put there."""


#: What puts an answer into the ledger, which took so many seconds: done when it is there.
Record = Callable[[GotAnswer, float], Awaitable[Acknowledged]]


@dataclass(slots=True)  # not frozen, as that takes several times as long, for each request
class Leaving:
    """An attempt whose `sending` is on disk. `doubted`: a charge of it was ever unknown; `send_by`: see `Client.post`."""

    attempt_id: int
    number: int
    asked: Asked
    body: bytes = field(repr=False)
    doubted: bool
    send_by: float | None = None
    claimed: Awaitable[Acknowledged] | None = None  # done when its `sending` is on disk


@dataclass(slots=True)
class Try:
    """One attempt's number and outcome; `recorded` until it is known that the outcome is on disk, `connection` until then held."""

    number: int
    outcome: Outcome
    recorded: "asyncio.Future[Acknowledged] | None" = None
    connection: HeldConnection = field(default_factory=HeldConnection)
    undecided: tuple[Leaving, Reply] | None = None  # see `AttemptSender.decided`


@dataclass
class AttemptSender:
    """What sends attempts of one run, on this machine."""

    client: Client
    writer: Commits
    cipher: Cipher
    answers: Answers
    halt: Halt
    concealed: Concealed
    watch: Callable[[Outcome], None]  # stops the run where every further request would fare the same

    def __post_init__(self) -> None:
        self._accepted = False  # whether the service has taken our key and its address is right
        self._slowest = 0.0  # seconds, of the answers so far

    async def send(self, one: Leaving, record: Record) -> Try:
        """Send, `record` the answer, interpret it, and hand in the outcome to be recorded."""
        begun = time.monotonic()
        reply, connection = await self.halt.answer_to(
            self.client, PATHS[one.asked.voucher], one.body, one.send_by
        )
        took = time.monotonic() - begun
        if isinstance(reply, Answered):
            try:
                await record(GotAnswer(one.attempt_id, self.concealed.answer(reply)), took)
            except LedgerProblem as problem:  # the writer has spilled it
                self.halt.stop(problem.message)
        outcome = self._outcome(reply, one)
        if outcome.reason == "carrier_busy":
            outcome = await self._if_nothing_follows(outcome, connection)
        elif isinstance(reply, Answered):
            self._slowest = max(self._slowest, took)
        connection.understood(outcome)
        if outcome.state != "issued":  # whether that one is, the ledger has a word in
            self.watch(outcome)
        if outcome.state == "not_sent" and outcome.stop:
            return Try(one.number, outcome, undecided=(one, reply))
        return Try(one.number, outcome, self.writer.commit(Ended(one.attempt_id, outcome)), connection)

    async def _if_nothing_follows(self, outcome: Outcome, connection: HeldConnection) -> Outcome:
        """What says that nothing was processed is believed where no other answer comes for as long as one may take: the request would be
        sent again.
        """
        if await connection.stray_within(min(max(_SHORTEST_LOOK, 2 * self._slowest), _LONGEST_LOOK)):
            detail = message("{answer}, and then another answer to the same request", answer=outcome.detail)
            return Outcome("unknown", "answer_unexplained", trace_id=outcome.trace_id, detail=detail)
        return outcome

    def _outcome(self, reply: Reply, one: Leaving) -> Outcome:
        """What a reply means, by what is known of the run so far; without our keys."""
        self._accepted = self._accepted or is_the_services_own(reply, self.cipher, self.answers)
        before = Before(one.doubted, self._accepted)
        return self.concealed.outcome(interpret(reply, one.asked, self.cipher, self.answers, before))

    def decided(self, last: Try) -> Try:
        """A refused key or a wrong address, judged again when every other answer of this run is in.

        One that was under way beside it may have been accepted; then this refusal proves nothing.
        """
        one, reply = cast("tuple[Leaving, Reply]", last.undecided)
        last.outcome = self._outcome(reply, one)
        last.recorded = self.writer.commit(Ended(one.attempt_id, last.outcome))
        return last

    async def recorded(self, last: Try) -> bool:
        """Wait until an outcome is on disk, as the ledger takes it; False where none was handed in."""
        if last.recorded is None:
            return False
        await asyncio.wait([last.recorded])
        self.taken(last, last.recorded)
        return True

    def taken(self, last: Try, recorded: "asyncio.Future[Acknowledged]") -> None:
        """An outcome that was handed in is on disk, as the ledger takes it, or spilled."""
        taken = None
        try:
            taken = recorded.result()
        except LedgerProblem as problem:  # the writer has spilled it
            self.halt.stop(problem.message)
        last.recorded = None
        if last.outcome.state == "issued":
            taken = taken if isinstance(taken, Outcome) else None
            last.connection.recorded(taken)
            last.outcome = taken or last.outcome
            self.watch(last.outcome)
