"""A worker of the shared ledger, as a process that the harness kills, stops and starts again (`shared_workers`).

    python -m tests.crash.shared_worker ORDERS

It does what the fence asks of whoever sends, over a real connection to a real carrier; ORDERS (JSON of `Orders`) may have it leave a step out.
Bodies are what a plan sealed, which here is a request's ID: what the carrier gets twice is counted by that. Of each request that it has written
it notes in a journal when it looked at the clock and when it had written, so that what was sent twice can be explained.
"""

import contextlib
import json
import os
import queue
import random
import signal
import socket
import sys
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.boot_time import boot_time
from pipeline.ledger.attempt_changes import Again, Change, Ended, GotAnswer
from pipeline.ledger_postgresql import worker_turns
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.server_schema import about
from pipeline.ledger_postgresql.sqlstates import (
    ClaimsShut,
    LedgerLacks,
    ServerAway,
    TurnOpen,
    WorkerGone,
)
from pipeline.ledger_postgresql.worker_turns import Claimed, Worker
from pipeline.model.errors import LedgerProblem
from pipeline.model.outcome import Answered, Outcome

_PATIENCE = 3.0  # seconds for an answer, beside what it is stopped for
_MOMENT = 0.02  # seconds


@dataclass(frozen=True)
class Orders:
    """What a worker is told: its ledger and carrier, and how it is to be. Times in seconds."""

    url: str
    run: int
    carrier_port: int
    journal: str
    lanes: int = 6
    far: float = 0.3  # until a connection to the carrier is made, at the most
    gap: float = 0.1  # between its look at the clock and its write, at the most: it is stopped there now and then, which no look can see
    without: str = ""  # a step of the fence


class Hears(Worker):
    """It keeps what a turn's statement gave, whether the COMMIT was acknowledged or not."""

    heard: Any = None

    def _row(self, sql: str, *given: Any) -> Any:
        if "voucher.turn" not in sql:
            return super()._row(sql, *given)
        self.heard = None
        with self._connection.transaction():
            self.heard = super()._row(sql, *given)
        return self.heard

    def not_told(self) -> Sequence[Claimed]:
        row, self.heard = self.heard, None
        return worker_turns._claimed(row, boot_time() + self._send_within) if row else ()


class Sends:
    """The worker's one thread that speaks with the ledger; lanes send, a heart beats."""

    def __init__(self, orders: Orders) -> None:
        self.orders = orders
        self.journal = os.open(orders.journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.done: queue.Queue[tuple[int, Answered | None, Outcome]] = queue.Queue()
        self.in_flight: set[int] = set()
        self.changes: list[Change] = []
        self.former: list[Worker] = []  # that it was, until it was silent for too long
        self.standing = "on"
        self.parent = os.getppid()
        self.stops_next = False  # when a turn has given it something: where a worker may be stopped for longest, not knowing it
        signal.signal(signal.SIGUSR1, lambda *_: self.stop_next(True))
        signal.signal(signal.SIGCONT, lambda *_: self.stop_next(False))
        self.worker = self.begun()
        threading.Thread(target=self.beat, daemon=True).start()

    def begun(self) -> Worker:
        name, make = uuid.uuid4(), Hears if self.orders.without == "2" else Worker
        while True:
            with contextlib.suppress(ServerAway):
                connection = connect(self.orders.url)
                self.bounds = about(connection)
                return make(connection, name)
            time.sleep(_MOMENT)

    def stop_next(self, whether: bool) -> None:
        self.stops_next = whether

    def beat(self) -> None:
        while True:
            with contextlib.suppress(LedgerProblem), connect(self.orders.url) as connection:
                while True:
                    self.end_with_the_harness()
                    self.standing = self.worker.heartbeat(connection)
                    time.sleep(self.bounds.lease / 6)
            self.end_with_the_harness()
            time.sleep(_MOMENT)

    def end_with_the_harness(self) -> None:
        if os.getppid() != self.parent:
            os._exit(1)

    # Lanes.

    def lane(self, claimed: Claimed) -> None:
        answer, outcome = self.post(claimed)
        self.done.put((claimed.attempt_id, answer, outcome))

    def post(self, claimed: Claimed) -> tuple[Answered | None, Outcome]:
        """Send a request once; the raw answer if there is one, and what it comes to."""
        head = f"POST / HTTP/1.1\r\nContent-Length: {len(claimed.body)}\r\n\r\n".encode()
        try:
            connection = socket.create_connection(("127.0.0.1", self.orders.carrier_port), timeout=_PATIENCE)
        except OSError:
            return None, Outcome("not_sent", "carrier_unreachable")
        with connection:
            time.sleep(random.uniform(0, self.orders.far))
            looked = boot_time()
            if claimed.too_late and self.orders.without != "3":  # step 3
                return None, Outcome("not_sent", "run_stopped")
            if self.orders.gap:
                time.sleep(random.uniform(0, self.orders.gap))
            try:
                connection.sendall(head + claimed.body)
                self.note(claimed, looked)
                said = b"".join(iter(lambda: connection.recv(4096), b""))
            except OSError:
                return None, Outcome("unknown", "no_answer")
        status, _, number = said.partition(b" ")
        match status:
            case b"issued":
                return Answered(200, said), Outcome("issued", number=number.decode())
            case b"busy":
                return Answered(429, said), Outcome("not_sent", "carrier_busy")
            case _:
                return None, Outcome("unknown", "no_answer")

    def note(self, claimed: Claimed, looked: float) -> None:
        line = [
            claimed.request_id, claimed.attempt_id, str(self.worker.worker), claimed.send_by - self.bounds.send_within, looked, boot_time(),
        ]  # fmt: skip
        os.write(self.journal, json.dumps(line).encode() + b"\n")

    # The ledger.

    def take_in(self) -> None:
        with contextlib.suppress(queue.Empty):
            wait = True
            while True:
                attempt_id, answer, outcome = (
                    self.done.get(timeout=_MOMENT) if wait else self.done.get_nowait()
                )
                wait = False
                self.in_flight.discard(attempt_id)
                if answer:
                    self.changes.append(GotAnswer(attempt_id, answer))
                self.changes.append(Ended(attempt_id, outcome))
                if outcome.reason == "carrier_busy":
                    self.changes.append(Again(attempt_id))

    def turn(self, most: int) -> None:
        try:
            turn = self.worker.turn(self.changes, self.orders.run, most)
        except ServerAway:
            if isinstance(self.worker, Hears):  # step 2
                self.send(self.worker.not_told())
            raise
        self.changes = []
        self.in_flight |= {claimed.attempt_id for claimed in turn.claimed}
        self.send(turn.claimed)

    def send(self, these: Sequence[Claimed]) -> None:
        if these and self.stops_next:
            os.kill(os.getpid(), signal.SIGSTOP)
        for claimed in these:
            if self.orders.without == "1":
                object.__setattr__(claimed, "send_by", boot_time() + self.bounds.send_within)
            threading.Thread(target=self.lane, args=(claimed,), daemon=True).start()

    def go_on(self) -> None:
        """After the server was away: by another connection, with what may have been claimed given back."""
        while True:
            with contextlib.suppress(ServerAway):
                self.worker.reconnect(connect(self.orders.url))
                known = self.in_flight | {change.attempt_id for change in self.changes}
                self.worker.give_back(known)
                return
            time.sleep(_MOMENT)

    def start_anew(self) -> None:
        """Lost what it was sending: what comes in goes by late words, and it begins as another worker."""
        while self.in_flight:
            self.take_in()
        for change in self.changes:
            while isinstance(change, Ended):
                try:
                    self.worker.late(change.attempt_id, change.outcome)
                except ServerAway:
                    with contextlib.suppress(ServerAway):
                        self.worker.reconnect(connect(self.orders.url))
                    time.sleep(_MOMENT)
                    continue
                break
        self.former.append(self.worker)
        self.changes, self.worker = [], self.begun()

    def take_leave(self) -> None:
        """Of what it was before: nobody else could say what that was told, and a start of the server would wait for it."""
        for one in [*self.former]:
            with contextlib.suppress(ServerAway):
                one.reconnect(self.worker._connection)
                one.vouch()
                one.leave()
                self.former.remove(one)

    def once(self) -> None:
        self.take_in()
        self.take_leave()
        if self.standing == "unknown":
            raise LedgerLacks("this ledger has never heard of this worker")
        if self.standing == "vouch":
            self.worker.vouch()
        try:
            self.turn(self.orders.lanes - len(self.in_flight))
        except ClaimsShut:
            if self.changes:
                self.turn(0)
            time.sleep(_MOMENT)

    def work(self) -> None:
        while True:
            try:
                self.once()
            except (ServerAway, TurnOpen):
                self.go_on()
            except WorkerGone:
                self.start_anew()

    def end(self) -> None:
        """The ledger lacks what it had told: it is to know so, and what is under way is left to those who have the carrier's books."""
        while True:
            try:
                self.worker.reconnect(connect(self.orders.url))
                for one in (self.worker, *self.former):
                    one.reconnect(self.worker._connection)
                    one.vouch()
            except ServerAway:
                time.sleep(_MOMENT)
            except LedgerLacks:
                os._exit(3)
            else:
                os._exit(4)


def main(orders: str) -> None:
    sends = Sends(Orders(**json.loads(orders)))
    try:
        sends.work()
    except LedgerLacks:
        sends.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
