"""Amounts: components that add up.

Source: carrier-interface.md, Terms (what a charge is made of).
"""

from collections.abc import Callable, Sequence

import numpy as np

from pipeline.model.lazy import LazySequence
from pipeline.model.message import Fact, Private
from pipeline.model.profile import Terms
from pipeline.model.table import Indices, Mask, UnreadAmounts
from pipeline.rules.rows import Rows
from pipeline.rules.rule import Example, Facts, Rule, money_texts, unreadable_part


def _mismatch(rows: Rows, _terms: Terms) -> Mask:
    both = (rows.given_amount != 0) & (rows.components != 0)
    return np.asarray(both & ~unreadable_part(rows) & (rows.given_amount != rows.components), dtype=bool)


def _both_sums(rows: Rows, broken: Indices, _terms: Terms) -> Facts:
    paid_back = rows.paid_back[broken]
    return {
        "seen": money_texts(rows.given_amount[broken] + paid_back),
        "sum": money_texts(rows.components[broken] + paid_back),
        **_unread_facts(rows, broken),
    }


def _unread_facts(rows: Rows, broken: Indices) -> Facts:
    """Where a total is off by exactly what stands in one unread column: that column.

    Of several that fit a row it is the one that explains most rows; where two explain as many, none is named.
    """
    off = rows.given_amount[broken] - rows.components[broken]
    fitting = [(one, fits) for one in rows.unread if (fits := one.amounts[broken] == off).any()]
    if not fitting:
        return {}
    fitting.sort(key=lambda found: int(found[1].sum()))
    explained = np.array([int(fits.sum()) for _, fits in fitting])
    which = np.full(len(broken), -1)
    for at, (_, fits) in enumerate(fitting):
        tied = (which >= 0) & (explained[which] == explained[at])
        which = np.where(fits, np.where(tied, -1, at), which)

    def of_row(fact: Callable[[UnreadAmounts], Fact]) -> Sequence[Fact]:
        return LazySequence(len(which), lambda at: "" if which[at] < 0 else fact(fitting[which[at]][0]))

    return {
        "hint": of_row(lambda _: "off_by_unread"),
        "unread": of_row(lambda one: Private(one.heading)),
        "total": of_row(lambda one: Private(one.total)),
        "difference": money_texts(off),
    }


RULES = (
    Rule(
        "amount_mismatch", "amount", "interface.md, Input columns: if both are given they must add up",
        _mismatch,
        (
            Example(True, {"amount": "1000", "fare": "900", "airport_fee": "50", "fuel_surcharge": "49.99"}),
            Example(False, {"amount": "1000", "fare": "900", "airport_fee": "50", "fuel_surcharge": "50"}),
            Example(False, {"amount": "1000", "refund_fee": "50"}),  # not a component of a fare
            Example(False, {"amount": "", "fare": "900"}),
        ),
        _both_sums,
    ),
)  # fmt: skip
