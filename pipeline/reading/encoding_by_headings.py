"""Which of the encodings that a text may be in is the one in which its words make sense.

GB18030 and Big5 share their bytes: a text in the one is nearly always a text in the other too, of other
characters. So nothing is taken from either unless a heading or a value that is known stands in it. Where all that is known is in ASCII,
which reads the same in each, the characters tell: in the right encoding nearly all are among the frequent ones, in a wrong one far fewer.
"""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pipeline.reading.cell_words import CHOICE_WORDS, folded
from pipeline.reading.heading_meanings import meanings

_ROWS = 200
#: Of the characters of a text, which are counted from so many on: at least so many are frequent in the right encoding, at most in a wrong one.
_FEWEST, _RIGHT, _WRONG = 6, 0.9, 0.75
#: Where the frequent characters stand in encodings that set them apart: from one first byte to another (the first levels of GB 2312 and Big5).
_FREQUENT = {"gb2312": (b"\xb0", b"\xd7"), "big5": (b"\xa4", b"\xc6")}


class _Rows(Protocol):
    @property
    def rows(self) -> Sequence[list[Any]]: ...


def confirmed(readings: Sequence[Sequence[_Rows]], known: Callable[[str], object] = meanings) -> int | None:
    """The position of the reading with the most words that are known; None where none has any, and its characters tell nothing.

    `known` says whether a text is a heading; a team has some of its own (see columns_file.ColumnMap.knows).
    """
    texts = [{cell for sheet in sheets for row in sheet.rows[:_ROWS] for cell in row} for sheets in readings]
    words = [sum(_is_known(text, known) for text in of if not text.isascii()) for of in texts]
    if any(words):
        return words.index(max(words))
    if not any(_is_known(text, known) for text in texts[0] if text.isascii()):
        return None
    letters = [_letters(of) for of in texts]
    shares = [_share(of, _is_frequent) for of in letters]
    *others, most = sorted(shares)
    at = shares.index(most)
    clear = most >= _RIGHT and all(share <= _WRONG for share in others)
    return at if clear and not _may_be_korean(letters[at]) else None


def _is_known(text: str, known: Callable[[str], object]) -> bool:
    return bool(known(text)) or folded(text) in _CHOICES


def _letters(texts: set[str]) -> str:
    """The characters beyond ASCII that are no punctuation, signs or spaces."""
    each = (char for text in texts for char in text if not char.isascii())
    return "".join(char for char in each if unicodedata.category(char)[0] not in "PSZ")


def _share(letters: str, told: Callable[[str], bool]) -> float:
    """Which share of some characters is so; 0 where there are too few to tell."""
    return sum(map(told, letters)) / len(letters) if len(letters) >= _FEWEST else 0.0


def _may_be_korean(letters: str) -> bool:
    """Whether the same bytes are Korean: its syllables stand where GB 2312 has its frequent characters."""
    try:
        korean = letters.encode("gb18030").decode("euc_kr")
    except UnicodeDecodeError:
        return False
    return _share(korean, lambda char: "\uac00" <= char <= "\ud7a3") >= _RIGHT


def _is_frequent(char: str) -> bool:
    return any(
        first <= char.encode(encoding, errors="ignore")[:1] <= last
        for encoding, (first, last) in _FREQUENT.items()
    )


_CHOICES = {word for words in CHOICE_WORDS.values() for word in words}
