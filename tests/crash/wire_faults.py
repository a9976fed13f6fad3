"""Random sequences of faults over connections, held against the carrier's own record. The long form.

    python -m tests.crash.wire_faults --seeds 0..2000 [--loop asyncio]
    python -m tests.crash.wire_faults --table [--loop asyncio]
    python -m tests.crash.wire_faults --doubled [--loop asyncio]

each with `--https`, too: the same carriers behind TLS.

A sequence (one seed) is a submission of some requests at a random concurrency, with or without
keep-alive, to a carrier that meets each request with a good answer, a good one in random pieces, a good
one with random bytes changed, cut, doubled or put in, or a fault of the table. Afterwards, by the
carrier's record and the ledger on disk: what the carrier issued is issued under that very number or
unknown, never refused or not sent; nothing was issued twice; no claim came over the wire twice; what is
returned is what is on disk, with its raw answer. The same seed is the same sequence, but for the order
in which requests in flight together meet their faults.

Some answers are said twice, the copy up to 100 ms later, over whatever the connection is used for by then; every kind of
answer with every delay: wire_doubled, and `--doubled` here.

Seen to catch, each planted in a copy of the program: see the docstring of test_wire_faults.
"""

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import uvloop

import pipeline.submission.retry
from pipeline.ledger import opening
from pipeline.ledger.group_commit import Writer
from pipeline.ledger.planning import Attempt
from pipeline.ledger.spill import Spill, spill_path
from pipeline.model.outcome import Result
from pipeline.model.profile import Profile
from pipeline.model.profile import Submission as Settings
from pipeline.model.request import Request
from pipeline.submission.graceful_stop import Halt
from tests.committing import writer_by
from tests.crash import wire_doubled, wire_said, wire_table
from tests.crash.wire_answers import good, good_bye, number_of, yes
from tests.crash.wire_bench import Book, Row, opened, play, request_of, submitted
from tests.crash.wire_checks import kept_promise, on_disk
from tests.crash.wire_checks import problems as case_problems
from tests.crash.wire_fault import Fault
from tests.crash.wire_server import Line, Log, Server, Talk, answer_bytes

#: Sequences that share a ledger, and how many of them are under way at a time.
_TOGETHER, _AT_ONCE = 40, 8
Loop = Callable[[], asyncio.AbstractEventLoop]


@dataclass
class Course:
    """One seed: its requests, what befalls each, and what came of it."""

    seed: int
    table: Sequence[Fault]
    requests: list[Request] = field(default_factory=list)
    fates: dict[str, tuple[str, Talk, int]] = field(default_factory=dict)  # by ticket: name, what, how often
    results: list[Result] = field(default_factory=list)
    log: Log = field(default_factory=Log)
    failed: str = ""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self._lock = threading.Lock()
        self._met: Counter[str] = Counter()
        self.profile = Profile(
            answers=wire_said.EXPLAINED,
            submission=Settings(
                concurrency=self.random.choice((1, 1, 2, 3, 5, 8)),
                keepalive_seconds=self.random.choice((0, 2, 2, 2)),
                connect_timeout_seconds=2,
                response_timeout_seconds=0.4,
            ),
        )
        for n in range(self.random.randint(6, 24)):
            request = request_of(self.random.choice(("invoice", "itinerary")), self.seed * 100 + n)
            self.requests.append(request)
            self.fates[request.charges[0].identity.ticket_no] = self._fate(request.voucher)

    def _fate(self, voucher: str) -> tuple[str, Talk, int]:
        draw = self.random.random()
        if draw < 0.25:
            return ("good", good if self.random.random() < 0.85 else good_bye, 1)
        if draw < 0.4:
            return ("late", _late(self.random.uniform(0, 0.1)), 1)
        if draw < 0.5:
            kind = self.random.choice([kind for kind in wire_doubled.KINDS if not kind.stops])
            talk = wire_doubled.doubled(wire_doubled.said(kind), self.random.choice(wire_doubled.DELAYS))
            return (f"{kind.name}, twice", talk, 1)
        if draw < 0.6:
            return ("in pieces", _in_pieces(self.random.getrandbits(64)), 1)
        if draw < 0.75:
            return ("changed", _changed(self.random.getrandbits(64)), 1)
        fault = self.random.choice([fault for fault in self.table if voucher in fault.vouchers])
        return (fault.name, fault.play, self.random.randint(1, 3) if fault.state == "not_sent" else 1)

    def talk(self, line: Line) -> None:
        """Serve one connection: what befalls a request goes by its ticket, which is looked at ahead."""
        while not line.over and line.waits():
            asked = line.looked_at()
            if asked is None:
                return
            _, play, often = self.fates[asked.tickets[0]]
            with self._lock:
                self._met[asked.tickets[0]] += 1
                again = self._met[asked.tickets[0]] > often
            (good if again else play)(line)


def _late(pause: float) -> Talk:
    """The good answer, after so many seconds: long enough for another's copy to come first."""

    def play(line: Line) -> None:
        time.sleep(pause)
        good(line)

    return play


def _in_pieces(seed: int) -> Talk:
    """The good answer, split where chance will have it."""

    def play(line: Line) -> None:
        asked, chance = line.read(), random.Random(seed)
        line.issue(asked, number_of(asked))
        whole = answer_bytes(200, yes(asked))
        cuts = sorted({0, len(whole), *(chance.randrange(len(whole)) for _ in range(chance.randint(1, 12)))})
        for begin, end in pairwise(cuts):
            line.send(whole[begin:end])
            time.sleep(chance.choice((0, 0.001, 0.005)))

    return play


def _changed(seed: int) -> Talk:
    """The good answer with a few bytes changed; then it stays, closes or resets."""

    def play(line: Line) -> None:
        asked, chance = line.read(), random.Random(seed)
        line.issue(asked, number_of(asked))
        data = bytearray(answer_bytes(200, yes(asked), "Content-Type: application/json"))
        for _ in range(chance.randint(1, 3)):
            _change(data, chance)
        cut = chance.randrange(len(data))
        line.send(bytes(data[:cut]))
        time.sleep(chance.choice((0, 0.002)))
        line.send(bytes(data[cut:]))
        end = chance.choice((None, Line.fin, Line.fin, Line.rst))
        if end is not None:
            end(line)

    return play


def _change(data: bytearray, chance: random.Random) -> None:
    at, size = chance.randrange(len(data)), chance.randint(1, 40)
    match chance.randrange(6):
        case 0:
            data[at] ^= 1 << chance.randrange(8)
        case 1:
            data[at] = chance.choice(b"\0\r\n\t :;,-0123456789{}[]\"'\\/xX\xff")
        case 2:
            del data[at : at + size]
        case 3:
            data[at:at] = data[at : at + size]
        case 4:
            data[at:at] = chance.randbytes(size)
        case _:
            other = chance.randrange(len(data))
            data[at : at + size] = data[other : other + size]
    if not data:
        data += b"\n"


async def _run(
    sequence: Course, book: Book, writer: Writer, attempts: Sequence[Attempt], turn: asyncio.Semaphore
) -> None:
    async with turn:
        server = book.carrier(sequence.talk)
        sequence.log = server.log
        try:
            profile = book.trusting(sequence.profile)
            sequence.results = await submitted(writer, server.url, profile, attempts, Halt())
        except BaseExceptionGroup as group:
            sequence.failed = f"the submission failed: {group.exceptions!r:.500}"
        finally:
            await asyncio.to_thread(server.close)


def run(sequences: Sequence[Course], book: Book, loop: Loop) -> None:
    """Play sequences on one ledger."""
    attempts = book.plan([request for sequence in sequences for request in sequence.requests])
    remaining = iter(attempts)

    async def work() -> None:
        turn = asyncio.Semaphore(_AT_ONCE)
        with Spill(spill_path(book.path), opening.ledger_id(book.connection), 1) as spill:
            async with (
                writer_by(book.connection, spill, _AT_ONCE) as writer,
                asyncio.TaskGroup() as group,
            ):
                for sequence in sequences:
                    mine = [next(remaining) for _ in sequence.requests]
                    group.create_task(_run(sequence, book, writer, mine, turn))

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(work())


def problems(sequence: Course, rows: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """What is not as it must be; each with the faults that its tickets met."""
    if sequence.failed:
        yield sequence.failed
    yield from sequence.log.broken
    for result in sequence.results:
        ticket = result.request.charges[0].identity.ticket_no
        mine = rows.get(ticket, ())
        met = f" [{ticket} met {sequence.fates[ticket][0]}]"
        yield from (f"{problem}{met}" for problem in on_disk(result, mine))
        for row in mine:
            if row.state in ("issued", "rejected") and row.answer is None:
                yield f"{row.state} without the raw answer{met}"
    for problem in kept_promise(sequence.results, sequence.log, rows):
        met = sequence.fates.get(problem.partition(":")[0], ("",))[0]
        yield f"{problem} [met {met}]"


def drawn_from() -> list[Fault]:
    """The faults of the table that befall one request alone and leave nothing on the line.

    None that stops the run: what it means hangs on whether anything was accepted before, which a course leaves to chance.
    """
    return [
        fault
        for fault in wire_table.faults()
        if not (fault.idle or fault.stray or fault.big or fault.stops or wire_table.defect(fault))
        and not any(word in fault.name for word in ("endless", "bomb", "another request has"))
    ]


def whole_table(loop: Loop, only: str = "", *, secure: bool = False) -> int:
    """Play the table, or the rows with `only` in their names; how many cases fare otherwise than they should."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), secure=secure) as book, brisk():
        with contextlib.closing(Server(Line.fin)) as elsewhere:
            table = [fault for fault in wire_table.faults(elsewhere.url) if only in fault.name]
            cases = list(wire_table.cases(table))
            play(cases, book, loop)
            if elsewhere.log.heard:
                wrong += 1
                print("another origin was sent something")  # noqa: T201 - likewise
        rows = book.rows()
    for case in cases:
        found = case_problems(case, rows)
        if found and not wire_table.defect(case.fault):
            wrong += 1
            for problem in found:
                print(f"{case.name}: {problem}")  # noqa: T201 - the long form's own output
    print(f"{len({case.fault.name for case in cases})} faults in {len(cases)} cases: {wrong} violations")  # noqa: T201 - likewise
    return wrong


def every_answer_doubled(loop: Loop, *, secure: bool = False) -> int:
    """Every kind of answer said twice, with every delay, at 1 and at 64 in flight; how many things are wrong."""
    wrong = 0
    for in_flight in (1, 64):
        for delay in wire_doubled.DELAYS:
            with (
                tempfile.TemporaryDirectory() as folder,
                opened(Path(folder), secure=secure) as book,
                brisk(),
            ):
                trials = wire_doubled.trials((in_flight,), (delay,))
                rows = wire_doubled.play(trials, book, loop)
            found = [
                f"{trial.name}: {problem}"
                for trial in trials
                for problem in wire_doubled.problems(trial, rows)
            ]
            wrong += len(found)
            issued = sum(len(trial.log.issued) for trial in trials)
            summary = f"{len(trials)} trials, {delay * 1000:g} ms, {in_flight} in flight: {issued} issued, {len(found)} violations"
            print("\n".join([*found, summary]), flush=True)  # noqa: T201 - likewise
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """The long form; the exit code says whether anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.wire_faults")
    parser.add_argument("--seeds", default="0..200", help="A..B, B not included")
    parser.add_argument("--loop", choices=("asyncio", "uvloop"), default="asyncio")
    parser.add_argument("--table", action="store_true", help="the table instead, once")
    parser.add_argument("--only", default="", help="of the table, the rows with this in their names")
    parser.add_argument(
        "--doubled", action="store_true", help="every kind of answer said twice instead, once"
    )
    parser.add_argument("--https", action="store_true", help="the carriers speak TLS")
    given = parser.parse_args(arguments)
    begin, end = map(int, given.seeds.split(".."))
    loop: Loop = uvloop.new_event_loop if given.loop == "uvloop" else asyncio.new_event_loop
    if given.table:
        return 1 if whole_table(loop, given.only, secure=given.https) else 0
    if given.doubled:
        return 1 if every_answer_doubled(loop, secure=given.https) else 0
    faults, counts, begun = drawn_from(), Counter[str](), time.monotonic()
    with brisk():
        for first in range(begin, end, _TOGETHER):
            sequences = [Course(seed, faults) for seed in range(first, min(first + _TOGETHER, end))]
            counts += _one_ledger(sequences, loop, secure=given.https)
    found = ", ".join(f"{counts[name]} {name}" for name in sorted(counts))
    seconds = time.monotonic() - begun
    scheme = "https" if given.https else "http"
    print(f"seeds {given.seeds}, {given.loop}, {scheme}: {found}; {seconds:.0f} s")  # noqa: T201 - the long form's own output
    return 1 if counts["violations"] else 0


def _one_ledger(sequences: Sequence[Course], loop: Loop, *, secure: bool) -> Counter[str]:
    counts: Counter[str] = Counter(sequences=len(sequences), violations=0)
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), secure=secure) as book:
        run(sequences, book, loop)
        rows = book.rows()
    for sequence in sequences:
        for problem in problems(sequence, rows):
            counts["violations"] += 1
            print(f"seed {sequence.seed}: {problem}", flush=True)  # noqa: T201 - likewise
        counts["requests on the wire"] += len(sequence.log.touched)
        counts["issued by the carrier"] += len(sequence.log.issued)
        counts.update(result.outcome.state for result in sequence.results)
    return counts


@contextlib.contextmanager
def brisk() -> Iterator[None]:
    """The program's own pauses between tries, made short: a carrier that says 30 seconds gets less."""
    names = ("_FIRST_PAUSE", "_LONGEST_PAUSE", "_LONGEST_RETRY_AFTER")
    kept = {name: getattr(pipeline.submission.retry, name) for name in names}
    for name, seconds in zip(names, (0.005, 0.02, 0.05), strict=True):
        setattr(pipeline.submission.retry, name, seconds)
    try:
        yield
    finally:
        for name, seconds in kept.items():
            setattr(pipeline.submission.retry, name, seconds)


if __name__ == "__main__":
    sys.exit(main())
