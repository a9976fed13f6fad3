"""Values to cells, in the XML of a worksheet.

XlsxWriter's own way to a cell takes 11 µs, this one about 1; a month of tickets has millions. A text is
always a text here: none becomes a formula, a link, a rich string or a number.
"""

import datetime
import math
from collections.abc import Callable
from typing import Any

from pipeline.columns import Lang
from pipeline.reasons import STATUS
from pipeline.results.formats import Formats, Style
from pipeline.results.plain import digits, in_xml, serial

#: A cell's XML from its place ("B7") and its value.
Cell = Callable[[str, Any], str]

_MONEY_DECIMALS = 2


def text_cell(place: str, text: str, look: int) -> str:
    """A cell that holds a text; no cell where nothing of the text can be shown."""
    shown = in_xml(text)
    if not shown:
        return ""
    return f'<c r="{place}" s="{look}" t="inlineStr"><is><t xml:space="preserve">{shown}</t></is></c>'


def _number_cell(place: str, number: float, look: int) -> str:
    return f'<c r="{place}" s="{look}"><v>{number!r}</v></c>'


class Cells:
    """The cells of one workbook: its formats' numbers and its language."""

    def __init__(self, formats: Formats, lang: Lang) -> None:
        self._lang = lang
        self._look = {
            name: getattr(formats, name)._get_xf_index()  # noqa: SLF001 - a format's number has no public name
            for name in (
                "plain",
                "text",
                "wrap",
                "money",
                "day",
                "moment",
                "time",
                "duration",
                "count",
                "answer",
            )
        }
        self._tone = {tone: look._get_xf_index() for tone, look in formats.tones.items()}  # noqa: SLF001 - likewise

    def of(self, style: Style) -> Cell:
        """How cells of that style are written."""
        writers: dict[Style, Cell] = {
            Style.STATUS: self._status,
            Style.IDENTIFIER: self._identifier,
            Style.WRAP: self._wrapped,
            Style.MONEY: self._money,
            Style.COUNT: self._count,
            Style.ANSWER: self._answer,
        }
        return writers.get(style, self._as_it_is)

    def _status(self, place: str, name: str) -> str:
        status = STATUS[name]
        return text_cell(place, status.word(self._lang), self._tone[status.tone])

    def _identifier(self, place: str, value: Any) -> str:
        return text_cell(place, digits(value), self._look["text"])

    def _wrapped(self, place: str, text: str) -> str:
        return text_cell(place, text, self._look["wrap"])

    def _count(self, place: str, number: int) -> str:
        return _number_cell(place, number, self._look["count"])

    def _answer(self, place: str, _nothing: Any) -> str:
        return f'<c r="{place}" s="{self._look["answer"]}"/>'

    def _money(self, place: str, value: Any) -> str:
        """An amount with two decimals; a number with more is shown with all of them."""
        if isinstance(value, float) and math.isfinite(value):
            as_money = float(f"{value:.{_MONEY_DECIMALS}f}") == float(f"{value:.15g}")
            return _number_cell(place, value, self._look["money" if as_money else "plain"])
        return self._as_it_is(place, value)

    def _as_it_is(self, place: str, value: Any) -> str:
        """A value by its own type, whatever the column is for."""
        if isinstance(value, str):
            return text_cell(place, value, self._look["text"])
        if isinstance(value, int | float) and math.isfinite(value):
            return _number_cell(place, value, self._look["plain"])
        if isinstance(value, datetime.date):
            return self._date(place, value)
        if isinstance(value, datetime.time):
            since = datetime.timedelta(hours=value.hour, minutes=value.minute, seconds=value.second)
            return _number_cell(place, since / datetime.timedelta(days=1), self._look["time"])
        if isinstance(value, datetime.timedelta) and value >= datetime.timedelta():
            return _number_cell(place, value / datetime.timedelta(days=1), self._look["duration"])
        return text_cell(place, str(value), self._look["text"])

    def _date(self, place: str, value: datetime.date) -> str:
        moment = (
            value
            if isinstance(value, datetime.datetime)
            else datetime.datetime.combine(value, datetime.time())
        )
        number = serial(moment.replace(tzinfo=None))
        if number is None:
            return text_cell(place, digits(value), self._look["text"])
        return _number_cell(place, number, self._look["day" if number.is_integer() else "moment"])
