"""Refund charges: only after the refund has been approved.

Source: carrier-interface.md, Limits (time to request refund charge).
"""

import numpy as np

from pipeline.model.profile import Terms
from pipeline.model.table import Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import REFUND, Example, Rule, after, refund


def _not_approved(rows: Rows, terms: Terms) -> Mask:
    """Blank, or a day that has not come, whatever the ticket's status; a day that can't be read is a finding of the reader's."""
    missing = np.isnat(rows.refund_approved_on) & ~rows.bad("refund_approved_on")
    return refund(rows) & (missing | after(rows.refund_approved_on, terms.as_of))


RULES = (
    Rule(
        "refund_not_approved", "refund_approved_on",
        "carrier-interface.md, Limits: time to request refund charge, after the refund has been approved",
        _not_approved,
        (
            Example(True, {**REFUND, "refund_approved_on": ""}),
            Example(False, {**REFUND, "refund_approved_on": "2026-11-20"}),
            Example(True, {**REFUND, "refund_approved_on": "2026-11-21"}),
            Example(True, {**REFUND, "ticket_status": "open", "refund_approved_on": ""}),
        ),
    ),
)  # fmt: skip
