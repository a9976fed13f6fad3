"""A worker of the shared ledger, as a process that the harness kills, stops and starts again (`shared_workers`).

    python -m tests.crash.shared_worker URL RUN CARRIER_PORT [STEP]

It does what the fence asks of whoever sends, over a real connection to a real carrier; STEP is left out of it. Bodies are what a plan
sealed, which here is a request's ID: what the carrier gets twice is counted by that.
"""

import contextlib
import os
import queue
import random
import socket
import sys
import threading
import time
from collections.abc import Callable

from pipeline.ledger.attempt_changes import Again, Change, Ended, GotAnswer
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.server_schema import about
from pipeline.ledger_postgresql.sqlstates import (
    ClaimsShut,
    ServerAway,
    TurnOpen,
    WorkerGone,
)
from pipeline.ledger_postgresql.worker_turns import Claimed, Worker, boot_time
from pipeline.model.errors import LedgerProblem
from pipeline.model.outcome import Answered, Outcome

LANES = 6
_PATIENCE = 3.0  # seconds for an answer
_MOMENT = 0.02  # seconds


def post(claimed: Claimed, port: int, in_time: Callable[[Claimed], bool]) -> tuple[Answered | None, Outcome]:
    """Send a request once; the raw answer if there is one, and what it comes to."""
    head = f"POST / HTTP/1.1\r\nContent-Length: {len(claimed.body)}\r\n\r\n".encode()
    try:
        connection = socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE)
    except OSError:
        return None, Outcome("not_sent", "carrier_unreachable")
    with connection:
        time.sleep(random.uniform(0, 0.3))  # a far carrier, a secure connection
        if not in_time(claimed):  # step 3
            return None, Outcome("not_sent", "run_stopped")
        time.sleep(random.uniform(0, 0.1))  # it is stopped here now and then, which no look can see
        try:
            connection.sendall(head + claimed.body)
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


class Sends:
    """The worker's one thread that speaks with the ledger; lanes send, a heart beats."""

    def __init__(self, url: str, run: int, port: int, left_out: str) -> None:
        self.url, self.run, self.port = url, run, port
        self.in_time: Callable[[Claimed], bool] = (
            (lambda _: True) if left_out == "3" else (lambda one: not one.too_late)
        )
        self.reads_late = left_out == "1"
        self.done: queue.Queue[tuple[int, Answered | None, Outcome]] = queue.Queue()
        self.in_flight: set[int] = set()
        self.changes: list[Change] = []
        self.former: list[Worker] = []  # that it was, until it was silent for too long
        self.parent = os.getppid()
        self.worker = self.begun()
        threading.Thread(target=self.beat, daemon=True).start()

    def begun(self) -> Worker:
        while True:
            with contextlib.suppress(ServerAway):
                connection = connect(self.url)
                self.bounds = about(connection)
                return Worker(connection)
            time.sleep(_MOMENT)

    def beat(self) -> None:
        while True:
            with contextlib.suppress(LedgerProblem), connect(self.url) as connection:
                while True:
                    if os.getppid() != self.parent:
                        os._exit(1)
                    self.worker.heartbeat(connection)
                    time.sleep(self.bounds.lease / 6)
            time.sleep(_MOMENT)

    def lane(self, claimed: Claimed) -> None:
        answer, outcome = post(claimed, self.port, self.in_time)
        self.done.put((claimed.attempt_id, answer, outcome))

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
        turn = self.worker.turn(self.changes, self.run, most)
        self.changes = []
        for claimed in turn.claimed:
            if self.reads_late:
                object.__setattr__(claimed, "send_by", boot_time() + self.bounds.send_within)
            self.in_flight.add(claimed.attempt_id)
            threading.Thread(target=self.lane, args=(claimed,), daemon=True).start()

    def go_on(self) -> None:
        """After the server was away: by another connection, with what may have been claimed given back."""
        while True:
            with contextlib.suppress(ServerAway):
                self.worker.reconnect(connect(self.url))
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
                        self.worker.reconnect(connect(self.url))
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
        try:
            self.turn(LANES - len(self.in_flight))
        except ClaimsShut:
            with contextlib.suppress(ServerAway, WorkerGone):
                self.worker.vouch()
                time.sleep(_MOMENT)
        except (ServerAway, TurnOpen):
            self.go_on()
        except WorkerGone:
            self.start_anew()


def main(url: str, run: str, port: str, left_out: str = "") -> None:
    sends = Sends(url, int(run), int(port), left_out)
    while True:
        sends.once()


if __name__ == "__main__":
    main(*sys.argv[1:])
