"""What the ledger has of one ticket, row by row, for its history."""

from typing import Any

import apsw

from pipeline.model.message import from_text


def ticket_rows(
    connection: apsw.Connection, query: str, ticket_no: str, kept: str = "evidence"
) -> list[dict[str, Any]]:
    """The rows that a query finds about a ticket, by column; the column `kept` is a message as it was kept."""
    cursor = connection.execute(query, (ticket_no,))
    rows = (dict(zip((column[0] for column in cursor.get_description()), row, strict=True)) for row in cursor)
    return [row | {kept: from_text(row[kept])} for row in rows]
