"""Charges that an itinerary may have: ticket fares alone.

Source: carrier-interface.md, Issue itinerary, rule 3. That a refund can't be an itinerary is inferred from "only used
tickets" for itineraries.
"""

from pipeline.model.profile import Terms
from pipeline.model.table import Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import REFUND, Example, Rule, ancillary, itinerary, refund


def _as_itinerary(rows: Rows, _terms: Terms) -> Mask:
    return (refund(rows) | ancillary(rows)) & itinerary(rows)


RULES = (
    Rule(
        "not_an_itinerary_charge", "voucher",
        "carrier-interface.md, Issue itinerary, rule 3: only a ticket that has been used (for refunds an inference)",
        _as_itinerary,
        (
            Example(True, {**REFUND, "voucher": "itinerary"}),
            Example(True, {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01", "voucher": "itinerary"}),
            Example(False, {"voucher": "itinerary"}),
            Example(False, {**REFUND, "voucher": "auto"}),
        ),
    ),
)  # fmt: skip
