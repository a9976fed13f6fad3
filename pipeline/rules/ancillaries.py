"""Ancillary charges: within one year after purchase, on tickets already used or refunded.

Source: carrier-interface.md, Limits (ticket eligibility for invoicing; time to request ancillary charge).
"""

from pipeline.model.profile import Terms
from pipeline.model.table import Indices, Mask
from pipeline.rules.deadlines import one_year_after
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Example, Facts, Rule, ancillary, before, day_texts, still_open


def _open(rows: Rows, _terms: Terms) -> Mask:
    return ancillary(rows) & still_open(rows)


def _window_closed(rows: Rows, terms: Terms) -> Mask:
    return ancillary(rows) & before(one_year_after(rows.purchased_on), terms.day)


def _last_day(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
    return {"last_day": day_texts(one_year_after(rows.purchased_on[broken]))}


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
    Rule(
        "ancillary_window_closed", "purchased_on",
        "carrier-interface.md, Limits: time to request ancillary charge, within one year after purchase",
        _window_closed,
        (
            Example(False, {**_SEAT, "purchased_on": "2025-11-20"}),
            Example(True, {**_SEAT, "purchased_on": "2025-11-19"}),
        ),
        _last_day,
    ),
)  # fmt: skip
