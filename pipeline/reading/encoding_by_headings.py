"""Which of the encodings that a text may be in is the one in which its words make sense.

GB18030 and Big5 share their bytes: a text in the one is nearly always a text in the other too, of other
characters. So nothing is taken from either unless a heading or a value that is known stands in it.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pipeline.reading.cell_words import CHOICE_WORDS, folded
from pipeline.reading.heading_meanings import meanings

_ROWS = 200


class _Rows(Protocol):
    @property
    def rows(self) -> Sequence[list[Any]]: ...


def confirmed(readings: Sequence[Sequence[_Rows]], known: Callable[[str], object] = meanings) -> int | None:
    """The position of the reading with the most words that are known; None where none has any.

    `known` says whether a text is a heading; a team has some of its own (see columns_file.ColumnMap.knows).
    """
    words = [_known(reading, known) for reading in readings]
    most = max(words)
    return words.index(most) if most else None


def _known(sheets: Sequence[_Rows], known: Callable[[str], object]) -> int:
    """How many different words that are known stand in the first rows; those in ASCII read the same in each."""
    texts = {cell for sheet in sheets for row in sheet.rows[:_ROWS] for cell in row if not cell.isascii()}
    return sum(bool(known(text)) or folded(text) in _CHOICES for text in texts)


_CHOICES = {word for words in CHOICE_WORDS.values() for word in words}
