"""Refund fees on bills of used tickets: refused without a total that says which charge is to be issued.

Source: interface.md, Input columns.
"""

import numpy as np

from pipeline.model.profile import Terms
from pipeline.model.table import Indices, Mask
from pipeline.rules.rows import Rows
from pipeline.rules.rule import REFUND, Example, Facts, Rule, money_texts


def _unclear(rows: Rows, _terms: Terms) -> Mask:
    """A bill with a used ticket's fare and a refund's fee, and no total that says which is to be issued."""
    return np.asarray((rows.left_fee != 0) & (rows.given_amount == 0), dtype=bool)


def _fee_facts(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
    return {"seen": money_texts(rows.left_fee[broken]), "hint": "fee_of_used"}


RULES = (
    Rule(
        "bad_choice", "ticket_status", "interface.md, Input columns: refund_fee is a component of a refund, and no used ticket has one",
        _unclear,
        (
            Example(True, {"charge": "", "product": "", "amount": "", "fare": "900", "refund_fee": "50"}),
            Example(False, {"charge": "", "product": "", "amount": "900", "fare": "900", "refund_fee": "50"}),
            Example(False, {**REFUND, "charge": "", "product": "", "amount": "", "fare": "900", "refund_fee": "50"}),
            Example(False, {"amount": "", "fare": "900", "refund_fee": "50"}),  # the row names its charge
        ),
        _fee_facts,
    ),
)  # fmt: skip
