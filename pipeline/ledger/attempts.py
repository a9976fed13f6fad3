"""Attempts and their outcomes as the ledger has them, and the changes to them that are made one by one."""

from dataclasses import dataclass
from typing import Any

import apsw

from pipeline.ledger import held_charges, issued_elsewhere, reversals
from pipeline.ledger.clock import utc_now
from pipeline.model.message import message, to_text
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.request import (
    Asked,
    Charge,
    Header,
    Identity,
    Request,
)


@dataclass(frozen=True)
class Interrupted:
    """An attempt that an earlier run left in `sending`, with the raw answer if it was recorded.

    `accepted`: by what the ledger has of that run's other attempts, the service had taken key and address in it;
    `beside` are the answers of those that were interrupted with it, None for each that never came.
    """

    attempt_id: int
    request: Request
    answer: Answered | None
    doubted: bool
    accepted: bool
    beside: tuple[Answered | None, ...]

    @property
    def asked(self) -> Asked:
        """What an answer to it is read by."""
        return self.request.asked


def _request_of(connection: apsw.Connection, request_id: str, attempt_id: int) -> Request:
    """A request as far as an answer to it has to be understood, which names no passenger.

    Raises what SQLite itself raises of a damaged file where the request is missing, as in an older file beside a -wal.
    """
    row: Any = connection.execute("SELECT * FROM request WHERE request_id = ?", (request_id,)).get
    if row is None:
        raise apsw.CorruptError(f"attempt {attempt_id} is at a request that is not there")
    charges = tuple(
        Charge(Identity(*found[:3]), "", found[3], -1, _wire_of(found[4]))
        for found in connection.execute(
            "SELECT ticket_no, charge, product, amount, wire FROM charge WHERE attempt_id = ?", (attempt_id,)
        )
    )
    return Request(row[1], row[2], Header(*row[4:]), charges)


def _wire_of(text: str) -> tuple[str, str] | None:
    """A code whose text is this one."""
    fee_type, _, product_type = text.partition("/")
    return (fee_type, product_type) if text else None


def unfinished(connection: apsw.Connection) -> bool:
    """Whether an earlier run left anything that is to be put in order."""
    found: int = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM attempt WHERE state = 'planned' OR state = 'sending')"
    ).get
    return bool(found)


_INTERRUPTED = """
SELECT attempt_id, request_id, http_status, answer, retry_after, EXISTS (
    SELECT 1 FROM attempt AS other
    WHERE other.run = attempt.run AND (other.state IN ('issued', 'rejected') OR (other.state = 'unknown' AND other.http_status = 200))
)
FROM attempt WHERE state = 'sending'
"""


def interrupted(connection: apsw.Connection) -> list[Interrupted]:
    """What the last run left in `sending`: each start settles what the run before it left."""
    left = [
        (
            attempt_id,
            request_id,
            None if body is None else Answered(status, bytes(body), wish or ""),
            accepted,
        )
        for attempt_id, request_id, status, body, wish, accepted in list(connection.execute(_INTERRUPTED))
    ]
    found = []
    for attempt_id, request_id, answer, accepted in left:
        request = _request_of(connection, request_id, attempt_id)
        doubts = held_charges.holdings(connection, [c.identity.ticket_no for c in request.charges]).doubts
        beside = tuple(other[2] for other in left if other[0] != attempt_id)
        found.append(Interrupted(attempt_id, request, answer, doubts.about(request), bool(accepted), beside))
    return found


def record_answer(connection: apsw.Connection, attempt_id: int, answer: Answered) -> None:
    """The raw answer of an attempt that is `sending`, as it came, the first time that it is recorded.

    `connection.changes()` is 0 if the attempt is not `sending`, or has its answer already.
    """
    connection.execute(
        "UPDATE attempt SET http_status = ?, answer = ?, retry_after = ?, answered_at = ?"
        " WHERE attempt_id = ? AND state = 'sending' AND answer IS NULL",
        (answer.http_status, answer.body, answer.retry_after, utc_now(), attempt_id),
    )


def as_recorded(connection: apsw.Connection, attempt_id: int, outcome: Outcome) -> Outcome:
    """What the ledger makes of an outcome.

    A number that another attempt has already, that the carrier has reversed, or that a statement showed for another
    ticket, is no number of this one: an answer that was meant for another request, perhaps. Then the outcome is unknown.
    """
    if outcome.state != "issued":
        return outcome
    taken: Any = connection.execute(
        "SELECT request_id FROM attempt WHERE number = ? AND state = 'issued' AND attempt_id <> ?",
        (outcome.number, attempt_id),
    ).get
    if taken:
        detail = message(
            "the answer brings number {number}, which request {request_id} has already",
            number=outcome.number,
            request_id=taken,
        )
    elif reversals.names(connection, outcome.number):
        detail = message(
            "the answer brings number {number}, which the carrier has reversed", number=outcome.number
        )
    elif ticket := issued_elsewhere.other_ticket(connection, outcome.number, attempt_id):
        detail = message(
            "the answer brings number {number}, which a statement showed for ticket {ticket_no}",
            number=outcome.number,
            ticket_no=ticket,
        )
    else:
        return outcome
    return Outcome("unknown", "answer_unexplained", trace_id=outcome.trace_id, detail=detail)


def record_outcome(connection: apsw.Connection, attempt_id: int, outcome: Outcome) -> Outcome:
    """How an attempt that is `sending` ended, as it is recorded; `connection.changes()` is 0 if it is not."""
    outcome = as_recorded(connection, attempt_id, outcome)
    values = (
        outcome.state,
        outcome.reason,
        outcome.number,
        outcome.trace_id,
        to_text(outcome.detail),
        utc_now(),
    )
    connection.execute(
        "UPDATE attempt SET state = ?, reason = ?, number = ?, trace_id = ?, detail = ?, ended_at = ?"
        " WHERE attempt_id = ? AND state = 'sending'",
        (*values, attempt_id),
    )
    return outcome


def state_of(connection: apsw.Connection, attempt_id: int) -> str | None:
    """The state of an attempt, None where there is no such attempt."""
    found: str | None = connection.execute(
        "SELECT state FROM attempt WHERE attempt_id = ?", (attempt_id,)
    ).get
    return found


def number_of(connection: apsw.Connection, attempt_id: int) -> str:
    """The voucher number of an attempt that was issued, else ""."""
    found: str = connection.execute("SELECT number FROM attempt WHERE attempt_id = ?", (attempt_id,)).get
    return found
