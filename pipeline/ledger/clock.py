"""The time for the ledger, and what is known of clocks that were wrong."""

import datetime
import json
from collections.abc import Iterable
from dataclasses import dataclass

import apsw

from pipeline.model.errors import InputProblem

#: The form of `utc_now`, whatever the clock says, for SQLite's GLOB.
FORM = "{0}{0}{0}{0}-{0}{0}-{0}{0}T{0}{0}:{0}{0}:{0}{0}.{0}{0}{0}+00:00".format("[0-9]")

#: What a clock may be put back by without anybody's doing.
MAY_SLIP = datetime.timedelta(minutes=5)

#: The latest time that the last run noted, unless a correction says that a wrong clock wrote it.
_LATEST = """
SELECT max(coalesce(started_at, ''), coalesce(ended_at, ''), coalesce((
    SELECT max(max(planned_at, coalesce(sending_at, ''), coalesce(answered_at, ''), coalesce(ended_at, '')))
    FROM attempt WHERE attempt.run = run.run), ''))
FROM run WHERE run = (SELECT max(run) FROM run)
AND NOT EXISTS (SELECT 1 FROM clock_correction WHERE last_run >= run.run)
"""
#: Runs of which some time can't be, or need not be: on the one side of a correction later than it, on the other not later than
#: the entry that it is about (whoever said that the clock was right may have been wrong), or before what it followed.
_DOUBTFUL = """
SELECT run FROM (SELECT value AS run FROM json_each(?)) JOIN run USING (run) WHERE EXISTS (
    SELECT 1 FROM clock_correction
    WHERE iif(run <= last_run, max(started_at, coalesce(ended_at, '')) > corrected_at, started_at <= latest)
) OR EXISTS (
    SELECT 1 FROM attempt WHERE attempt.run = run.run AND (
        planned_at < started_at OR sending_at < planned_at OR answered_at < sending_at
        OR attempt.ended_at < coalesce(answered_at, sending_at) OR attempt.ended_at > run.ended_at
        OR EXISTS (
            SELECT 1 FROM clock_correction WHERE iif(
                attempt.run <= last_run,
                max(planned_at, coalesce(sending_at, ''), coalesce(answered_at, ''), coalesce(attempt.ended_at, '')) > corrected_at,
                min(planned_at, coalesce(sending_at, planned_at), coalesce(attempt.ended_at, planned_at)) <= latest
            )
        )
    )
)
"""


@dataclass(frozen=True)
class Behind:
    """The machine's clock, which is behind the ledger's last entry; both are UTC, ISO 8601."""

    now: str
    latest: str


def utc_now() -> str:
    """Now, UTC, ISO 8601 with milliseconds; such times sort as text."""
    return utc_text(datetime.datetime.now(datetime.UTC))


def utc_text(moment: datetime.datetime) -> str:
    """A moment (with its time zone) in the form of `utc_now`."""
    return moment.astimezone(datetime.UTC).isoformat(timespec="milliseconds")


def local_text(at: str) -> str:
    """A time in the form of `utc_now` as a person is told it: by the clock of this machine, with how far that is from UTC."""
    return datetime.datetime.fromisoformat(at).astimezone().isoformat(" ", "seconds")


def behind(connection: apsw.Connection) -> Behind | None:
    """Whether the clock is behind what the ledger's last run noted, by more than clocks slip; None where it is not."""
    latest: str | None = connection.execute(_LATEST).get
    now = utc_now()
    if (
        not latest
        or datetime.datetime.fromisoformat(latest) - datetime.datetime.fromisoformat(now) <= MAY_SLIP
    ):
        return None
    return Behind(now, latest)


def checked(connection: apsw.Connection, right_by: str) -> tuple[str, str] | None:
    """The ledger's last entry where it is later than the clock, and who says that the clock is right; None where it is not.

    Raises InputProblem where nobody says so (`right_by` is ""): by a clock that is behind, what is sent now would be recorded
    as older than statements that can't have it.
    """
    found = behind(connection)
    if found is None:
        return None
    if not right_by:
        now, latest = (time[:16].replace("T", " ") for time in (found.now, found.latest))
        raise InputProblem(
            "This machine's clock says {now} UTC, and the ledger's last entry is of {latest} UTC;"
            " nothing was changed. Set the clock right, or say --clock-is-right if that entry was"
            " made by a wrong one",
            now=now,
            latest=latest,
        )
    return found.latest, right_by


def correct(connection: apsw.Connection, latest: str, corrected_by: str) -> None:
    """Record that the clock is right, and that a wrong one wrote that latest entry."""
    connection.execute(
        "INSERT INTO clock_correction (latest, last_run, corrected_by, corrected_at)"
        " VALUES (?, (SELECT max(run) FROM run), ?, ?)",
        (latest, corrected_by, utc_now()),
    )


def doubtful_runs(connection: apsw.Connection, runs: Iterable[int]) -> set[int]:
    """Those of the runs whose times prove nothing, because a wrong clock may have written some of them.

    A clock that was wrong once in a run is trusted for none of it.
    """
    return {run for (run,) in connection.execute(_DOUBTFUL, (json.dumps(sorted(set(runs))),))}
