"""What a statement's cell says of a reversal: only a cell that says it as a whole, and no other thing, is believed."""

import re
from collections.abc import Iterable
from typing import Any, Literal

from pipeline.reading import cells
from pipeline.reading.cell_words import folded
from pipeline.reading.character_width import one_width
from pipeline.reading.statement_words import (
    ABOUT_REVERSAL,
    BLUE_WORDS,
    DENIED,
    GOOD_WORDS,
    HARMLESS_WORDS,
    NO_WORDS,
    PARTLY,
    RED_WORDS,
    YES_WORDS,
)

Said = Literal["red", "nothing", "partly", "unclear", "unknown"]


def _any(*words: Iterable[str]) -> str:
    """One of these words, the longest: atomic, so that a long cell takes no long time."""
    found = sorted((word for group in words for word in group), key=len, reverse=True)
    return f"(?>{'|'.join(found)})"


_RED = re.compile(_any(RED_WORDS))
_ONLY_RED = re.compile(f"{_any(RED_WORDS, HARMLESS_WORDS)}+")
_BLUE, _ONLY_BLUE = re.compile(_any(BLUE_WORDS)), re.compile(f"{_any(BLUE_WORDS, HARMLESS_WORDS)}*")
_GOOD = re.compile(_any(BLUE_WORDS, GOOD_WORDS))
_ONLY_GOOD = re.compile(f"{_any(BLUE_WORDS, GOOD_WORDS, HARMLESS_WORDS)}*")
_SEPARATORS = re.compile(r"[^\w√✓]+")


def said_of_reversal(column: str, cell: Any) -> Said:
    """Whether the cell of that column says that its line is red.

    "unclear" is said of a reversal, and not that one was made; "unknown" is a status that may be one.

    >>> [said_of_reversal("status", word) for word in ("已红冲（全额）", "正常（未红冲）", "红冲失败", "已锁定")]
    ['red', 'nothing', 'unclear', 'unknown']
    >>> said_of_reversal("reversed", "是"), said_of_reversal("reversal_status", "成功"), said_of_reversal("voucher", "成人")
    ('red', 'unknown', 'nothing')
    >>> said_of_reversal("status", "红票" * 500 + "锁")
    'unclear'
    """
    if isinstance(cell, bytes):  # an error cell, or a formula without a result
        return "unknown"
    text = one_width(cells.text(cell)).casefold()
    rest = DENIED.sub(" ", text)
    word = _SEPARATORS.sub("", folded(rest))
    if not word or (word in NO_WORDS and (column != "reversal_status" or word != "0")):
        return "nothing"
    yes = column in ("reversed", "voided") or (column == "reversal_status" and word != "1")
    if (word in YES_WORDS and yes) or (_RED.search(word) and _ONLY_RED.fullmatch(word)):
        return "red"
    if ABOUT_REVERSAL.search(rest):
        return "partly" if PARTLY.search(rest) else "unclear"
    return "nothing" if column == "voucher" or _is_good(column, word, denied=rest != text) else "unknown"


def _is_good(column: str, word: str, *, denied: bool) -> bool:
    good, only = (_GOOD, _ONLY_GOOD) if column == "status" else (_BLUE, _ONLY_BLUE)
    return bool(only.fullmatch(word) and (denied or good.search(word)))
