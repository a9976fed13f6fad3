"""The time for the ledger."""

import datetime

#: The form of `utc_now`, whatever the clock says, for SQLite's GLOB.
FORM = "{0}{0}{0}{0}-{0}{0}-{0}{0}T{0}{0}:{0}{0}:{0}{0}.{0}{0}{0}+00:00".format("[0-9]")


def utc_now() -> str:
    """Now, UTC, ISO 8601 with milliseconds; such times sort as text."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
