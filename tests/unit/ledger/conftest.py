import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import apsw
import pytest

from pipeline.ledger import (
    attempts,
    gaps,
    judgements,
    opening,
    planning,
    runs,
    settlements,
)
from pipeline.ledger.attempt_changes import Change
from pipeline.ledger.clock import utc_now
from pipeline.ledger.group_commit import Writer
from pipeline.ledger.judgements import Judgement
from pipeline.ledger.lock import Lock
from pipeline.ledger.planning import Attempt
from pipeline.ledger.settlements import Settlement
from pipeline.ledger.spill import Spill, spill_path, spilled
from pipeline.model.message import verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.profile import Owner
from pipeline.model.request import (
    Charge,
    Header,
    Identity,
    Request,
)
from tests.committing import writer_by

OWNER = Owner("http://127.0.0.1:8080", "DEMO")
HEADER = Header("business", "Example Trading Co.", "91110000600037341L", "", "finance@example.com")


def charge(number: int, kind: str = "ticket_fare", product: str = "flight", amount: int = 100_00) -> Charge:
    wire = {"ticket_fare": "FARE", "refund": "REFUND_FEE", "ancillary": "EXTRA"}[kind]
    return Charge(
        Identity(f"999{number:010}", kind, product), "ZHANG/WEI", amount, number, (wire, product.title())
    )


def invoice(*charges: Charge) -> Request:
    return Request("invoice", "domestic", HEADER, charges)


@contextmanager
def read_meanwhile(path: Path) -> Iterator[None]:
    """Another command in the middle of reading."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as reading:
        reading.execute("BEGIN; SELECT count(*) FROM run")
        yield


class Book:
    """A real ledger file and the few moves that tests make in it."""

    @classmethod
    def of(cls, path: Path, connection: apsw.Connection, run: int) -> "Book":
        """The same of a run that was begun already."""
        book = cls.__new__(cls)
        book.path, book.connection, book.run = path, connection, run
        return book

    def __init__(self, path: Path, connection: apsw.Connection, lock: Lock) -> None:
        self.path = path
        self.lock = lock
        self.connection = connection
        self.run = runs._begin_run(
            connection, runs.RunStart("issue", "2026-11-20", ["tickets.xlsx"], version="0")
        )

    def plan(self, *requests: Request) -> list[Attempt]:
        places = {c.row: ("tickets.xlsx", "Tickets", c.row + 2) for r in requests for c in r.charges}
        return planning.plan(self.connection, self.run, requests, places)

    def state(self, attempt_id: int, state: str, number: str = "") -> None:
        self.connection.execute(
            "UPDATE attempt SET state = ?1, number = ?2, sending_at = coalesce(sending_at, 'now'),"
            " ended_at = iif(?1 = 'sending', NULL, 'now') WHERE attempt_id = ?3",
            (state, number, attempt_id),
        )

    def states(self) -> dict[int, str]:
        return dict(self.connection.execute("SELECT attempt_id, state FROM attempt"))

    @asynccontextmanager
    async def writer(self, connection: Any = None) -> AsyncIterator[Writer]:
        """A writer to this ledger, by a connection that fails if need be; nobody waits for it for ever.

        With so many in flight that what is handed in within one turn of the loop is one group.
        """
        with Spill(spill_path(self.path), opening.ledger_id(self.connection), 4) as spill:
            async with (
                asyncio.timeout(20),
                writer_by(cast("apsw.Connection", connection or self.connection), spill, 1000) as writer,
            ):
                yield writer

    @staticmethod
    async def together(writer: Writer, *changes: Change) -> list[Any]:
        """Commit changes at once, as requests in flight would; each one's acknowledgement or problem."""
        commits = (writer.commit(change) for change in changes)
        return await asyncio.wait_for(asyncio.gather(*commits, return_exceptions=True), 20)

    def write(self, *changes: Change, connection: Any = None) -> list[Any]:
        """The same, by a writer of its own."""

        async def run() -> list[Any]:
            async with self.writer(connection) as writer:
                return await self.together(writer, *changes)

        return asyncio.run(run())

    def kept(self) -> list[dict[str, Any]]:
        """What the spill file holds."""
        return list(spilled(spill_path(self.path), opening.ledger_id(self.connection)))

    @contextmanager
    def commits(self) -> Iterator[list[bool]]:
        """One entry for each transaction that is committed meanwhile."""
        seen: list[bool] = []

        def note() -> bool:
            seen.append(True)
            return False

        self.connection.set_commit_hook(note)
        yield seen
        self.connection.set_commit_hook(None)


def write_used_ledger(path: Path) -> None:
    """A ledger at rest: issued, refused, in doubt and settled, a judgement, a gap that is closed."""
    connection, lock = opening.open_for_run(path, OWNER, may_create=True)
    run = runs.begin(connection, lock, runs.RunStart("issue", "2026-11-20", ["tickets.xlsx"]))
    book = Book.of(path, connection, run)
    outcomes = (
        Outcome("issued", number="N1"),
        Outcome("rejected", "carrier_rejected", detail="no such ticket"),
        Outcome("unknown", "no_answer", detail="timeout"),
        Outcome("unknown", "no_answer"),
    )
    for attempt, outcome in zip(book.plan(*(invoice(charge(n)) for n in range(1, 5))), outcomes, strict=True):
        connection.execute(
            "UPDATE attempt SET state = 'sending', sending_at = ? WHERE attempt_id = ?",
            (utc_now(), attempt.attempt_id),
        )
        attempts.record_outcome(connection, attempt.attempt_id, outcome)
    settlements.settle(connection, 4, Settlement("not_sent", "", "chen", "statement.csv"))
    judged = Judgement(
        "9990000000001", "ticket_fare", "flight", "invoice", 100_00, "waiting", "ticket_still_open", "a.xlsx", "Tickets", 2
    )  # fmt: skip
    judgements.note(connection, run, [judged])
    runs.end(connection, lock, run, 4)
    runs.begin_change(connection, lock, closes_gap=True)
    gaps.mark_gap(connection, "2026-11-20T00:00:00.000+00:00", verbatim("it is a backup"))
    gaps.close_gaps(connection, "chen", verbatim("statement.csv"))
    runs.end_change(connection, lock)
    connection.close()
    lock.close()


@pytest.fixture(autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where runs are noted outside their ledgers' folders: another one for each test, as some share a ledger's ID."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder / "voucher-pipeline"


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    connection, lock = opening.open_for_run(tmp_path / "test.ledger", OWNER, may_create=True)
    yield Book(tmp_path / "test.ledger", connection, lock)
    connection.close()
    lock.close()


@pytest.fixture
def fare() -> Callable[..., Request]:
    def make(number: int, *, voucher: str = "invoice", remarks: str = "", amount: int = 100_00) -> Request:
        header = replace(HEADER, remarks=remarks)
        return Request(voucher, "domestic", header, (charge(number, amount=amount),))

    return make


@pytest.fixture
def refund() -> Callable[..., Request]:
    return lambda number: invoice(charge(number, "refund"))


@pytest.fixture
def ancillary() -> Callable[..., Request]:
    """An ancillary charge of ticket 1, by its product and its code on the wire."""
    return lambda product, code: invoice(replace(charge(1, "ancillary", product), wire=("EXTRA", code)))


@pytest.fixture
def several() -> Callable[..., Request]:
    """One invoice of several fares."""
    return lambda *numbers: invoice(*(charge(number) for number in numbers))
