"""Days that an .ods file holds as numbers, or as moments in Universal Time.

LibreOffice writes each day as what it is. SheetJS writes a number, its format in the cell's style (newer versions) or the day in
the cell's text alone (older ones), or the moment at which the day began where the file was written.
"""

import contextlib
import datetime
import re

#: Where days are counted from, unless the file says otherwise.
FIRST = datetime.date(1899, 12, 30)
_LAST = 2_958_465  # 9999-12-31
_SHOWN = re.compile(r"([0-9]{1,4})[-/.年] ?([0-9]{1,2})[-/.月] ?([0-9]{1,4})(?![0-9])")
#: A day begins so long before Universal Time's in the east, or after it in the west.
_EARLIER, _LATER = datetime.timedelta(hours=14), datetime.timedelta(hours=12)


def of_number(value: str, first: datetime.date) -> datetime.date | None:
    """The day of a number, with its time if it has one; None where there is none.

    >>> str(of_number("46300", FIRST)), str(of_number("46300.5", FIRST)), of_number("-1", FIRST)
    ('2026-10-05', '2026-10-05 12:00:00', None)
    """
    with contextlib.suppress(ValueError, OverflowError):  # no number; a first day near the calendar's end
        days = float(value)
        if not 1 <= days < _LAST:
            return None
        if days == int(days):
            return first + datetime.timedelta(int(days))
        begin = datetime.datetime.combine(first, datetime.time())
        return begin + datetime.timedelta(seconds=round(days * 86_400))
    return None


def shown(text: str, value: str, first: datetime.date) -> datetime.date | None:
    """The day that a text shows, if it is the one of the number, or of the moment in Universal Time, beside it.

    In which order year, month and day are shown need not be known for that.

    >>> str(shown("10/5/26", "46300", FIRST)), shown("10/6/26", "46300", FIRST)
    ('2026-10-05', None)
    >>> str(shown("10/5/26", "2026-10-04T16:00:00.000Z", FIRST))
    '2026-10-05'
    """
    if not (found := _SHOWN.match(text)):
        return None
    parts = sorted(map(int, found.groups()))
    for day in _days(value, first):
        if parts in (sorted([year, day.month, day.day]) for year in (day.year, day.year % 100)):
            return day
    return None


def _days(value: str, first: datetime.date) -> list[datetime.date]:
    """The days that a number or a moment may be."""
    if not value.endswith("Z"):
        day = of_number(value, first)
        return [day.date() if isinstance(day, datetime.datetime) else day] if day else []
    with contextlib.suppress(ValueError, OverflowError):
        moment = datetime.datetime.fromisoformat(value.removesuffix("Z")).replace(tzinfo=None)
        begin = datetime.datetime.combine(moment, datetime.time())
        around = (begin, begin + datetime.timedelta(1))
        return [day.date() for day in around if moment - _LATER <= day <= moment + _EARLIER]
    return []
