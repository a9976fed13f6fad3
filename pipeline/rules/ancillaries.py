"""Ancillary charges: on tickets already used or refunded. How long they may be requested is in deadlines.py.

Source: carrier-interface.md, Limits (ticket eligibility for invoicing).
"""

from pipeline.model.profile import Terms
from pipeline.model.table import Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Example, Rule, ancillary, still_open


def _open(rows: Rows, _terms: Terms) -> Mask:
    return ancillary(rows) & still_open(rows)


_SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-10-01"}

RULES = (
    Rule(
        "ticket_still_open", "ticket_status",
        "carrier-interface.md, Limits: only tickets already used or already refunded",
        _open,
        (
            Example(True, {**_SEAT, "ticket_status": "open"}),
            Example(False, {**_SEAT, "ticket_status": "refunded"}),
            Example(False, _SEAT),
        ),
    ),
)  # fmt: skip
