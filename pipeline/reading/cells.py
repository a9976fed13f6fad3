"""Single cells: what a person may have typed, as the value that it can only mean, or a refusal.

Nothing is guessed. A number that a spreadsheet has already spoilt (a lost leading zero, digits beyond
the fifteenth) is refused rather than repaired.

>>> ticket_no("999-1234567890"), ticket_no(9991234567890.0)
('9991234567890', '9991234567890')
>>> money("1,234.5"), money(0.1 + 0.2)
(123450, 30)
>>> day("2026年3月5日")
datetime.date(2026, 3, 5)
"""

import datetime
import re
import unicodedata
from decimal import Decimal, InvalidOperation
from typing import Any

from pipeline.reading.headings import CHOICE_WORDS, folded
from pipeline.table import MINOR, shown

#: More than any ticket costs, and far from where whole minor units would overflow.
LARGEST_MONEY = 10**12 * MINOR

_SPACES = re.compile(r"\s+")
_GROUPED = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?")
_DATES = (
    re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"),
    re.compile(r"([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})"),
    re.compile(r"([0-9]{4})\.([0-9]{1,2})\.([0-9]{1,2})"),
    re.compile(r"([0-9]{4})年([0-9]{1,2})月([0-9]{1,2})[日号]"),
    re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})"),
)
_MIDNIGHT = re.compile(r"[T ]00:00(:00(\.0+)?)?$")


class Unreadable(ValueError):
    """A cell that can't be read; its text is a hint's code (reasons.HINTS) or ""."""


def text(value: Any) -> str:
    """A cell as text: width folded in digits and spaces only at the ends taken away."""
    return shown(value).replace("\u00a0", " ").replace("\u3000", " ").strip()


def ticket_no(value: Any) -> str:
    """13 digits; spaces and a hyphen after the third are taken away.

    >>> ticket_no(991234567890.0)
    Traceback (most recent call last):
    ...
    pipeline.reading.cells.Unreadable: lost_zero
    """
    plain = unicodedata.normalize("NFKC", shown(value))
    digits = _SPACES.sub("", plain)
    if re.fullmatch(r"[0-9]{3}-[0-9]{10}", digits):
        digits = digits.replace("-", "", 1)
    if re.fullmatch(r"[0-9]{13}", digits):
        return digits
    if isinstance(value, float) and re.fullmatch(r"[0-9]{10,12}", digits):
        raise Unreadable("lost_zero")
    if re.search(r"[0-9]e[+-]?[0-9]", plain, re.IGNORECASE) or (isinstance(value, float) and value >= 10**13):
        raise Unreadable("spoilt_number")
    raise Unreadable("")


def money(value: Any) -> int:
    """An amount in the main unit as whole minor units.

    A number is taken with the 15 digits that a spreadsheet keeps, so that a sum's rounding noise does
    no harm; more than two decimals are refused, and so is less than nothing.
    """
    if isinstance(value, float):
        plain = format(value, ".15g")
    elif isinstance(value, str):
        plain = _SPACES.sub("", unicodedata.normalize("NFKC", value)).removeprefix("¥").removeprefix("CNY")
        plain = plain.removesuffix("元")
        plain = plain.replace(",", "") if _GROUPED.fullmatch(plain) else plain
        if not re.fullmatch(r"[0-9]*(\.[0-9]{0,2})?", plain):  # 1.500 may mean 1500
            raise Unreadable("")
    else:
        raise Unreadable("")
    try:
        minor = Decimal(plain) * MINOR
    except InvalidOperation:
        raise Unreadable("") from None
    if minor != minor.to_integral_value() or not 0 <= minor <= LARGEST_MONEY:
        raise Unreadable("")
    return int(minor)


def amount(value: Any) -> int:
    """A charge's total: an amount above zero."""
    minor = money(value)
    if minor == 0:
        raise Unreadable("")
    return minor


def day(value: Any) -> datetime.date:
    """A calendar day: a date cell, or a text with the year first.

    A text such as 03/04/2026 could be two days and is refused; so is a bare number, which may be a
    date that lost its format.
    """
    if isinstance(value, datetime.date):
        return _sensible(value.date() if isinstance(value, datetime.datetime) else value)
    plain = _SPACES.sub(" ", unicodedata.normalize("NFKC", shown(value))).strip()
    plain = _MIDNIGHT.sub("", plain)
    for pattern in _DATES:
        if match := pattern.fullmatch(plain):
            year, month, monthday = (int(part) for part in match.groups())
            try:
                found = datetime.date(year, month, monthday)
            except ValueError:
                raise Unreadable("") from None
            return _sensible(found)
    raise Unreadable("")


def _sensible(found: datetime.date) -> datetime.date:
    """No ticket's day lies elsewhere; a spreadsheet's day 1 is 1900-01-01."""
    if not 1950 <= found.year <= 2200:
        raise Unreadable("")
    return found


def choice(column: str, value: Any) -> str:
    """The name of a choice, from any of its words."""
    try:
        return CHOICE_WORDS[column][folded(shown(value))]
    except KeyError:
        raise Unreadable("") from None
