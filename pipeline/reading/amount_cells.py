"""Cells with money: what a person may have typed, as whole minor units, or a refusal with its likely cause.

An amount of a charge is above zero; currencies other than the carrier's, units such as 万, and more than two decimals are refused.

>>> money("1,234.5"), money(0.1 + 0.2)
(123450, 30)
"""

import re
from decimal import Decimal, InvalidOperation
from typing import Any

from pipeline.model.money import MINOR
from pipeline.reading.character_width import one_width
from pipeline.reading.formats.currency_names import marks
from pipeline.reading.formats.shown_currencies import currencies_in, units_in
from pipeline.reading.unreadable import Unreadable

#: More than any ticket costs, and far from where whole minor units would overflow.
LARGEST_MONEY = 10**12 * MINOR

_SPACES = re.compile(r"\s+")
_BETWEEN_DIGITS = re.compile(r"[0-9.,]\s+[0-9.,]")
#: Spaces as separators of thousands: whole groups on one line.
_SPACED = re.compile(r"[^0-9]*[0-9]{1,3}(?: [0-9]{3})+(?:\.[0-9]*)?[^0-9]*")
_GROUPED = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?")
_BRACKETED = re.compile(r"\((.*)\)")


def money(value: Any, currency: str = "CNY") -> int:
    """An amount in the main unit of the carrier's currency as whole minor units; less than nothing is refused."""
    minor = signed_money(value, currency)
    if minor < 0:
        raise Unreadable("negative")
    return minor


def signed_money(value: Any, currency: str = "CNY") -> int:
    """Likewise, with its sign.

    A number is taken with the 15 digits that a spreadsheet keeps, so that a sum's rounding noise does
    no harm; more than two decimals are refused.
    """
    if isinstance(value, float):
        plain = format(value, ".15g")
    elif isinstance(value, str):
        plain = _amount_text(_one_amount(one_width(value).strip()).casefold(), marks(currency))
    else:
        raise Unreadable("")
    try:
        minor = Decimal(plain) * MINOR
    except InvalidOperation:
        raise Unreadable("") from None
    if not minor.is_finite() or abs(minor) > LARGEST_MONEY:
        raise Unreadable("")
    if minor != minor.to_integral_value():
        raise Unreadable("decimals")
    return int(minor)


def _one_amount(plain: str) -> str:
    """An amount's text without spaces; two numbers in one cell are no amount.

    >>> _one_amount("CNY 1 234 567.50"), _one_amount("12.50 元")
    ('CNY1234567.50', '12.50元')
    """
    if _BETWEEN_DIGITS.search(plain) and not _SPACED.fullmatch(plain):
        raise Unreadable("several_amounts")
    return _SPACES.sub("", plain)


def _amount_text(plain: str, own: re.Pattern[str]) -> str:
    """The digits of an amount's text: no currency, no grouping; a sign in front if it is negative."""
    sign = ""
    if inside := _BRACKETED.fullmatch(plain):  # accounting's way to write what is negative
        plain, sign = inside[1], "-"
    bare = own.sub("", own.sub("", plain))
    if bare.startswith(("-", "\u2212")) and bare[1:]:
        bare, sign = own.sub("", bare[1:]), "-"
    if _GROUPED.fullmatch(bare):
        bare = bare.replace(",", "")
    if re.fullmatch(r"[0-9]+\.[0-9]{3,}", bare):
        raise Unreadable("decimals")  # 1.500 may mean 1500
    if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{3})*,[0-9]{1,2}", bare):
        raise Unreadable("comma")
    if not re.fullmatch(r"[0-9]*(\.[0-9]{0,2})?", bare):
        if units_in(bare) and re.search("[0-9]", bare):
            raise Unreadable("unit")
        other = _OTHER.search(bare) or currencies_in(plain)
        raise Unreadable("currency" if other and re.search("[0-9]", bare) else "")
    if not re.search("[0-9]", bare):
        raise Unreadable("")
    return sign + bare


_OTHER = re.compile(r"^[a-z]{2,3}\.?[0-9]|[0-9][a-z]{3}$|欧")


def amount(value: Any, currency: str = "CNY") -> int:
    """A charge's total: an amount above zero."""
    minor = money(value, currency)
    if minor == 0:
        raise Unreadable("")
    return minor
