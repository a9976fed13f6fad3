"""A private database with the ledger's tables, filled with rows that were fetched from elsewhere, and asked like a ledger's file."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw

from pipeline.ledger import schema

#: What a question is asked of.
Connection = apsw.Connection


class FetchedLedger:
    """The tables, empty at first. What may change in them, and how, is not asked of rows that stand as they are."""

    def __init__(self, connection: apsw.Connection, *, checked: bool = False) -> None:
        """`checked`: it is to become a ledger's file, which is held to what its tables say of each row."""
        self.connection = connection
        for setting in (
            "journal_mode = OFF",  # it is thrown away, whole, unless it is finished
            "synchronous = OFF",
            "cache_size = -65536",  # KiB
            # Of a settlement a shared ledger has one state more than a file: what a worker said too late may be a no.
            *(() if checked else ("ignore_check_constraints = ON",)),
        ):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("BEGIN")
        for statement in schema.made_of("table"):
            connection.execute(statement)

    def put(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Put rows into a table."""
        places = ", ".join("?" * len(columns))
        self.connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", rows)  # noqa: S608 - names of ours

    def complete(self, *, whole: bool) -> None:
        """Make what it is searched by; `whole`, where all of a ledger is in it, also its rules, so that it can be looked over."""
        for statement in schema.made_of("index"):
            self.connection.execute(statement)
        if whole:
            for statement in schema.made_of("trigger"):
                self.connection.execute(statement)
            self.connection.pragma("user_version", schema.VERSION)
        self.connection.execute("COMMIT")


@contextlib.contextmanager
def fetched_ledger() -> Iterator[FetchedLedger]:
    """An empty one, in memory as far as that goes, else in a file without a name; gone afterwards."""
    with contextlib.closing(apsw.Connection("")) as connection:
        yield FetchedLedger(connection)
