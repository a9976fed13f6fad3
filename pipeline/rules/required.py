"""What every row needs before anything else can be said of it (design: "every row … invalid").

Sources: the terms and request documents of carrier-interface.md name what a request is made of; which
columns carry it is interface.md ("Input columns").
"""

from functools import partial

import numpy as np

from pipeline.model.blank_values import has_unseen, name_hint
from pipeline.model.columns import PRODUCTS
from pipeline.model.message import terms
from pipeline.model.profile import Terms
from pipeline.model.table import Indices, Mask
from pipeline.rules.normalise import unprintable
from pipeline.rules.rows import Rows
from pipeline.rules.rule import (
    Example,
    Facts,
    Rule,
    ancillary,
    blank,
    choices,
    fare,
    invoice,
    itinerary,
    refund,
    unreadable_part,
    used,
)

_COLUMNS = "interface.md, Input columns"
_REQUEST = "carrier-interface.md, Invoice request and Itinerary request"


def _always(column: str, source: str, *examples: Example) -> Rule:
    return Rule(
        "missing_value", column, source, lambda rows, _terms: blank(rows, column),
        (Example(True, {column: ""}), Example(False, {}), *examples),
    )  # fmt: skip


def _no_amount(rows: Rows, _terms: Terms) -> Mask:
    return np.asarray((rows.amount == 0) & ~rows.bad("amount") & ~unreadable_part(rows), dtype=bool)


def _name_has(slip: str, rows: Rows, _terms: Terms) -> Mask:
    broken = np.zeros(len(rows), dtype=bool)
    odd = unprintable(rows.passenger_name)  # every line break is
    broken[odd] = [name_hint(name) == slip for name in rows.passenger_name[odd]]
    return broken


def _unseen_remarks(rows: Rows, _terms: Terms) -> Mask:
    broken = np.zeros(len(rows), dtype=bool)
    odd = unprintable(rows.remarks)
    broken[odd] = [has_unseen(remarks) for remarks in rows.remarks[odd]]
    return broken & invoice(rows)


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


def _wrong_product(rows: Rows, _terms: Terms) -> Mask:
    is_flight = rows.says("product", "flight")
    is_service = ~rows.says("product", "") & ~is_flight
    wrong: Mask = ((fare(rows) | refund(rows)) & is_service) | (ancillary(rows) & is_flight)
    return wrong


def _products_that_fit(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
    services = terms((choice.name for choice in PRODUCTS if choice.name != "flight"), "choice")
    flight = terms(["flight"], "choice")
    return {
        "seen": choices(rows.product[broken].tolist()),
        "choices": [services if one else flight for one in ancillary(rows)[broken].tolist()],
    }


NEEDS_FLIGHT_DATE = Rule(
    "missing_value", "flight_date", "carrier-interface.md, Limits: flight age for itinerary",
    _no_flight_date,
    (
        Example(True, {"voucher": "itinerary", "flight_date": "", "used_on": "2026-10-01"}),
        Example(False, {"voucher": "invoice", "flight_date": "", "used_on": "2026-10-01"}),
        Example(False, {"voucher": "itinerary", "flight_date": "", "ticket_status": "open"}),
    ),
)  # fmt: skip

#: Where the interface says nothing: what no eye sees can't be compared with the ticket, and a terminal may obey it.
UNSEEN = "interface.md, Input columns: passenger_name as on the ticket, remarks as free text"

RULES = (
    _always("ticket_no", _REQUEST),
    _always("passenger_name", _REQUEST),
    Rule(
        "missing_value", "passenger_name", _REQUEST, partial(_name_has, "line_break"),
        (Example(True, {"passenger_name": "ZHANG\nWEI"}), Example(False, {"passenger_name": "ZHANG/\nWEI"})),
        lambda _rows, _broken, _terms: {"hint": "line_break"},
    ),
    Rule(
        "missing_value", "passenger_name", UNSEEN, partial(_name_has, "unseen_characters"),
        (
            Example(True, {"passenger_name": "ZHANG/WEI\x1b[31m"}), Example(True, {"passenger_name": "\u3164"}),
            Example(False, {"passenger_name": "\u200bZHANG/WEI\u00a0MR\ufeff"}),
        ),
        lambda _rows, _broken, _terms: {"hint": "unseen_characters"},
    ),
    Rule(
        "missing_value", "remarks", UNSEEN, _unseen_remarks,
        (Example(True, {"remarks": "PO 7\x1b[2J"}), Example(False, {"remarks": "PO 7,\nline 2"})),
        lambda _rows, _broken, _terms: {"hint": "unseen_characters"},
    ),
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
    Rule(
        "bad_choice", "product", _COLUMNS, _wrong_product,
        (
            Example(True, {"product": "seat"}),
            Example(True, {"charge": "ancillary", "product": "flight", "purchased_on": "2026-10-01"}),
            Example(False, {"charge": "ancillary", "product": "lounge", "purchased_on": "2026-10-01"}),
            Example(False, {"product": "flight"}),
        ),
        _products_that_fit,
    ),
)  # fmt: skip
