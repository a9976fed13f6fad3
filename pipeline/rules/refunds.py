"""Refund charges: only of refunded tickets whose refund is approved, and only as invoices.

Sources: carrier-interface.md, Limits (ticket eligibility for invoicing; time to request refund charge:
after the refund has been approved). That a refund can't be an itinerary is inferred from "only used
tickets" for itineraries.
"""

import numpy as np

from pipeline.model.profile import Terms
from pipeline.model.table import Indices, Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import (
    Example,
    Facts,
    Rule,
    after,
    ancillary,
    itinerary,
    money_texts,
    refund,
    refunded,
    still_open,
    used,
)


def _used(rows: Rows, _terms: Terms) -> Mask:
    return refund(rows) & used(rows)


def _open(rows: Rows, _terms: Terms) -> Mask:
    return refund(rows) & still_open(rows)


def _not_approved(rows: Rows, terms: Terms) -> Mask:
    """Blank, or a day that has not come; a day that can't be read is a finding of the reader's."""
    missing = np.isnat(rows.refund_approved_on) & ~rows.bad("refund_approved_on")
    return refund(rows) & refunded(rows) & (missing | after(rows.refund_approved_on, terms.day))


def _unclear(rows: Rows, _terms: Terms) -> Mask:
    """A bill with a used ticket's fare and a refund's fee, and no total that says which is to be issued."""
    return np.asarray((rows.left_fee != 0) & (rows.given_amount == 0), dtype=bool)


def _fee_facts(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
    return {"seen": money_texts(rows.left_fee[broken]), "hint": "fee_of_used"}


def _as_itinerary(rows: Rows, _terms: Terms) -> Mask:
    return (refund(rows) | ancillary(rows)) & itinerary(rows)


_REFUND = {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": "2026-11-01"}

RULES = (
    Rule(
        "ticket_not_refunded", "ticket_status",
        "carrier-interface.md, Terms: refund charge, issued when the ticket has been refunded",
        _used,
        (Example(True, {**_REFUND, "ticket_status": "used"}), Example(False, _REFUND)),
    ),
    Rule(
        "ticket_still_open", "ticket_status",
        "carrier-interface.md, Limits: only tickets already used or already refunded",
        _open,
        (Example(True, {**_REFUND, "ticket_status": "open"}), Example(False, _REFUND)),
    ),
    Rule(
        "refund_not_approved", "refund_approved_on",
        "carrier-interface.md, Limits: time to request refund charge, after the refund has been approved",
        _not_approved,
        (
            Example(True, {**_REFUND, "refund_approved_on": ""}),
            Example(False, {**_REFUND, "refund_approved_on": "2026-11-20"}),
            Example(True, {**_REFUND, "refund_approved_on": "2026-11-21"}),
        ),
    ),
    Rule(
        "bad_choice", "ticket_status", "interface.md, Input columns: refund_fee is a component of a refund, and no used ticket has one",
        _unclear,
        (
            Example(True, {"charge": "", "product": "", "amount": "", "fare": "900", "refund_fee": "50"}),
            Example(False, {"charge": "", "product": "", "amount": "900", "fare": "900", "refund_fee": "50"}),
            Example(False, {**_REFUND, "charge": "", "product": "", "amount": "", "fare": "900", "refund_fee": "50"}),
            Example(False, {"amount": "", "fare": "900", "refund_fee": "50"}),  # the row names its charge
        ),
        _fee_facts,
    ),
    Rule(
        "not_an_itinerary_charge", "voucher",
        "carrier-interface.md, Issue itinerary, rule 3: only a ticket that has been used (for refunds an inference)",
        _as_itinerary,
        (
            Example(True, {**_REFUND, "voucher": "itinerary"}),
            Example(True, {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01", "voucher": "itinerary"}),
            Example(False, {"voucher": "itinerary"}),
            Example(False, {**_REFUND, "voucher": "auto"}),
        ),
    ),
)  # fmt: skip
