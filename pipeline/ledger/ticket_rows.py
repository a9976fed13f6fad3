"""What the ledger has of one ticket, row by row in time order, for its history."""

from typing import Any

import apsw

from pipeline.model.message import from_text

_ATTEMPTS = """
SELECT attempt.sending_at, attempt.answered_at, attempt.ended_at, attempt.planned_at, attempt.state, attempt.request_id,
       attempt.attempt, attempt.run, charge.voucher, charge.charge, charge.product, charge.amount, attempt.number,
       attempt.trace_id, attempt.reason, attempt.detail, attempt.http_status, charge.file, charge.sheet, charge.row,
       request.header_name, EXISTS (SELECT 1 FROM settlement WHERE settlement.attempt_id = attempt.attempt_id) AS settled
FROM charge JOIN attempt USING (attempt_id) JOIN request USING (request_id)
WHERE charge.ticket_no = ? ORDER BY attempt.attempt_id, charge.charge, charge.product
"""
_JUDGEMENTS = """
SELECT run, ticket_no, charge, product, voucher, amount, status, reasons, file, sheet, row, judged_at
FROM judgement WHERE ticket_no = ? ORDER BY judgement
"""
_ELSEWHERE = """
SELECT elsewhere.*, withdrawal.withdrawn_by, withdrawal.why, withdrawal.withdrawn_at
FROM elsewhere LEFT JOIN withdrawal USING (elsewhere) WHERE ticket_no = ? ORDER BY elsewhere
"""
_SETTLEMENTS = """
SELECT DISTINCT settlement.settlement, request_id, attempt, settlement.state, settlement.number, settled_by, evidence, settled_at,
       settlement.withdrawn, withdrawn_by, why, withdrawn_at
FROM charge JOIN attempt USING (attempt_id) JOIN settlement USING (attempt_id) LEFT JOIN withdrawal USING (settlement)
WHERE charge.ticket_no = ? ORDER BY settlement.settlement
"""
_REVERSALS = """
SELECT reversal.*, request_id, attempt, withdrawal.withdrawn_by, withdrawal.why, withdrawal.withdrawn_at
FROM reversal LEFT JOIN attempt USING (attempt_id) LEFT JOIN withdrawal USING (reversal)
WHERE attempt_id IN (SELECT attempt_id FROM charge WHERE ticket_no = ?1) OR EXISTS (
    SELECT 1 FROM elsewhere WHERE ticket_no = ?1 AND number = reversal.number AND voucher = reversal.voucher
) ORDER BY reversal
"""
_FILES = """
SELECT received_at, received_file.run, status, received_file.number, seal, archived, place, sha256, reasons AS detail, request_id,
       attempt
FROM received_file LEFT JOIN attempt USING (attempt_id)
WHERE received_file IN (
    SELECT received_file FROM received_file WHERE ticket_no = ?1
    UNION SELECT received_file FROM charge JOIN received_file USING (attempt_id) WHERE charge.ticket_no = ?1
) ORDER BY received_file
"""


def attempts(connection: apsw.Connection, ticket_no: str) -> list[dict[str, Any]]:
    """Every attempt at every charge of a ticket."""
    return _rows(connection, _ATTEMPTS, ticket_no)


def judgements(connection: apsw.Connection, ticket_no: str) -> list[dict[str, Any]]:
    """Every judgement of a ticket's charges."""
    return _rows(connection, _JUDGEMENTS, ticket_no)


def issued_elsewhere(connection: apsw.Connection, ticket_no: str) -> list[dict[str, Any]]:
    """Everything that statements showed of a ticket, with what was withdrawn of it."""
    return _rows(connection, _ELSEWHERE, ticket_no)


def settlements(connection: apsw.Connection, ticket_no: str) -> list[dict[str, Any]]:
    """Every settlement of an attempt at a charge of a ticket, with what was withdrawn of it."""
    return _rows(connection, _SETTLEMENTS, ticket_no)


def reversals(connection: apsw.Connection, ticket_no: str) -> list[dict[str, Any]]:
    """Every reversal of a voucher that a charge of this ticket is on, with what was withdrawn of it."""
    return _rows(connection, _REVERSALS, ticket_no)


def received_files(connection: apsw.Connection, ticket_no: str) -> list[dict[str, Any]]:
    """Every itinerary file about a ticket, or about an itinerary of it."""
    return _rows(connection, _FILES, ticket_no)


def _rows(connection: apsw.Connection, query: str, ticket_no: str) -> list[dict[str, Any]]:
    """The rows that a query finds about a ticket, by column; `detail` and `evidence` are messages as they were kept."""
    cursor = connection.execute(query, (ticket_no,))
    rows = (dict(zip((column[0] for column in cursor.get_description()), row, strict=True)) for row in cursor)
    return [
        row | {name: from_text(row[name]) for name in ("detail", "evidence") if name in row} for row in rows
    ]
