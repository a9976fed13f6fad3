"""All that a ledger holds, row by row, for whoever audits it; but for the raw answers, which are sealed data.

Nothing is kept in memory: however large the ledger, a row is read when it is asked for.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import apsw

from pipeline.ledger import gaps
from pipeline.ledger.gaps import Gap
from pipeline.model.message import Message, from_text, message

#: What each sheet is made of.
_QUERIES = {
    "requests": """
        SELECT request_id AS request, attempt, run, voucher, market, header_type, header_name, tax_no, phone, email, remarks,
               request.amount, (SELECT count(*) FROM charge WHERE charge.attempt_id = attempt.attempt_id) AS charges,
               attempt.state, attempt.number, reason AS reason_code, detail, planned_at, sending_at, answered_at, ended_at,
               http_status, trace_id, 'S' || settlement AS entry, settlement.state AS settled_as, settled_by, evidence, settled_at,
               epoch_id
        FROM attempt JOIN request USING (request_id) JOIN epoch USING (epoch)
             LEFT JOIN settlement ON settlement.attempt_id = attempt.attempt_id AND withdrawn = 0
        ORDER BY attempt.attempt_id""",
    "charges": """
        SELECT ticket_no, charge, product, voucher, amount, state, number, live AS held, wire, request_id AS request, attempt,
               run, file, sheet, row, passenger_name, components, carried
        FROM attempt JOIN charge USING (attempt_id) ORDER BY attempt_id, ticket_no, charge, product""",
    "elsewhere": """
        SELECT ticket_no, charge, product, voucher, number, amount, buyer, issued_at AS issued_text, evidence, found_by, found_at, run,
               'E' || elsewhere AS entry, live AS held
        FROM elsewhere ORDER BY elsewhere""",
    "reversals": """
        SELECT 'R' || reversal AS entry, reversal.voucher, reversal.number, red_number, request_id AS request, attempt, reversed_by,
               evidence, reversed_at, reversal.run, 1 - withdrawn AS in_force
        FROM reversal LEFT JOIN attempt USING (attempt_id) ORDER BY reversal""",
    "withdrawals": """
        SELECT coalesce('S' || withdrawal.settlement, 'E' || withdrawal.elsewhere, 'R' || withdrawal.reversal) AS entry,
               coalesce(attempt.request_id, of_reversal.request_id) AS request,
               coalesce(attempt.attempt, of_reversal.attempt) AS attempt,
               settlement.state AS settled_as, coalesce(settlement.number, elsewhere.number, reversal.number) AS number,
               coalesce(settlement.evidence, elsewhere.evidence, reversal.evidence) AS evidence, withdrawn_by, why, withdrawn_at
        FROM withdrawal LEFT JOIN settlement USING (settlement) LEFT JOIN attempt USING (attempt_id)
             LEFT JOIN elsewhere ON elsewhere.elsewhere = withdrawal.elsewhere
             LEFT JOIN reversal ON reversal.reversal = withdrawal.reversal
             LEFT JOIN attempt AS of_reversal ON of_reversal.attempt_id = reversal.attempt_id
        ORDER BY withdrawal""",
    "judgements": """
        SELECT ticket_no, charge, product, voucher, amount, status, reasons AS reason_code, judged_at, run, file, sheet, row
        FROM judgement ORDER BY judgement""",
    "runs": "SELECT run, command, version, as_of, files, started_at, ended_at, exit_code FROM run ORDER BY run",
    "people": "SELECT run, role, person, plan, noted_at FROM run_person ORDER BY run_person",
    "files": "SELECT name, kind, sha256, handled_at, run, result, unfinished FROM handled ORDER BY handled",
    "received_files": """
        SELECT received_at, status, received_file.number, ticket_no, total AS amount, seal, archived, place, reasons AS why, sha256,
               request_id AS request, attempt, received_file.run
        FROM received_file LEFT JOIN attempt USING (attempt_id) ORDER BY received_file""",
    "gaps_and_moves": """
        SELECT found_at AS noted_at, 'gap' AS what, why, '' AS noted_by, since, '' AS old, '' AS new, closed_at, closed_by, evidence
        FROM gap
        UNION ALL
        SELECT moved_at, 'move', why, moved_by, NULL, from_base_url || ' ' || from_agency, to_base_url || ' ' || to_agency,
               NULL, '', ''
        FROM carrier_move
        UNION ALL
        SELECT begun_at, 'epoch', why, '', NULL, '', epoch_id, NULL, '', '' FROM epoch WHERE epoch > 1
        UNION ALL
        SELECT corrected_at, 'clock', latest, corrected_by, NULL, '', '', NULL, '', ''
        FROM clock_correction ORDER BY 1""",
}

#: What people said, or we, in the rows.
_MESSAGES = ("detail", "evidence", "why")


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
    counted: int = connection.execute(f"SELECT count(*) FROM ({_QUERIES[sheet]})").get  # noqa: S608 - a query of ours
    return counted


def rows(connection: apsw.Connection, sheet: str) -> Iterator[dict[str, Any]]:
    """The rows of one sheet in the order in which they came about."""
    cursor = connection.execute(_QUERIES[sheet])
    names: tuple[str, ...] = ()
    for row in cursor:
        names = names or tuple(column[0] for column in cursor.get_description())
        told = dict(zip(names, row, strict=True))
        yield told | {name: _said(told, name) for name in _MESSAGES if told.get(name)}


def _said(row: Mapping[str, Any], name: str) -> Message:
    """A message that the ledger keeps; of a clock it keeps the entry that was wrong."""
    if name == "why" and row.get("what") == "clock":
        return message("a wrong clock wrote the last entry, {latest}", latest=row["why"])
    return from_text(row[name])
