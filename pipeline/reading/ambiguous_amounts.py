"""Words in headings of amounts: which taxes, whether they are in it, whether it is a price at all."""

import re

from pipeline.reading.cell_words import folded, normal

_ANY_TAXES = frozenset({"税费", "taxes", "税费合计", "税金"})
_TAX_INCLUDED = re.compile(r"(?<![不未])含(?:[机燃]|税)|税后|incl|(?:with|plus)tax|taxes?included")
_MONEY = (
    re.compile(r"价|款|price|fare"),
    re.compile(r"额|应[收付]|实[收付]|支付|小计|total|amount|cost|paid|sum"),
)


def any_taxes(heading: str) -> bool:
    """Whether a heading of taxes may hold every tax that there is, those with a column of their own too.

    >>> any_taxes("税费（元）"), any_taxes("其他税费")
    (True, False)
    """
    return normal(heading) in _ANY_TAXES


def tax_included(heading: str) -> bool:
    """Whether a fare's heading says that its taxes are in it.

    >>> tax_included("票价（含税）"), tax_included("Fare (incl. tax)"), tax_included("票价（不含税）")
    (True, True, False)
    """
    return bool(_TAX_INCLUDED.search(folded(heading)))


def says_money(heading: str) -> int:
    """How much a heading sounds like a price: 2 like a fare, 1 like another amount, 0 like none.

    >>> says_money("成交价"), says_money("应付金额"), says_money("部门")
    (2, 1, 0)
    """
    word = folded(heading)
    return next((2 - at for at, words in enumerate(_MONEY) if words.search(word)), 0)
