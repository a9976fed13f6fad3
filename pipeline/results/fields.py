"""The columns of the result sheets: headings, styles and widths."""

import functools
import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pipeline.columns import COLUMN, RESULT_COLUMNS, Column, Lang
from pipeline.results.formats import Style, style_of

#: Our own columns: how each is written, and its width in characters.
_OWN: dict[str, tuple[Style, int]] = {
    "status": (Style.STATUS, 15),
    "number": (Style.IDENTIFIER, 24),
    "reason": (Style.WRAP, 54),
    "what_to_do": (Style.WRAP, 42),
    "request": (Style.IDENTIFIER, 23),
    "attempt": (Style.COUNT, 9),
    "trace_id": (Style.IDENTIFIER, 26),
    "file": (Style.TEXT, 24),
    "sheet": (Style.TEXT, 12),
    "row": (Style.LINE, 8),
    "last_day": (Style.DATE, 12),
    "charges": (Style.COUNT, 9),
    "buyer_source": (Style.TEXT, 24),
    "ledger": (Style.IDENTIFIER, 18),
    "tickets": (Style.TEXT, 40),
    "currency": (Style.TEXT, 9),
    "resolution": (Style.ANSWER, 15),
    "resolved_by": (Style.ANSWER, 16),
    "evidence": (Style.ANSWER, 36),
}
_WIDEST = 40
_MOST_LINES = 12

LETTER = 0.95  # of a digit, the measure of widths: what a letter of running text takes, with some to spare
LINE_POINTS = 13.5


@dataclass(frozen=True)
class Field:
    """One column of a result sheet."""

    name: str
    heading: str
    style: Style
    width: int


def field(name: str, lang: Lang, style: Style | None = None) -> Field:
    """A column of the vocabulary, or one of our own, as it stands on a result sheet."""
    if name in COLUMN:
        column = COLUMN[name]
        return Field(name, column.heading(lang), style or style_of(column), column.width)
    own, width = _OWN[name]
    return Field(name, RESULT_COLUMNS[name] if lang == "zh" else name, style or own, width)


def vocabulary(columns: Iterable[Column], lang: Lang) -> list[Field]:
    """Columns of the vocabulary as fields."""
    return [field(column.name, lang) for column in columns]


def cells_wide(text: str) -> int:
    """A text's width in Latin characters: a Chinese character is as wide as two."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


@functools.lru_cache(maxsize=4096)  # most rows say one of a few things
def lines_of(text: str, width: int) -> int:
    """How many lines a text is given in a column of that width, however much there is to say."""
    lines = sum(max(1, math.ceil(cells_wide(line) * LETTER / width)) for line in text.split("\n"))
    return min(lines, _MOST_LINES)


def width_of(values: Iterable[Any]) -> int:
    """A width that fits a column of which nothing is known but some values."""
    return min(_WIDEST, max([10, *(cells_wide(str(value)) + 2 for value in values)]))
