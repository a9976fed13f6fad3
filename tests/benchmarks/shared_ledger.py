"""Sending by several workers of a ledger on PostgreSQL, against one of them, and against the ledger in a file.

    python -m tests.benchmarks.shared_ledger workers [--rounds 2]
    python -m tests.benchmarks.shared_ledger file [--only 20]
    python -m tests.benchmarks.shared_ledger age [--charges 10000000] [--folder FOLDER]

All of it is the product: `voucher issue`, which sends along, `voucher worker` processes beside it, a server of their own, and a carrier that only
answers. Each request is of one charge. What is measured is eight tenths of a run's outcomes, without the first and the last tenth of them: their
rate, and the processor time of all that send, of the server, and of the carrier meanwhile. `age` measures what a ledger's age costs; a folder that
is named keeps its server, so that the old ledger is filled once.
"""

import argparse
import contextlib
import itertools
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import apsw
import psycopg

from tests.benchmarks.carrier import answering
from tests.benchmarks.months import AS_OF, buyer_rows, ticket_rows, write_book, write_month
from tests.benchmarks.timing import REPOSITORY, Line, alternating, environment, run, voucher
from tests.postgresql_server import NOBODY, Server, programs, server

_ROUNDS = 2
_LOOK_EVERY = 0.1  # seconds
_TICKS = os.sysconf("SC_CLK_TCK")
_MIDDLE = 0.1, 0.9  # of a run's outcomes, what is measured


class Side(NamedTuple):
    """So many workers, of which `issue` is one; 0: the ledger in a file. Requests in flight of each, milliseconds of the carrier, requests in all."""

    workers: int
    each: int
    wait: int
    requests: int


@dataclass(frozen=True)
class Sent:
    """What sending came to: requests a second, and microseconds of processor a request of all that send, of the server, and of the carrier."""

    rate: float
    senders: float
    server: float
    carrier: float


def processor(pid: int) -> float:
    """Seconds of processor of a process, of those that it waited for, and of its children."""
    ticks = 0
    with contextlib.suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for one in (pid, *map(int, children)):
            with contextlib.suppress(OSError):
                ticks += sum(
                    map(int, Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[11:15])
                )
    return ticks / _TICKS


class _Watched:
    """The processor time of some processes, at every tenth of a second."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._pids = tuple(pids)
        self._seen: list[tuple[float, tuple[float, ...]]] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._done.wait(_LOOK_EVERY):
            self._seen.append((time.time(), tuple(map(processor, self._pids))))

    def end(self) -> None:
        """Look no more."""
        self._done.set()
        self._thread.join()

    def between(self, since: float, until: float) -> list[float]:
        """Seconds of processor of each between two moments."""
        return [
            max(0.0, later - before) for before, later in zip(self._at(since), self._at(until), strict=True)
        ]

    def _at(self, moment: float) -> list[float]:
        """What each had taken by then, in proportion between two looks."""
        for (before, took), (after, have) in itertools.pairwise(self._seen):
            if moment <= after:
                part = max(0.0, (moment - before) / (after - before))
                return [a + part * (b - a) for a, b in zip(took, have, strict=True)]
        return list(self._seen[-1][1])


class Office:
    """A server and carriers; each sending has a ledger of its own."""

    def __init__(self, folder: Path, own: Server, carriers: dict[int, str], pids: set[int]) -> None:
        """`carriers` by the milliseconds after which they answer; `pids`: of their processes."""
        self.folder, self.server, self._carriers = folder, own, [*pids]
        profile = (REPOSITORY / "sample_data" / "sandbox.toml").read_text(encoding="utf-8")
        single = profile.replace("[limits]", "[limits]\nmax_charges_per_invoice = 1", 1)
        for wait, address in carriers.items():
            self.profile(wait).write_text(single.replace("http://127.0.0.1:8080", address), encoding="utf-8")

    def profile(self, wait: int) -> Path:
        """That of the carrier which answers after so many milliseconds."""
        return self.folder / f"carrier-{wait}.toml"

    def new_ledger(self, wait: int) -> str:
        """The address of a new shared ledger."""
        address = self.server.url(self.server.new_database())
        self.prepare(address, wait)
        return address

    def prepare(self, address: str, wait: int) -> None:
        """Make a shared ledger in an empty database."""
        run(voucher("ledger", "prepare", "--profile", self.profile(wait), "--ledger", address), self.folder)

    def issue(self, ledger: str, month: Path, wait: int, in_flight: int) -> subprocess.Popen[bytes]:
        """`issue`, begun."""
        output = self.folder / f"{time.monotonic_ns()}.result.xlsx"
        asked = (
            "--profile",
            self.profile(wait),
            "--ledger",
            ledger,
            "--as-of",
            str(AS_OF),
            "--concurrency",
            str(in_flight),
        )
        new = () if ledger.startswith("postgresql:") else ("--new-ledger",)
        command = voucher("issue", month, *asked, *new, "-o", output)
        return subprocess.Popen(
            command, env=environment(), cwd=self.folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )

    def sent(self, side: Side, month: Path) -> Sent:
        """What sending a month this way came to."""
        path = self.folder / f"{time.monotonic_ns()}.ledger"
        ledger = self.new_ledger(side.wait) if side.workers else str(path)
        with self._workers(ledger, side) as beside:
            issuing = self.issue(ledger, month, side.wait, side.each * max(side.workers, 1))
            watched = _Watched([self.server.process_id, *self._carriers, issuing.pid, *beside])
            if issuing.wait() != 0:
                raise RuntimeError(f"issue ended with {issuing.returncode}")
            watched.end()
        ended = _ends(ledger)
        since, until = (ended[int(len(ended) * at)] for at in _MIDDLE)
        count = int(len(ended) * _MIDDLE[1]) - int(len(ended) * _MIDDLE[0])
        took = [1e6 * one / count for one in watched.between(since, until)]
        carriers = 1 + len(self._carriers)
        return Sent(count / (until - since), sum(took[carriers:]), took[0], sum(took[1:carriers]))

    @contextlib.contextmanager
    def _workers(self, ledger: str, side: Side) -> Iterator[list[int]]:
        """The workers beside `issue`, when they have joined; their process IDs."""
        asked = (
            "--profile",
            self.profile(side.wait),
            "--ledger",
            ledger,
            "--concurrency",
            str(side.each),
            "--quiet",
        )
        started = [
            subprocess.Popen(voucher("worker", *asked), env=environment(), cwd=self.folder)
            for _ in range(side.workers - 1)
        ]
        try:
            if started:
                with psycopg.connect(ledger, autocommit=True) as looking:
                    until = time.monotonic() + 60
                    while looking.execute("SELECT count(*) FROM voucher.worker").fetchone() != (
                        len(started),
                    ):
                        if time.monotonic() > until:
                            raise TimeoutError("the workers do not join")
                        time.sleep(0.1)
            yield [one.pid for one in started]
        finally:
            for one in started:
                one.send_signal(signal.SIGTERM)
            for one in started:
                one.wait()


def _children() -> set[int]:
    return {*map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())}


def _ends(ledger: str) -> list[float]:
    """When each attempt ended, in seconds since 1970, the first ones first."""
    if ledger.startswith("postgresql:"):
        with psycopg.connect(ledger) as shared:
            rows = shared.execute(
                "SELECT extract(epoch FROM ended_at)::float8 FROM voucher.attempt ORDER BY 1"
            ).fetchall()
        return [ended for (ended,) in rows]
    with contextlib.closing(apsw.Connection(ledger, flags=apsw.SQLITE_OPEN_READONLY)) as file:
        return [
            datetime.fromisoformat(ended).timestamp()
            for (ended,) in file.execute("SELECT ended_at FROM attempt ORDER BY 1")
        ]


#: PostgreSQL's own default; the tests' servers have less.
SETTINGS = ("-c", "shared_buffers=128MB")


def own_programs() -> Path:
    if found := programs():
        return found
    raise FileNotFoundError("there is no PostgreSQL server on this machine")


@contextlib.contextmanager
def _kept_server(folder: Path) -> Iterator[Server]:
    """A server whose files stay in that folder."""
    folder.mkdir(exist_ok=True)
    if os.geteuid() == 0:  # then it runs as nobody
        folder.parent.chmod(0o755)
        os.chown(folder, NOBODY, NOBODY)
    one = Server(folder, own_programs())
    one.start(*SETTINGS)
    try:
        yield one
    finally:
        one.stop()


class _Measuring:
    """Sides in turns, and lines about them."""

    def __init__(self, folder: Path, sides: dict[str, Side], rounds: int) -> None:
        self._sent: dict[str, list[Sent]] = {name: [] for name in sides}
        with contextlib.ExitStack() as until:
            carriers = {}
            folder = Path(until.enter_context(tempfile.TemporaryDirectory(dir=folder)))
            for wait in {side.wait for side in sides.values()}:
                (folder / f"{wait}").mkdir()
                carriers[wait] = until.enter_context(answering(folder / f"{wait}", wait / 1000))
            pids = _children()
            office = Office(folder, until.enter_context(server(own_programs(), *SETTINGS)), carriers, pids)
            months = {
                rows: write_month(folder / f"{rows}.xlsx", rows, 1_000)
                for rows in {side.requests for side in sides.values()}
            }

            def turn(name: str, side: Side) -> float:
                self._sent[name].append(office.sent(side, months[side.requests]))
                return self._sent[name][-1].rate

            self._found = alternating(
                {name: lambda _, name=name, side=side: turn(name, side) for name, side in sides.items()},
                rounds,
            )

    def line(self, what: str, against: str, wanted: float, sides: tuple[str, str], times: int = 1) -> Line:
        """The rate of one side over so many times that of the other."""
        one, other = (self._found[side] for side in sides)
        ratio = one.median / (times * other.median)
        figures = f"{self._figures(sides[0])} : {self._figures(sides[1])}"
        return Line(what, against, f"≥ {wanted}", ratio, ratio >= wanted, figures)

    def _figures(self, name: str) -> str:
        rates, sent = self._found[name], self._sent[name]
        senders, own, carrier = (
            statistics.median(getattr(one, of) for one in sent) for of in ("senders", "server", "carrier")
        )
        return f"{rates.median:,.0f}/s ({rates.spread}), of processor a request {senders:.0f} µs sending, {own:.0f} server, {carrier:.0f} carrier"


def workers(folder: Path, rounds: int = _ROUNDS) -> list[Line]:
    """Several workers against one, of a carrier that answers after 200 ms."""
    sides = {f"{count}": Side(count, 32, 200, 1_200 * count) for count in (1, 2, 4)}
    measured = _Measuring(folder, sides, rounds)
    return [
        measured.line("2 workers, 200 ms, 32 in flight each", "twice one worker", 0.9, ("2", "1"), 2),
        measured.line("4 workers, 200 ms, 32 in flight each", "four times one worker", 0.9, ("4", "1"), 4),
    ]


#: Requests in flight, milliseconds of the carrier, requests in all.
_AGAINST_FILE = {"200 ms, 32 in flight": (32, 200, 1_000), "200 ms, 64 in flight": (64, 200, 1_800), "20 ms, 64 in flight": (64, 20, 5_000)}  # fmt: skip


def against_file(folder: Path, rounds: int = _ROUNDS, only: str = "") -> list[Line]:
    """One worker of a shared ledger against the ledger in a file."""
    asked = {name: of for name, of in _AGAINST_FILE.items() if name.startswith(only)}
    sides = {f"{kind} {name}": Side(kind, *of) for name, of in asked.items() for kind in (0, 1)}
    measured = _Measuring(folder, sides, rounds)
    return [
        measured.line(f"one worker, {name}", "the ledger in a file", 0.8, (f"1 {name}", f"0 {name}"))
        for name in asked
    ]


# What age costs.


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


_CHARGES_OF_ONE = 40
_CARELESS = (
    "SET session_replication_role = replica; SET synchronous_commit = off; SET maintenance_work_mem = '512MB'"
)
_FILLED = """
INSERT INTO voucher.run (command, version, as_of, files, started_at, ended_at, exit_code)
VALUES ('issue', 'before', '2016-11-01', '["years.xlsx"]', '2016-11-01', '2026-11-01', 0);
INSERT INTO voucher.request
SELECT 'old' || n, 'invoice', 'domestic', 400000, 'business', 'Buyer ' || n % 3000, '', '', '', '' FROM generate_series(1, {attempts}) AS n;
INSERT INTO voucher.worker (worker, machine, process, life, vouched_life, joined_at, heard_at, left_at)
SELECT gen_random_uuid(), 'before', 1, 1, 1, clock_timestamp(), clock_timestamp(), clock_timestamp();
INSERT INTO voucher.attempt (request_id, attempt, run, epoch, state, worker, number, planned_at, sending_at, answered_at, ended_at, http_status, answer)
SELECT 'old' || n, 1, (SELECT max(run) FROM voucher.run), 1, 'issued', (SELECT worker FROM voucher.worker LIMIT 1), (100000000000000000 + n)::text,
       t, t, t, t, 200, decode(repeat('7b', 180), 'hex')
FROM (SELECT n, timestamptz '2016-11-01' + n * (interval '3650 days' / {attempts}) AS t FROM generate_series(1, {attempts}) AS n) AS each;
INSERT INTO voucher.charge (attempt_id, ticket_no, charge, product, wire, voucher, amount, file, sheet, row, content, live)
SELECT attempt_id, '888' || lpad(((attempt_id * 40 + k) * 7919 % 9999999967)::text, 10, '0'), 'ticket_fare', 'flight', 'TICKET_FARE/Flight', 'invoice',
       10000, 'years.xlsx', 'Tickets', 2 + k, '', true
FROM voucher.attempt CROSS JOIN generate_series(0, 39) AS k;
"""
#: The indexes of charges, as they are made and dropped: filling takes a fraction of the time without them.
_INDEXES = """
SELECT pg_get_indexdef(indexrelid), format('DROP INDEX %s', indexrelid::regclass)
FROM pg_index WHERE indrelid = 'voucher.charge'::regclass AND NOT indisprimary
UNION ALL SELECT format('ALTER TABLE voucher.charge ADD CONSTRAINT %I %s', conname, pg_get_constraintdef(oid)), format('ALTER TABLE voucher.charge DROP CONSTRAINT %I', conname)
FROM pg_constraint WHERE conrelid = 'voucher.charge'::regclass AND contype = 'p'
"""


def _fill(ledger: str, charges: int) -> None:
    """Put charges in that were issued in the years before, past the triggers."""
    with psycopg.connect(ledger, autocommit=True) as owner:
        owner.execute(_CARELESS)
        with owner.transaction():
            indexes = owner.execute(_INDEXES).fetchall()
            for _, dropped in indexes:
                owner.execute(dropped.encode())
            owner.execute(_FILLED.format(attempts=-(-charges // _CHARGES_OF_ONE)).encode())
            for made, _ in indexes:
                owner.execute(made.encode())
        owner.execute("VACUUM ANALYZE")
        owner.execute("CHECKPOINT")


#: After a start of the server nothing is claimed for a while. Nobody has sent anything by this ledger.
_OPENED = "SELECT voucher.note_life(); UPDATE voucher.server_life SET opened_at = clock_timestamp() WHERE opened_at IS NULL"


def age(folder: Path, rounds: int = 3, charges: int = 10_000_000) -> list[Line]:
    """`issue` of 1,000 rows on a ledger of so many charges, against one of 10,000. A folder that is kept has both."""
    port = folder / "port.txt"
    if not port.exists():
        port.write_text(str(_free_port()))
    with answering(folder, port=int(port.read_text())) as address, _kept_server(folder / "server") as own:
        office = Office(folder, own, {0: address}, set())
        ledgers = {}
        for name, count in (("young", 10_000), ("old", charges)):
            kept = folder / f"{name}-{count}.txt"
            if not kept.exists():
                database = own.new_database()
                office.prepare(own.url(database), 0)
                _fill(own.url(database), count)
                kept.write_text(database)
            ledgers[name] = own.url(kept.read_text())
            with psycopg.connect(ledgers[name], autocommit=True) as owner:
                owner.execute(_OPENED)
        # Ledgers that were kept have the tickets of earlier rounds already.
        first = len(list(folder.glob("month-*.xlsx")))
        lines = itertools.islice(ticket_rows(1_000 * (first + rounds), 100), 1_000 * first, None)
        months = [
            write_book(folder / f"month-{at}.xlsx", itertools.islice(lines, 1_000), buyer_rows(100))
            for at in range(first, first + rounds)
        ]

        def side(name: str, at: int) -> float:
            begun = time.perf_counter()
            if office.issue(ledgers[name], months[at], 0, 64).wait() != 0:
                raise RuntimeError(f"issue of {months[at]} on the {name} ledger failed")
            return time.perf_counter() - begun

        found = alternating({name: lambda at, name=name: side(name, at) for name in ledgers}, rounds)
    young, old = found["young"], found["old"]
    ratio = old.median / young.median
    figures = f"{old.median:.2f} s ({old.spread}) : {young.median:.2f} s ({young.spread})"
    return [
        Line(
            f"`issue` of 1,000 rows, a shared ledger of {charges:,} charges",
            "one of 10,000",
            "≤ 1.2",
            ratio,
            ratio <= 1.2,
            figures,
        )
    ]


def main() -> None:
    """One part, printed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=("workers", "file", "age"))
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    parser.add_argument("--only", default="", help="of `file`, what begins so: 200 or 20")
    parser.add_argument("--charges", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as temporary:
        folder = given.folder or Path(temporary)
        if given.part == "age":
            lines = age(folder, given.rounds, given.charges)
        elif given.part == "file":
            lines = against_file(folder, given.rounds, given.only)
        else:
            lines = workers(folder, given.rounds)
    for line in lines:
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
