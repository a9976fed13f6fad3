"""Values to cells, in the XML of a worksheet.

XlsxWriter's own way to a cell takes several times as long, and a month of tickets has millions. A text
is always a text here: none becomes a formula, a link, a rich string or a number.
"""

import datetime
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pipeline.columns import Lang
from pipeline.reasons import STATUS
from pipeline.results.formats import Formats, Style
from pipeline.results.plain import LONGEST, SPECIAL, digits, in_xml, serial

#: What follows a cell's place in its XML (`<c r="B7`), from its value; "" makes no cell.
Tail = Callable[[Any], str]

_MOST_REMEMBERED = 50_000
_MONEY_DECIMALS = 2
_LOOKS = ("plain", "text", "wrap", "money", "day", "moment", "time", "duration", "count", "answer")


def text_tail(text: str, look: int) -> str:
    """A text; nothing where nothing of it can be shown."""
    if text and text[0] > " " and text[-1] > " " and 2 * len(text) <= LONGEST and not SPECIAL.search(text):
        return f'" s="{look}" t="inlineStr"><is><t>{text}</t></is></c>'
    shown = in_xml(text)
    return f'" s="{look}" t="inlineStr"><is><t xml:space="preserve">{shown}</t></is></c>' if shown else ""


def _number_tail(number: float, look: int) -> str:
    return f'" s="{look}"><v>{number!r}</v></c>'


class Cells:
    """The cells of one workbook: its formats' numbers and its language."""

    def __init__(self, formats: Formats, lang: Lang) -> None:
        self._lang = lang
        # A format's number has no public name.
        self._look = {name: getattr(formats, name)._get_xf_index() for name in _LOOKS}  # noqa: SLF001
        self._tone = {tone: look._get_xf_index() for tone, look in formats.tones.items()}  # noqa: SLF001

    def of(self, style: Style) -> Tail:
        """How values of that style are written; equal ones are worked out once, where many are equal."""
        if style is Style.IDENTIFIER:
            return self._identifier
        tails: dict[Style, Tail] = {
            Style.STATUS: self._status,
            Style.WRAP: self._wrapped,
            Style.MONEY: self._money,
            Style.COUNT: self._count,
            Style.ANSWER: self._answer,
        }
        return lru_cache(_MOST_REMEMBERED)(tails.get(style, self._as_it_is))

    def _identifier(self, value: Any) -> str:
        return text_tail(value if isinstance(value, str) else digits(value), self._look["text"])

    def _status(self, name: str) -> str:
        status = STATUS[name]
        return text_tail(status.word(self._lang), self._tone[status.tone])

    def _wrapped(self, text: str) -> str:
        return text_tail(text, self._look["wrap"])

    def _count(self, number: int) -> str:
        return _number_tail(number, self._look["count"])

    def _answer(self, _nothing: Any) -> str:
        return f'" s="{self._look["answer"]}"/>'

    def _money(self, value: Any) -> str:
        """An amount with two decimals; a number with more is shown with all of them."""
        if isinstance(value, float) and math.isfinite(value):
            as_money = value == round(value, _MONEY_DECIMALS)
            return _number_tail(value, self._look["money" if as_money else "plain"])
        return self._as_it_is(value)

    def _as_it_is(self, value: Any) -> str:
        """A value by its own type, whatever the column is for."""
        if isinstance(value, str):
            return text_tail(value, self._look["text"])
        if isinstance(value, int | float) and math.isfinite(value):
            return _number_tail(value, self._look["plain"])
        if isinstance(value, datetime.date):
            return self._date(value)
        if isinstance(value, datetime.time):
            since = datetime.timedelta(hours=value.hour, minutes=value.minute, seconds=value.second)
            return _number_tail(since / datetime.timedelta(days=1), self._look["time"])
        if isinstance(value, datetime.timedelta) and value >= datetime.timedelta():
            return _number_tail(value / datetime.timedelta(days=1), self._look["duration"])
        return text_tail(str(value), self._look["text"])

    def _date(self, value: datetime.date) -> str:
        midnight = datetime.time()
        moment = value if isinstance(value, datetime.datetime) else datetime.datetime.combine(value, midnight)
        number = serial(moment.replace(tzinfo=None))
        if number is None:
            return text_tail(digits(value), self._look["text"])
        return _number_tail(number, self._look["day" if number.is_integer() else "moment"])
