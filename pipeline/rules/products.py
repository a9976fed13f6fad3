"""Products that fit their charge: of a fare or a refund the flight alone, of an ancillary charge anything else.

Source: interface.md, Input columns.
"""

from pipeline.model.columns import PRODUCTS
from pipeline.model.message import terms
from pipeline.model.profile import Terms
from pipeline.model.table import Indices, Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Example, Facts, Rule, ancillary, choices, fare, refund


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


RULES = (
    Rule(
        "bad_choice", "product", "interface.md, Input columns", _wrong_product,
        (
            Example(True, {"product": "seat"}),
            Example(True, {"charge": "ancillary", "product": "flight", "purchased_on": "2026-10-01"}),
            Example(False, {"charge": "ancillary", "product": "lounge", "purchased_on": "2026-10-01"}),
            Example(False, {"product": "flight"}),
        ),
        _products_that_fit,
    ),
)  # fmt: skip
