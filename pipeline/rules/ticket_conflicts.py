"""Conflicts between the rows of one ticket: used here and refunded there; its fare an itinerary and its refund an invoice.

Sources: carrier-interface.md, Issue invoice, rule 2, and Issue itinerary, rule 6 (an invoice or an itinerary, never
both); Terms (a fare is of a ticket that was used, a refund of one that was refunded: of a ticket whose rows say both,
neither is known to be owed).
"""

from functools import partial

import numpy as np

from pipeline.model.encoded_column import EncodedColumn
from pipeline.model.message import Message, Term, message
from pipeline.model.table import Finding
from pipeline.rules.related_rows import Together, places
from pipeline.rules.rows import Rows
from pipeline.rules.rule import fare, identified, refund


def voucher_conflicts(rows: Rows, kinds: EncodedColumn) -> list[Finding]:
    """`voucher_conflict` within the input: a ticket's fare and refund as different kinds of voucher.

    `kinds` is each row's kind, the ledger's where it holds the charge already.
    """
    mine = np.flatnonzero(identified(rows) & (fare(rows) | refund(rows)) & ~kinds.says(""))
    groups = Together.of(mine, rows.same_ticket[mine])
    mixed = groups.differ(kinds.codes[groups.rows])
    return groups.finding("voucher_conflict", "voucher", rows, mixed[groups.group])


def status_conflicts(rows: Rows) -> list[Finding]:
    """`status_conflict`: fares and refunds of a ticket that is used on one row and refunded on another.

    Every row of the ticket counts as what it says, a service's too and one with mistakes. A ticket that is both says
    `partly_used`; a ticket that is open on another row only waits there. Of rows corrected on an earlier result, what others said that
    were not there (a service's row, which was sent) counts, too.
    """
    saying = {
        name: rows.says("ticket_status", name) | rows.says("elsewhere", name) for name in ("used", "refunded")
    }
    contradicted = np.all([rows.of_tickets(said) for said in saying.values()], axis=0)
    refused = np.flatnonzero(contradicted & (fare(rows) | refund(rows)))
    if not len(refused):
        return []
    tickets = rows.same_ticket[refused].tolist()
    facts = {}
    for name, said in saying.items():
        at: dict[int, list[int]] = {}
        for row in np.flatnonzero(contradicted & said).tolist():
            at.setdefault(int(rows.same_ticket[row]), []).append(row)
        where = {ticket: places(partial(_place, rows, name), those) for ticket, those in at.items()}
        facts[f"{name}_at"] = [where[ticket] for ticket in tickets]
    return [Finding("status_conflict", "ticket_status", refused, facts)]


def _place(rows: Rows, said: str, row: int) -> Message:
    """Where a ticket's status is said, in a row's own cell or in the one that is about other rows."""
    if rows.ticket_status[row] == said:
        return rows.place(row)
    return message("{place}, column {column}", place=rows.place(row), column=Term("status_of_other_rows"))
