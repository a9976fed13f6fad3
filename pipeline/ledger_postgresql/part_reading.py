"""The part of a shared ledger that a question is about, fetched into tables like those of a file, which the question is then asked of.

What is fetched is closed: a question finds in it all that it would find in the whole ledger, and what it must not find. All of it is read
as of one moment.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from pipeline.ledger.fetched_ledger import FetchedLedger
from pipeline.ledger.part import Part
from pipeline.ledger_postgresql.ledger_tables import TABLES

#: Rows that are taken at once, of what may be too much for memory, while the server makes more of them; one where libpq is older than 17.
_TOGETHER = 1000 if psycopg.capabilities.has_stream_chunked() else 1

#: What there is little of, and is in every part.
_LITTLE = ("ledger", "carrier_move", "gap", "epoch", "clock_correction")

# Which attempts are asked for. As one set each: the time grows with what is asked for, not with the ledger.
_OF_TICKETS = "SELECT DISTINCT attempt_id FROM voucher.charge JOIN unnest(%s::text[]) AS asked (ticket_no) USING (ticket_no)"
_OF_REQUESTS = """
SELECT attempt_id FROM voucher.attempt JOIN unnest(%s::text[], %s::integer[]) AS asked (request_id, attempt) USING (request_id, attempt)
"""
_OF_NUMBERS = """
SELECT attempt_id FROM voucher.attempt WHERE state = 'issued' AND number = ANY(%s)
UNION SELECT attempt_id FROM voucher.reversal WHERE (number = ANY(%s) OR red_number = ANY(%s)) AND attempt_id IS NOT NULL
"""
# Apart, so that each finds its own by an index.
_UNKNOWN = (
    "SELECT attempt_id FROM voucher.attempt WHERE state = 'unknown'",
    "SELECT attempt_id FROM voucher.attempt WHERE state = 'sending'",
)
_ISSUED = "SELECT attempt_id FROM voucher.attempt WHERE state = 'issued' AND ended_at >= %s::timestamptz AND ended_at < %s::timestamptz"
#: A file about a ticket may be that of another ticket's voucher, by its number.
_OF_FILES = (
    "SELECT attempt_id FROM voucher.received_file WHERE ticket_no = ANY(%s) AND attempt_id IS NOT NULL"
)
_REVERSED_NUMBERS = "SELECT number FROM voucher.reversal WHERE NOT withdrawn"
_AT_THE_SAME = """
SELECT DISTINCT same.attempt_id FROM voucher.charge JOIN voucher.charge AS same USING (ticket_no) WHERE charge.attempt_id = ANY(%s)
"""

#: Of each run an attempt whose times are not in their order, if there is one. If a wrong clock wrote any time of a run that has ended, that
#: attempt or the run itself shows it (`ledger.clock`): times that are in order are not before the run's beginning, nor after its end.
_ODD_TIMES = """
SELECT DISTINCT ON (attempt.run) attempt_id FROM voucher.attempt JOIN voucher.run USING (run)
WHERE attempt.run = ANY(%s) AND (
    planned_at < started_at OR sending_at < planned_at OR answered_at < sending_at
    OR attempt.ended_at < coalesce(answered_at, sending_at) OR attempt.ended_at > run.ended_at
)
"""


def begin_moment(connection: psycopg.Connection) -> None:
    """All that is read from here on is as of one moment."""
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")


@contextlib.contextmanager
def _one_moment(connection: psycopg.Connection) -> Iterator[None]:
    if connection.info.transaction_status != TransactionStatus.IDLE:  # it was begun before
        yield
        return
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def fetch(connection: psycopg.Connection, part: Part, into: FetchedLedger) -> None:
    """Fetch a part. Raises psycopg.Error, and what SQLite raises where there is no room."""
    with _one_moment(connection):
        fetching = _Fetching(connection, part, into)
        if part.everything:
            for name in TABLES:
                fetching.stream(name, "true")
        else:
            fetching.closed()
    into.complete(whole=part.everything)


class _Fetching:
    """A part of one moment on its way."""

    def __init__(self, connection: psycopg.Connection, part: Part, into: FetchedLedger) -> None:
        self._connection = connection
        self._part = part
        self._into = into

    # How it is read.

    def _all(self, query: str, *given: Any) -> list[Any]:
        return self._connection.execute(query.encode(), given).fetchall()

    def _ids(self, query: str, *given: Any) -> set[Any]:
        return {found for (found,) in self._all(query, *given)}

    def stream(self, name: str, which: str, *given: Any, seen: Callable[[Any], None] | None = None) -> None:
        """Put the rows of a table, however many, where they are asked; `seen` is shown each."""
        table = TABLES[name]
        query = f"SELECT {table.selected(table.columns)} FROM voucher.{name} WHERE {which}"  # noqa: S608 - SQL of ours
        with self._connection.cursor() as cursor:
            rows: Iterable[Any] = cursor.stream(query.encode(), given, size=_TOGETHER)
            self._into.put(name, table.columns, rows if seen is None else _shown(rows, seen))

    def _put(self, name: str, which: str, *given: Any) -> list[dict[str, Any]]:
        """Put a few rows there; the same by column."""
        table = TABLES[name]
        rows = self._all(
            f"SELECT {table.selected(table.columns)} FROM voucher.{name} WHERE {which}",  # noqa: S608 - SQL of ours
            *given,
        )
        self._into.put(name, table.columns, rows)
        return [dict(zip(table.columns, row, strict=True)) for row in rows]

    # What is read.

    def closed(self) -> None:
        """The part, with all that has to do with it."""
        part = self._part
        for name in _LITTLE:
            self._put(name, "true")
        numbers = {*part.numbers} | (self._ids(_REVERSED_NUMBERS) if part.reversals else set())
        shown = self._shown(numbers)
        tickets = {*part.tickets}
        if numbers:  # what is in doubt of a ticket says whether what is shown of it counts
            tickets |= {row["ticket_no"] for row in shown}
        numbers |= {row["number"] for row in shown}
        attempts = self._attempts(tickets, numbers)
        runs = self._put_attempts(attempts)
        if part.times and runs:
            odd = self._ids(_ODD_TIMES, sorted(runs))
            self.stream("attempt", "attempt_id = ANY(%s)", [*odd - attempts])
        self._put_beside([*attempts], [*numbers], [row["elsewhere"] for row in shown])
        self._put_runs(sorted(runs))
        self._put_named(sorted(attempts))

    def _shown(self, numbers: set[str]) -> list[dict[str, Any]]:
        if self._part.shown:
            return self._put("elsewhere", "true")
        tickets = [*self._part.tickets]
        if not (tickets or numbers):
            return []
        return self._put("elsewhere", "ticket_no = ANY(%s) OR number = ANY(%s)", tickets, [*numbers])

    def _attempts(self, tickets: set[str], numbers: set[str]) -> set[int]:
        """The IDs of all attempts that it is about."""
        part, found = self._part, set(self._part.attempt_ids)
        if part.attempts:
            requests, attempts = zip(*part.attempts, strict=True)
            found |= self._with_neighbours(self._ids(_OF_REQUESTS, [*requests], [*attempts]))
        if part.unknown:
            unknown = {one for query in _UNKNOWN for one in self._ids(query)}
            # Of another attempt at the same charge it is told what was ever in doubt of that one's other charges.
            found |= self._with_neighbours(self._with_neighbours(unknown))
        if tickets:
            found |= self._ids(_OF_TICKETS, [*tickets])
        if part.files:
            found |= self._ids(_OF_FILES, [*part.tickets])
        if numbers:
            asked = [*numbers]
            found |= self._ids(_OF_NUMBERS, asked, asked, asked)
        if part.issued_between:
            since, until = part.issued_between
            found |= self._ids(_ISSUED, since or "-infinity", "infinity" if until == "~" else until)
        return found

    def _with_neighbours(self, attempts: set[int]) -> set[int]:
        """These attempts, and all at the same tickets."""
        return attempts | self._ids(_AT_THE_SAME, [*attempts]) if attempts else set()

    def _put_attempts(self, attempts: set[int]) -> set[int]:
        """Attempts whole, with what was asked in them; the runs that they are of."""
        if not attempts:
            return set()
        runs: set[int] = set()
        at, ids = TABLES["attempt"].columns.index("run"), [*attempts]
        self.stream(
            "attempt", "attempt_id IN (SELECT unnest(%s::bigint[]))", ids, seen=lambda row: runs.add(row[at])
        )
        self.stream("charge", "attempt_id IN (SELECT unnest(%s::bigint[]))", ids)
        self.stream(
            "request",
            "request_id IN (SELECT request_id FROM voucher.attempt WHERE attempt_id IN (SELECT unnest(%s::bigint[])))",
            ids,
        )
        return runs

    def _put_beside(self, attempts: list[int], numbers: list[str], shown: list[int]) -> None:
        """What evidence says of attempts, and of numbers, and what of that was withdrawn."""
        if not (attempts or numbers or shown):
            return
        settled = self._put("settlement", "attempt_id = ANY(%s)", attempts)
        reversed_ = self._put(
            "reversal",
            "attempt_id = ANY(%s) OR number = ANY(%s) OR red_number = ANY(%s)",
            attempts, numbers, numbers,
        )  # fmt: skip
        self._put(
            "withdrawal",
            "settlement = ANY(%s) OR elsewhere = ANY(%s) OR reversal = ANY(%s)",
            [row["settlement"] for row in settled], shown, [row["reversal"] for row in reversed_],
        )  # fmt: skip

    def _put_runs(self, runs: list[int]) -> None:
        """The runs of the attempts, the last ones that are asked for, and those that say until when the ledger knows everything."""
        last = "run IN (SELECT run FROM voucher.run ORDER BY run DESC LIMIT %s)"
        until = "ended_at IS NULL OR run = (SELECT run FROM voucher.run ORDER BY ended_at DESC NULLS LAST LIMIT 1)"
        self._put("run", f"run = ANY(%s) OR {last} OR {until}", runs, self._part.runs)
        if self._part.history:
            self._put("run_person", f"run = ANY(%s) OR {last}", runs, self._part.runs)

    def _put_named(self, attempts: list[int]) -> None:
        """What is noted of tickets and of files, as far as the part says so."""
        part, contents = self._part, [*self._part.contents]
        tickets = [*part.tickets]
        if part.history and tickets:
            self.stream("judgement", "ticket_no = ANY(%s)", tickets)
        if contents or part.statements:
            self.stream(
                "handled", "sha256 = ANY(%s) OR (%s AND kind = 'statement')", contents, part.statements
            )
        if part.archived:
            self.stream("received_file", "archived <> ''")
        elif part.files:
            self.stream(
                "received_file",
                "attempt_id = ANY(%s) OR ticket_no = ANY(%s) OR sha256 = ANY(%s) OR (status = 'received' AND number = ANY(%s))",
                attempts, tickets, contents, [*part.numbers],
            )  # fmt: skip
        if part.buyers:
            self.stream(
                "request",
                "request_id IN (SELECT min(request_id) FROM voucher.request GROUP BY header_name, tax_no)",
            )


def _shown(rows: Iterable[Any], seen: Callable[[Any], None]) -> Iterator[Any]:
    for row in rows:
        seen(row)
        yield row
