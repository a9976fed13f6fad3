"""Ticket numbers: 13 digits, which may stand in two columns: the airline's three (ticket_prefix 结算代码), and the other ten.

Nothing is repaired: what is not 13 digits, or does not come to them, is refused with its likely cause. Source: interface.md,
Input columns: ticket_no, ticket_prefix.

>>> ticket_no("999-1234567890"), ticket_no(9991234567890.0)
('9991234567890', '9991234567890')
>>> prefixes, numbers = ["999", 999.0, "18", "", "784"], [2420000001.0, "9992420000001"] * 2 + ["999-2420000001"]
>>> put_together({"ticket_prefix": Cells.of(prefixes), "ticket_no": Cells.of(numbers)}).objects().tolist()
['999-2420000001', '9992420000001', '18-2420000001', '9992420000001', '784-999-2420000001']
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.model.table import shown
from pipeline.reading.character_width import one_width
from pipeline.reading.heading_rows import Layout
from pipeline.reading.sheet import Cells, Sheet
from pipeline.reading.unreadable import Unreadable

_AIRLINE, _REST, _WHOLE = (re.compile(digits) for digits in ("[0-9]{3}", "[0-9]{10}", "[0-9]{3}-?[0-9]{10}"))


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


def of_sheet(sheet: Sheet, layout: Layout) -> Cells:
    """The ticket numbers of all rows of a sheet that has headings of tickets."""
    wanted = ("ticket_no", "ticket_prefix")
    return put_together(
        {name: sheet.columns[layout.columns[name]] for name in wanted if name in layout.columns}
    )


def put_together(columns: Mapping[str, Cells]) -> Cells:
    """Each row's ticket number: the cell itself, or the airline's digits and the other ten."""
    numbers = columns["ticket_no"]
    if "ticket_prefix" not in columns:
        return numbers
    prefixes, size = columns["ticket_prefix"], len(numbers.different)
    pairs, codes = np.unique(prefixes.codes.astype(np.int64) * size + numbers.codes, return_inverse=True)
    found = [
        _ticket_no(prefixes.different[prefix], numbers.different[number])
        for prefix, number in zip(*(part.tolist() for part in np.divmod(pairs, size)), strict=True)
    ]
    return Cells(found, codes.astype(np.int32))


def _ticket_no(prefix: Any, number: Any) -> Any:
    """Both as one text; a number that is whole says all, unless another airline's digits stand beside it."""
    airline, plain = (_SPACES.sub("", one_width(shown(cell))) for cell in (prefix, number))
    differs = _WHOLE.fullmatch(plain) and _AIRLINE.fullmatch(airline) and not plain.startswith(airline)
    return f"{airline}-{plain}" if differs or (airline and _REST.fullmatch(plain)) else number
