"""All that a ledger holds, row by row, for whoever audits it; but for the raw answers, which are sealed data.

Nothing is kept in memory: however large the ledger, a row is read when it is asked for.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apsw

from pipeline.ledger import gaps
from pipeline.ledger.gaps import Gap

#: What each sheet is made of, and the version from which a ledger has it.
_QUERIES: dict[str, tuple[int, str]] = {
    "requests": (
        1,
        """
        SELECT request_id AS request, attempt, run, voucher, market, header_type, header_name, tax_no, phone, email, remarks,
               request.amount, (SELECT count(*) FROM charge WHERE charge.attempt_id = attempt.attempt_id) AS charges,
               attempt.state, attempt.number, reason AS reason_code, detail, planned_at, sending_at, answered_at, ended_at,
               http_status, trace_id, settlement.state AS settled_as, settled_by, evidence, settled_at
        FROM attempt JOIN request USING (request_id) LEFT JOIN settlement USING (attempt_id) ORDER BY attempt_id""",
    ),
    "charges": (
        1,
        """
        SELECT ticket_no, charge, product, voucher, amount, state, number, live AS held, wire, request_id AS request, attempt,
               run, file, sheet, row
        FROM attempt JOIN charge USING (attempt_id) ORDER BY attempt_id, ticket_no, charge, product""",
    ),
    "elsewhere": (
        3,
        """
        SELECT ticket_no, charge, product, voucher, number, amount, buyer, issued_at AS issued_text, evidence, found_by, found_at, run
        FROM elsewhere ORDER BY elsewhere""",
    ),
    "judgements": (
        3,
        """
        SELECT ticket_no, charge, product, voucher, amount, status, reasons AS reason_code, judged_at, run, file, sheet, row
        FROM judgement ORDER BY judgement""",
    ),
    "runs": (
        1,
        "SELECT run, command, version, as_of, files, started_at, ended_at, exit_code FROM run ORDER BY run",
    ),
    "files": (
        3,
        "SELECT name, kind, sha256, handled_at, run, result, unfinished FROM handled ORDER BY handled",
    ),
    "gaps_and_moves": (
        2,
        """
        SELECT found_at AS noted_at, 'gap' AS what, why, '' AS noted_by, since, '' AS old, '' AS new, closed_at, closed_by, evidence
        FROM gap
        UNION ALL
        SELECT moved_at, 'move', why, moved_by, NULL, from_base_url || ' ' || from_agency, to_base_url || ' ' || to_agency,
               NULL, '', ''
        FROM carrier_move ORDER BY 1""",
    ),
}


@dataclass(frozen=True)
class About:
    """The ledger itself. `states` counts its attempts by their state."""

    ledger_id: str
    base_url: str
    agency: str
    version: int
    created_at: str
    states: dict[str, int]
    gap: Gap | None


def about(connection: apsw.Connection) -> About:
    """Whose ledger it is, and what it holds."""
    row: Any = connection.execute("SELECT ledger_id, base_url, agency, created_at FROM ledger").get
    states = dict(connection.execute("SELECT state, count(*) FROM attempt GROUP BY state ORDER BY state"))
    version = connection.pragma("user_version")
    return About(row[0], row[1], row[2], version, row[3], states, gaps.open_gap(connection))


def count(connection: apsw.Connection, sheet: str) -> int:
    """How many rows a sheet has."""
    since, query = _QUERIES[sheet]
    if connection.pragma("user_version") < since:
        return 0
    counted: int = connection.execute(f"SELECT count(*) FROM ({query})").get  # noqa: S608 - a query of ours
    return counted


def rows(connection: apsw.Connection, sheet: str) -> Iterator[dict[str, Any]]:
    """The rows of one sheet in the order in which they came about; none in a ledger that is older than these."""
    since, query = _QUERIES[sheet]
    if connection.pragma("user_version") < since:
        return
    cursor = connection.execute(query)
    names: tuple[str, ...] = ()
    for row in cursor:
        names = names or tuple(column[0] for column in cursor.get_description())
        yield dict(zip(names, row, strict=True))
