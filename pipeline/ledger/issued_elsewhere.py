"""Charges that the carrier's statement shows as issued, though no attempt of this ledger issued them.

They are held like our own (`elsewhere_holds`), for the carrier would issue them a second time.
"""

import datetime
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from pipeline.ledger.clock import utc_now
from pipeline.model.evidence import StatementLine
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import NOTHING, from_text, said, to_text
from pipeline.model.request import Identity

#: `asked` is the temporary table of the tickets that are asked for (held_charges.holdings).
_OF_ASKED = """
SELECT ticket_no, charge, product, wire, voucher, number, coalesce(amount, 0), buyer, issued_at, evidence, found_at
FROM asked CROSS JOIN elsewhere USING (ticket_no) WHERE live = 1 ORDER BY elsewhere
"""


def record(
    connection: apsw.Connection, run: int, lines: Iterable[tuple[StatementLine, str]], found_by: str
) -> list[StatementLine]:
    """Hold the charges of these statement lines, each with its code for the carrier; those that were not recorded yet.

    A line that was withdrawn and is shown again is recorded again: a statement that is read after the withdrawal says
    so anew. One whose number was reversed holds nothing.
    """
    held = []
    with connection:
        for line, wire in lines:
            known: Any = connection.execute(
                "SELECT 1 FROM elsewhere WHERE ticket_no = ? AND charge = ? AND product = ? AND voucher = ? AND number = ?"
                " AND withdrawn = 0",
                (line.ticket_no, line.charge, line.product, line.voucher, line.number),
            ).get
            if known:
                continue
            connection.execute(
                "INSERT INTO elsewhere (run, ticket_no, charge, product, wire, voucher, number, amount, buyer, issued_at,"
                " evidence, found_by, found_at, live) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NOT EXISTS ("
                "SELECT 1 FROM reversal WHERE number = ?7 AND voucher = ?6 AND withdrawn = 0"
                " AND (attempt_id IS NULL OR ?2 IN (SELECT ticket_no FROM charge WHERE attempt_id = reversal.attempt_id))))",
                (run, *shown(line, wire), found_by, utc_now()),
            )
            held.append(line)
    return held


def shown(line: StatementLine, wire: str) -> tuple[Any, ...]:
    """What is recorded of a line, in the order of the columns between the run and who found it."""
    return (
        line.ticket_no, line.charge, line.product, wire, line.voucher, line.number, line.amount, line.buyer, line.issued_text,
        to_text(said(line.place)),
    )  # fmt: skip


def lines_of(connection: apsw.Connection, tickets_or_numbers: Iterable[str]) -> list[StatementLine]:
    """What earlier statements showed of these tickets, or under these numbers, as the lines that they were.

    What was withdrawn or reversed is not among them.
    """
    rows: set[Any] = {
        row
        for asked in set(tickets_or_numbers)
        for row in connection.execute(
            "SELECT elsewhere, ticket_no, voucher, number, charge, product, amount, issued_at, buyer, evidence FROM elsewhere"
            " WHERE elsewhere IN (SELECT elsewhere FROM elsewhere WHERE ticket_no = ?1 AND withdrawn = 0"
            " UNION SELECT elsewhere FROM elsewhere WHERE number = ?1) AND withdrawn = 0 AND live = 1",
            (asked,),
        )
    }
    return [
        StatementLine(*row[2:4], row[1], *row[4:7], _day(row[7]), row[8], from_text(row[9]), "")  # type: ignore[call-arg]
        for row in sorted(rows, key=lambda row: (row[1], row[0]))
    ]


def _day(text: str) -> datetime.date | None:
    return datetime.date.fromisoformat(text[:10]) if text else None


def other_ticket(connection: apsw.Connection, number: str, attempt_id: int) -> str:
    """A ticket that statements showed under a number and that this attempt does not ask for; "" for none."""
    found: str | None = connection.execute(
        "SELECT min(ticket_no) FROM elsewhere WHERE number = ? AND withdrawn = 0"
        " AND ticket_no NOT IN (SELECT ticket_no FROM charge WHERE attempt_id = ?)",
        (number, attempt_id),
    ).get
    return found or ""


def of_asked(connection: apsw.Connection) -> list[KnownCharge]:
    """What is held of the tickets in `asked`."""
    return [_holding(row) for row in connection.execute(_OF_ASKED)]


def reversed_of_asked(connection: apsw.Connection) -> list[tuple[Identity, str]]:
    """The charges of the tickets in `asked` whose vouchers were reversed, with the numbers."""
    rows = connection.execute(
        "SELECT ticket_no, charge, product, number FROM asked CROSS JOIN elsewhere USING (ticket_no)"
        " WHERE live = 0 AND withdrawn = 0"
    )
    return [(Identity(*row[:3]), row[3]) for row in rows]


def _holding(row: Sequence[Any]) -> KnownCharge:
    ticket_no, charge, product, wire, voucher, number, amount, buyer, issued_at, evidence, found_at = row
    return KnownCharge(
        Identity(ticket_no, charge, product), wire, voucher, "issued", number, amount, "", buyer, "", "", 0, 0,
        found_at, "", NOTHING, evidence, "", 0, elsewhere=True, issued_at=issued_at,
    )  # fmt: skip
