"""Runs, attempts and their outcomes as the ledger has them, and the changes to them that are made one by one."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from pipeline.ledger import held_charges, issued_elsewhere, reversals
from pipeline.ledger.clock import utc_now
from pipeline.ledger.lock import LastRun, Phase
from pipeline.ledger.ticket_rows import ticket_rows
from pipeline.model.message import message, to_text
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.request import (
    Charge,
    Header,
    Identity,
    Request,
)

_HISTORY = """
SELECT attempt.sending_at, attempt.answered_at, attempt.ended_at, attempt.planned_at, attempt.state, attempt.request_id,
       attempt.attempt, attempt.run, charge.voucher, charge.charge, charge.product, charge.amount, attempt.number,
       attempt.trace_id, attempt.reason, attempt.detail, attempt.http_status, charge.file, charge.sheet, charge.row,
       request.header_name, EXISTS (SELECT 1 FROM settlement WHERE settlement.attempt_id = attempt.attempt_id) AS settled
FROM charge JOIN attempt USING (attempt_id) JOIN request USING (request_id)
WHERE charge.ticket_no = ? ORDER BY attempt.attempt_id, charge.charge, charge.product
"""

#: How much is recorded outside runs; of a table that only grows its last row says it.
_OUTSIDE_RUNS = """
SELECT (SELECT count(*) + count(closed_at) FROM gap) + (SELECT coalesce(max(move), 0) FROM carrier_move)
     + (SELECT coalesce(max(reversal), 0) FROM reversal) + (SELECT coalesce(max(withdrawal), 0) FROM withdrawal)
"""


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


def ledger_id(connection: apsw.Connection) -> str:
    """The ledger's own ID."""
    found: str = connection.execute("SELECT ledger_id FROM ledger").get
    return found


def begin_run(
    connection: apsw.Connection, command: str, version: str, as_of: str, names: Sequence[str]
) -> int:
    """Record a run; its number. `runs.begin` is the way in, which brings it into the file itself."""
    connection.execute(
        "INSERT INTO run (command, version, as_of, files, started_at) VALUES (?, ?, ?, ?, ?)",
        (command, version, as_of, json.dumps(list(names), ensure_ascii=False), utc_now()),
    )
    return connection.last_insert_rowid()


def last_run(connection: apsw.Connection, phase: Phase) -> LastRun:
    """The last run that the ledger knows, to be noted beside it; where it knows none, run 0, its own beginning."""
    row: Any = connection.execute(
        "SELECT ledger_id, coalesce(run, 0), coalesce(started_at, created_at)"
        " FROM ledger LEFT JOIN run ON run = (SELECT max(run) FROM run)"
    ).get
    return LastRun(row[0], row[1], row[2], phase, changes_outside_runs(connection))


def changes_outside_runs(connection: apsw.Connection) -> int:
    """How many changes a ledger has that need no run: gaps marked and closed, moves, reversals, withdrawals.

    Such words are only ever added, so that an older copy has fewer of them, though its last run may be the same.
    """
    found: int = connection.execute(_OUTSIDE_RUNS).get
    return found


def end_open_runs(connection: apsw.Connection) -> None:
    """Mark runs that were killed as ended; they have no exit code."""
    connection.execute("UPDATE run SET ended_at = ? WHERE ended_at IS NULL", (utc_now(),))


def end_run(connection: apsw.Connection, run: int, exit_code: int | None) -> None:
    """Record how a run ended."""
    connection.execute(
        "UPDATE run SET ended_at = ?, exit_code = ? WHERE run = ?", (utc_now(), exit_code, run)
    )


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


def history(connection: apsw.Connection, ticket_no: str) -> list[dict[str, Any]]:
    """Every attempt at every charge of a ticket, in time order."""
    return ticket_rows(connection, _HISTORY, ticket_no, "detail")
