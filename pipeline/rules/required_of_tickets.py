"""Required columns: what every row needs before anything else can be said of it (design: "every row … invalid").

Sources: the terms and request documents of carrier-interface.md name what a request is made of; which
columns carry it is interface.md ("Input columns").
"""

import numpy as np

from pipeline.model.profile import Terms
from pipeline.model.table import Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import (
    Example,
    Rule,
    ancillary,
    blank,
    fare,
    invoice,
    itinerary,
    unreadable_part,
)
from pipeline.rules.ticket_status import used

_COLUMNS = "interface.md, Input columns"
REQUEST = "carrier-interface.md, Invoice request and Itinerary request"


def _always(column: str, source: str, *examples: Example) -> Rule:
    return Rule(
        "missing_value", column, source, lambda rows, _terms: blank(rows, column),
        (Example(True, {column: ""}), Example(False, {}), *examples),
    )  # fmt: skip


def _no_amount(rows: Rows, _terms: Terms) -> Mask:
    return np.asarray((rows.amount == 0) & ~rows.bad("amount") & ~unreadable_part(rows), dtype=bool)


def _no_product(rows: Rows, _terms: Terms) -> Mask:
    return ancillary(rows) & blank(rows, "product")


def _no_day(column: str, rows: Rows) -> Mask:
    days = rows.flight_date if column == "flight_date" else rows.used_on
    return np.isnat(days) & ~rows.bad(column)


def _no_flight_date(rows: Rows, _terms: Terms) -> Mask:
    return fare(rows) & used(rows) & itinerary(rows) & _no_day("flight_date", rows)


def _no_use_date(rows: Rows, _terms: Terms) -> Mask:
    """An invoice's fare needs the day of use, for which the flight date stands in."""
    return fare(rows) & used(rows) & invoice(rows) & _no_day("used_on", rows) & ~rows.bad("flight_date")


def _no_purchase(rows: Rows, _terms: Terms) -> Mask:
    return ancillary(rows) & np.isnat(rows.purchased_on) & ~rows.bad("purchased_on")


NEEDS_FLIGHT_DATE = Rule(
    "missing_value", "flight_date", "carrier-interface.md, Limits: flight age for itinerary",
    _no_flight_date,
    (
        Example(True, {"voucher": "itinerary", "flight_date": "", "used_on": "2026-10-01"}),
        Example(False, {"voucher": "invoice", "flight_date": "", "used_on": "2026-10-01"}),
        Example(False, {"voucher": "itinerary", "flight_date": "", "ticket_status": "open"}),
    ),
)  # fmt: skip

OF_TICKETS = (
    _always("ticket_no", REQUEST),
    _always("passenger_name", REQUEST),
)

OF_CHARGES = (
    _always("charge", _COLUMNS),
    _always("market", "carrier-interface.md, Limits: domestic and international invoices"),
    _always("ticket_status", "carrier-interface.md, Limits: ticket eligibility"),
    Rule(
        "missing_value", "amount", _COLUMNS, _no_amount,
        (
            Example(True, {"amount": ""}),
            Example(False, {"amount": "", "fare": "950", "airport_fee": "50"}),
            Example(True, {"amount": "", "refund_fee": "50"}),  # not a component of a fare
            Example(False, {"amount": "abc"}),  # bad_amount
        ),
    ),
    Rule(
        "missing_value", "product", _COLUMNS, _no_product,
        (
            Example(True, {"charge": "ancillary", "product": "", "purchased_on": "2026-10-01"}),
            Example(False, {"charge": "ancillary", "product": "seat", "purchased_on": "2026-10-01"}),
            Example(False, {"product": ""}),
        ),
    ),
    NEEDS_FLIGHT_DATE,
    Rule(
        "missing_value", "flight_date", "carrier-interface.md, Limits: time to request ticket fare charge",
        _no_use_date,
        (
            Example(True, {"flight_date": "", "used_on": ""}),
            Example(False, {"flight_date": "", "used_on": "2026-10-01"}),
            Example(False, {"flight_date": "2026-10-01", "used_on": ""}),
        ),
    ),
    Rule(
        "missing_value", "purchased_on", "carrier-interface.md, Limits: time to request ancillary charge",
        _no_purchase,
        (
            Example(True, {"charge": "ancillary", "product": "meal", "purchased_on": ""}),
            Example(False, {"charge": "ancillary", "product": "meal", "purchased_on": "2026-10-01"}),
        ),
    ),
)  # fmt: skip
