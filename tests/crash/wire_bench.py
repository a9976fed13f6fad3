"""The program's side: the real submission, client, ledger file, writer and spill, against faulty carriers.

One ledger and one event loop serve all cases of a table; each case has a carrier, a client and a
submission of its own, and sends three requests one after the other: a good one, the one that meets the
fault, and a good one again, which shows whether the run goes on and whether it is still in step.
"""

import asyncio
import gc
import logging
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import apsw

from pipeline.carrier.client import connected
from pipeline.carrier.crypto import Cipher
from pipeline.carrier.key_redaction import Concealed
from pipeline.ledger import (
    opening,
    planning,
    runs,
)
from pipeline.ledger.group_commit import Writer
from pipeline.ledger.planning import Attempt
from pipeline.ledger.spill import Spill, spill_path
from pipeline.model.known_charges import Doubts
from pipeline.model.outcome import Result
from pipeline.model.profile import Carrier, Profile, sandbox_owner
from pipeline.model.profile import Submission as Settings
from pipeline.model.request import (
    Charge,
    Header,
    Identity,
    Request,
)
from pipeline.submission.graceful_stop import Halt
from pipeline.submission.request_sender import RequestSender
from pipeline.submission.retry import TRIES
from tests.committing import writer_by
from tests.crash.wire_answers import good, good_bye
from tests.crash.wire_fault import Fault
from tests.crash.wire_server import API_KEY, ENCRYPTION_KEY, Line, Log, Server, Talk, Turn
from tests.crash.wire_unreached import Address, Way, certificate, secured

HEADER = Header("business", "Example Trading Co.", "91110000600037341L", "", "finance@example.com")
#: Long enough that a busy machine is never taken for a fault, and short enough to wait for.
PATIENT = Settings(
    concurrency=1, connect_timeout_seconds=30, response_timeout_seconds=30, keepalive_seconds=60
)
HASTY = Settings(concurrency=1, connect_timeout_seconds=2, response_timeout_seconds=1.5, keepalive_seconds=60)
#: For carriers to which no connection is made.
SHORT = Settings(concurrency=1, connect_timeout_seconds=0.7, response_timeout_seconds=2)
_LARGE = 4000  # charges, so that a request is larger than the sockets' buffers


def request_of(voucher: str, number: int, charges: int = 1) -> Request:
    """A request for the ticket of that number; a large one for as many tickets."""
    prefixes = ("999", "998")
    wire = ("FARE", "Flight") if voucher == "invoice" else None
    made = tuple(
        Charge(Identity(f"{prefixes[bool(n)]}{number * (_LARGE if n else 1) + n:010}", "ticket_fare", "flight"), "P", 1, number, wire)
        for n in range(charges)
    )  # fmt: skip
    return Request(voucher, "domestic", HEADER, made)


class Row(NamedTuple):
    """One attempt, as the ledger has it on disk."""

    ticket: str
    attempt: int
    state: str
    reason: str
    number: str
    trace_id: str
    detail: str
    http_status: int | None
    answer: bytes | None
    claimed: bool


_ROWS = """
SELECT (SELECT min(ticket_no) FROM charge WHERE charge.attempt_id = attempt.attempt_id AND ticket_no >= '999'),
       attempt, state, reason, number, trace_id, detail, http_status, answer, sending_at IS NOT NULL
FROM attempt ORDER BY attempt_id
"""


@dataclass
class Case:
    """One fault met by one kind of voucher on a fresh or a reused connection."""

    fault: Fault
    voucher: str
    reused: bool
    serial: int
    results: list[Result] = field(default_factory=list)
    log: Log = field(default_factory=Log)
    stopped: str = ""

    @property
    def name(self) -> str:
        """For a person, and to run it alone."""
        return f"{self.fault.name} - {self.voucher}, {'reused' if self.reused else 'fresh'}"

    @property
    def requests(self) -> list[Request]:
        """The three requests."""
        first, hit, after = (self.serial * 10 + n for n in range(3))
        return [
            request_of(self.voucher, first),
            request_of(self.voucher, hit, _LARGE if self.fault.big else 1),
            request_of(self.voucher, after),
        ]

    @property
    def profile(self) -> Profile:
        """Short time-outs only where the fault is that nothing comes."""
        settings = HASTY if self.fault.stalls else PATIENT
        return Profile(submission=settings, answers=self.fault.answers)


class Steps:
    """What the carrier of a case does with one request after another."""

    def __init__(self, fault: Fault, *, reused: bool) -> None:
        self._fault = fault
        self._first = good if reused else good_bye
        self._lock = threading.Lock()
        self._asked = 0
        self._played = False

    def talk(self, line: Line) -> None:
        """Serve one connection."""
        while not line.over:
            if self._fault.idle and self._due():
                self._fault.play(line)
                continue
            if not line.waits():
                return
            self._next()(line)

    def _due(self) -> bool:
        with self._lock:
            due = self._asked == 1 and not self._played
            self._played = self._played or due
            return due

    def _next(self) -> Callable[[Line], None]:
        """Good, then the fault - again and again where the request is tried again -, then good."""
        with self._lock:
            self._asked += 1
            if self._asked == 1:
                return self._first
            if self._fault.ahead:
                return self._fault.play
            tries = TRIES if self._fault.state == "not_sent" and not self._fault.stops else 1
            return good if self._fault.idle or self._asked > 1 + tries else self._fault.play


def rows_of(path: Path) -> dict[str, list[Row]]:
    """Every attempt in a ledger by its first ticket."""
    found: dict[str, list[Row]] = {}
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as other:
        for values in other.execute(_ROWS):
            row = Row(*values)
            found.setdefault(row.ticket, []).append(row)
    return found


class Book:
    """A real ledger file, with every attempt planned before anything is sent."""

    def __init__(self, folder: Path, *, kept: bool = False, pem: Path | None = None) -> None:
        """`kept`: its runs are noted outside its folder, so that the program goes on with it; `pem`: its carriers have this certificate."""
        self.path = folder / "wire.ledger"
        self._pem = pem
        self.connection, self._lock = opening.open_for_run(
            self.path, sandbox_owner("A"), opening.OpenOptions(kept=kept), may_create=True
        )
        self.run = runs.begin(self.connection, self._lock, runs.RunStart("issue", "2026-11-20"))

    def carrier(self, talk: Talk, *, receive_buffer: int = 0) -> Server:
        """A carrier, by https where there is a certificate for it."""
        return Server(talk, tls=secured(self._pem) if self._pem else None, receive_buffer=receive_buffer)

    def trusting(self, profile: Profile) -> Profile:
        """A profile that trusts that certificate."""
        return replace(profile, carrier=Carrier(ca_file=f"{self._pem}.crt")) if self._pem else profile

    def plan(self, requests: Sequence[Request]) -> list[Attempt]:
        """As a run plans them."""
        places = {charge.row: ("f", "s", 1) for request in requests for charge in request.charges}
        return planning.plan(self.connection, self.run, requests, places)

    def next_run(self) -> None:
        """The run ends, what it never claimed is forgotten, and another begins."""
        runs.end(self.connection, self._lock, self.run, 3)
        self.run = runs.begin(self.connection, self._lock, runs.RunStart("issue", "2026-11-20"))

    def rows(self) -> dict[str, list[Row]]:
        """Every attempt by its first ticket, read from the file by another connection."""
        return rows_of(self.path)

    def files(self) -> bytes:
        """All bytes beside and in the ledger."""
        return b"".join(path.read_bytes() for path in sorted(self.path.parent.glob("wire.ledger*")))

    def close(self) -> None:
        """Let go of it."""
        self.connection.close()
        self._lock.close()


@contextmanager
def opened(folder: Path, *, secure: bool = False) -> Iterator[Book]:
    """A new ledger in this folder; `secure`: its carriers speak https."""
    with closing(Book(folder, pem=certificate(folder, "IP:127.0.0.1") if secure else None)) as book:
        yield book


async def submitted(
    writer: Writer,
    base_url: str,
    profile: Profile,
    attempts: Sequence[Attempt],
    halt: Halt,
    turns: Mapping[int, Turn] = MappingProxyType({}),
) -> list[Result]:
    """One submission with a client of its own; after the requests that `turns` names, the carrier has its turn."""
    cuts = sorted({0, *(number + 1 for number in turns), len(attempts)})
    results: list[Result] = []
    async with connected(profile, base_url, API_KEY) as client:
        submission = RequestSender(
            client,
            writer,
            Cipher(ENCRYPTION_KEY),
            profile,
            halt,
            Doubts(),
            lambda _: None,
            Concealed(API_KEY, ENCRYPTION_KEY),
            lambda *_: None,
        )
        for begin, end in pairwise(cuts):
            results += await submission.submit(attempts[begin:end])
            if (turn := turns.get(end - 1)) is not None:
                turn.client_idle.set()
                await asyncio.to_thread(turn.carrier_done.wait, 20)
                await asyncio.sleep(0.05)  # for the event loop to read what has come
    return results


async def _played(
    case: Case, book: Book, writer: Writer, attempts: Sequence[Attempt], turn: asyncio.Semaphore
) -> None:
    async with turn:
        server = book.carrier(
            Steps(case.fault, reused=case.reused).talk, receive_buffer=4096 if case.fault.big else 0
        )
        case.log = server.log
        turns = {0: server.turn} if case.fault.idle else {1: server.turn} if case.fault.stray else {}
        try:
            halt = Halt()
            profile = book.trusting(case.profile)
            case.results = await submitted(writer, server.url, profile, attempts, halt, turns)
            case.stopped = str(halt.reason)
        finally:
            await asyncio.to_thread(server.close)


@dataclass
class Heard:
    """What went to logs and to the event loop's own complaints."""

    lines: list[str] = field(default_factory=list)

    def complain(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """The event loop's exception handler."""
        self.lines.append(f"{context.get('message')}: {context!r}")


@contextmanager
def overheard() -> Iterator[Heard]:
    """Everything that any logger says meanwhile, at its most talkative."""
    heard = Heard()

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.lines.append(f"{record.name}: {record.getMessage()} {record.exc_info!r}")

    root, keep = logging.getLogger(), Keep()
    level = root.level
    root.addHandler(keep)
    root.setLevel(logging.DEBUG)
    try:
        yield heard
    finally:
        root.removeHandler(keep)
        root.setLevel(level)


def play(
    cases: Sequence[Case], book: Book, loop_factory: Callable[[], asyncio.AbstractEventLoop] | None
) -> Heard:
    """Run all cases: first those that only wait, many at once while nothing else is busy, then the others."""
    attempts = book.plan([request for case in cases for request in case.requests])
    mine = {case.serial: attempts[3 * n : 3 * n + 3] for n, case in enumerate(cases)}

    async def work(heard: Heard) -> None:
        asyncio.get_running_loop().set_exception_handler(heard.complain)
        with Spill(spill_path(book.path), opening.ledger_id(book.connection), 1) as spill:
            async with writer_by(book.connection, spill, 40) as writer:
                for stalls, at_once in ((True, 40), (False, 12)):
                    turn = asyncio.Semaphore(at_once)
                    async with asyncio.TaskGroup() as group:
                        for case in cases:
                            if case.fault.stalls is stalls:
                                group.create_task(_played(case, book, writer, mine[case.serial], turn))

    with ExitStack() as stack:
        heard = stack.enter_context(overheard())
        runner = stack.enter_context(asyncio.Runner(loop_factory=loop_factory))
        runner.run(work(heard))
    return heard


@dataclass
class Unreached:
    """One way in which the carrier can't be reached, met by two requests."""

    way: Way
    serial: int
    results: list[Result] = field(default_factory=list)
    logs: list[Log] = field(default_factory=list)
    stopped: str = ""

    @property
    def requests(self) -> list[Request]:
        """Both."""
        return [request_of("itinerary", self.serial * 10 + n) for n in range(2)]


def play_unreached(
    cases: Sequence[Unreached],
    book: Book,
    folder: Path,
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None,
) -> Heard:
    """Run them all at once: most only wait."""
    attempts = book.plan([request for case in cases for request in case.requests])

    async def meet(case: Unreached, writer: Writer, address: Address, mine: Sequence[Attempt]) -> None:
        carrier = Carrier(proxy=address.proxy, ca_file=address.ca_file)
        halt = Halt()
        case.logs = address.logs
        try:
            profile = Profile(submission=SHORT, carrier=carrier)
            case.results = await submitted(writer, address.base_url, profile, mine, halt)
            case.stopped = str(halt.reason)
        except BaseExceptionGroup as group:  # a row of its own fails, not all of them
            case.stopped = f"the submission failed: {group.exceptions!r:.300}"

    async def work(stack: ExitStack, heard: Heard) -> None:
        asyncio.get_running_loop().set_exception_handler(heard.complain)
        addresses = [stack.enter_context(case.way.opened(folder)) for case in cases]
        with Spill(spill_path(book.path), opening.ledger_id(book.connection), 1) as spill:
            async with (
                writer_by(book.connection, spill, len(cases)) as writer,
                asyncio.TaskGroup() as group,
            ):
                for n, (case, address) in enumerate(zip(cases, addresses, strict=True)):
                    group.create_task(meet(case, writer, address, attempts[2 * n : 2 * n + 2]))

    with ExitStack() as stack:
        heard = stack.enter_context(overheard())
        # TLS connections that end in silence leave their sockets to the garbage collector (aiohttp's doing).
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", ResourceWarning)
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            runner.run(work(stack, heard))
        gc.collect()
    return heard
