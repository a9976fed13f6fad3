"""Files from an inbox that are dealt with, told by their content."""

from dataclasses import dataclass
from typing import Any

import apsw

from pipeline.ledger.clock import utc_now


@dataclass(frozen=True)
class Handled:
    """What was last done with a file of this content.

    `fates` is a digest of what became of its rows; `unfinished` where they may come to another end.
    """

    sha256: str
    kind: str  # tickets, statement, resolved
    name: str
    result: str
    fates: str
    unfinished: bool


def last(connection: apsw.Connection, sha256: str, kind: str) -> Handled | None:
    """How a file of this content was last dealt with in this epoch; None for a new one.

    What was done with it before a gap may be what the ledger lacks.
    """
    row: Any = connection.execute(
        "SELECT sha256, kind, name, result, fates, unfinished FROM handled WHERE sha256 = ? AND kind = ?"
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
