"""The carrier's codes of charges and buyers, which it must have told us before one can be sent.

Source: carrier-interface.md calls the other values of feeType, productType and header types "not
shown"; nothing is guessed (interface.md, Carrier profile).
"""

from pipeline.model.lazy import LazySequence
from pipeline.model.profile import Codes, Profile, Terms
from pipeline.model.table import Indices, Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import REFUND, Example, Facts, Rule, choices, invoice

_SOURCE = "carrier-interface.md, Invoice request: other values not shown"
_SECTION = {"charge": "fee_type", "product": "product_type", "header_type": "header_type"}


def _no_code(column: str, rows: Rows, terms: Terms) -> Mask:
    codes = getattr(terms.profile.codes, _SECTION[column])
    unset = [name for name, code in codes.items() if not code]
    return rows.coded(column).among(unset)


def _no_fee_type(rows: Rows, terms: Terms) -> Mask:
    return invoice(rows) & _no_code("charge", rows, terms)


def _no_product_type(rows: Rows, terms: Terms) -> Mask:
    return invoice(rows) & _no_code("product", rows, terms)


def _no_header_type(rows: Rows, terms: Terms) -> Mask:
    return _no_code("header_type", rows, terms)


def _key(column: str, rows: Rows, broken: Indices) -> Facts:
    seen: list[str] = rows.text(column)[broken].tolist()
    return {
        "seen": choices(seen),
        "key": LazySequence(len(seen), lambda at: f"[codes.{_SECTION[column]}] {seen[at]}"),
    }


_AS_SHOWN = Profile()  # only what the interface shows
_OURS = Profile(
    codes=Codes(fee_type={"ticket_fare": "FARE", "refund": "REFUND_FEE", "ancillary": "ANCILLARY"})
)
_SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01"}

RULES = (
    Rule(
        "code_not_configured", "charge", _SOURCE, _no_fee_type,
        (
            Example(True, {"charge": "ticket_fare"}, _AS_SHOWN),
            Example(False, {"charge": "ticket_fare", "voucher": "itinerary"}, _AS_SHOWN),
            Example(False, REFUND, _AS_SHOWN),
        ),
        lambda rows, broken, _terms: _key("charge", rows, broken),
    ),
    Rule(
        "code_not_configured", "product", _SOURCE, _no_product_type,
        (Example(True, _SEAT, _OURS), Example(False, REFUND, _OURS)),
        lambda rows, broken, _terms: _key("product", rows, broken),
    ),
    Rule(
        "code_not_configured", "header_type", _SOURCE, _no_header_type,
        (
            Example(True, {"voucher": "itinerary", "header_type": "individual"}, _AS_SHOWN),
            Example(False, {"voucher": "itinerary"}, _AS_SHOWN),
        ),
        lambda rows, broken, _terms: _key("header_type", rows, broken),
    ),
)  # fmt: skip
