"""The ledger's tables and rules, version by version: made, recognised, and brought up to date.

`sql/version-N.sql` is the step from version N - 1 to N. A new ledger takes all steps, an older one those
that it lacks, so both end with the same tables and rules, letter by letter.
"""

from functools import cache
from importlib.resources import files

import apsw

#: The version that this program writes.
VERSION = 3
#: The oldest version that this program reads as it is; reading changes nothing.
_OLDEST_READ = 1

#: An index that is not unique keeps nothing out: with or without it a ledger holds the same, only slower or faster.
_SCHEMA = """
SELECT type || ' ' || name, sql FROM sqlite_schema
WHERE sql IS NOT NULL AND (type <> 'index' OR sql LIKE 'CREATE UNIQUE %')
"""


def _step(version: int) -> str:
    return files("pipeline.ledger").joinpath(f"sql/version-{version}.sql").read_text(encoding="utf-8")


def bring_up_to_date(connection: apsw.Connection, found: int = 0) -> None:
    """Take the steps that a ledger of version `found` lacks (0: an empty file), all of them or none."""
    with connection:
        for version in range(found + 1, VERSION + 1):
            connection.execute(_step(version))
        connection.pragma("user_version", VERSION)


def readable(version: int) -> bool:
    """Whether this program can read a ledger of that version without changing it."""
    return _OLDEST_READ <= version <= VERSION


@cache
def _expected(version: int) -> dict[str, str]:
    connection = apsw.Connection(":memory:")
    try:
        for step in range(1, version + 1):
            connection.execute(_step(step))
        return dict(connection.execute(_SCHEMA))
    finally:
        connection.close()


def differences(connection: apsw.Connection, version: int) -> list[str]:
    """The tables, unique indexes and triggers that are missing, changed or none of the ledger's.

    They are what refuses an illegal change, so a ledger without one of them is not to be trusted.
    """
    expected, found = _expected(version), dict(connection.execute(_SCHEMA))
    return sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
