"""Files that a reconciliation has dealt with, told by their content: those of an inbox, and statements that were named."""

from dataclasses import dataclass
from typing import Any

import apsw

from pipeline.ledger.clock import utc_now

NAMED, UNREAD, EARLY = "named", "unread", "early"


@dataclass(frozen=True)
class Handled:
    """What was last done with a file of this content.

    `fates` is a digest of what became of its rows; `unfinished` where they may come to another end. Of a statement `fates` says
    how it was taken: `NAMED` and not from the inbox, some of it `UNREAD`, made too `EARLY` to show what an open
    gap is about, or without a line that could.
    """

    sha256: str
    kind: str  # tickets, statement, resolved
    name: str
    result: str
    fates: str
    unfinished: bool


def last(connection: apsw.Connection, sha256: str, kind: str) -> Handled | None:
    """How a file of this content that came by the inbox was last dealt with in this epoch; None for a new one.

    What was done with it before a gap may be what the ledger lacks.
    """
    row: Any = connection.execute(
        "SELECT sha256, kind, name, result, fates, unfinished FROM handled WHERE sha256 = ? AND kind = ? AND fates NOT LIKE 'named%'"
        " AND epoch = (SELECT max(epoch) FROM epoch) ORDER BY handled DESC LIMIT 1",
        (sha256, kind),
    ).get
    if row is None:
        return None
    content, of_kind, name, result, fates, unfinished = row
    return Handled(content, of_kind, name, result, fates, bool(unfinished))


def record(connection: apsw.Connection, run: int, handled: Handled) -> None:
    """Note that a file was dealt with by a run."""
    connection.execute(
        "INSERT INTO handled (run, sha256, kind, name, result, fates, unfinished, handled_at, epoch)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT max(epoch) FROM epoch))",
        (
            run, handled.sha256, handled.kind, handled.name, handled.result, handled.fates, handled.unfinished,
            utc_now(),
        ),
    )  # fmt: skip


def statements_since(connection: apsw.Connection, since: str) -> dict[str, set[str]]:
    """The statements that were taken since then (UTC, ISO 8601), by name: how each was taken the last time."""
    taken: list[Any] = list(
        connection.execute(
            "SELECT name, fates FROM handled WHERE kind = 'statement' AND handled_at >= ? ORDER BY handled",
            (since,),
        )
    )
    return {name: set(fates.split()) for name, fates in taken}
