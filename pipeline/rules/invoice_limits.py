"""The limit of a single invoice.

Source: carrier-interface.md, Limits (10000 for one domestic invoice, 100000 for one international invoice; exactly
the limit is allowed).
"""

import numpy as np

from pipeline.model.lazy import LazySequence
from pipeline.model.money import money_shown
from pipeline.model.profile import Terms
from pipeline.model.table import Indices, Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Example, Facts, Rule, invoice


def _over_limit(rows: Rows, terms: Terms) -> Mask:
    limits = terms.profile.limits
    domestic, unknown = rows.says("market", "domestic"), rows.says("market", "")
    limit = np.where(domestic, limits.domestic_invoice_max, limits.international_invoice_max)
    return np.asarray(invoice(rows) & ~unknown & (rows.amount > limit), dtype=bool)


def _limit(rows: Rows, broken: Indices, terms: Terms) -> Facts:
    limits = terms.profile.limits
    of_market = LazySequence(len(broken), lambda at: money_shown(limits.of_market(rows.market[broken[at]])))
    return {"limit": of_market}


RULES = (
    Rule(
        "amount_over_limit", "amount", "carrier-interface.md, Limits: maximum amount of a single invoice",
        _over_limit,
        (
            Example(False, {"amount": "10000"}),
            Example(True, {"amount": "10000.01"}),
            Example(False, {"amount": "100000", "market": "international"}),
            Example(True, {"amount": "100000.01", "market": "international"}),
            Example(False, {"amount": "10000.01", "voucher": "itinerary"}),
        ),
        _limit,
    ),
)  # fmt: skip
