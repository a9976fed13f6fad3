"""The ledger's tables and rules, version by version: made, recognised, and brought up to date.

`sql/version-N.sql` is the step from version N - 1 to N. A new ledger takes all steps, an older one those
that it lacks, so both end with the same tables and rules, letter by letter.
"""

from contextlib import closing
from functools import cache
from importlib.resources import files

import apsw

#: The version that this program writes.
VERSION = 4
#: The first version that can say that it lacks something.
FIRST_WITH_GAPS = 2
#: The oldest version that this program reads as it is; reading changes nothing.
_OLDEST_READ = 1

#: An index that is not unique keeps nothing out: with or without it a ledger holds the same, only slower or faster.
_SCHEMA = """
SELECT type || ' ' || name, sql FROM sqlite_schema
WHERE sql IS NOT NULL AND (type <> 'index' OR sql LIKE 'CREATE UNIQUE %')
"""


def _step(version: int) -> str:
    return files("pipeline.ledger").joinpath(f"sql/version-{version}.sql").read_text(encoding="utf-8")


def bring_up_to_date(connection: apsw.Connection, found: int = 0, to: int = VERSION) -> None:
    """Take the steps that a ledger of version `found` lacks (0: an empty file) to that version, all of them or none."""
    with connection:
        for version in range(found + 1, to + 1):
            connection.execute(_step(version))
        connection.pragma("user_version", to)


def show_as_current(connection: apsw.Connection) -> None:
    """Let an older ledger that is open for reading be asked like a current one, which changes nothing in its file.

    Temporary tables and views, which a connection finds before the file's own, hold what its version lacks: tables
    that are empty, columns with their defaults.
    """
    if connection.pragma("user_version") == VERSION:
        return
    for table, columns in _columns(VERSION).items():
        found = {column[1] for column in connection.execute(f"PRAGMA main.table_info({table})")}
        if not found:
            connection.execute(f"CREATE TEMP TABLE {table} ({', '.join(columns)})")
        elif lacking := columns.keys() - found:
            shown = ", ".join(f"{_BEFORE.get(name, columns[name])} AS {name}" for name in sorted(lacking))
            connection.execute(f"CREATE TEMP VIEW {table} AS SELECT *, {shown} FROM main.{table}")  # noqa: S608 - names of ours
    connection.execute(
        "INSERT INTO temp.epoch SELECT 1, ledger_id, 'the ledger was begun', created_at FROM ledger"
    )


#: What a column was before it had its name: an attempt had one settlement at most.
_BEFORE = {"settlement": "attempt_id"}


@cache
def _columns(version: int) -> dict[str, dict[str, str]]:
    """Each table's columns in that version, with the default of each."""
    with closing(_made(version)) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        return {
            table: {column[1]: column[4] for column in connection.execute(f"PRAGMA table_info({table})")}
            for table in tables
        }


def readable(version: int) -> bool:
    """Whether this program can read a ledger of that version without changing it."""
    return _OLDEST_READ <= version <= VERSION


def _made(version: int) -> apsw.Connection:
    """An empty ledger of that version, in memory."""
    connection = apsw.Connection(":memory:")
    for step in range(1, version + 1):
        connection.execute(_step(step))
    return connection


@cache
def _expected(version: int) -> dict[str, str]:
    with closing(_made(version)) as connection:
        return dict(connection.execute(_SCHEMA))


def differences(connection: apsw.Connection, version: int) -> list[str]:
    """The tables, unique indexes and triggers that are missing, changed or none of the ledger's.

    They are what refuses an illegal change, so a ledger without one of them is not to be trusted.
    """
    expected, found = _expected(version), dict(connection.execute(_SCHEMA))
    return sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
