"""Calendar days: date cells, and texts that can only mean one day.

A text with the year first means one day, and so does one with the month's name. 03/04/2026 could be two
days and is refused; 25/04/2026 is read, because no year has 25 months, and 03/03/2026, because both
readings are the same day.

A year of two digits is only read beside a month's name (05MAR26, as airlines write it), and means 20YY:
electronic tickets are of this century. In 05-03-26 it could be the day as well.
"""

import datetime
import re
from typing import Any

from pipeline.model.shown_cells import shown
from pipeline.reading.character_width import one_width
from pipeline.reading.unreadable import Unreadable

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FULL = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = "(" + "|".join(sorted({*_FULL, *_MONTHS, "sept"}, key=len, reverse=True)) + r")\.?"

_YEAR_FIRST = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})|([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})|([0-9]{4})\.([0-9]{1,2})\.([0-9]{1,2})\.?"
    r"|([0-9]{4}) ?年 ?([0-9]{1,2}) ?月 ?([0-9]{1,2}) ?[日号]|([0-9]{4})([0-9]{2})([0-9]{2})"
)
_DAY_AND_NAME = re.compile(rf"([0-9]{{1,2}})[ -]?{_MONTH}[ ,-]{{0,2}}([0-9]{{4}}|[0-9]{{2}})")
_NAME_AND_DAY = re.compile(rf"{_MONTH}[ -]?([0-9]{{1,2}}),? ?([0-9]{{4}})")
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})")
_SHORT_YEAR = re.compile(r"[0-9]{1,2}([-/.])[0-9]{1,2}\1[0-9]{2}")
#: A time of day: the day beside it is the carrier's calendar day, unless a time zone says otherwise. Midnight in UTC is how
#: JavaScript's programs write a day without a time (SheetJS and ExcelJS, in cells of type "d").
_TIME = re.compile(
    r"[T ](?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?$|T00:00:00(?:\.0+)?Z$", re.IGNORECASE
)
_WEEKDAY = re.compile(r" ?\(?(?:星期|周)[一二三四五六日天]\)?$")
#: Days since 1900 of the years 2000 to 2099, and since 1904: a date whose cell has lost its format.
_SERIAL = re.compile(r"(?:3[5-9]|[4-6][0-9]|7[0-2])[0-9]{3}(?:\.[0-9]+)?")


def day(value: Any) -> datetime.date:
    """The calendar day of a date cell, or of a text that can only mean one.

    >>> day("25/04/2026"), day("2026-03-05 14:30")
    (datetime.date(2026, 4, 25), datetime.date(2026, 3, 5))
    >>> day("03/04/2026")
    Traceback (most recent call last):
    ...
    pipeline.reading.unreadable.Unreadable: two_days
    """
    if isinstance(value, datetime.date):
        return _sensible(value.date() if isinstance(value, datetime.datetime) else value)
    plain = re.sub(r"\s+", " ", one_width(shown(value))).strip().casefold()
    plain = _WEEKDAY.sub("", _TIME.sub("", plain)).strip()
    if found := _YEAR_FIRST.fullmatch(plain):
        year, month, monthday = (int(part) for part in found.groups() if part is not None)
        return _made(year, month, monthday)
    if found := _DAY_AND_NAME.fullmatch(plain):
        year = int(found[3]) if len(found[3]) == 4 else 2000 + int(found[3])
        return _made(year, _month(found[2]), int(found[1]))
    if found := _NAME_AND_DAY.fullmatch(plain):
        return _made(int(found[3]), _month(found[1]), int(found[2]))
    if found := _YEAR_LAST.fullmatch(plain):
        return _only_reading(int(found[1]), int(found[3]), int(found[4]))
    if _SHORT_YEAR.fullmatch(plain):
        raise Unreadable("short_year")
    raise Unreadable("serial_day" if _SERIAL.fullmatch(plain) else "")


def _month(name: str) -> int:
    return _MONTHS.index(name[:3]) + 1


def _only_reading(first: int, second: int, year: int) -> datetime.date:
    """A day with the year last: read where only one order of day and month makes a date."""
    if first != second and first <= 12 and second <= 12:
        raise Unreadable("two_days")
    return _made(year, min(first, second), max(first, second))


def _made(year: int, month: int, monthday: int) -> datetime.date:
    try:
        return _sensible(datetime.date(year, month, monthday))
    except ValueError:
        raise Unreadable("no_such_day") from None


def _sensible(found: datetime.date) -> datetime.date:
    """No ticket's day lies elsewhere; a spreadsheet's day 1 is 1900-01-01."""
    if not 1950 <= found.year <= 2200:
        raise Unreadable("")
    return found
