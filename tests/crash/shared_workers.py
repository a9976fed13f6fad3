"""Several workers on one shared ledger, killed and stopped at random, and the server restarted under them: nothing twice, nothing lost.

    python -m tests.crash.shared_workers --seeds 0..20 [--requests 400] [--workers 4] [--without STEP]

The carrier issues whatever it is asked for, as often as it is asked, and keeps count. A person reads its books now and then, and says of
what is unknown whether it was issued; what he calls not issued is planned anew, so that an attempt that is still on its way would be a second
voucher. `--without` leaves a step of the fence out (1, 3: in the workers; 6: in the ledger), and is to find something.
"""

import contextlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock

import click

from pipeline.ledger.settlements import NotSettled, Settlement
from pipeline.ledger_postgresql import server_schema
from pipeline.ledger_postgresql.server_schema import Bounds
from pipeline.ledger_postgresql.sqlstates import Refused
from pipeline.model.errors import LedgerProblem
from tests.contract.ledgers import Shared, charge, invoice
from tests.postgresql_server import Server, programs, server

REPOSITORY = Path(__file__).parents[2]
#: In seconds; a worker is stopped for longer than a lease now and then, and never for as long as `settle_after`: beyond that nothing is promised.
BOUNDS = Bounds(1.0, 2.5, 6.0)
_SETTLED = 1.0  # seconds in which what a killed process had written arrives
_LEFT_OUT = {"6": ("of_then < shown_from", "false")}


class CountingCarrier:
    """A carrier on loopback: `issued` are the request IDs that it issued, each as often as it did, by number."""

    def __init__(self, seed: int) -> None:
        self.issued: dict[str, str] = {}
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._door = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self._door.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._door.accept()
                threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            client.settimeout(60)
            said = b""
            while b"sealed R" not in said or len(said.partition(b"sealed ")[2]) < 20:
                if not (more := client.recv(4096)):
                    return
                said += more
            request = said.partition(b"sealed ")[2].decode()
            with self._lock:
                fate, pause = self._random.random(), self._random.uniform(0.1, 0.8)
                busy = fate < 0.04
                number = "" if busy else f"N{len(self.issued) + 1}"
                if not busy:
                    self.issued[number] = request
            time.sleep(pause)
            if fate >= 0.08:  # else its answer is lost, too
                client.sendall(f"issued {number}".encode())
            elif busy:
                client.sendall(b"busy")

    def close(self) -> None:
        self._door.shutdown(
            socket.SHUT_RDWR
        )  # else whoever waits at it would let one more in, of the next seed
        self._door.close()


@dataclass
class Totals:
    """What was done, and what was wrong."""

    requests: int = 0
    kills: int = 0
    stops: int = 0
    restarts: int = 0
    settled: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)


class Office:
    """One run on one ledger, from its plan until every request was issued."""

    def __init__(self, own: Server, seed: int, totals: Totals, without: str) -> None:
        self.server, self.random, self.totals, self.without = own, random.Random(seed), totals, without
        self.carrier = CountingCarrier(seed)
        name = own.new_database()
        self.ledger = Shared(lambda role: own.url(name, role))
        self.ledger.prepare(BOUNDS)
        self.ledger.open()
        self.ledger.worker.leave()  # the harness sends nothing
        self.workers: list[subprocess.Popen[bytes]] = []
        self.dead: list[int] = []  # processes that nobody has declared dead yet
        self.longest_stop = 0.0  # seconds

    # What is done to them.

    def start_worker(self) -> None:
        self.workers.append(
            subprocess.Popen(
                [
                    sys.executable, "-m", "tests.crash.shared_worker", self.ledger.url("worker"), str(self.ledger.run), str(self.carrier.port),
                    self.without,
                ],
                cwd=REPOSITORY, start_new_session=True, stderr=subprocess.DEVNULL,
            )
        )  # fmt: skip

    def kill_worker(self) -> None:
        one = self.workers.pop(self.random.randrange(len(self.workers)))
        one.kill()
        one.wait()
        self.totals.kills += 1
        self.dead.append(one.pid)
        self.start_worker()

    def bury_the_dead(self) -> None:
        """Say of workers that were seen dead that they are, whatever names they had; when what they had written has arrived."""
        time.sleep(_SETTLED if self.dead else 0)
        while self.dead:
            for (worker,) in self.ledger.rows(
                f"SELECT worker FROM worker WHERE process = {self.dead[0]} AND dead_at IS NULL AND left_at IS NULL"
            ):
                self.ledger.operations.declare_dead(worker, "the harness", "waitpid")
            del self.dead[0]

    def stop_worker(self) -> None:
        """For a time that no restart of the server makes longer: beyond `settle_after` nothing is promised."""
        one, seconds = self.random.choice(self.workers), self.random.choice((0.3, 1.2, 3.2, 4.0))
        one.send_signal(signal.SIGSTOP)
        threading.Timer(seconds, self.wake, (one, time.monotonic())).start()
        self.totals.stops += 1

    def wake(self, one: "subprocess.Popen[bytes]", since: float) -> None:
        one.send_signal(signal.SIGCONT)
        self.longest_stop = max(self.longest_stop, time.monotonic() - since)

    def restart_server(self) -> None:
        self.server.restart_at_once()
        self.totals.restarts += 1
        self.ledger.close()  # its connections broke
        self.ledger.operations = type(self.ledger.operations)(
            self.ledger.connect("issuer"), self.ledger.operations.seal
        )

    # What a person does.

    def read_the_books(self) -> None:
        """Say of everything unknown whether the carrier has it, and plan anew what it has not."""
        ((as_of,),) = self.ledger.rows("SELECT clock_timestamp()")
        unknown = self.ledger.rows("SELECT attempt_id, request_id FROM attempt WHERE state = 'unknown'")
        recorded = {
            number for (number,) in self.ledger.rows("SELECT number FROM attempt WHERE state = 'issued'")
        }
        issued = {
            request: number for number, request in [*self.carrier.issued.items()] if number not in recorded
        }
        for attempt_id, request in unknown:
            said = (
                Settlement("issued", issued[request], "li", "the books")
                if request in issued
                else Settlement("not_sent", "", "li", "the books")
            )
            with contextlib.suppress(NotSettled, Refused):
                self.ledger.operations.settle(attempt_id, replace(said, as_of=as_of))
                self.totals.settled[said.state] += 1
        self.plan_anew()

    def plan_anew(self) -> None:
        """Whatever has no attempt that is planned, live or issued."""
        free = {
            request
            for (request,) in self.ledger.rows(
                "SELECT request_id FROM attempt GROUP BY 1 HAVING bool_and(state IN ('not_sent', 'rejected'))"
            )
        }
        self.ledger.plan(*(one for one in self.requests if one.request_id in free))

    @property
    def left(self) -> int:
        ((count,),) = self.ledger.rows(
            "SELECT count(*) FROM attempt WHERE state IN ('planned', 'sending', 'unknown')"
        )
        return int(count)

    def work(self, requests: int, workers: int, seconds: float) -> None:
        self.requests = [invoice(charge(number)) for number in range(requests)]
        self.ledger.plan(*self.requests)
        for _ in range(workers):
            self.start_worker()
        moves = [self.kill_worker] * 4 + [self.stop_worker] * 6 + [self.restart_server]
        calm_from, until = time.monotonic() + seconds, time.monotonic() + seconds + 60
        while time.monotonic() < until:
            time.sleep(self.random.uniform(0.1, 0.4))
            calm = time.monotonic() > calm_from
            with contextlib.suppress(LedgerProblem):
                if not calm:
                    self.random.choice(moves)()
                self.bury_the_dead()
                self.ledger.operations.sweep()
                self.ledger.operations.open_claims()
                self.read_the_books()
            if calm and not self.left:
                break
        self.check(requests)

    def check(self, requests: int) -> None:
        time.sleep(_SETTLED)
        issued = dict(self.ledger.rows("SELECT number, request_id FROM attempt WHERE state = 'issued'"))
        counted = Counter(self.carrier.issued.values())
        wrong = self.totals.violations
        if self.longest_stop > BOUNDS.settle_after - BOUNDS.send_within:
            wrong.append(f"void: this machine stopped a worker for {self.longest_stop:.1f} s")
        wrong += [f"issued {count} times: {request}" for request, count in counted.items() if count > 1]
        wrong += [
            f"lost: {number} of {request}"
            for number, request in self.carrier.issued.items()
            if issued.get(number) != request
        ]
        wrong += [
            f"made up: {number} of {request}"
            for number, request in issued.items()
            if self.carrier.issued.get(number) != request
        ]
        if len(counted) != requests or self.left:
            wrong.append(f"not done: {len(counted)} of {requests} issued, {self.left} attempts open")
        self.totals.requests += requests

    def close(self) -> None:
        for one in self.workers:
            one.kill()
            one.wait()
        self.carrier.close()
        self.ledger.close()


@contextlib.contextmanager
def _left_out(without: str) -> Iterator[None]:
    old, new = _LEFT_OUT.get(without, ("", ""))
    whole = server_schema.statements()
    assert old in whole
    with mock.patch.object(
        server_schema, "statements", return_value=whole.replace(old, new) if old else whole
    ):
        yield


@dataclass(frozen=True)
class Size:
    """How much one seed is: requests, workers, and for how many seconds they are disturbed."""

    requests: int = 400
    workers: int = 4
    seconds: float = 20


def run(own: Server, seed: int, size: Size, totals: Totals, without: str = "") -> None:
    """One seed; what is wrong is in `totals`."""
    with _left_out(without), contextlib.closing(Office(own, seed, totals, without)) as office:
        office.work(size.requests, size.workers, size.seconds)


@click.command()
@click.option("--seeds", default="0..5")
@click.option("--requests", default=400)
@click.option("--workers", default=4)
@click.option("--seconds", default=20.0)
@click.option("--without", default="")
def main(seeds: str, requests: int, workers: int, seconds: float, without: str) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started is ended then, too
    first, _, last = seeds.partition("..")
    found = programs()
    assert found, "PostgreSQL's server is not installed"
    totals = Totals()
    with server(found) as own:
        for seed in range(int(first), int(last or first) + 1):
            run(own, seed, Size(requests, workers, seconds), totals, without)
            click.echo(f"seed {seed}: {totals}")
    sys.exit(bool(totals.violations))


if __name__ == "__main__":
    main()
