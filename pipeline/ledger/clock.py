"""The time for the ledger."""

import datetime

#: The form of `utc_now`, for SQLite's GLOB.
FORM = "20[0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]+00:00"


def utc_now() -> str:
    """Now, UTC, ISO 8601 with milliseconds; such times sort as text."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
