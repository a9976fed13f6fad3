"""Ticket fares: only of used tickets. How long they may be requested is in deadlines.py.

Sources: carrier-interface.md, Terms, Limits, and Issue itinerary, rule 3.
"""

from pipeline.model.profile import Terms
from pipeline.model.table import Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Example, Rule, fare, refunded, still_open


def _open(rows: Rows, _terms: Terms) -> Mask:
    return fare(rows) & still_open(rows)


def _refunded(rows: Rows, _terms: Terms) -> Mask:
    return fare(rows) & refunded(rows)


RULES = (
    Rule(
        "ticket_still_open", "ticket_status",
        "carrier-interface.md, Terms: issued when the ticket has been used; Limits: ticket eligibility",
        _open,
        (Example(True, {"ticket_status": "open"}), Example(False, {"ticket_status": "used"})),
    ),
    Rule(
        "ticket_not_used", "ticket_status",
        "carrier-interface.md, Terms: issued when the ticket has been used; Issue itinerary, rule 3",
        _refunded,
        (
            Example(True, {"ticket_status": "refunded"}),
            Example(True, {"ticket_status": "refunded", "voucher": "itinerary"}),
            Example(False, {"ticket_status": "open"}),
        ),
    ),
)  # fmt: skip
