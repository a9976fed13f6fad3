"""Values to cells: how each is shown, and how it is written. A text is always a text here."""

import datetime
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline.messages.translate import status_word
from pipeline.model.columns import Lang
from pipeline.model.shown_cells import shown
from pipeline.model.status import STATUS
from pipeline.reporting.xlsx.styles import Formats, Style
from pipeline.reporting.xlsx.unfit_characters import fit

#: Where a cell stands: its row and its column, from 0.
Place = tuple[int, int]

#: Where a text is parted, since it would not come back whole: XlsxWriter takes <r>…</r> for finished XML,
#: and readers differ in whether they take _x0041_ for an "A".
_TRAPS = re.compile(r"(?<=^<)(?=r>)|(?<=_)(?=x[0-9a-fA-F]{4}_)")

_AS_GIVEN = (Style.WRAP, Style.COUNT, Style.LINE)
_TEXTS = (Style.TEXT, Style.IDENTIFIER, Style.MONEY, Style.DATE)
_MONEY_DECIMALS = 2
_FIRST_DAY = "1900-03-01"  # before it, programs show different days for the same number


def write_cell(sheet: Any, at: Place, value: Any, look: Any) -> None:
    """Write a value by its type alone: no text becomes a formula, a link or a number.

    A text of which nothing can be shown makes no cell; None makes an empty one.
    """
    if isinstance(value, str):
        _write_text(sheet, at, fit(value), look)
    elif value is None:
        sheet.write_blank(*at, None, look)
    elif isinstance(value, int | float):
        sheet.write_number(*at, value, look)
    else:
        sheet.write_datetime(*at, value, look)


def write_link(sheet: Any, at: Place, target: str, value: Any, look: Any) -> None:
    """Write a value that leads to another place of the same workbook."""
    plain = isinstance(value, str) and not _TRAPS.search(value)
    sheet.write_url(*at, target, look, fit(value) if plain else " ")
    if not plain:  # in the place of the text that a link always has
        write_cell(sheet, at, value, look)


def _write_text(sheet: Any, at: Place, text: str, look: Any) -> None:
    parts = _TRAPS.split(text) if "_x" in text or text.startswith("<r") else ()
    if len(parts) > 1:
        sheet.write_rich_string(*at, *(given for part in parts for given in (look, part)), look)
    elif text:
        sheet.write_string(*at, text, look)


class Cells:
    """How values are shown in one workbook: in its formats and its language."""

    def __init__(self, formats: Formats, lang: Lang) -> None:
        self.formats = formats
        self._lang = lang

    def shown(self, value: Any, style: Style) -> tuple[Any, Any]:
        """What to write for a value in a column of that style, and its format."""
        formats = self.formats
        if isinstance(value, str) and style in _TEXTS:
            return value, formats.text
        if style is Style.ANSWER:
            return value, formats.answer
        if style is Style.STATUS:
            status = STATUS[value]
            return status_word(value, self._lang), formats.tones[status.tone]
        if style is Style.IDENTIFIER:
            return shown(value), formats.text
        if style in _AS_GIVEN or (style is Style.MONEY and is_money(value)):
            return value, formats.of_style[style]
        return self._by_type(value)

    def special(self, value: Any, style: Style, *, linked: bool, marked: bool, tone: str) -> tuple[Any, Any]:
        """The same for a value that is a link, marked, or in another tone than its own; what is blank is None."""
        formats = self.formats
        shown, look = self.shown("" if value is None else value, style)
        look = formats.tones[tone] if tone else formats.special(look, link=linked, marked=marked)
        return None if shown == "" else shown, look

    def _by_type(self, value: Any) -> tuple[Any, Any]:
        """A value by its own type, whatever the column is for; what no cell can hold is written out."""
        formats = self.formats
        if isinstance(value, int | float) and math.isfinite(value):
            return value, formats.plain
        if isinstance(value, datetime.date) and value.isoformat() >= _FIRST_DAY:
            clock = isinstance(value, datetime.datetime) and value.time() != datetime.time()
            return value, formats.moment if clock else formats.day
        if isinstance(value, datetime.time):
            return value, formats.time
        if isinstance(value, datetime.timedelta) and value >= datetime.timedelta():
            return value, formats.duration
        return shown(value), formats.text


def is_money(value: Any) -> bool:
    """Whether two decimals show all of a number."""
    return isinstance(value, float) and math.isfinite(value) and value == round(value, _MONEY_DECIMALS)


def all_money(values: Sequence[float]) -> bool:
    """Whether `is_money` is true of every one of these; not always where one is beyond 10**13, which has to be looked at by itself."""
    numbers = np.array(values)
    with np.errstate(over="ignore"):
        rounded = numbers.round(_MONEY_DECIMALS)
    return bool((np.isfinite(numbers) & (rounded == numbers)).all())
