"""A run on a shared ledger, as whoever issues it sees it: opened for sending, how far it is, and what it came to, whoever sent what."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg

from pipeline.ledger_postgresql.invitations import forget, installed
from pipeline.ledger_postgresql.known_workers import shown
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.sqlstates import ServerAway, as_problem
from pipeline.model.message import N_, Message, from_text, message
from pipeline.model.outcome import Outcome

#: What the ledger itself says of a request that can't be sent (voucher.obstacles), or is not heard of any more.
OBSTACLES = (
    N_(
        "when its turn came, another run of this ledger was sending a charge of its voucher, or had issued one"
    ),
    N_("the carrier has issued a charge of it elsewhere"),
    N_("a worker has a number for a charge of it, against what is recorded"),
    N_("what it asks for is claimed already"),
    N_("whoever issued it is gone"),
    N_("whoever was sending it was killed, or was not heard for too long"),
)


class IssuedRun:
    """One run, by a connection of its own, which is made anew where it broke. Every method raises ServerAway."""

    def __init__(self, address: str, run: int) -> None:
        self.run = run
        self._address = address
        self._connection: psycopg.Connection | None = None

    def open(self, issuer: str, rate: float, concurrency: int) -> None:
        """Let it be sent, for as long as its issuer is heard: so many requests a second (0: no limit), and in flight, by all workers."""
        self._rows("SELECT voucher.open_run(%s, %s, %s, %s)", self.run, issuer, rate, concurrency)

    def progress(self) -> Counter[str]:
        """How many of its attempts are in each state; `barred`: planned, but held by another."""
        return Counter(dict(self._rows("SELECT * FROM voucher.run_progress(%s)", self.run)))

    def other_senders(self) -> list[Message]:
        """The workers beside the issuer that are sending requests of it, and how many."""
        found = self._rows(
            "SELECT worker, machine, process, count(*) FROM voucher.attempt JOIN voucher.worker USING (worker) JOIN voucher.run USING (run)"
            " WHERE run = %s AND state = 'sending' AND worker <> issuer GROUP BY worker, machine, process ORDER BY worker",
            self.run,
        )
        return [message("{worker}: {count}", worker=shown(*worker), count=count) for *worker, count in found]

    def results(self, stopped: Message) -> Mapping[str, tuple[int, Outcome]]:
        """By request, its last attempt's number and what that came to; `stopped` is why what is still planned is not sent."""
        found = self._rows("SELECT * FROM voucher.run_results(%s)", self.run)
        return {request_id: (attempt, _outcome(rest, stopped)) for request_id, attempt, *rest in found}

    def forget(self) -> None:
        """Remove invitations that nobody has taken up."""
        with self._connected() as connection:
            if installed(connection):
                forget(connection, self.run)

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            self._connection.close()

    def _rows(self, sql: str, *given: Any) -> list[tuple[Any, ...]]:
        with self._connected() as connection, as_problem():
            return connection.execute(sql.encode(), given).fetchall()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[psycopg.Connection]:
        if self._connection is None:
            self._connection = connect(self._address)
        try:
            yield self._connection
        except ServerAway:
            self._connection.close()
            self._connection = None
            raise


def _outcome(values: list[Any], stopped: Message) -> Outcome:
    state, reason, number, trace_id, detail, barred = values
    if state == "planned":
        if barred:
            return Outcome("not_sent", "in_hand", detail=Message(barred))
        return Outcome("not_sent", "run_stopped", detail=stopped)
    if state == "sending":
        still = message("another worker was still sending it when this run ended")
        return Outcome("unknown", "run_killed", detail=still)
    return Outcome(state, reason, number, trace_id, from_text(detail))
