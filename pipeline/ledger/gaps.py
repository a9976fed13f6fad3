"""Gaps: times of which a ledger may know nothing, such as those after a backup was made.

While one is open nothing is sent, which the database itself sees to (`gap_holds`). It is closed by what
somebody found on the carrier's complete statement over that time.
"""

from dataclasses import dataclass, field
from typing import Any

import apsw

from pipeline.ledger.clock import local_text, utc_now
from pipeline.model.message import Message, from_text, message, to_text


@dataclass(frozen=True)
class Gap:
    """An open gap: from when on the ledger may lack what was issued (UTC, ISO 8601), and why; when the first open one was found."""

    since: str
    why: Message
    found: str = field(default="", compare=False)


def open_gap(connection: apsw.Connection) -> Gap | None:
    """The open gap that begins first, None where there is none."""
    row: Any = connection.execute(
        "SELECT since, why, (SELECT min(found_at) FROM gap WHERE closed_at IS NULL) FROM gap WHERE closed_at IS NULL"
        " ORDER BY since LIMIT 1"
    ).get
    return None if row is None else Gap(row[0], from_text(row[1]), row[2])


def lacking(gap: Gap) -> Message:
    """What a ledger with that gap may lack, and why."""
    return message(
        "this ledger may lack what was issued after {since} ({why})", since=local_text(gap.since), why=gap.why
    )


def mark_gap(connection: apsw.Connection, since: str, why: Message) -> None:
    """Record that what was issued after `since` may be missing; what the last run left open is over."""
    connection.execute(
        "INSERT INTO gap (since, why, found_at) VALUES (?, ?, ?)", (since, to_text(why), utc_now())
    )
    connection.execute("UPDATE run SET ended_at = ? WHERE ended_at IS NULL", (utc_now(),))


def held_since(connection: apsw.Connection) -> int:
    """How many charges are held as statements showed them that were taken in since the open gap was found."""
    found: int = connection.execute(
        "SELECT count(*) FROM elsewhere WHERE withdrawn = 0"
        " AND found_at >= (SELECT min(found_at) FROM gap WHERE closed_at IS NULL)"
    ).get
    return found


def close_gaps(connection: apsw.Connection, closed_by: str, evidence: Message) -> list[Gap]:
    """Record what shows that nothing is missing any more, which begins an epoch; the gaps that this closes."""
    closed = connection.execute(
        "UPDATE gap SET closed_at = ?, closed_by = ?, evidence = ? WHERE closed_at IS NULL RETURNING since, why",
        (utc_now(), closed_by, to_text(evidence)),
    )
    return sorted((Gap(since, from_text(why)) for since, why in closed), key=lambda gap: gap.since)
