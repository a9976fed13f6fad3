"""Days that can't be: what has happened has not happened in the future.

Source: interface.md, Reason codes (`date_in_future`). A used ticket's flight and use, and an ancillary
purchase, lie on the day that the run judges on or before it. A refunded ticket's flight may be still to come.
"""

from pipeline.model.profile import Terms
from pipeline.model.table import Indices, Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import REFUND, Example, Facts, Rule, after, ancillary, day_texts
from pipeline.rules.ticket_status import used

_SOURCE = "interface.md, Reason codes: date_in_future"


def _flight(rows: Rows, terms: Terms) -> Mask:
    return used(rows) & after(rows.flight_date, terms.as_of)


def _use(rows: Rows, terms: Terms) -> Mask:
    return used(rows) & after(rows.given_used_on, terms.as_of)


def _purchase(rows: Rows, terms: Terms) -> Mask:
    return ancillary(rows) & after(rows.purchased_on, terms.as_of)


RULES = (
    Rule(
        "date_in_future", "flight_date", _SOURCE, _flight,
        (
            Example(False, {"flight_date": "2026-11-20"}),
            Example(True, {"flight_date": "2026-11-21"}),
            Example(False, {"flight_date": "2026-11-21", "ticket_status": "open"}),
            Example(True, {"flight_date": "2026-11-21", "ticket_status": "partly_used"}),
            Example(False, {"flight_date": "2026-11-21", **REFUND}),
            Example(False, {"flight_date": "2026-11-21", **REFUND, "ticket_status": "partly_used"}),
        ),
        lambda rows, broken, _terms: _seen(rows, "flight_date", broken),
    ),
    Rule(
        "date_in_future", "used_on", _SOURCE, _use,
        (
            Example(False, {"used_on": "2026-11-20"}),
            Example(True, {"used_on": "2026-11-21"}),
            Example(False, {"used_on": "2026-11-21", **REFUND}),
        ),
        lambda rows, broken, _terms: _seen(rows, "given_used_on", broken),
    ),
    Rule(
        "date_in_future", "purchased_on", _SOURCE, _purchase,
        (
            Example(False, {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-20"}),
            Example(True, {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-21"}),
            Example(False, {"purchased_on": "2026-11-21"}),
        ),
        lambda rows, broken, _terms: _seen(rows, "purchased_on", broken),
    ),
)  # fmt: skip


def _seen(rows: Rows, column: str, broken: Indices) -> Facts:
    return {"seen": day_texts(getattr(rows, column)[broken])}
