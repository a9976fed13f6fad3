"""The columns of the result sheets: headings, styles and widths."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from pipeline.messages.translate import heading
from pipeline.model.columns import (
    COLUMN,
    Column,
    Lang,
)
from pipeline.model.text_width import cells_wide, lines_high
from pipeline.reporting.xlsx.styles import Style, style_of

#: Our own columns: how each is written, and its width in characters.
_OWN: dict[str, tuple[Style, int]] = {
    "status": (Style.STATUS, 15),
    "number": (Style.IDENTIFIER, 24),
    "reason_no": (Style.LINE, 8),
    "reason": (Style.WRAP, 54),
    "what_to_do": (Style.WRAP, 42),
    "request": (Style.IDENTIFIER, 23),
    "attempt": (Style.COUNT, 9),
    "run": (Style.COUNT, 8),
    "trace_id": (Style.IDENTIFIER, 36),
    "file": (Style.TEXT, 24),
    "sheet": (Style.TEXT, 12),
    "row": (Style.LINE, 8),
    "last_day": (Style.DATE, 12),
    "charges": (Style.COUNT, 9),
    "buyer_source": (Style.TEXT, 24),
    "status_of_other_rows": (Style.TEXT, 16),
    "ledger": (Style.IDENTIFIER, 18),
    "tickets": (Style.WRAP, 40),
    "currency": (Style.TEXT, 9),
    "resolution": (Style.ANSWER, 15),
    "resolved_by": (Style.ANSWER, 16),
    "evidence": (Style.ANSWER, 36),
}
_NARROWEST, _WIDEST = 10, 40
_MOST_LINES = 12
_OWN_LINES = 6  # of a text that the input brought: a page of remarks would hide the other rows
_SHORT = 1_000_000  # a number below it fits wherever money stands
_MOMENT = 21  # a day with its time

LINE_POINTS = 13.5
_WIDEST_LETTER = 2  # of a column's width, with what stays free beside a text


@dataclass(frozen=True)
class Field:
    """One column of a result sheet; one that only the program needs is `hidden`."""

    name: str
    heading: str
    style: Style
    width: int
    hidden: bool = False


def field(name: str, lang: Lang, style: Style | None = None) -> Field:
    """A column of the vocabulary, or one of our own, as it stands on a result sheet."""
    if name in COLUMN:
        column = COLUMN[name]
        return Field(name, heading(name, lang), style or style_of(column), column.width)
    own, width = _OWN[name]
    return Field(name, heading(name, lang), style or own, width)


def vocabulary(columns: Iterable[Column], lang: Lang) -> list[Field]:
    """Columns of the vocabulary as fields."""
    return [field(column.name, lang) for column in columns]


def lines_of(text: str, width: int, style: Style = Style.WRAP) -> float:
    """How many lines of Latin letters a text is given the height of in a column of that width, however much there is to say."""
    if _WIDEST_LETTER * len(text) <= width and "\n" not in text:  # as nearly all are
        return 1
    return lines_high(text, width, _MOST_LINES if style is Style.WRAP else _OWN_LINES)


def width_of(values: Iterable[Any]) -> int:
    """A width that fits a column of which nothing is known but its values."""
    texts = set(map(str, values))
    latin = [text for text in texts if text.isascii()]
    widest = max(map(len, latin), default=0)
    if len(latin) < len(texts) and widest < _WIDEST:
        widest = max(cells_wide(text) for text in texts)
    return min(max(widest + 2, _NARROWEST), _WIDEST)


def roomy(shown: Field, values: Iterable[Any]) -> Field:
    """A column as wide as its values take; a text that is longer than the widest column takes another line.

    A number or a day can't do that: where it does not fit it is shown as ##### and nothing else.
    """
    values = set(values)
    widest = max(shown.width, width_of(values)) if shown.style is Style.TEXT else shown.width
    for value in [value for value in values if not isinstance(value, str)]:
        if isinstance(value, int | float):
            if abs(value) >= _SHORT:
                widest = max(widest, min(_WIDEST, len(f"{value:,.2f}") + 3))
        elif isinstance(value, datetime.datetime) and value.time() != datetime.time():
            widest = max(widest, _MOMENT)
    return shown if widest == shown.width else replace(shown, width=widest)
