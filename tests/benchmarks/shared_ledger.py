"""Sending by several workers of a ledger on PostgreSQL, against one of them, and against the ledger in a file.

    python -m tests.benchmarks.shared_ledger [--charges 10000000]

All of it is the product: `voucher issue`, which sends along, `voucher worker` processes beside it, a server of their own, and a carrier that only
answers. A rate is requests over the time from the first `sending` to the last outcome, as the ledger has them. With `--charges` it measures instead what a
ledger's age costs.
"""

import argparse
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import apsw
import psycopg

from tests.benchmarks.carrier import answering
from tests.benchmarks.months import AS_OF, buyer_rows, ticket_rows, write_book, write_month
from tests.benchmarks.timing import REPOSITORY, Line, Measured, alternating, environment, run, voucher
from tests.postgresql_server import Server, programs, server

_EACH = 32  # requests in flight from each worker
_ROUNDS = 3
_WAIT = 0.2  # seconds, until the carrier answers
_TO_REACH = 0.9
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Sent:
    """What sending came to: requests a second, and microseconds of processor a request of the workers (issue among them) and of the server."""

    rate: float
    workers: float
    server: float


def _processor(pid: int) -> float:
    """Seconds of processor of a process, of those that it waited for, and of its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    ticks = 0
    for one in (pid, *map(int, children)):
        with contextlib.suppress(OSError):
            ticks += sum(map(int, Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[11:15]))
    return ticks / _TICKS


class Office:
    """A server, a carrier, and a profile of it; each sending has a ledger of its own."""

    def __init__(self, folder: Path, own: Server, address: str) -> None:
        self.folder, self.server = folder, own
        profile = (REPOSITORY / "sample_data" / "sandbox.toml").read_text(encoding="utf-8")
        self.profile = folder / f"carrier-{address.rpartition(':')[2]}.toml"
        self.profile.write_text(profile.replace("http://127.0.0.1:8080", address), encoding="utf-8")

    def _issue(self, ledger: str, month: Path, in_flight: int) -> float:
        """Issue a month; the processor's seconds of it."""
        output = self.folder / f"{time.monotonic_ns()}.result.xlsx"
        asked = (
            "--profile",
            self.profile,
            "--ledger",
            ledger,
            "--as-of",
            str(AS_OF),
            "--concurrency",
            str(in_flight),
        )
        new = () if ledger.startswith("postgresql:") else ("--new-ledger",)
        return run(voucher("issue", month, *asked, *new, "-o", output), self.folder).processor

    def in_file(self, month: Path) -> Sent:
        """By the ledger of one machine."""
        path = self.folder / f"{time.monotonic_ns()}.ledger"
        processor = self._issue(str(path), month, _EACH)
        with contextlib.closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as ledger:
            ((first, last, count),) = ledger.execute(
                "SELECT min(sending_at), max(ended_at), count(*) FROM attempt"
            )
        seconds = (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
        return Sent(count / seconds, processor / count * 1e6, 0)

    def new_ledger(self) -> str:
        """The address of a new shared ledger."""
        address = self.server.url(self.server.new_database())
        run(voucher("ledger", "prepare", "--profile", self.profile, "--ledger", address), self.folder)
        return address

    def shared(self, month: Path, workers: int) -> Sent:
        """By so many workers, of which `issue` is one."""
        address = self.new_ledger()
        before = self._server_seconds()
        with self._workers(address, workers - 1) as beside:
            processor = self._issue(address, month, _EACH * workers)
        processor += sum(beside)
        took = self._server_seconds() - before
        with psycopg.connect(address) as ledger:
            row = ledger.execute(
                "SELECT min(sending_at), max(ended_at), count(*) FROM voucher.attempt"
            ).fetchone()
        assert row is not None
        first, last, count = row
        rate = count / (last - first).total_seconds()
        return Sent(rate, processor / count * 1e6, took / count * 1e6)

    def _server_seconds(self) -> float:
        return _processor(self.server.process_id)

    @contextlib.contextmanager
    def _workers(self, address: str, count: int) -> Iterator[list[float]]:
        """So many workers that have joined; their seconds of processor when they have ended."""
        took: list[float] = []
        asked = ("--profile", self.profile, "--ledger", address, "--concurrency", str(_EACH), "--quiet")
        started = [
            subprocess.Popen(voucher("worker", *asked), env=environment(), stderr=subprocess.PIPE)
            for _ in range(count)
        ]
        try:
            with psycopg.connect(address, autocommit=True) as ledger:
                until = time.monotonic() + 60
                while ledger.execute("SELECT count(*) FROM voucher.worker").fetchone() != (count,):
                    if time.monotonic() > until:
                        raise TimeoutError("the workers do not join")
                    time.sleep(0.1)
            yield took
        finally:
            for one in started:
                one.send_signal(signal.SIGTERM)
            for one in started:
                _, status, usage = os.wait4(one.pid, 0)
                one.returncode = os.waitstatus_to_exitcode(status)
                took.append(usage.ru_utime + usage.ru_stime)


def measured(folder: Path) -> list[Line]:
    """N workers against one, one against the ledger in a file."""
    found_programs = programs()
    if found_programs is None:
        raise FileNotFoundError("there is no PostgreSQL server on this machine")
    month = write_month(folder / "shared.xlsx", 12_000, 1_000)
    sent: dict[str, list[Sent]] = {}
    with server(found_programs) as own, answering(folder, _WAIT) as slow, answering(folder) as fast:
        offices = {"200 ms": Office(folder, own, slow), "no delay": Office(folder, own, fast)}

        def by(name: str, office: str, workers: int) -> float:
            one = offices[office].shared(month, workers) if workers else offices[office].in_file(month)
            sent.setdefault(name, []).append(one)
            return one.rate

        sides = {
            "file": lambda _: by("file", "200 ms", 0), "1": lambda _: by("1", "200 ms", 1), "2": lambda _: by("2", "200 ms", 2),
            "4": lambda _: by("4", "200 ms", 4),
            "file, no delay": lambda _: by("file, no delay", "no delay", 0), "1, no delay": lambda _: by("1, no delay", "no delay", 1),
            "2, no delay": lambda _: by("2, no delay", "no delay", 2),
        }  # fmt: skip
        found = alternating(sides, _ROUNDS)

    def line(what: str, against: str, wanted: float, side: str, other: str, times: int = 1) -> Line:
        ratio = found[side].median / (times * found[other].median)
        cpu = sorted(sent[side], key=lambda one: one.workers)[len(sent[side]) // 2]
        figures = (
            f"{found[side].median:,.0f}/s ({found[side].spread}) : {found[other].median:,.0f}/s ({found[other].spread});"
            f" a request {cpu.workers:,.0f} µs of workers' processor, whole commands, and {cpu.server:,.0f} of the server's"
        )
        return Line(what, against, f"≥ {wanted}", ratio, ratio >= wanted, figures)

    return [
        line(f"2 workers, 200 ms, {_EACH} in flight each", "twice one worker", _TO_REACH, "2", "1", 2),
        line(f"4 workers, 200 ms, {_EACH} in flight each", "four times one worker", _TO_REACH, "4", "1", 4),
        line(f"one worker, 200 ms, {_EACH} in flight", "the ledger in a file", 0.8, "1", "file"),
        line(
            f"one worker, no delay, {_EACH} in flight",
            "the ledger in a file",
            0.8,
            "1, no delay",
            "file, no delay",
        ),
        line(f"2 workers, no delay, {_EACH} in flight each", "one worker", 1.0, "2, no delay", "1, no delay"),
    ]


# What age costs.

_FILLED = """
SET session_replication_role = replica; SET synchronous_commit = off;
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
SET session_replication_role = DEFAULT;
"""


def age(folder: Path, charges: int) -> list[Line]:
    """`issue` of 1,000 rows on a ledger of so many charges, against one of 10,000."""
    found_programs = programs()
    if found_programs is None:
        raise FileNotFoundError("there is no PostgreSQL server on this machine")
    lines = ticket_rows(1_000 * _ROUNDS, 100)
    months = [
        write_book(folder / f"age-{at}.xlsx", itertools.islice(lines, 1_000), buyer_rows(100))
        for at in range(_ROUNDS)
    ]
    with server(found_programs) as own, answering(folder) as address:
        office = Office(folder, own, address)
        ledgers = {"young": office.new_ledger(), "old": office.new_ledger()}
        for name, count in (("young", 10_000), ("old", charges)):
            with psycopg.connect(ledgers[name], autocommit=True) as ledger:
                ledger.execute(_FILLED.format(attempts=-(-count // 40)).encode())
                ledger.execute("VACUUM ANALYZE")
                ledger.execute("CHECKPOINT")

        def side(name: str, at: int) -> float:
            begun = time.perf_counter()
            office._issue(ledgers[name], months[at], _EACH)
            return time.perf_counter() - begun

        found = alternating(
            {"young": lambda at: side("young", at), "old": lambda at: side("old", at)}, _ROUNDS
        )
    return [_aged(found, charges)]


def _aged(found: dict[str, Measured], charges: int) -> Line:
    ratio = found["old"].median / found["young"].median
    figures = f"{found['old'].median:.2f} s ({found['old'].spread}) : {found['young'].median:.2f} s ({found['young'].spread})"
    return Line(
        f"`issue` of 1,000 rows, a shared ledger of {charges:,} charges",
        "one of 10,000",
        "≤ 1.2",
        ratio,
        ratio <= 1.2,
        figures,
    )


def main() -> None:
    """One of both, printed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--charges", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as folder:
        for line in age(Path(folder), given.charges) if given.charges else measured(Path(folder)):
            sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
