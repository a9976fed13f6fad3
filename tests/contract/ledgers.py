"""Both ledgers, behind the same few moves: a file with the process that commits, and a server with its workers.

Each is the program's own, whole: nothing here decides anything.
"""

import asyncio
import contextlib
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
import psycopg

from pipeline.ledger.attempt_changes import Acknowledged, Change, Ended, Sending
from pipeline.ledger.group_commit import group_commit
from pipeline.ledger.ledger_to_change import FileToChange, file_to_change
from pipeline.ledger.opening import OpenOptions
from pipeline.ledger.planning import NO_DETAILS
from pipeline.ledger.session import OpenLedger, file_to_write
from pipeline.ledger.spill import Spill, spill_path
from pipeline.ledger_postgresql import known_workers, server_schema
from pipeline.ledger_postgresql.postgresql_ledger import PostgresqlLedger
from pipeline.ledger_postgresql.server_connection import connect
from pipeline.ledger_postgresql.server_schema import Bounds
from pipeline.ledger_postgresql.worker_turns import Claimed, Worker
from pipeline.model.errors import LedgerProblem
from pipeline.model.job import Job, Watch
from pipeline.model.message import Message, to_text
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Carrier, Owner, Profile, Terms
from pipeline.model.request import Charge, Header, Identity, Request
from tests.conftest import AS_OF

OWNER = Owner("http://127.0.0.1:8080", "DEMO")
HEADER = Header("business", "Example Trading Co.", "91110000600037341L", "", "finance@example.com")


def terms_of(owner: Owner) -> Terms:
    return Terms(AS_OF, Profile(carrier=Carrier(base_url=owner.base_url, agency=owner.agency)))


TERMS = terms_of(OWNER)
#: Long enough for a slow machine; a test that waits for one to run out takes shorter ones.
PATIENT = Bounds(30, 60, 3600)
WIRE = {"ticket_fare": "FARE", "refund": "REFUND_FEE", "ancillary": "EXTRA"}


def charge(number: int, kind: str = "ticket_fare", product: str = "flight", amount: int = 100_00) -> Charge:
    return Charge(
        Identity(f"999{number:010}", kind, product), "ZHANG/WEI", amount, 0, (WIRE[kind], product.title())
    )


def invoice(*charges: Charge) -> Request:
    return Request("invoice", "domestic", HEADER, charges)


def itinerary(number: int) -> Request:
    return Request("itinerary", "domestic", HEADER, (charge(number),))


def issued(number: str) -> Outcome:
    return Outcome("issued", number=number)


def seal(request: Request) -> bytes:
    return b"sealed " + request.request_id.encode()


#: Where every charge stands: row 0 of this.
ROWS: Any = SimpleNamespace(file=["tickets.xlsx"], sheet=["Tickets"], row=np.array([2]))


class Ledger(Protocol):
    """A ledger with a run that is on."""

    operations: OpenLedger | PostgresqlLedger
    run: int
    owner: Owner  # whose it is the next time that it is opened

    def plan(self, *requests: Request) -> list[int]:
        """Their attempts' IDs."""

    def claim(self, most: int) -> list[int]:
        """The attempts that are ours to send."""

    def race(self, rivals: int) -> list[list[int]]:
        """What each of so many got that claimed all that is planned, at once."""

    def record(self, *changes: Change) -> list[Acknowledged | LedgerProblem]:
        """Each one's acknowledgement, or why it alone is refused."""

    def late(self, attempt_id: int, outcome: Outcome) -> None:
        """Say what came of an attempt when it could not be recorded at the time."""

    def sender_dies(self) -> None:
        """Whoever was sending is seen dead; another goes on."""

    def change(self, change: "Callable[[Any], Any]") -> Any:
        """Have it changed outside any run (`operations.LedgerToChange`), after which another run is on; what that gives."""

    def force(self, statement: str) -> None:
        """Have the database itself do something, past the program."""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What the database has."""

    def states(self) -> dict[int, str]:
        """Every attempt's state."""


@dataclass
class OneFile:
    """The ledger of one machine."""

    path: Path
    run: int = 0
    owner: Owner = OWNER
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _planned: list[int] = field(default_factory=list)

    def open(self) -> None:
        carrier = Carrier(base_url=self.owner.base_url, agency=self.owner.agency)
        job = Job((), Profile(carrier=carrier), None, ledger=str(self.path), new_ledger=True)
        watch = Watch(lambda _: None, lambda _: None, lambda _: True, lambda _: None)
        self.operations: OpenLedger = self._stack.enter_context(file_to_write(job, watch, _never))
        self.run = self.operations.begin("issue", TERMS, [])

    def close(self) -> None:
        self._stack.close()

    def plan(self, *requests: Request) -> list[int]:
        made = [one.attempt_id for one in self.operations.plan(self.run, requests, ROWS, NO_DETAILS)]
        self._planned += made
        return made

    def claim(self, most: int) -> list[int]:
        got: list[int] = []
        while self._planned and len(got) < most:
            many = most - len(got)
            wanted, self._planned = self._planned[:many], self._planned[many:]
            done = self.record(*map(Sending, wanted))
            got += [one for one, refused in zip(wanted, done, strict=True) if refused is None]
        return got

    def race(self, rivals: int) -> list[list[int]]:
        done = self.record(*(Sending(one) for one in self._planned for _ in range(rivals)))
        return [
            [one for one, refused in zip(self._planned, done[rival::rivals], strict=True) if refused is None]
            for rival in range(rivals)
        ]

    def record(self, *changes: Change) -> list[Acknowledged | LedgerProblem]:
        """By the process that commits, as while requests are in flight."""
        ledger, in_flight = self.operations, len(changes)

        async def written() -> list[Any]:
            with Spill(spill_path(self.path.resolve()), ledger.ledger_id, in_flight) as spill:
                async with group_commit(channel, ledger.named, spill, in_flight) as writer:
                    return await asyncio.gather(*map(writer.commit, changes), return_exceptions=True)

        with ledger.committing() as channel:
            return asyncio.run(written())

    def late(self, attempt_id: int, outcome: Outcome) -> None:
        """As what a run spilled when the ledger could not take it: the next start takes it in."""
        with Spill(spill_path(self.path.resolve()), self.operations.ledger_id, 1) as spill:
            spill.ended(attempt_id, outcome)
        self.sender_dies()

    def sender_dies(self) -> None:
        """A run that was killed is found by the next."""
        self.close()
        self.open()
        self._planned = []

    def change(self, change: Callable[[FileToChange], Any]) -> Any:
        self.operations.end(self.run, 0)
        self._planned = []
        self.close()
        try:
            with file_to_change(Job((), Profile(), None, ledger=str(self.path)), OpenOptions()) as ledger:
                return change(ledger)
        finally:
            self.open()

    def force(self, statement: str) -> None:
        self.operations._connection.execute(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return list(self.operations._connection.execute(query))

    def states(self) -> dict[int, str]:
        return dict(self.rows("SELECT attempt_id, state FROM attempt"))


def _never(*_: object) -> Outcome:
    raise AssertionError("there is no answer to interpret")


@dataclass
class Shared:
    """The ledger that several machines share, with one worker of its own."""

    url: Callable[[str], str]  # of a role
    run: int = 0
    owner: Owner = OWNER
    claims: dict[int, Claimed] = field(default_factory=dict)
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def prepare(self, bounds: Bounds = PATIENT) -> None:
        with connect(self.url("owner")) as owner:
            owner.execute("DROP SCHEMA IF EXISTS voucher CASCADE")  # of an earlier test
            server_schema.prepare(owner, OWNER, bounds)
            for role in ("issuer", "worker", "reader"):
                with contextlib.suppress(psycopg.errors.DuplicateObject):
                    owner.execute(f"CREATE ROLE {role} LOGIN".encode())
                owner.execute(f"GRANT voucher_{role} TO {role}".encode())

    def open(self) -> None:
        self.operations = PostgresqlLedger(self.connect("issuer"), seal)
        self.worker = Worker(self.connect("worker"))
        self.run = self.run or self.operations.begin("issue", terms_of(self.owner), [])

    def close(self) -> None:
        self._stack.close()

    def connect(self, role: str) -> psycopg.Connection:
        return self._stack.enter_context(contextlib.closing(connect(self.url(role))))

    def plan(self, *requests: Request) -> list[int]:
        return [one.attempt_id for one in self.operations.plan(self.run, requests, ROWS, NO_DETAILS)]

    def claim(self, most: int) -> list[int]:
        claimed = self.worker.turn([], self.run, most).claimed
        self.claims |= {one.attempt_id: one for one in claimed}
        return [one.attempt_id for one in claimed]

    def race(self, rivals: int) -> list[list[int]]:
        workers = [Worker(self.connect("worker")) for _ in range(rivals)]
        got: list[list[int]] = [[] for _ in workers]
        begin = threading.Barrier(rivals)

        def claim(rival: int) -> None:
            begin.wait()
            while claimed := workers[rival].turn([], self.run, 3).claimed:
                got[rival] += [one.attempt_id for one in claimed]

        threads = [threading.Thread(target=claim, args=(rival,)) for rival in range(rivals)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return got

    def record(self, *changes: Change) -> list[Acknowledged | LedgerProblem]:
        return list(self.worker.turn(changes, self.run, 0).done)

    def late(self, attempt_id: int, outcome: Outcome) -> None:
        self.worker.late(attempt_id, outcome)

    def sweep(self) -> int:
        lost: int = self.operations._one("SELECT voucher.sweep()")
        return lost

    def sender_dies(self) -> None:
        self.declare_dead(self.worker.worker, "the test", "it is gone")
        self.worker = Worker(self.connect("worker"))

    def stop(self, why: Message) -> None:
        self.operations._one("SELECT voucher.stop_run(%s, %s)", self.run, to_text(why))

    def declare_dead(self, worker: uuid.UUID, by: str, how: str) -> int:
        return known_workers.declare_dead(self.operations._connection, worker, by, how)

    def open_claims(self) -> bool:
        return known_workers.open_claims(self.operations._connection)

    def change(self, change: Callable[[PostgresqlLedger], Any]) -> Any:
        self.operations.end(self.run, 0)
        try:
            return change(self.operations)
        finally:
            self.run = self.operations.begin("issue", terms_of(self.owner), [])

    def force(self, statement: str) -> None:
        with connect(self.url("owner")) as owner:
            owner.execute(f"SET search_path = voucher; {statement}".encode())

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with connect(self.url("owner")) as owner:
            owner.execute("SET search_path = voucher")
            return owner.execute(query.encode()).fetchall()

    def states(self) -> dict[int, str]:
        return dict(self.rows("SELECT attempt_id, state FROM attempt"))


@contextlib.contextmanager
def one_file(path: Path) -> Iterator[OneFile]:
    ledger = OneFile(path)
    with contextlib.closing(ledger):
        ledger.open()
        yield ledger


@contextlib.contextmanager
def shared(url: Callable[[str], str], bounds: Bounds = PATIENT) -> Iterator[Shared]:
    ledger = Shared(url)
    with contextlib.closing(ledger):
        ledger.prepare(bounds)
        ledger.open()
        yield ledger


def ended(attempts: Sequence[int], first: int = 1) -> list[Change]:
    """That each was issued, under numbers of its own."""
    return [Ended(one, issued(f"N{first + at}")) for at, one in enumerate(attempts)]
