"""What was issued in a time, for comparing it with the carrier's statement: as fast in an old ledger as in a new one."""

import apsw

from pipeline.holdings import Holding
from pipeline.request import Identity

_BETWEEN = """
SELECT charge.ticket_no, charge.charge, charge.product, charge.wire, charge.voucher, attempt.state, attempt.number,
       charge.amount, request.header_type, request.header_name, request.tax_no, attempt.request_id, attempt.attempt,
       attempt.run, attempt.ended_at, attempt.reason, attempt.detail, charge.file, charge.sheet, charge.row
FROM attempt JOIN charge USING (attempt_id) JOIN request USING (request_id)
WHERE attempt.state = 'issued' AND attempt.ended_at >= ? AND attempt.ended_at < ?
"""


def issued_between(connection: apsw.Connection, since: str, until: str) -> dict[Identity, Holding]:
    """The charges that were issued from `since` on and before `until` (UTC, ISO 8601), by what they are."""
    return {
        Identity(*row[:3]): Holding(Identity(*row[:3]), *row[3:])
        for row in connection.execute(_BETWEEN, (since, until))
    }


def latest_time(connection: apsw.Connection) -> str:
    """The latest time that the ledger's last run has noted, "" where there is none."""
    found: str | None = connection.execute(
        "SELECT max(coalesce(ended_at, started_at)) FROM run WHERE run = (SELECT max(run) FROM run)"
    ).get
    return found or ""
