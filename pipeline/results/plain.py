r"""Texts and values made fit for the files that they go into.

Cells come from anywhere, so a text may hold what a workbook can't: such characters make a file that
does not open. Nothing else of a text is changed.

>>> fit("bell\x07 and \ufffe, line\r\nbreak")
'bell and , line\nbreak'
>>> in_xml("<r>R&D _x0041_</r>")
'&lt;r&gt;R&amp;D _x005F_x0041_&lt;/r&gt;'
"""

import datetime
import re
from typing import Any

#: What a cell holds at most, in UTF-16 units; a longer text is cut, and ends in "…".
LONGEST = 32_767

_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
#: Finds what keeps a text from being written as it is.
SPECIAL = re.compile(r"[&<>_\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LOOKS_ESCAPED = re.compile(r"_(?=x[0-9a-fA-F]{4}_)")
_FIRST_DAY = datetime.datetime(1900, 3, 1)  # noqa: DTZ001 - calendar days have no time zone; before it, programs disagree
_EPOCH = datetime.datetime(1899, 12, 30)  # noqa: DTZ001 - likewise
_EXACT_DIGITS = 10**15


def fit(text: str) -> str:
    """A text without control characters, non-characters and lone surrogates, cut to a cell's length."""
    if _UNFIT.search(text):
        text = _UNFIT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if 2 * len(text) > LONGEST:
        units = text.encode("utf-16-le")
        if len(units) > 2 * LONGEST:
            return units[: 2 * (LONGEST - 1)].decode("utf-16-le", errors="ignore") + "…"
    return text


def one_line(text: str) -> str:
    r"""A text as part of one line of a terminal, which no escape sequence can reach.

    >>> one_line("two\nlines\x1b[31m")
    'two lines[31m'
    """
    return " ".join(fit(text).split())


def in_xml(text: str) -> str:
    """A text as a worksheet's XML holds it. What looks like the format's own escape is escaped."""
    escaped = fit(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LOOKS_ESCAPED.sub("_x005F_", escaped)


def digits(value: Any) -> str:
    """An identifier as text, as the spreadsheet program shows it: 13 digits never become 9.99E+12.

    >>> digits(9991234567890.0), digits("0123"), digits(9.991234567890123e16)
    ('9991234567890', '0123', '9.99123456789012e+16')
    """
    if isinstance(value, float):
        whole = value.is_integer() and abs(value) < _EXACT_DIGITS
        return str(int(value)) if whole else format(value, ".15g")
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return str(value.date())
    return str(value)


def serial(moment: datetime.datetime) -> float | None:
    """A date as the number that a workbook keeps, None where programs would show different days.

    >>> serial(datetime.datetime(2026, 11, 20)), serial(datetime.datetime(1900, 1, 1))
    (46346.0, None)
    """
    return None if moment < _FIRST_DAY else (moment - _EPOCH) / datetime.timedelta(days=1)
