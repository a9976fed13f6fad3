"""The time for the ledger."""

import datetime


def utc_now() -> str:
    """Now, UTC, ISO 8601 with milliseconds; such times sort as text."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
