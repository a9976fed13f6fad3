"""Every kind of answer, said twice: the copy comes a moment later, over a connection that may be in use again.

A proxy that repeats itself, a retransmission gone wrong: what the carrier said to one request is there again when the
next one has left. The carrier issues whatever it is asked for, and counts. After the run a second one sends what the
ledger lets it send again, as the next `voucher issue` would, to a carrier that says everything once.

Seen to fail on the program as it was, which took a connection again after a 429, a refusal or anything definite: 429, a
profile's 503, code 7, code 8 and a refusal were issued twice, with every delay up to that between two requests.
"""

import asyncio
import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.ledger import opening
from pipeline.ledger.group_commit import Writer
from pipeline.ledger.planning import Attempt
from pipeline.ledger.spill import Spill, spill_path
from pipeline.model.outcome import Result
from pipeline.model.profile import Answers, Profile
from pipeline.model.profile import Submission as Settings
from pipeline.submission.graceful_stop import Halt
from tests.committing import writer_by
from tests.crash.wire_answers import ABSENT, envelope, good, number_of, result, sealed, yes
from tests.crash.wire_bench import Book, Row, request_of, submitted
from tests.crash.wire_server import Asked, Line, Log, Talk, answer_bytes

#: How much later the copy comes, in seconds.
DELAYS = (0.0, 0.001, 0.005, 0.02, 0.05, 0.1)
_PROFILED = Answers(not_processed_http=(429, 503), not_processed_codes=(7,), rejected_codes=(8,))


@dataclass(frozen=True)
class Kind:
    """One kind of answer: what the carrier says, and whether it has issued when it does."""

    name: str
    make: Callable[[Asked], bytes]
    issues: bool
    status: int = 200
    stops: bool = False  # the run
    then: bytes = b""  # what comes later, where it is no copy


def _no(asked: Asked) -> bytes:
    return envelope(sealed(result(asked, "", success=False)))


def _page(_: Asked) -> bytes:
    return b"<html>said by something on the way</html>"


def _coded(code: int) -> Callable[[Asked], bytes]:
    return lambda _: envelope("", code=code, message="said")


KINDS = (
    Kind("yes", yes, issues=True),
    *(Kind(f"HTTP {status}", _page, issues=False, status=status) for status in (429, 503)),
    *(Kind(f"HTTP {status}", _page, issues=True, status=status, stops=True) for status in (401, 403, 404, 405)),
    *(Kind(f"HTTP {status}", _page, issues=True, status=status) for status in (200, 202, 302, 500, 502)),
    *(Kind(f"code {code}", _coded(code), issues=False) for code in (7, 8)),
    Kind("code 401", _coded(401), issues=True, stops=True),
    Kind("code 500", _coded(500), issues=True),
    Kind("a refusal", _no, issues=False),
    Kind("a refusal under code 500", lambda asked: envelope(sealed(result(asked, "", success=False)), code=500), issues=False),
    Kind("a success that can't be opened", lambda asked: envelope(sealed(result(asked, number_of(asked)), "other")), issues=True),
    Kind("a success without a number", lambda asked: envelope(sealed(result(asked, ABSENT))), issues=True),
    Kind("HTTP 429 with a success", yes, issues=True, status=429),
    Kind("yes, then HTTP 429", yes, issues=True, then=answer_bytes(429, b"")),
)  # fmt: skip


def said(kind: Kind) -> Talk:
    """That kind of answer, once."""

    def talk(line: Line) -> None:
        asked = line.read()
        if kind.issues:
            line.issue(asked, number_of(asked))
        line.answer(kind.status, kind.make(asked))

    return talk


def doubled(play: Talk, delay: float, then: bytes = b"") -> Talk:
    """What it does, and all that it said once more, or what comes then, so much later, whatever the connection is used for by then."""

    def talk(line: Line) -> None:
        sent = line.said = bytearray()
        try:
            play(line)
        finally:
            line.said = None

        def again() -> None:
            with contextlib.suppress(OSError):
                line.send(then or bytes(sent))

        if not delay:
            again()
        else:
            timer = threading.Timer(delay, again)
            timer.daemon = True
            timer.start()

    return talk


@dataclass
class Trial:
    """One kind of answer, doubled with one delay, among good ones; its carrier, its requests, and what came of them."""

    kind: Kind
    delay: float
    in_flight: int
    serial: int
    results: list[Result] = field(default_factory=list)
    log: Log = field(default_factory=Log)

    def __post_init__(self) -> None:
        count = 12 if self.in_flight == 1 else 3 * self.in_flight
        vouchers = ("invoice", "invoice", "itinerary")
        self.requests = [request_of(vouchers[n % 3], self.serial * 1000 + n) for n in range(count)]
        chosen = [
            r.charges[0].identity.ticket_no for r in self.requests[1 :: 3 if self.in_flight == 1 else 7]
        ]
        self._hit = set(chosen)  # meets the doubled answer, the first time that it is asked for
        self._lock = threading.Lock()
        self._random = random.Random(self.serial)
        self.profile = Profile(
            answers=_PROFILED,
            submission=Settings(
                concurrency=self.in_flight, connect_timeout_seconds=20, response_timeout_seconds=20, keepalive_seconds=20
            ),
        )  # fmt: skip

    @property
    def name(self) -> str:
        """For a person."""
        return f"{self.kind.name}, again after {self.delay * 1000:g} ms, {self.in_flight} in flight"

    def talk(self, line: Line) -> None:
        """Serve one connection; an answer takes about as long as a copy, so that copies meet requests under way."""
        while not line.over and line.waits():
            asked = line.looked_at()
            if asked is None:
                return
            with self._lock:
                hit = asked.tickets[0] in self._hit
                self._hit.discard(asked.tickets[0])
                pause = self._random.uniform(0, 2 * self.delay) if self._random.random() < 0.5 else 0
            time.sleep(pause)
            (doubled(said(self.kind), self.delay, self.kind.then) if hit else good)(line)


def trials(in_flight: Sequence[int] = (1, 64), delays: Sequence[float] = DELAYS) -> list[Trial]:
    """Every kind with every delay."""
    every = [(kind, delay, many) for many in in_flight for delay in delays for kind in KINDS]
    return [Trial(*one, serial) for serial, one in enumerate(every, start=1)]


def play(
    every: Sequence[Trial], book: Book, loop: Callable[[], asyncio.AbstractEventLoop] | None
) -> Mapping[str, Sequence[Row]]:
    """Run all of them, some at a time; then a second run sends what may be sent again. The ledger's rows, by ticket."""
    first = book.plan([request for trial in every for request in trial.requests])
    _run(every, book, first, loop, lambda trial: trial.talk)
    book.next_run()
    may = {ticket for ticket, rows in book.rows().items() if rows[-1].state in ("not_sent", "rejected")}
    may |= {ticket for trial in every for ticket in _tickets(trial)} - set(book.rows())
    again = [r for trial in every for r in trial.requests if r.charges[0].identity.ticket_no in may]
    planned = {attempt.request.charges[0].identity.ticket_no: attempt for attempt in book.plan(again)}
    _run(every, book, list(planned.values()), loop, lambda _: _all_good)
    return book.rows()


def _all_good(line: Line) -> None:
    while not line.over and line.waits():
        good(line)


def _tickets(trial: Trial) -> list[str]:
    return [request.charges[0].identity.ticket_no for request in trial.requests]


def _run(
    every: Sequence[Trial],
    book: Book,
    attempts: Sequence[Attempt],
    loop: Callable[[], asyncio.AbstractEventLoop] | None,
    talk: Callable[[Trial], Talk],
) -> None:
    by_ticket = {attempt.request.charges[0].identity.ticket_no: attempt for attempt in attempts}

    async def one(trial: Trial, writer: Writer, turn: asyncio.Semaphore) -> None:
        mine = [by_ticket[ticket] for ticket in _tickets(trial) if ticket in by_ticket]
        async with turn:
            server = book.carrier(talk(trial))
            try:
                profile = book.trusting(trial.profile)
                trial.results += await submitted(writer, server.url, profile, mine, Halt())
            finally:
                await asyncio.to_thread(server.close)
            for name in ("touched", "asked", "issued", "broken"):
                getattr(trial.log, name).extend(getattr(server.log, name))

    async def work() -> None:
        turn = asyncio.Semaphore(8)
        with Spill(spill_path(book.path), opening.ledger_id(book.connection), 64) as spill:
            async with writer_by(book.connection, spill, 8) as writer, asyncio.TaskGroup() as group:
                for trial in every:
                    group.create_task(one(trial, writer, turn))

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(work())


def problems(trial: Trial, rows: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """Whatever is issued twice, issued and denied, or lost."""
    yield from trial.log.broken
    told = {result.request.charges[0].identity.ticket_no: result.outcome for result in trial.results}
    for ticket in _tickets(trial):
        numbers, last = trial.log.numbers(ticket), rows[ticket][-1]
        if len(numbers) > 1:
            yield f"{ticket}: issued {len(numbers)} times"
        if last.state not in ("issued", "unknown"):  # the second run met good answers only
            yield f"{ticket}: {last.state} {last.reason} after a second run, the carrier issued {numbers}"
        if last.state == "issued" and [last.number] != numbers:
            yield f"{ticket}: the ledger has number {last.number}, the carrier issued {numbers}"
        if (last.state, last.number) != (told[ticket].state, told[ticket].number):
            yield f"{ticket}: the ledger says {last}, the result {told[ticket]}"
