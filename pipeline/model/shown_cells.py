"""A cell as a person sees it in a spreadsheet program."""

import datetime
from typing import Any


def shown(value: Any) -> str:
    """A cell's value as text, as close as can be to what the spreadsheet program shows.

    >>> shown(9991234567890.0), shown(12.5), shown(datetime.datetime(2026, 3, 5))
    ('9991234567890', '12.5', '2026-03-05')
    """
    if isinstance(value, bytes):  # an error cell, or a formula without a result
        return value.decode()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 10**15 else format(value, ".15g")
    if isinstance(value, datetime.datetime):
        return str(value.date() if value.time() == datetime.time() else value)
    return str(value)
