"""The values of an itinerary's fields, out of the texts that stand in a file.

A 14th digit of a ticket number is its check digit (modulo 7, IATA; of the whole number or of the ten digits behind the airline's code); a
tail (`/106`) names the last number of a conjunction set by its last digits. Both forms are taken from other programs, not
from genuine files.
"""

import datetime
import re
import unicodedata
from decimal import Decimal

from pipeline.model.money import MINOR

Value = str | int | datetime.date | tuple[str, ...]

_DIGITS = 13
#: A conjunction set has four tickets at most in practice; what is longer is no set.
_MOST_TICKETS = 10
_LONGEST = 500
_MONEY_SIGNS = re.compile(r"(?:CNY|RMB|CN|[¥￥元,\s])", re.IGNORECASE)
_AMOUNT = re.compile(r"-?[0-9]{1,11}(?:\.[0-9]{1,9})?")
_DAY = re.compile(r"(\d{4})(?:[-/.年](\d{1,2})[-/.月](\d{1,2})日?|(\d{2})(\d{2}))(?:[T\s].*)?", re.DOTALL)
_TICKET = re.compile(r"(\d{13})(\d?)((?:/\d{1,13})*)")


def normal(text: str) -> str:
    """A text in one form of its characters, each run of blanks as one space, and of a bounded length."""
    return " ".join(unicodedata.normalize("NFKC", text[:_LONGEST]).split())


def money(text: str) -> int | None:
    """An amount in minor units.

    >>> money("CNY 1,000.00"), money("¥-0.5"), money("1.005"), money("¥"), money("1E9")
    (100000, -50, None, None, None)
    """
    amount = _MONEY_SIGNS.sub("", normal(text))
    if not _AMOUNT.fullmatch(amount):
        return None
    minor = Decimal(amount) * MINOR
    return int(minor) if minor == minor.to_integral_value() else None


def day(text: str) -> datetime.date | None:
    """A date.

    >>> day("2026-09-08"), day("2026年9月8日"), day("20260908"), day("2026-13-01")
    (datetime.date(2026, 9, 8), datetime.date(2026, 9, 8), datetime.date(2026, 9, 8), None)
    """
    if not (parts := _DAY.fullmatch(normal(text))):
        return None
    year, *rest = parts.groups()
    month, of_month = (part for part in rest if part)
    try:
        return datetime.date(int(year), int(month), int(of_month))
    except ValueError:
        return None


def number(text: str) -> str | None:
    """The 20 digits of an itinerary's number.

    >>> number(" 26948731111043132568 "), number("2694873111104313256X")
    ('26948731111043132568', None)
    """
    digits = normal(text).replace(" ", "")
    return digits if re.fullmatch("[0-9]{20}", digits) else None


def tickets(text: str) -> tuple[str, ...]:
    """All numbers of a conjunction set, each of 13 digits, in their order.

    >>> tickets("999-2400000017"), tickets("9992400000105/106"), tickets("999 2400000999/001")
    (('9992400000017',), ('9992400000105', '9992400000106'), ('9992400000999', '9992400001000', '9992400001001'))
    >>> tickets("99924000000171"), tickets("99924000000172"), tickets("99924000000179"), tickets("9992400000017、9992400000018"), tickets("12")
    (('9992400000017',), ('9992400000017',), (), ('9992400000017', '9992400000018'), ())
    """
    all_of_them: list[str] = []
    for part in re.split(r"[,;、，；]", normal(text)):
        if not (read := _TICKET.fullmatch(re.sub(r"[\s-]", "", part))) or not part.isascii():
            return ()
        first, check, tails = read.groups()
        if check and int(check) not in (int(first) % 7, int(first[3:]) % 7):
            return ()
        one_set = [int(first)]
        for tail in tails.split("/")[1:]:
            last = one_set[-1] + (int(tail) - one_set[-1]) % 10 ** len(tail)
            if last - one_set[0] >= _MOST_TICKETS:
                return ()
            one_set += range(one_set[-1] + 1, last + 1)
        all_of_them += (f"{ticket:0{_DIGITS}}" for ticket in one_set)
    return tuple(dict.fromkeys(all_of_them))


def name(text: str) -> str | None:
    """A name as it stands there."""
    return normal(text) or None


def tax_no(text: str) -> str | None:
    """A tax number without blanks, in capitals."""
    return normal(text).replace(" ", "").upper() or None


def alike(text: str) -> str:
    """What of a text is compared: no blanks, no case, one form of brackets and the like."""
    return normal(text).replace(" ", "").casefold()
