"""How wide a text is on a terminal, where Chinese characters are as wide as two Latin ones, and how high in a spreadsheet's cell."""

import functools
import math
import re
import unicodedata
from collections.abc import Sequence

#: What characters take of the workbooks' letters (Arial) in thousandths of their height; the others of ASCII take a digit's.
_WIDTHS = {
    191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[\\]ft", 333: "()-`r{}", 355: '"', 389: "*", 469: "^", 500: "Jckvsxyz",
    584: "+<=>~", 611: "FTZ", 667: "&ABEKPSVXY", 722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%", 944: "W", 1015: "@",
}  # fmt: skip
_DIGIT, _WIDE = 556, 1000


class _Letters(dict[str, int]):
    """How wide each letter is, found out when it is met first."""

    def __missing__(self, letter: str) -> int:
        self[letter] = _DIGIT if letter.isascii() or not is_wide(letter) else _WIDE
        return self[letter]


class _Cells(dict[str, int]):
    """How many Latin characters wide each character is, likewise."""

    def __missing__(self, character: str) -> int:
        self[character] = 2 if is_wide(character) else 1
        return self[character]


_cells_of = _Cells().__getitem__
_wide_is = _Letters((letter, width) for width, letters in _WIDTHS.items() for letter in letters).__getitem__
#: Digits are of one width, and lists of tickets' numbers of few shapes.
_ONE_DIGIT = str.maketrans("123456789", "0" * 9)
_COLUMN = 525  # of 10 points: what a column is measured by, a digit of the workbook's own letters
_BESIDE = 1.3  # of a column's width, what stays free on its left and right
_WORDS = re.compile("[!-~]+|[^!-~]")
_WIDE_LINE = 1.1  # a line of Chinese characters, in lines of Latin ones


def is_wide(character: str) -> bool:
    """Whether a character is as wide as two Latin ones, as Chinese ones are (UAX #11)."""
    return unicodedata.east_asian_width(character) in "WF"


def cells_wide(text: str) -> int:
    """A text's width in Latin characters.

    >>> cells_wide("票号 A1")
    7
    """
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def perhaps_longer(texts: Sequence[str], width: float) -> list[str]:
    """Those of these texts, without line breaks, that may take more than one line in a cell of that width, by their length and their widest
    letter.

    >>> perhaps_longer(["9991000218193", "9991000003064"], 16), perhaps_longer(["WWWWWWWWWWWWW", "i"], 16)
    ([], ['WWWWWWWWWWWWW'])
    """
    sure = _room(width) / max(map(_wide_is, set("".join(texts))), default=_WIDE)
    return [text for text in texts if len(text) > sure]


def lines_high(text: str, width: float, most: int) -> float:
    """How high a text is that is wrapped in a cell of that width, in lines of Latin characters: so many at most.

    >>> lines_high("one", 10, 12), lines_high("one, two and three", 10, 12), lines_high("开票结果", 6, 12)
    (1, 2, 2.2)
    """
    return _high(text.translate(_ONE_DIGIT), width, most)


@functools.lru_cache(maxsize=20_000)
def _high(text: str, width: float, most: int) -> float:
    room = _room(width)
    if "\n" not in text and sum(map(_wide_is, text)) <= room:  # as nearly all texts
        return 1
    lines = min(sum(_wrapped(line, room, most) for line in text.split("\n")[:most]), most)
    return lines if lines == 1 or cells_wide(text) == len(text) else lines * _WIDE_LINE


def _room(width: float) -> float:
    """What a cell's width has room for on a line, in thousandths of the letters' height."""
    return (width - _BESIDE) * _COLUMN


def _wrapped(line: str, room: float, most: int) -> int:
    """How many lines it takes: words are not broken, Chinese is, anywhere."""
    lines, left = 1, room
    for word in _WORDS.findall(line):
        wide = sum(map(_wide_is, word))
        if wide > left and word != " ":
            own = math.ceil(wide / room)  # a word that is longer than the cell is broken after all
            lines += own - (left == room)
            if lines >= most:
                break
            left = room * own
        left -= wide
    return lines
