"""Several workers on one shared ledger, killed and stopped at random, and the server restarted under them: nothing twice, nothing lost.

    python -m tests.crash.shared_workers --seeds 0..20 [--tickets 400] [--workers 4] [--without STEP] [--long]
        [--lost SHARE] [--reads SECONDS] [--distance SECONDS] [--longest SECONDS] [--aimed SHARE]

The carrier issues whatever it is asked for, as often as it is asked, and keeps count. A person reads its books now and then, and says of
what is unknown whether it was issued; what he calls not issued is planned anew, so that an attempt that is still on its way would be a second
voucher. Connections to the server go through a proxy that cuts them, holds them up, and delivers late. An older copy of the server's
files is put in their place; one worker's clock is a day ahead. `--without` leaves a step of the fence out (1, 2, 3: in the workers; 4 to 7:
in the ledger), and is to find something. `--long`: 20,000 tickets, 8 workers, and stops of minutes, which overlap with what the others do.
The last five options are of `Size`: by them a seed comes more often to what a step is there for.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from unittest import mock

import click
import psycopg

from pipeline.boot_time import boot_time
from pipeline.ledger.settlements import NotSettled, Settlement
from pipeline.ledger_postgresql import known_workers, server_schema
from pipeline.ledger_postgresql.postgresql_ledger import PostgresqlLedger
from pipeline.ledger_postgresql.server_schema import Bounds
from pipeline.ledger_postgresql.sqlstates import Refused, ServerAway, as_problem
from pipeline.model.evidence import StatementLine
from pipeline.model.message import verbatim
from tests import moved_clock
from tests.contract.ledgers import TERMS, Shared, charge, invoice, seal
from tests.crash import shared_standing
from tests.crash.shared_carrier import CountingCarrier
from tests.crash.shared_worker import Orders
from tests.postgresql_server import Server, programs, server

REPOSITORY = Path(__file__).parents[2]
SETTLED = 1.0  # seconds in which what a killed process had written arrives
A_LOOK = 10  # attempts that a person says something of, before something else is done
_AWAKE = 1.0  # seconds that a worker that was stopped is left alone, so that two stops are not one
#: What is left out of the ledger for a step.
_LEFT_OUT = {
    "4": [("it.silent_at IS NOT NULL OR it.left_at IS NOT NULL OR it.dead_at IS NOT NULL\n        OR it.heard_at", "false AND it.heard_at")],
    "5": [
        (
            "WHERE attempt_id = (_change ->> 'attempt_id')::bigint AND worker = _worker FOR UPDATE;\n    IF NOT FOUND THEN",
            "WHERE attempt_id = (SELECT max(b.attempt_id) FROM voucher.attempt AS a JOIN voucher.attempt AS b USING (request_id) WHERE a.attempt_id = (_change ->> 'attempt_id')::bigint); IF NOT FOUND THEN",
        )
    ],
    "6": [("of_then < shown_from", "false")],
    "7": [
        ("AND name = voucher.life_now() AND opened_at IS NOT NULL", ""),
        ("IF (SELECT vouched_life FROM voucher.worker WHERE worker = _worker) < (SELECT max(life) FROM voucher.server_life) THEN", "IF false THEN"),
    ],
}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """How much one seed is: tickets, workers, for how many seconds they are disturbed, and the bounds of the fence.

    `far`, `gap`: of `shared_worker.Orders`; `answers`: seconds until the carrier answers, at the most; `lost`: the share of its answers that are
    lost; `restores`: whether an older copy is put back; `reads`: seconds between two looks into the carrier's books; `distance`: seconds that
    what the server says is under way; `longest`: seconds for which a few workers are stopped of every second seed, at the most, 0: none;
    `aimed`: the share of stops that begin when a worker was told what to send.
    """

    tickets: int = 400
    workers: int = 4
    seconds: float = 20
    bounds: Bounds = field(default_factory=lambda: Bounds(1.0, 2.5, 6.0))
    lanes: int = 6
    far: float = 0.3
    gap: float = 0.1
    answers: float = 0.8
    lost: float = 0.04
    restores: bool = True
    reads: float = 0.0
    distance: float = 0.0
    longest: float = 0.0
    aimed: float = 0.2

    @property
    def stops(self) -> tuple[float, ...]:
        """Seconds for which a worker is stopped: within what it may take, beyond that, and beyond a lease; as long as it can be stopped
        between its look and its write never for as long as `settle_after`, for beyond that nothing is promised."""
        of = self.bounds
        longest = (of.settle_after - of.send_within) * 0.8 if self.gap else of.settle_after * 1.5
        return 0.3 * of.send_within, 1.2 * of.send_within, 1.3 * of.lease, longest


LONG = Size(20_000, 8, 200, lanes=16, far=0.1, gap=0.03, answers=0.3, lost=0.01, longest=120)


@dataclass
class Totals:
    """What was done, what was wrong, and what of it says nothing (`void`): a worker was stopped for longer than anything is promised."""

    tickets: int = 0
    moves: Counter[str] = field(default_factory=Counter)
    settled: Counter[str] = field(default_factory=Counter)
    unknown: int = 0
    void: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)


class KeptOpen(Shared):
    """A ledger with one connection of the owner's, for all that is looked at."""

    _owner: psycopg.Connection | None = None

    def close(self) -> None:
        super().close()
        self._owner = None

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        if self._owner is None or self._owner.closed:
            self._owner = self.connect("owner")
            self._owner.execute("SET search_path = voucher")
        with as_problem():
            return self._owner.execute(query.encode()).fetchall()


class Way:
    """The way to the server (`shared_proxy`), as a process."""

    def __init__(self, server_port: int, distance: float) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.shared_proxy", str(self.port), str(server_port), str(distance)],
            cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def have(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(command.encode() + b"\n")
        self._process.stdin.flush()

    def close(self) -> None:
        self._process.kill()
        for end in (self._process.stdin, self._process.stdout):
            assert end is not None
            end.close()
        self._process.wait()


class Process:
    """A worker's process, and since when it is left alone (monotonic)."""

    def __init__(self, orders: Orders, clock_ahead: bool) -> None:
        self.said = Path(orders.journal).with_name(f"said-{time.monotonic_ns()}")
        with self.said.open("wb") as said:
            self.popen = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.shared_worker", json.dumps(asdict(orders))],
                cwd=REPOSITORY, start_new_session=True, stderr=said,
                env=os.environ | (moved_clock.moved(24) if clock_ahead else {}),
            )  # fmt: skip
        self.awake_since = time.monotonic()
        self.stopped = False
        self.spared = False  # it is not killed before it wakes

    @property
    def last_words(self) -> str:
        return self.said.read_text(errors="replace")[-600:]

    def stop(self, seconds: float, aimed: bool = False) -> None:
        """For so long; `aimed`: it stops by itself when a turn has given it something to send, and it has sent nothing of it."""
        self.stopped = True
        self.popen.send_signal(signal.SIGUSR1 if aimed else signal.SIGSTOP)
        timer = threading.Timer(seconds, self.wake)
        timer.daemon = True  # a harness that has ended waits for none
        timer.start()

    def wake(self) -> None:
        self.popen.send_signal(signal.SIGCONT)
        self.awake_since, self.stopped, self.spared = time.monotonic(), False, False

    @property
    def aims(self) -> bool:
        """Whether it stops by itself when it is told to: one that is beginning would end of that, as would the product's commands."""
        status = dict(
            line.split(":\t", 1) for line in Path(f"/proc/{self.popen.pid}/status").read_text().splitlines()
        )
        return bool(int(status.get("SigCgt", "0"), 16) >> (signal.SIGUSR1 - 1) & 1)

    @property
    def may_be_stopped(self) -> bool:
        return not self.stopped and time.monotonic() > self.awake_since + _AWAKE

    def kill(self) -> None:
        self.popen.kill()
        self.popen.wait()


class Office:
    """One ledger, from its plan until every ticket was issued."""

    def __init__(self, own: Server, seed: int, size: Size, totals: Totals, without: str) -> None:
        self.server, self.random, self.size, self.totals, self.without = (
            own,
            random.Random(seed),
            size,
            totals,
            without,
        )
        self.carrier = CountingCarrier(seed, size.answers, size.lost)
        name = own.new_database()
        self.ledger = KeptOpen(lambda role: own.url(name, role))
        self.way = Way(own.port, size.distance)
        self.begin()
        self.journal = Path(tempfile.mkdtemp(prefix="shared-workers-")) / "journal"
        self.requests = {
            one.request_id: one for one in (invoice(charge(number)) for number in range(size.tickets))
        }
        self.processes: list[Process] = []
        self.dead: list[int] = []  # processes that nobody has declared dead yet
        self.copied_at = -1  # vouchers that were issued when the server's files were copied
        self.copied_with: set[int] = set()  # processes that the copy knows
        self.next_look = 0.0  # into the carrier's books (monotonic)

    def begin(self) -> None:
        self.ledger.prepare(self.size.bounds)
        self.ledger.open()
        self.ledger.worker.leave()  # the harness sends nothing

    def operations_of(self, role: str) -> PostgresqlLedger:
        return PostgresqlLedger(self.ledger.connect(role), seal)

    # What is done to them.

    def start_worker(self) -> None:
        size = self.size
        orders = Orders(
            self.ledger.url("worker").replace(f":{self.server.port}/", f":{self.way.port}/"), self.ledger.run, self.carrier.port,
            str(self.journal), size.lanes, size.far, size.gap, self.without,
        )  # fmt: skip
        self.processes.append(Process(orders, clock_ahead=self.random.random() < 0.25))

    def kill_worker(self) -> None:
        one = self.random.choice([one for one in self.processes if not one.spared])
        self.processes.remove(one)
        one.kill()
        self.dead.append(one.popen.pid)
        self.start_worker()

    def bury_the_dead(self) -> None:
        """Say of workers that were seen dead that they are, whatever names they had; when what they had written has arrived."""
        for one in [one for one in self.processes if one.popen.poll() is not None]:
            self.totals.violations.append(
                f"a worker ended by itself: {one.popen.returncode} {one.last_words}"
            )
            self.processes.remove(one)
            self.dead.append(one.popen.pid)
            self.start_worker()
        self.declare_the_dead()

    def declare_the_dead(self) -> None:
        time.sleep(SETTLED if self.dead else 0)
        while self.dead:
            self.declare_dead(f"process = {self.dead[0]}")
            del self.dead[0]

    def declare_dead(self, which: str) -> None:
        for (worker,) in self.ledger.rows(
            f"SELECT worker FROM worker WHERE {which} AND dead_at IS NULL AND left_at IS NULL"
        ):
            self.ledger.declare_dead(worker, "the harness", "waitpid")

    def stop_worker(self) -> None:
        if awake := [one for one in self.processes if one.may_be_stopped]:
            one = self.random.choice(awake)
            aimed = one.aims and self.random.random() < self.size.aimed
            one.stop(self.size.stops[-1] if aimed else self.random.choice(self.size.stops), aimed)

    def stop_for_long(self) -> None:
        """One of few at a time, so that the others go on; none of a seed that has no such stops."""
        awake = [one for one in self.processes if one.may_be_stopped]
        if awake and self.size.longest and sum(one.spared for one in self.processes) < self.size.workers / 3:
            one = self.random.choice(awake)
            one.spared = True
            one.stop(self.random.uniform(0.3, 1) * self.size.longest)

    def restart_server(self) -> None:
        self.server.restart_at_once()
        self.reconnect()

    def reconnect(self) -> None:
        self.ledger.close()  # its connections broke
        self.ledger.operations = self.operations_of("issuer")

    def cut(self) -> None:
        self.way.have("cut")

    def drop(self) -> None:
        self.way.have(f"drop {self.random.uniform(0, 2 * self.size.bounds.send_within)}")

    def stall(self) -> None:
        self.way.have(f"stall {self.random.uniform(0, 1.2 * self.size.bounds.send_within)}")

    # An older copy.

    def copy_server(self) -> None:
        self.server.stop(signal.SIGQUIT)
        shutil.rmtree(self.server.folder / "copy", ignore_errors=True)
        shutil.copytree(self.server.data, self.server.folder / "copy")
        self.copied_at = self.issued_so_far
        self.server.start()
        self.reconnect()
        self.copied_with = {
            process for (process,) in self.ledger.rows("SELECT process FROM worker WHERE left_at IS NULL AND dead_at IS NULL")
        }  # fmt: skip

    def put_copy_back(self) -> None:
        """Workers are to notice it. Then a person stops them all, says what the carrier has that the ledger lacks, and begins anew.

        In half of the cases one alone is left that can notice, and it is stopped; the others ended, and new ones begin.
        """
        self.copied_at = -1
        remember = [one for one in self.processes if one.popen.pid in self.copied_with and one.may_be_stopped]
        if remember and self.random.random() < 0.5:
            self.leave_alone(self.random.choice(remember))
        self.server.stop(signal.SIGQUIT)
        shutil.rmtree(self.server.data)
        (self.server.folder / "copy").rename(self.server.data)
        self.server.hand_over()
        self.server.start()
        self.reconnect()
        until = time.monotonic() + 4 * self.size.bounds.lease + 10
        while not self.ledger.rows("SELECT FROM gap WHERE closed_at IS NULL"):
            self.declare_the_dead()
            self.ledger.open_claims()
            if time.monotonic() > until:
                self.totals.violations.append("an older copy was put back, and nobody noticed")
                break
            time.sleep(0.1)
        self.begin_anew()

    def leave_alone(self, one: Process) -> None:
        one.stop(self.random.uniform(1, 2) * self.size.bounds.lease)
        for other in [other for other in self.processes if other is not one]:
            self.processes.remove(other)
            other.kill()
            self.dead.append(other.popen.pid)
            self.start_worker()
        self.totals.moves["leave_alone"] += 1

    def begin_anew(self) -> None:
        workers = len(self.processes)
        for one in self.processes:
            one.kill()
        time.sleep(SETTLED)
        self.declare_dead("true")
        self.dead.clear()
        self.close_gaps()
        self.processes.clear()
        for _ in range(workers):
            self.start_worker()

    def close_gaps(self) -> None:
        had = {number for (number,) in self.ledger.rows("SELECT number FROM attempt WHERE state = 'issued'")}
        in_doubt = {
            request
            for (request,) in self.ledger.rows("SELECT request_id FROM attempt WHERE state = 'unknown'")
        }
        lines = [
            (StatementLine(
                "invoice", number, self.requests[request].charges[0].identity.ticket_no, "ticket_fare", "flight", 100_00, None, "",
                verbatim("the books"), "books.csv",
            ), "FARE/Flight")
            for number, request in self.carrier.issued.items() if number not in had and request not in in_doubt
        ]  # fmt: skip
        operations = self.ledger.operations
        operations.hold_elsewhere(self.ledger.run, lines, "li")
        operations.close_gaps("li", verbatim("the books"))
        operations.end(self.ledger.run, 1)
        self.ledger.run = operations.begin("issue", TERMS, [])
        self.plan_anew()

    # What a person does.

    def read_the_books(self) -> None:
        """Say of a few that are unknown whether the carrier has them; what it has not is planned anew."""
        ((as_of,),) = self.ledger.rows("SELECT clock_timestamp()")
        for attempt_id, request, recorded in self.ledger.rows(
            "SELECT attempt_id, request_id, ARRAY(SELECT number FROM attempt AS other WHERE other.request_id = attempt.request_id AND state = 'issued')"
            f" FROM attempt WHERE state = 'unknown' ORDER BY random() LIMIT {A_LOOK}"
        ):
            self.say_of(
                attempt_id,
                [one for one in self.carrier.numbers.get(request, ()) if one not in recorded],
                as_of,
            )

    def say_of(self, attempt_id: int, numbers: Sequence[str], as_of: datetime) -> None:
        state: Literal["issued", "not_sent"] = "issued" if numbers else "not_sent"
        said = Settlement(state, numbers[0] if numbers else "", "li", "the books", as_of=as_of)
        with contextlib.suppress(NotSettled, Refused):
            self.ledger.operations.settle(attempt_id, said)
            self.totals.settled[state] += 1

    def vouch_for_the_silent(self) -> None:
        """A person who knows that the server was only started again says so of those that are stopped."""
        silent = self.ledger.rows(
            "SELECT worker FROM worker WHERE silent_at IS NOT NULL AND left_at IS NULL AND dead_at IS NULL"
            " AND vouched_life < (SELECT max(life) FROM server_life)"
        )
        with contextlib.suppress(Refused):
            known_workers.vouch_for(
                self.ledger.operations._connection,
                [one for (one,) in silent],
                "li",
                "it was only started again",
            )

    def plan_anew(self) -> None:
        """Whatever has no attempt that is planned, live or issued, and nothing of it elsewhere."""
        held = {
            request
            for (request,) in self.ledger.rows(
                "SELECT request_id FROM attempt GROUP BY 1 HAVING bool_or(state NOT IN ('not_sent', 'rejected'))"
            )
        }
        tickets = {ticket for (ticket,) in self.ledger.rows("SELECT ticket_no FROM elsewhere")}
        free = [
            one
            for one in self.requests.values()
            if one.request_id not in held and one.charges[0].identity.ticket_no not in tickets
        ]
        if free:
            self.ledger.plan(*free)

    @property
    def most_in_flight(self) -> int:
        return self.size.lanes

    @property
    def issued_so_far(self) -> int:
        return len(self.carrier.issued)

    @property
    def left(self) -> int:
        ((count,),) = self.ledger.rows(
            "SELECT count(*) FROM attempt WHERE state IN ('planned', 'sending', 'unknown') AND barred = ''"
        )
        return int(count)

    def standing(self, seed: int) -> contextlib.AbstractContextManager[None]:
        """While it lasts it is said where this stands."""
        return shared_standing.told(
            f"seed {seed}", self.ledger.url("owner"), lambda: [one.popen.pid for one in [*self.processes]]
        )

    def work(self) -> None:
        size = self.size
        self.plan_anew()
        for _ in range(size.workers):
            self.start_worker()
        moves: list[Callable[[], None]] = [
            *[self.kill_worker] * 4, *[self.stop_worker] * 8, self.restart_server, *[self.cut] * 3, *[self.drop] * 4, self.stall,
        ]  # fmt: skip
        if size.longest:
            moves += [one for one in moves if one != self.restart_server]
        # Whoever is stopped for long wakes before the older copy comes.
        copy_at, back_at = (0.75, 0.85) if size.longest else (0.3, 0.6)
        began, copied, put_back = time.monotonic(), not size.restores, not size.restores
        until, pause = began + 3 * size.seconds + 90, min(1.0, size.seconds / 50)
        while time.monotonic() < until:
            time.sleep(self.random.uniform(0.1, 1) * pause)
            passed = time.monotonic() - began
            with contextlib.suppress(ServerAway):
                if passed < size.seconds:
                    move = self.random.choice(moves)
                    if not copied and passed > copy_at * size.seconds:
                        move, copied = self.copy_server, True
                    elif (
                        copied
                        and not put_back
                        and passed > back_at * size.seconds
                        and self.issued_so_far > self.copied_at + 20
                    ):
                        move, put_back = self.put_copy_back, True
                    elif (
                        size.longest
                        and passed + size.longest < copy_at * size.seconds
                        and self.random.random() < 0.3
                    ):
                        move = self.stop_for_long
                    self.totals.moves[move.__name__] += 1
                    move()
                self.look_after()
                if passed > size.seconds and not self.left:
                    self.plan_anew()
                    if not self.left:
                        break
        self.check()

    def look_after(self) -> None:
        """What people and workers do now and then."""
        self.bury_the_dead()
        self.ledger.sweep()
        if self.size.longest:
            self.vouch_for_the_silent()
        self.ledger.open_claims()
        self.check_senders()
        if time.monotonic() >= self.next_look:
            self.next_look = time.monotonic() + self.size.reads
            self.read_the_books()

    # What is looked at.

    def check(self) -> None:
        time.sleep(SETTLED)
        wrong = self.totals.violations
        issued = dict(self.ledger.rows("SELECT number, request_id FROM attempt WHERE state = 'issued'"))
        elsewhere = {number for (number,) in self.ledger.rows("SELECT number FROM elsewhere")}
        for request, numbers in self.carrier.numbers.items():
            if len(numbers) > 1:
                wrong.append(f"issued {len(numbers)} times: {request}\n{self.story_of(request)}")
        wrong += [
            f"lost: {number} of {request}\n{self.story_of(request)}"
            for number, request in self.carrier.issued.items()
            if issued.get(number) != request and number not in elsewhere
        ]
        wrong += [
            f"made up: {number} of {request}"
            for number, request in issued.items()
            if self.carrier.issued.get(number) != request
        ]
        if len(self.carrier.numbers) != self.size.tickets or self.left:
            wrong.append(
                f"not done: {len(self.carrier.numbers)} of {self.size.tickets} issued, {self.left} attempts open"
            )
        self.check_unknown()

    def check_senders(self) -> None:
        """Nothing is being sent by a worker that is silent or has ended."""
        for worker, count in self.ledger.rows(
            "SELECT worker, count(*) FROM attempt JOIN worker USING (worker)"
            " WHERE state = 'sending' AND (silent_at IS NOT NULL OR left_at IS NOT NULL OR dead_at IS NOT NULL) GROUP BY 1"
        ):
            wrong = f"worker {worker} is silent or has ended, and is sending"
            if not any(one.startswith(wrong) for one in self.totals.violations):
                self.totals.violations.append(f"{wrong} {count}")

    def check_unknown(self) -> None:
        """Never more are unknown than were in flight of workers that were lost."""
        self.totals.violations += [
            f"{count} unknown of worker {worker}, which had at most {self.most_in_flight} in flight, or was not lost ({lost})"
            for worker, count, lost in self.ledger.rows(
                "SELECT worker, count(*), bool_and(silent_at IS NOT NULL OR dead_at IS NOT NULL) FROM attempt JOIN worker USING (worker)"
                " WHERE was_unknown AND (reason = 'run_killed' OR attempt_id IN (SELECT attempt_id FROM late_word)) GROUP BY 1"
            )
            if count > self.most_in_flight or not lost
        ]
        self.totals.void += [
            f"worker {worker} was stopped for {wrote - looked:.1f} s between its look and its write"
            for _, _, worker, _, looked, wrote in self.written()
            if wrote - looked > self.size.bounds.settle_after - self.size.bounds.send_within
        ]
        ((unknown,),) = self.ledger.rows("SELECT count(*) FROM attempt WHERE was_unknown")
        self.totals.unknown += unknown
        self.totals.tickets += self.size.tickets

    def written(self) -> Iterator[list[Any]]:
        if self.journal.exists():
            with self.journal.open() as lines:
                yield from map(json.loads, lines)

    def story_of(self, request: str) -> str:
        """All that is known of a request: to tell what went wrong."""
        ((now, boot),) = [(time.time(), boot_time())]
        attempts = self.ledger.rows(
            "SELECT attempt_id, attempt, attempt.state, reason, attempt.number, attempt.worker, planned_at, sending_at, ended_at, dead_at, left_at, silent_at, settlement.state,"
            " settlement.as_of, settled_by FROM attempt LEFT JOIN worker USING (worker) LEFT JOIN settlement USING (attempt_id)"
            f" WHERE request_id = '{request}' ORDER BY attempt"
        )
        written = [
            [
                *line[1:3],
                *(
                    time.strftime("%H:%M:%S", time.gmtime(now - boot + at)) + f"{at % 1:.3f}"[1:]
                    for at in line[3:]
                ),
            ]
            for line in self.written()
            if line[0] == request
        ]
        return "\n".join(map(str, [*attempts, "written (clock read, looked, written):", *written]))

    def close(self) -> None:
        for one in self.processes:
            one.kill()
        self.carrier.close()
        self.way.close()
        self.ledger.close()
        shutil.rmtree(self.journal.parent)


@contextlib.contextmanager
def _left_out(without: str) -> Iterator[None]:
    text = server_schema.statements()
    for old, new in _LEFT_OUT.get(without, ()):
        assert old in text, old
        text = text.replace(old, new)
    with mock.patch.object(server_schema, "statements", return_value=text):
        yield


def run(own: Server, seed: int, size: Size, totals: Totals, without: str = "") -> None:
    """One seed; what is wrong is in `totals`. Of every second seed workers look at the clock in the moment of their write, and are stopped for
    longer than `settle_after`, too."""
    size = replace(size, gap=0.0) if seed % 2 else replace(size, longest=0.0)
    with (
        _left_out(without),
        contextlib.closing(Office(own, seed, size, totals, without)) as office,
        office.standing(seed),
    ):
        office.work()


def size_of(base: Size, given: Mapping[str, Any]) -> Size:
    """A size with what the command line says of it."""
    haste = given.get("haste") or 1.0
    size = replace(base, far=base.far / haste, gap=base.gap / haste, answers=base.answers / haste)
    named = {one.name for one in fields(Size)}
    return replace(
        size, **{name: value for name, value in given.items() if name in named and value is not None}
    )


def sized(command: Callable[..., None]) -> Callable[..., None]:
    """The options of a command that say of a size what differs from the usual one."""
    for name, kind in (
        ("tickets", int), ("workers", int), ("seconds", float), ("lanes", int), ("lost", float), ("reads", float), ("distance", float),
        ("longest", float), ("aimed", float),
    ):  # fmt: skip
        command = click.option(f"--{name}", type=kind)(command)
    return click.option("--long", "long", is_flag=True)(command)


@click.command()
@click.option("--seeds", default="0..5")
@click.option("--haste", default=1.0, help="so much sooner the carrier is reached and answers")
@click.option("--without", default="")
@sized
def main(seeds: str, without: str, long: bool, **given: Any) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started is ended then, too
    first, _, last = seeds.partition("..")
    found = programs()
    assert found, "PostgreSQL's server is not installed"
    totals = Totals()
    size = size_of(LONG if long else Size(), given)
    with server(found) as own:
        for seed in range(int(first), int(last or first) + 1):
            began = time.monotonic()
            run(own, seed, size, totals, without)
            click.echo(f"seed {seed}, {time.monotonic() - began:.0f} s: {totals}")
    sys.exit(bool(totals.violations))


if __name__ == "__main__":
    main()
