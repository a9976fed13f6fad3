"""How rows were judged, for whoever asks for a ticket's history."""

from collections.abc import Iterable
from typing import NamedTuple

import apsw

from pipeline.ledger.clock import utc_now


class Judgement(NamedTuple):
    """One charge of one row as a run judged it, before anything was sent. `amount` in minor units."""

    ticket_no: str
    charge: str
    product: str
    voucher: str
    amount: int
    status: str
    reasons: str  # codes, separated by spaces
    file: str
    sheet: str
    row: int


_COLUMNS = ", ".join(Judgement._fields)
_MADE = f"CREATE TEMP TABLE IF NOT EXISTS judged (at INTEGER PRIMARY KEY, {_COLUMNS})"
#: A nightly run judges the same rows again and again: only what has changed is worth a line.
_NOTE = f"""
INSERT INTO judgement (run, {_COLUMNS}, judged_at)
SELECT ?, {_COLUMNS}, ? FROM judged
WHERE (voucher, amount, status, reasons, file, sheet, row) IS NOT (
    SELECT last.voucher, last.amount, last.status, last.reasons, last.file, last.sheet, last.row FROM judgement AS last
    WHERE (last.ticket_no, last.charge, last.product) = (judged.ticket_no, judged.charge, judged.product)
    ORDER BY last.judgement DESC LIMIT 1
)
ORDER BY at
"""  # noqa: S608 - names of columns, all of them written above


def note(connection: apsw.Connection, run: int, judged: Iterable[Judgement]) -> None:
    """Record the judgements that differ from the last one of their charge."""
    connection.execute(_MADE)
    with connection:
        connection.execute("DELETE FROM judged")
        connection.executemany(
            f"INSERT INTO judged ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - as above
            judged,
        )
        connection.execute(_NOTE, (run, utc_now()))
        connection.execute("DELETE FROM judged")
