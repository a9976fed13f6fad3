"""Unknown outcomes, and the evidence that settles them.

The database refuses a settlement of anything but an unknown attempt, a second one of the same attempt, and a
number that another attempt has; a settlement and the state that follows from it are one change.
"""

from dataclasses import dataclass
from typing import Any

import apsw

from pipeline.evidence import Unsettled
from pipeline.holdings import place_of
from pipeline.ledger.clock import utc_now
from pipeline.request import Identity

_UNKNOWN = """
SELECT attempt_id, request_id, attempt, voucher, market, header_name, request.amount, reason, detail, trace_id,
       sending_at, coalesce(ended_at, sending_at), run
FROM attempt JOIN request USING (request_id) WHERE state = 'unknown' ORDER BY attempt_id
"""
_CHARGES = """
SELECT ticket_no, charge, product, wire, amount, file, sheet, row FROM charge WHERE attempt_id = ? ORDER BY 1, 2, 3
"""


@dataclass(frozen=True)
class Known:
    """What the ledger says of an attempt that somebody gives an answer about."""

    state: str
    number: str
    settled: bool


def unsettled(connection: apsw.Connection) -> list[Unsettled]:
    """Every attempt whose outcome is unknown, in the order in which they were made."""
    found = []
    for row in list(connection.execute(_UNKNOWN)):
        values, run = list[Any](row[:12]), row[12]
        charges: list[Any] = list(connection.execute(_CHARGES, (values[0],)))
        file, sheet, line = charges[0][5:]
        parts = tuple((Identity(*charge[:3]), charge[3], charge[4]) for charge in charges)
        found.append(Unsettled(*values, place=place_of(file, sheet, line, run), charges=parts))  # type: ignore[misc]
    return found


def count_unknown(connection: apsw.Connection) -> int:
    """How many attempts there are whose outcome is unknown."""
    found: int = connection.execute("SELECT count(*) FROM attempt WHERE state = 'unknown'").get
    return found


def known(connection: apsw.Connection, request_id: str, attempt: int) -> Known | None:
    """An attempt by the name that the Unknown sheet has for it; None where there is no such attempt."""
    row: Any = connection.execute(
        "SELECT attempt.state, attempt.number, settlement.attempt_id IS NOT NULL"
        " FROM attempt LEFT JOIN settlement USING (attempt_id) WHERE request_id = ? AND attempt = ?",
        (request_id, attempt),
    ).get
    return None if row is None else Known(row[0], row[1], bool(row[2]))


def number_taken(connection: apsw.Connection, number: str) -> bool:
    """Whether an issued attempt has this number."""
    found: int = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM attempt WHERE state = 'issued' AND number = ?)", (number,)
    ).get
    return bool(found)


def settle(  # noqa: PLR0913 - what a settlement is made of
    connection: apsw.Connection, attempt_id: int, state: str, number: str, settled_by: str, evidence: str
) -> None:
    """Settle an unknown attempt as issued under this number, or as not_sent; with the evidence, who and when."""
    with connection:
        connection.execute(
            "INSERT INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (attempt_id, state, number, settled_by, evidence, utc_now()),
        )
        connection.execute(
            "UPDATE attempt SET state = ?, number = ? WHERE attempt_id = ?", (state, number, attempt_id)
        )
