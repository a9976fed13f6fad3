"""A ledger as an older version of the program would have made it: the same runs, requests and outcomes, in the older tables."""

from pathlib import Path
from random import Random

import apsw

from pipeline.ledger import schema
from pipeline.ledger.opening import APPLICATION_ID

#: What an older program would have kept nothing of, so that nothing is missing without it.
_NOTES = {"judgement", "handled", "epoch"}


def downgraded(ledger: Path, rng: Random) -> bool:
    """Make an older ledger of one that is at rest; False where there is in it what no older one can hold."""
    wal = ledger.with_name(ledger.name + "-wal")
    if not ledger.exists() or (wal.exists() and wal.stat().st_size):
        return False
    connection = apsw.Connection(str(ledger), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        columns = _columns(connection)
        filled = {name for name in columns if connection.execute(f"SELECT count(*) FROM {name}").get} - _NOTES
        epochs = connection.execute("SELECT count(*) FROM epoch").get if "epoch" in columns else 1
        older = [version for version in range(1, schema.VERSION) if filled <= _tables(version).keys()]
        if not older or epochs > 1 or "withdrawal" in filled:
            return False
        version = rng.choice(older)
        fresh = ledger.with_name("older")
        _write(connection, columns, version, fresh)
    finally:
        connection.close()
    for end in ("-wal", "-shm"):
        ledger.with_name(ledger.name + end).unlink(missing_ok=True)
    fresh.replace(ledger)
    return True


def _write(source: apsw.Connection, columns: dict[str, list[str]], version: int, fresh: Path) -> None:
    older = apsw.Connection(str(fresh))
    try:
        schema.bring_up_to_date(older, 0, version)
        triggers = [sql for (sql,) in older.execute("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")]
        for (name,) in list(older.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")):
            older.execute(f"DROP TRIGGER {name}")
        with older:
            for table, kept in _tables(version).items():
                names = ", ".join(name for name in kept if name in columns.get(table, ()))
                older.execute(f"DELETE FROM {table}")
                rows = list(source.execute(f"SELECT {names} FROM {table}"))
                marks = ", ".join("?" * len(names.split(", ")))
                older.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)
        for sql in triggers:
            older.execute(sql)
        older.pragma("application_id", APPLICATION_ID)
        older.pragma("journal_mode", "wal")
    finally:
        older.close()


def _tables(version: int) -> dict[str, list[str]]:
    connection = apsw.Connection(":memory:")
    try:
        schema.bring_up_to_date(connection, 0, version)
        return _columns(connection)
    finally:
        connection.close()


def _columns(connection: apsw.Connection) -> dict[str, list[str]]:
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {
        table: [column[1] for column in connection.execute(f"PRAGMA table_info({table})")] for table in tables
    }
