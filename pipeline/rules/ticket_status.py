"""Which charges a ticket's status allows: fares of used tickets, refunds of refunded ones, ancillary charges of either.

How long they may be requested is in deadlines.py. Sources: carrier-interface.md, Terms, Limits (ticket eligibility for
invoicing), and Issue itinerary, rule 3.
"""

from pipeline.model.profile import Terms
from pipeline.model.table import Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import REFUND, Example, Rule, ancillary, fare, refund


def still_open(rows: Rows) -> Mask:
    """Tickets not used yet."""
    return rows.says("ticket_status", "open")


def used(rows: Rows) -> Mask:
    """Used tickets; of those that are used in part, the fares."""
    return rows.says("ticket_status", "used") | (rows.says("ticket_status", "partly_used") & fare(rows))


def refunded(rows: Rows) -> Mask:
    """Refunded tickets; of those that are used in part, the refunds."""
    return rows.says("ticket_status", "refunded") | (rows.says("ticket_status", "partly_used") & refund(rows))


def _fare_open(rows: Rows, _terms: Terms) -> Mask:
    return fare(rows) & still_open(rows)


def _fare_refunded(rows: Rows, _terms: Terms) -> Mask:
    return fare(rows) & refunded(rows)


def _refund_used(rows: Rows, _terms: Terms) -> Mask:
    return refund(rows) & used(rows)


def _refund_open(rows: Rows, _terms: Terms) -> Mask:
    return refund(rows) & still_open(rows)


def _ancillary_open(rows: Rows, _terms: Terms) -> Mask:
    return ancillary(rows) & still_open(rows)


_SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-10-01"}

OF_FARES = (
    Rule(
        "ticket_still_open", "ticket_status",
        "carrier-interface.md, Terms: issued when the ticket has been used; Limits: ticket eligibility",
        _fare_open,
        (Example(True, {"ticket_status": "open"}), Example(False, {"ticket_status": "used"})),
    ),
    Rule(
        "ticket_not_used", "ticket_status",
        "carrier-interface.md, Terms: issued when the ticket has been used; Issue itinerary, rule 3",
        _fare_refunded,
        (
            Example(True, {"ticket_status": "refunded"}),
            Example(True, {"ticket_status": "refunded", "voucher": "itinerary"}),
            Example(False, {"ticket_status": "open"}),
        ),
    ),
)  # fmt: skip

OF_REFUNDS = (
    Rule(
        "ticket_not_refunded", "ticket_status",
        "carrier-interface.md, Terms: refund charge, issued when the ticket has been refunded",
        _refund_used,
        (Example(True, {**REFUND, "ticket_status": "used"}), Example(False, REFUND)),
    ),
    Rule(
        "ticket_still_open", "ticket_status",
        "carrier-interface.md, Limits: only tickets already used or already refunded",
        _refund_open,
        (Example(True, {**REFUND, "ticket_status": "open"}), Example(False, REFUND)),
    ),
)  # fmt: skip

OF_ANCILLARIES = (
    Rule(
        "ticket_still_open", "ticket_status",
        "carrier-interface.md, Limits: only tickets already used or already refunded",
        _ancillary_open,
        (
            Example(True, {**_SEAT, "ticket_status": "open"}),
            Example(False, {**_SEAT, "ticket_status": "refunded"}),
            Example(False, _SEAT),
        ),
    ),
)  # fmt: skip
