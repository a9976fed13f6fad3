"""A worker as the ledger knows it: joined once, however often that is asked; heard; left in good order, as far as the server lets it."""

import contextlib
import threading
import time
import uuid
from collections.abc import Callable

from pipeline.ledger_postgresql.server_connection import LedgerConnection, connect
from pipeline.ledger_postgresql.sqlstates import ServerAway, as_problem
from pipeline.ledger_postgresql.worker_turns import Standing, Worker
from pipeline.model.errors import LedgerProblem

_LEAVE_WITHIN = 60.0  # seconds for which a worker that is gone tries to take its leave, or one that may have joined to be told so
_JOIN_AGAIN, _LEAVE_AGAIN = 0.2, 1.0  # seconds


class Membership:
    """A worker that has joined, with the connection by which it makes its turns."""

    def __init__(self, address: str) -> None:
        """Raises what `connect` does."""
        self.address = address
        self.connection, self.worker = _joined(address)

    def reconnect(self) -> None:
        """Go on by another connection. Raises ServerAway, and what else `connect` does."""
        self.connection.close()
        self.connection = connect(self.address)
        self.worker.reconnect(self.connection)

    def leave(self, *, away: bool, gone: bool, failed: bool) -> None:
        """Have the ledger know of its end, and let go of the connection.

        Of a worker that is `gone` nobody else could: claims would wait for it after a start of the server. `failed`: it vouches for
        nothing.
        """
        until = time.monotonic() + (_LEAVE_WITHIN if gone else 0)
        while True:
            try:
                if away:
                    self.reconnect()
                    away = False
                if not failed:
                    self.worker.vouch()
                self.worker.leave()
            except ServerAway:
                away = True
                if time.monotonic() < until:
                    time.sleep(_LEAVE_AGAIN)
                    continue
            except LedgerProblem:
                pass  # it is dead to the ledger, or sends still; or that is another ledger
            self.connection.close()
            return


class Heart:
    """The thread by which a worker is heard, whatever keeps a turn waiting, and which sees to it that others who are not are counted as
    silent.
    """

    def __init__(self, of: Membership, lease: float, heard: Callable[[Standing], None]) -> None:
        """`lease`: the ledger's, in seconds. `heard` is told how the worker stands, each time."""
        self._of, self._lease, self._heard = of, lease, heard
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Be heard no more."""
        self._ends.set()
        self._thread.join()

    def _beat(self) -> None:
        every = min(self._lease / 6, 5.0)
        swept = float("-inf")
        while not self._ends.is_set():
            with (
                contextlib.suppress(LedgerProblem),
                contextlib.closing(connect(self._of.address)) as connection,
            ):
                while True:
                    self._heard(self._of.worker.heartbeat(connection))
                    if time.monotonic() - swept > self._lease / 4:
                        with as_problem():
                            connection.execute("SELECT voucher.sweep()")
                        swept = time.monotonic()
                    if self._ends.wait(every):
                        return
            self._ends.wait(min(every, 1.0))


def _joined(address: str) -> tuple[LedgerConnection, Worker]:
    """A worker that has joined, and its connection.

    One that has and was not told joins again by the same ID: of another that nobody is, claims would wait after a start of the server.
    """
    worker, until = uuid.uuid4(), 0.0
    while True:
        try:
            connection = connect(address)
            until = until or time.monotonic() + _LEAVE_WITHIN
            try:
                return connection, Worker(connection, worker)
            except BaseException:
                connection.close()
                raise
        except ServerAway:
            if time.monotonic() >= until:
                raise
            time.sleep(_JOIN_AGAIN)
