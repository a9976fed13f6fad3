"""What was issued in a time, for comparing it with the carrier's statement: as fast in an old ledger as in a new one.

But for what the carrier has reversed since (`reversals`).
"""

from dataclasses import replace
from typing import Any

import apsw

from pipeline.ledger import clock
from pipeline.model.known_charges import KnownCharge
from pipeline.model.request import Identity

_BETWEEN = """
SELECT charge.ticket_no, charge.charge, charge.product, charge.wire, charge.voucher, attempt.state, attempt.number,
       charge.amount, request.header_type, request.header_name, request.tax_no, attempt.request_id, attempt.attempt,
       attempt.run, attempt.ended_at, attempt.reason, attempt.detail, charge.file, charge.sheet, charge.row,
       request.market
FROM attempt JOIN charge USING (attempt_id) JOIN request USING (request_id)
WHERE attempt.state = 'issued' AND attempt.ended_at >= ? AND attempt.ended_at < ? AND charge.live = 1
"""


def issued_between(connection: apsw.Connection, since: str, until: str) -> dict[Identity, KnownCharge]:
    """The charges that were issued from `since` on and before `until` (UTC, ISO 8601), by what they are."""
    rows: list[Any] = list(connection.execute(_BETWEEN, (since, until)))
    doubtful = clock.doubtful_runs(connection, (row[13] for row in rows))
    return {
        Identity(*row[:3]): replace(
            KnownCharge(Identity(*row[:3]), *row[3:20]), market=row[20], times_doubtful=row[13] in doubtful
        )
        for row in rows
    }
