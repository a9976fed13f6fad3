"""What `auto` becomes: an itinerary where a ticket fare may have one, else an invoice.

Source: interface.md, Input columns (voucher).
"""

from collections.abc import Mapping

import numpy as np

from pipeline.model.encoded_column import EncodedColumn
from pipeline.model.known_charges import KnownCharge
from pipeline.model.profile import Terms
from pipeline.model.table import Mask, among
from pipeline.rules import deadlines, required_of_buyers, required_of_tickets
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Rule, fare, refund

#: The conditions that an itinerary has beyond those of an invoice; by them `auto` chooses.
ITINERARY_CONDITIONS: tuple[Rule, ...] = (
    required_of_tickets.NEEDS_FLIGHT_DATE,
    required_of_buyers.NEEDS_EMAIL,
    required_of_buyers.NEEDS_PHONE,
    deadlines.FLIGHT_TOO_OLD,
)


def with_auto_decided(
    rows: Rows, held: Mapping[int, KnownCharge], bound: Mapping[str, KnownCharge], terms: Terms
) -> Rows:
    """The rows with `auto` decided: an itinerary where a fare's conditions for one hold, else an invoice.

    Conditions are the itinerary's own, and that the ticket is not bound to invoices already, by the
    ledger or by a refund in the same input. A charge that the ledger holds stays what it was.
    """
    voucher, auto = rows.coded("voucher"), rows.says("voucher", "auto")
    supposed = rows.asking(voucher.but(auto & fare(rows), "itinerary"))
    broken = np.any([rule.broken(supposed, terms) for rule in ITINERARY_CONDITIONS], axis=0)
    has_refund = rows.of_tickets(refund(rows))
    to_invoices = among(rows.ticket_no, [ticket for ticket, h in bound.items() if h.voucher == "invoice"])
    itinerary = fare(rows) & ~broken & ~has_refund & ~to_invoices
    chosen = voucher.but(auto, "invoice").but(auto & itinerary, "itinerary")
    return rows.asking(as_held(chosen, held, auto))


def as_held(kinds: EncodedColumn, held: Mapping[int, KnownCharge], where: Mask) -> EncodedColumn:
    """Kinds of voucher, those of the charges that the ledger holds as it has them."""
    for voucher in {holding.voucher for holding in held.values()}:
        mine = np.zeros(len(kinds), dtype=bool)
        mine[[row for row, holding in held.items() if holding.voucher == voucher]] = True
        kinds = kinds.but(mine & where, voucher)
    return kinds
