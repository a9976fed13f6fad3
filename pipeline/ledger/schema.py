"""The ledger's tables and rules, version by version: made, recognised, and brought up to date.

`sql/version-N.sql` is the step from version N - 1 to N. A new ledger takes all steps, an older one those
that it lacks, so both end with the same tables and rules, letter by letter.
"""

from contextlib import closing
from functools import cache
from importlib.resources import files

import apsw

#: The SQL of each step, in order; a ledger's version is the number of steps that it has taken.
Steps = tuple[str, ...]

#: The version that this program writes.
VERSION = 4
STEPS: Steps = tuple(
    files("pipeline.ledger").joinpath(f"sql/version-{version}.sql").read_text(encoding="utf-8")
    for version in range(1, VERSION + 1)
)

#: An index that is not unique keeps nothing out: with or without it a ledger holds the same, only slower or faster.
_SCHEMA = """
SELECT type || ' ' || name, sql FROM sqlite_schema
WHERE sql IS NOT NULL AND (type <> 'index' OR sql LIKE 'CREATE UNIQUE %')
"""


def bring_up_to_date(connection: apsw.Connection, steps: Steps = STEPS) -> None:
    """Take the steps that a ledger lacks (an empty file lacks all), all of them or none."""
    with connection:
        for step in steps[connection.pragma("user_version") :]:
            connection.execute(step)
        connection.pragma("user_version", len(steps))


def show_as_current(connection: apsw.Connection, steps: Steps = STEPS) -> None:
    """Let an older ledger that is open for reading be asked like a current one, which changes nothing in its file.

    Temporary tables and views, which a connection finds before the file's own, hold what its version lacks: tables
    that are empty, columns with their defaults.
    """
    if connection.pragma("user_version") == len(steps):
        return
    for table, columns in _columns(steps).items():
        found = {column[1] for column in connection.execute(f"PRAGMA main.table_info({table})")}
        if not found:
            connection.execute(f"CREATE TEMP TABLE {table} ({', '.join(columns)})")
        elif lacking := columns.keys() - found:
            shown = ", ".join(f"{columns[name] or 'NULL'} AS {name}" for name in sorted(lacking))
            connection.execute(f"CREATE TEMP VIEW {table} AS SELECT *, {shown} FROM main.{table}")  # noqa: S608 - names of ours


@cache
def _columns(steps: Steps) -> dict[str, dict[str, str | None]]:
    """Each table's columns after these steps, with the default of each."""
    with closing(_made(steps)) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        return {
            table: {column[1]: column[4] for column in connection.execute(f"PRAGMA table_info({table})")}
            for table in tables
        }


def _made(steps: Steps) -> apsw.Connection:
    """An empty ledger that has taken these steps, in memory."""
    connection = apsw.Connection(":memory:")
    bring_up_to_date(connection, steps)
    return connection


@cache
def made_of(kind: str) -> tuple[str, ...]:
    """What makes every table, index or trigger of a ledger of the program's version, in the order in which they were made."""
    with closing(_made(STEPS)) as connection:
        made = connection.execute(
            "SELECT sql FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL ORDER BY rowid", (kind,)
        )
        return tuple(sql for (sql,) in made)


@cache
def _expected(steps: Steps) -> dict[str, str]:
    with closing(_made(steps)) as connection:
        return dict(connection.execute(_SCHEMA))


def differences(connection: apsw.Connection, steps: Steps = STEPS) -> list[str]:
    """The tables, unique indexes and triggers that are missing, changed or none of the ledger's, for its version.

    They are what refuses an illegal change, so a ledger without one of them is not to be trusted.
    """
    expected = _expected(steps[: connection.pragma("user_version")])
    found = dict(connection.execute(_SCHEMA))
    return sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
