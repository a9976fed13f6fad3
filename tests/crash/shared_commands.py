"""The same over the product's own commands: `voucher issue` and several `voucher worker` on one shared ledger, and a carrier that counts.

    python -m tests.crash.shared_commands --seeds 0..5 [--tickets 300] [--workers 3] [--seconds 40] [--long]

What is done to them, what a person does and what is looked at is as in `shared_workers`; the carrier speaks the real protocol
(`counting_carrier`). `voucher issue` is killed and stopped as its workers are, and begun again until every ticket is issued. Every second seed
stops them for longer than `settle_after`, too, so that a worker wakes when evidence has freed its charge.
"""

import contextlib
import csv
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from pipeline.ledger_postgresql import server_schema
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.model.evidence import StatementLine
from pipeline.model.message import verbatim
from pipeline.model.profile import Owner
from tests import moved_clock
from tests.contract.ledgers import terms_of
from tests.crash.counting_carrier import AGENCY, KEYS, Carrier
from tests.crash.disk_harness import ROWS
from tests.crash.shared_workers import (
    A_LOOK,
    LONG,
    REPOSITORY,
    SETTLED,
    Office,
    Process,
    Size,
    Totals,
    size_of,
    sized,
)
from tests.postgresql_server import Server, programs, server


class Books(Carrier):
    """The carrier's books: by ticket the numbers that it gave. A part of the answers is lost, unreadable, or a 429, by chance."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = random.Random(seed)
        self.numbers: defaultdict[str, list[str]] = defaultdict(list)

    def _fault(self, tickets: Sequence[str]) -> tuple[str, str]:
        fate = self._random.random()
        if fate < 0.03:
            return "busy", ""
        for ticket in tickets:
            self.numbers[ticket].append(f"2{self._numbers + 1:019}")
        return "issued", "lost" if fate < 0.06 else "unreadable" if fate < 0.08 else ""


class Command(Process):
    """One of the product's commands, as a process that is stopped and killed."""

    def __init__(self, arguments: Sequence[str], desk: Path, clock_ahead: bool) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("VOUCHER_")}
        self.said = desk / f"said-{time.monotonic_ns()}"
        with self.said.open("wb") as said:
            self.popen = subprocess.Popen(
                [sys.executable, "-m", "pipeline", *arguments],
                cwd=desk, start_new_session=True, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                env=environment | KEYS | {"HOME": str(desk), "PYTHONPATH": str(REPOSITORY), "VOUCHER_LANG": "en"}
                | (moved_clock.moved(24) if clock_ahead else {}),
            )  # fmt: skip
        self.awake_since = time.monotonic()
        self.stopped = self.spared = False


class ProductOffice(Office):
    """One month on one ledger, until every ticket was issued."""

    def __init__(self, own: Server, seed: int, size: Size, totals: Totals) -> None:
        self.books = Books(seed)
        self.books.__enter__()
        self.desk = Path(tempfile.mkdtemp(prefix="shared-commands-"))
        super().__init__(own, seed, size, totals, "")
        self.issuing: Command | None = None
        times = f"concurrency = {self.most_in_flight}\nconnect_timeout_seconds = 3\nresponse_timeout_seconds = 4\n"
        profile = self.books.profile.replace("[submission]\n", f"[submission]\n{times}")
        profile = profile.replace("connect_timeout_seconds = 20\nresponse_timeout_seconds = 40\n", "")
        (self.desk / "carrier.toml").write_text(profile)
        with (self.desk / "tickets.csv").open("w", newline="") as file:
            rows = csv.DictWriter(file, ROWS[0])
            rows.writeheader()
            rows.writerows(ROWS[0] | {"ticket_no": f"999{number:010}"} for number in range(size.tickets))

    def begin(self) -> None:
        with connect(self.ledger.url("owner")) as owner:
            server_schema.prepare(owner, Owner(self.books.base_url, AGENCY), self.size.bounds)
            for role in ("issuer", "worker"):
                with contextlib.suppress(Exception):
                    owner.execute(f"CREATE ROLE {role} LOGIN".encode())
                owner.execute(f"GRANT voucher_{role} TO {role}".encode())
        self.ledger.operations = self.operations_of("issuer")

    def address(self, role: str) -> str:
        return self.ledger.url(role).replace(f":{self.server.port}/", f":{self.way.port}/")

    # What is done to them.

    def start_worker(self) -> None:
        self.processes.append(
            Command(
                [
                    "worker",
                    "--profile",
                    "carrier.toml",
                    "--ledger",
                    self.address("worker"),
                    "--quiet",
                    "--concurrency",
                    str(self.size.lanes),
                ],
                self.desk,
                self.random.random() < 0.25,
            )
        )

    def start_issue(self) -> None:
        if self.issuing and self.issuing.popen.poll() is not None:
            self.processes.remove(self.issuing)
            self.totals.moves[f"issue ended with {self.issuing.popen.returncode}"] += 1
            if self.issuing.popen.returncode not in (0, 1, 2, 3, 4):
                self.totals.violations.append(f"issue ended with {self.issuing.last_words}")
            self.dead.append(self.issuing.popen.pid)
            self.issuing = None
        if self.issuing is None:
            where = ["--profile", "carrier.toml", "--ledger", self.address("issuer"), "--as-of", "2026-11-20"]
            output = ["-o", f"result-{time.monotonic_ns()}.xlsx", "--yes", "--quiet"]
            self.issuing = Command(["issue", "tickets.csv", *where, *output], self.desk, False)
            self.processes.append(self.issuing)

    def kill_worker(self) -> None:
        one = self.random.choice([one for one in self.processes if not one.spared])
        self.processes.remove(one)
        one.kill()
        self.dead.append(one.popen.pid)
        if one is self.issuing:
            self.issuing = None
            self.start_issue()
        else:
            self.start_worker()

    def bury_the_dead(self) -> None:
        for one in [
            one for one in self.processes if one.popen.poll() is not None and one is not self.issuing
        ]:
            assert isinstance(one, Command)
            self.totals.moves[f"worker ended with {one.popen.returncode}"] += 1
            if one.popen.returncode not in (2, 3):
                self.totals.violations.append(f"a worker ended with {one.popen.returncode}: {one.last_words}")
            self.processes.remove(one)
            self.dead.append(one.popen.pid)
            self.start_worker()
        self.start_issue()
        super().bury_the_dead()

    def begin_anew(self) -> None:
        if self.issuing:
            self.issuing.kill()
            self.processes.remove(self.issuing)
        self.issuing = None
        super().begin_anew()
        self.start_issue()

    def close_gaps(self) -> None:
        operations = self.ledger.operations
        had = {number for (number,) in self.ledger.rows("SELECT number FROM attempt WHERE state = 'issued'")}
        in_doubt = {
            ticket
            for (ticket,) in self.ledger.rows(
                "SELECT ticket_no FROM charge JOIN attempt USING (attempt_id) WHERE state = 'unknown'"
            )
        }
        lines = [
            (StatementLine("itinerary", number, ticket, "ticket_fare", "flight", 1000_00, None, "", verbatim("the books"), "books.csv"), "")
            for ticket, numbers in self.books.numbers.items() for number in numbers
            if number not in had and ticket not in in_doubt
        ]  # fmt: skip
        run = operations.begin("reconcile", terms_of(Owner(self.books.base_url, AGENCY)), [])
        operations.hold_elsewhere(run, lines, "li")
        operations.close_gaps("li", verbatim("the books"))
        operations.end(run, 0)

    def read_the_books(self) -> None:
        ((as_of,),) = self.ledger.rows("SELECT clock_timestamp()")
        for attempt_id, ticket, recorded in self.ledger.rows(
            "SELECT attempt_id, ticket_no, ARRAY(SELECT number FROM charge AS own JOIN attempt AS other USING (attempt_id)"
            "  WHERE own.ticket_no = charge.ticket_no AND other.state = 'issued')"
            f" FROM attempt JOIN charge USING (attempt_id) WHERE state = 'unknown' ORDER BY random() LIMIT {A_LOOK}"
        ):
            self.say_of(
                attempt_id, [one for one in self.books.numbers.get(ticket, ()) if one not in recorded], as_of
            )

    def plan_anew(self) -> None:
        self.start_issue()

    @property
    def most_in_flight(self) -> int:
        return self.size.lanes * (self.size.workers + 1)

    @property
    def issued_so_far(self) -> int:
        return len(self.books.numbers)

    @property
    def left(self) -> int:
        ((unknown,),) = self.ledger.rows("SELECT count(*) FROM attempt WHERE state IN ('unknown', 'sending')")
        return self.size.tickets - len(self.books.numbers) + int(unknown)

    # What is looked at.

    def check(self) -> None:
        time.sleep(SETTLED)
        wrong = self.totals.violations
        found = self.ledger.rows(
            "SELECT number, ticket_no FROM attempt JOIN charge USING (attempt_id) WHERE state = 'issued'"
        )
        issued = dict(found) | dict(self.ledger.rows("SELECT number, ticket_no FROM elsewhere"))
        for ticket, numbers in self.books.numbers.items():
            if len(numbers) > 1:
                wrong.append(f"issued {len(numbers)} times: {ticket}\n{self.story_of_ticket(ticket)}")
            wrong += [
                f"lost: {number} of {ticket}\n{self.story_of_ticket(ticket)}"
                for number in numbers
                if issued.get(number) != ticket
            ]
        wrong += [
            f"made up: {number} of {ticket}"
            for number, ticket in issued.items()
            if number not in self.books.numbers[ticket]
        ]
        if self.left:
            wrong.append(
                f"not done: {len(self.books.numbers)} of {self.size.tickets} issued, {self.left} left; {self._words()}"
            )
        self.check_unknown()

    def _words(self) -> str:
        return self.issuing.last_words if self.issuing else ""

    def story_of_ticket(self, ticket: str) -> str:
        ((request,), *_) = self.ledger.rows(
            f"SELECT request_id FROM attempt JOIN charge USING (attempt_id) WHERE ticket_no = '{ticket}'"
        ) or [("",)]
        return self.story_of(request)

    def close(self) -> None:
        super().close()
        self.books.__exit__(None, None, None)
        shutil.rmtree(self.desk)


def run(own: Server, seed: int, size: Size, totals: Totals) -> None:
    """One seed; what is wrong is in `totals`."""
    size = replace(size, gap=0.0) if seed % 2 else replace(size, longest=0.0)
    with contextlib.closing(ProductOffice(own, seed, size, totals)) as office, office.standing(seed):
        office.work()


@click.command()
@click.option("--seeds", default="0..1")
@sized
def main(seeds: str, long: bool, **given: Any) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    first, _, last = seeds.partition("..")
    found = programs()
    assert found, "PostgreSQL's server is not installed"
    totals = Totals(moves=Counter())
    size = size_of(LONG if long else Size(300, 3, 40, lanes=4), given)
    with server(found) as own:
        for seed in range(int(first), int(last or first) + 1):
            began = time.monotonic()
            run(own, seed, size, totals)
            click.echo(f"seed {seed}, {time.monotonic() - began:.0f} s: {totals}")
    sys.exit(bool(totals.violations))


if __name__ == "__main__":
    main()
