"""A ticket number: 13 digits.

Nothing is repaired: what is not 13 digits, or does not come to them, is refused with its likely cause. Source: interface.md,
Input columns: ticket_no.

>>> ticket_no("999-1234567890"), ticket_no(9991234567890.0)
('9991234567890', '9991234567890')
"""

import re
from typing import Any

from pipeline.model.shown_cells import shown
from pipeline.reading.character_width import one_width
from pipeline.reading.unreadable import Unreadable

#: How programs mark digits as a text, which in a CSV file is a part of the text.
_MARKED = re.compile(r"""="[0-9]{3}-?[0-9]{10}"|['\u2018\u2019`][0-9]{3}-?[0-9]{10}""")
_SPACES = re.compile(r"\s+")


def ticket_no(value: Any) -> str:
    """13 digits; spaces and a hyphen after the third are taken away.

    >>> ticket_no(991234567890.0)
    Traceback (most recent call last):
    ...
    pipeline.reading.unreadable.Unreadable: lost_zero
    """
    plain = one_width(shown(value))
    digits = _SPACES.sub("", plain)
    if re.fullmatch(r"[0-9]{3}-[0-9]{10}", digits):
        digits = digits.replace("-", "", 1)
    if re.fullmatch(r"[0-9]{13}", digits):
        return digits
    if re.search(r"[0-9]e[+-]?[0-9]", plain, re.IGNORECASE) or (isinstance(value, float) and value >= 10**13):
        raise Unreadable("spoilt_number")
    raise Unreadable(_ticket_slip(digits))


def _ticket_slip(digits: str) -> str:
    """The likely cause in what is no ticket number. No airline's code begins with three zeros."""
    if re.fullmatch(r"[0-9]{11,12}|[0-9]{1,2}-[0-9]{10}", digits):
        return "lost_zero"
    if re.fullmatch(r"[0-9]{10}", digits):
        return "no_airline_code"
    if re.fullmatch(r"[0-9]{3}-[0-9]{3}-?[0-9]{10}", digits):
        return "two_airline_codes"
    if _MARKED.fullmatch(digits):
        return "marked_as_text"
    if re.fullmatch(r"[0-9]{3}-?[0-9]{10}([-/,;、].*[0-9]+)", digits):
        return "several_tickets"
    letters = digits.upper().replace("O", "0").replace("I", "1").replace("L", "1")
    return "letters_in_number" if re.fullmatch(r"[0-9]{3}-?[0-9]{10}", letters) else ""
