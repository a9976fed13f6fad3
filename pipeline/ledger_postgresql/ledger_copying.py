"""All of a ledger copied from a file into an empty shared one, or back into a new file; then the old one is closed for good.

In this order, whichever way: everything is written, unusable; what was written is compared with what was read; the old ledger is closed,
naming the new one; the new one may be used. Killed anywhere, the same command does what is left: never are both of them in use.
"""

import contextlib
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from pipeline.ledger.handover import copied_to, successor
from pipeline.ledger.ledger_to_change import file_to_change
from pipeline.ledger.opening import OpenOptions, check_owner
from pipeline.ledger.whole_ledger import NewFile, new_file
from pipeline.ledger_postgresql.copied_rows import Digesting, TableDigest, check_same
from pipeline.ledger_postgresql.ledger_tables import TABLES, LedgerTable
from pipeline.ledger_postgresql.server_connection import LedgerConnection, connect
from pipeline.ledger_postgresql.server_schema import about, check_right
from pipeline.ledger_postgresql.sqlstates import as_problem
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.message import Message, Note, message, to_text
from pipeline.model.profile import Owner

_TOGETHER = 10_000  # rows that come over the wire at once
#: What a file does not have: who sent an attempt, and the moment that evidence is about.
_BESIDE = {"attempt": "worker", "settlement": "as_of"}
#: What is said of an attempt late holds its charges until it is settled after that, which nothing in a file would.
_LATE_AGAINST_IT = """
SELECT request_id, attempt, late_word.number FROM voucher.late_word JOIN voucher.attempt USING (attempt_id)
WHERE late_word.state = 'issued' AND NOT taken AND NOT EXISTS (
    SELECT FROM voucher.settlement WHERE settlement.attempt_id = late_word.attempt_id AND settled_at > said_at
) ORDER BY late_word LIMIT 1
"""
#: That the carrier refused it, which a worker said when it was unknown already, the attempt says with the carrier's words, as after a start
#: that reads it from a file; of who said so late a file knows nothing.
_LEFT_OUT = {"settlement": "WHERE state <> 'rejected'"}
#: What makes a shared ledger no empty one.
_USED = (
    "SELECT EXISTS (SELECT FROM voucher.run) OR EXISTS (SELECT FROM voucher.worker) OR EXISTS (SELECT FROM voucher.gap)"
    " OR (SELECT count(*) FROM voucher.epoch) > 1"
)


def copy_to_server(job: Job, address: str, note: Note) -> Message:
    """Copy a file into an empty shared ledger of the same carrier; what was done. Raises InputProblem and LedgerProblem."""
    with (
        file_to_change(job, OpenOptions(handed_over=True, note=note)) as old,
        contextlib.closing(connect(address)) as connection,
    ):
        name = connection.name
        closed = old.successor
        if closed not in ("", name):
            raise _elsewhere(old.name, closed)
        if not closed:
            old.check_copyable()
        _check_may_copy(connection)
        check_owner(name, _owner(connection), old.owner)
        wanted = Digesting()
        with as_problem(), connection.transaction():
            connection.execute("LOCK TABLE voucher.copying IN EXCLUSIVE MODE")
            _check_takes(name, connection, old.ledger_id)
            connection.execute("DELETE FROM voucher.copying")
            with _without_rules(connection):
                _empty(connection)
                sender = _put_sender(connection, old.name)
                for table in TABLES.values():
                    rows = wanted.through(table.name, old.rows(table.name, _columns(table), table.key))
                    _put(connection, table, rows, sender)
            connection.execute(
                "INSERT INTO voucher.copying VALUES (1, %s, %s, clock_timestamp(), NULL)",
                (old.name, old.ledger_id),
            )
        check_same(name, wanted.tables, _digests(connection))
        if not closed:
            old.hand_over(name)
        with as_problem():
            connection.execute("UPDATE voucher.copying SET finished_at = clock_timestamp()")
    return _done(old.name, name, wanted.tables)


def copy_to_file(address: str, path: Path) -> Message:
    """Copy a shared ledger into a new file; what was done. Raises InputProblem and LedgerProblem."""
    with contextlib.closing(connect(address)) as connection:
        name = connection.name
        _check_may_copy(connection)
        with new_file(path, about(connection).ledger_id) as made:
            with as_problem(), connection.transaction():
                # The locks first: what is read is as of when nobody can change anything any more.
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                connection.execute(
                    "LOCK TABLE voucher.run, voucher.worker, voucher.attempt, voucher.settlement, voucher.elsewhere, voucher.reversal,"
                    " voucher.withdrawal, voucher.gap, voucher.carrier_move IN EXCLUSIVE MODE"
                )
                closed = successor(
                    why
                    for (why,) in connection.execute("SELECT why FROM voucher.gap WHERE closed_at IS NULL")
                )
                if closed not in ("", str(made.path)):
                    raise _elsewhere(name, closed)
                if not closed:
                    _check_at_rest(name, connection)
                wanted = _filled(connection, made)
                if not closed:
                    connection.execute(
                        "INSERT INTO voucher.gap (since, why, found_at) VALUES (clock_timestamp(), %s, clock_timestamp())",
                        (to_text(copied_to(str(made.path))),),
                    )
            made.appear()
    return _done(name, str(made.path), wanted)


def _done(old: str, new: str, tables: dict[str, TableDigest]) -> Message:
    return message(
        "{old}: was copied to {new} (requests: {requests}, attempts: {attempts}, charges: {charges}), and is closed for good; name"
        " {new} with --ledger from now on",
        old=old,
        new=new,
        requests=tables["request"].rows,
        attempts=tables["attempt"].rows,
        charges=tables["charge"].rows,
    )


def _elsewhere(name: str, closed: str) -> InputProblem:
    return InputProblem(
        "{path}: was copied to {to} already, which goes on in its place; nothing was changed",
        path=name,
        to=closed,
    )


def _owner(connection: LedgerConnection) -> Owner:
    found = about(connection)
    return Owner(found.base_url, found.agency)


def _check_may_copy(connection: LedgerConnection) -> None:
    """Raise InputProblem where there is no ledger, or for a role that may not see all of it."""
    check_right(connection, "know")
    about(connection)
    with as_problem():
        owner, may = connection.execute(
            "SELECT relowner::regrole::text, pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'voucher.ledger'::regclass"
        ).fetchone() or ("", False)
    if not may:
        raise InputProblem(
            "{server}: a whole ledger is copied by the role that prepared it, {role}; name that one as the user in the address",
            server=connection.name,
            role=str(owner),
        )


# Into a shared ledger.


def _check_takes(name: str, connection: psycopg.Connection, ledger_id: str) -> None:
    """Raise InputProblem for a shared ledger that is not empty, unless all that is in it is an unfinished copy of this very ledger."""
    copying = connection.execute("SELECT from_name, ledger_id, finished_at FROM voucher.copying").fetchone()
    if copying is None and connection.execute(_USED).fetchone() == (True,):
        raise InputProblem(
            "{server}: this ledger is not empty; nothing was changed. Make one in another database: voucher ledger prepare",
            server=name,
        )
    if copying and copying[2] is not None:
        raise InputProblem(
            "{server}: {path} was copied into it already; nothing was changed", server=name, path=copying[0]
        )
    if copying and copying[1] != ledger_id:
        raise InputProblem(
            "{server}: another ledger, {path}, was being copied into it; finish that, or name another database",
            server=name,
            path=copying[0],
        )


@contextlib.contextmanager
def _without_rules(connection: psycopg.Connection) -> Iterator[None]:
    """Write rows as they are: what may change, and how, was asked when they were written first. What a row says by itself is checked."""
    for how in ("DISABLE", "ENABLE"):
        for name in (*TABLES, "worker"):
            connection.execute(f"ALTER TABLE voucher.{name} {how} TRIGGER USER".encode())
        if how == "DISABLE":
            yield


def _empty(connection: psycopg.Connection) -> None:
    """Of what `prepare` wrote, and of a copy that was not finished."""
    for name in (*reversed([*TABLES]), "worker"):
        if name != "ledger":
            connection.execute(f"DELETE FROM voucher.{name}".encode())  # noqa: S608 - a name of ours


def _put_sender(connection: psycopg.Connection, from_name: str) -> uuid.UUID:
    """Whoever sent the attempts: a worker that has ended."""
    sender = uuid.uuid4()
    connection.execute(
        "INSERT INTO voucher.worker (worker, machine, process, life, vouched_life, joined_at, heard_at, left_at)"
        " SELECT %s, %s, 0, life, life, clock_timestamp(), clock_timestamp(), clock_timestamp() FROM voucher.server_life"
        " ORDER BY life DESC LIMIT 1",
        (sender, from_name),
    )
    return sender


def _columns(table: LedgerTable) -> tuple[str, ...]:
    return (*table.columns, *table.sealed)


def _put(
    connection: psycopg.Connection, table: LedgerTable, rows: Iterator[tuple[Any, ...]], sender: uuid.UUID
) -> None:
    columns = _columns(table)
    if table.name == "ledger":  # it is there, with the bounds of its fence
        for row in rows:
            named = dict(zip(columns, row, strict=True))
            connection.execute(
                "UPDATE voucher.ledger SET ledger_id = %s, created_at = %s",
                (named["ledger_id"], named["created_at"]),
            )
        return
    beside = _BESIDE.get(table.name)
    names = sql.SQL(", ").join(map(sql.Identifier, (*columns, *([beside] if beside else ()))))
    into = sql.SQL("COPY voucher.{} ({}) FROM STDIN").format(sql.Identifier(table.name), names)
    with connection.cursor() as cursor, cursor.copy(into) as copy:
        for row in rows:
            copy.write_row((*row, *_said_beside(table, columns, row, sender)))
    if len(table.key) == 1 and table.name != "request":
        connection.execute(
            (
                "SELECT setval(pg_get_serial_sequence(%s, %s), last) FROM"  # noqa: S608 - names of ours
                f" (SELECT max({table.key[0]}) AS last FROM voucher.{table.name}) AS of_table WHERE last IS NOT NULL"
            ).encode(),
            (f"voucher.{table.name}", table.key[0]),
        )


def _said_beside(
    table: LedgerTable, columns: Sequence[str], row: Sequence[Any], sender: uuid.UUID
) -> tuple[Any, ...]:
    if table.name == "attempt":
        return (None if row[columns.index("state")] == "planned" else sender,)
    if table.name == "settlement":
        return (row[columns.index("settled_at")],)
    return ()


# Out of one.


def _check_at_rest(name: str, connection: psycopg.Connection) -> None:
    """Raise InputProblem where somebody may be at work, or something is not settled by itself."""
    for query, why in (
        (
            "SELECT EXISTS (SELECT FROM voucher.copying WHERE finished_at IS NULL)",
            message("another ledger is being copied into it, and that is not finished"),
        ),
        ("SELECT EXISTS (SELECT FROM voucher.run WHERE ended_at IS NULL)", message("a run is on")),
        (
            "SELECT EXISTS (SELECT FROM voucher.attempt WHERE state IN ('planned', 'sending'))",
            message("a run is on"),
        ),
        (
            "SELECT EXISTS (SELECT FROM voucher.worker WHERE left_at IS NULL AND dead_at IS NULL)",
            message("workers have not ended, or were not seen dead: voucher ledger workers"),
        ),
        (
            "SELECT EXISTS (SELECT FROM voucher.gap WHERE closed_at IS NULL)",
            message("it has a gap: voucher ledger close-gap"),
        ),
        (
            "SELECT EXISTS (SELECT FROM voucher.settlement WHERE state = 'rejected' AND withdrawn)",
            message("what a worker said late was withdrawn, and a file has no place for that"),
        ),
    ):
        if connection.execute(query.encode()).fetchone() == (True,):
            raise InputProblem(
                "{server}: can't be copied as it stands ({why}); nothing was changed", server=name, why=why
            )
    late = connection.execute(_LATE_AGAINST_IT).fetchone()
    if late:
        request_id, attempt, number = late
        raise InputProblem(
            "{server}: can't be copied as it stands, for a file has no place for a word against evidence: a worker said late that request {request_id},"
            " attempt {attempt}, was issued as {number}, and the ledger says something else. Withdraw what settled it (voucher history names it,"
            " voucher ledger withdraw), and settle it anew by the carrier's statement; nothing was changed",
            server=name,
            request_id=request_id,
            attempt=attempt,
            number=number,
        )


def _filled(connection: psycopg.Connection, made: NewFile) -> dict[str, TableDigest]:
    """Write everything into a new file, and compare it; what was written."""
    wanted, found = Digesting(), Digesting()
    for table in TABLES.values():
        made.put(table.name, _columns(table), wanted.through(table.name, _rows(connection, table)))
    made.complete()
    for table in TABLES.values():
        found.of(table.name, made.rows(table.name, _columns(table), table.key))
    check_same(str(made.path), wanted.tables, found.tables)
    return wanted.tables


def _digests(connection: psycopg.Connection) -> dict[str, TableDigest]:
    """What a shared ledger holds."""
    found = Digesting()
    with as_problem(), connection.transaction():
        for table in TABLES.values():
            found.of(table.name, _rows(connection, table))
    return found.tables


def _rows(connection: psycopg.Connection, table: LedgerTable) -> Iterator[tuple[Any, ...]]:
    """All rows of a table as a file has them, in the order in which a file has them, but for the gap that says that the ledger was copied."""
    columns = _columns(table)
    order = ", ".join(f"{table.name}.{key}" + (' COLLATE "C"' if key in _TEXTS else "") for key in table.key)
    with connection.cursor(name="rows") as cursor:
        cursor.itersize = _TOGETHER
        cursor.execute(
            f"SELECT {table.selected(columns)} FROM voucher.{table.name} {_LEFT_OUT.get(table.name, '')} ORDER BY {order}".encode()  # noqa: S608 - SQL of ours
        )
        at = columns.index("why") if table.name == "gap" else None
        for row in cursor:
            if at is None or not successor([row[at]]):
                yield row


#: Keys that are texts, which SQLite orders by their bytes.
_TEXTS = frozenset({"request_id", "ticket_no", "charge", "product"})
