"""The cells of a long sheet of an .xlsx that is written as nearly every program writes it, taken out by column.

Such a sheet is tags for the most part, and most of its values come again. So it is not laid out cell by cell: of a piece of its text
the places of all tags, and what stands between them, are found at once. Nothing is guessed: rows are `<row r="2"`, and in them cells
`<c r="A2"`, in ascending order; of a cell's attributes `s` and `t` alone may follow, and in it stands `<v>` or nothing; its value is the
number of a shared text (`t="s"`), or a number. Where anything is otherwise, such as a formula or an error, the sheet is `odd`, and
python-calamine lays it out. It says, too, what the values are: each is asked for once, however often it stands there (`usual_workbook`).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.reading.formats.columnar import Part

_Words = npt.NDArray[np.uint64]
_Places = npt.NDArray[np.int64]
_Small = npt.NDArray[np.int32]
_Flags = npt.NDArray[np.bool_]

#: What kind of cell it is: a shared text; else a number, by the number of its style and one (0: none), and with `_LONG` of more than eight
#: characters.
_TEXT, _LONG = -1, 1 << 12
_ROWS, _COLUMNS = 1 << 20, 1 << 14
#: A sheet of more positions than these, and than so many for each cell, is left to whoever says what is wrong with it.
_SMALL_AREA, _SPARSE = 1_000_000, 20
_QUOTE, _A, _Z = b'"AZ'
#: Numbers, a line each. No group of several parts is possessive but the outermost one, which ends as the text does, with an end of line:
#: Python before 3.11.5 keeps what such a group had taken in before it failed (github.com/python/cpython/issues/106052).
_NUMBERS = re.compile(rb"(?:-?[0-9]++(?:\.[0-9]++)?(?:[eE][-+]?[0-9]{1,3})?\n)*+")


def _word(text: bytes) -> np.uint64:
    """Text of at most eight bytes as one number, as words of a text have it."""
    return np.uint64(int.from_bytes(text, "little"))


#: The first so many bytes of a word.
_FIRST = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)
_ZEROS, _UP_TO_NINE, _TOP_BITS = _word(b"0" * 8), _word(b"\x76" * 8), _word(b"\x80" * 8)


class _Odd(Exception):
    """Text that is not as usual."""


class _Cells(NamedTuple):
    """Cells with a value, in the order of the sheet: their rows and columns (from 0), their kinds, and their values as words.

    A value is a shared text's number, a number's text, or the number of a long text.
    """

    rows: _Small
    columns: _Small
    kinds: _Small
    words: _Words


class _Column(NamedTuple):
    """A column: for each kind its different values, as words, and for each row the number of its value among all of them; 0 is a blank
    cell.
    """

    values: dict[int, _Words]
    codes: _Small


class UsualCells:
    """A sheet's cells, taken in piece by piece; whatever it turns out to be at last, `when_odd` is called as soon as it is odd."""

    def __init__(self, when_odd: Callable[[], object]) -> None:
        self.odd, self._ended, self._when_odd = False, False, when_odd
        self._pieces: list[_Cells] = []
        self._long: dict[bytes, int] = {}
        self._last = -1
        self._columns: list[_Column] = []
        #: Where the first cell stands (row and column, from 0), and the first row and column behind the last one.
        self.start, self.total_height, self.total_width = (0, 0), 0, 0
        #: So many shared texts there have to be.
        self.texts = 0

    def take(self, text: bytes) -> None:
        """Take in whole rows."""
        self._unless_odd(lambda: self._take(text))

    def end(self, text: bytes) -> None:
        """Take in what follows the last row."""
        self._unless_odd(lambda: self._end(text))

    @property
    def usual(self) -> bool:
        """Whether all of the sheet is as usual, and there is anything on it."""
        return self._ended and not self.odd

    def _unless_odd(self, taken: Callable[[], None]) -> None:
        try:
            if not self.odd:
                taken()
        except _Odd:
            self.odd = True
            self._pieces.clear()
            self._when_odd()

    def _take(self, text: bytes) -> None:
        _check(b"\0" not in text)  # which numpy leaves out at a text's end
        cells = _Piece(text).cells(self._long)
        places = cells.rows.astype(np.int64) * _COLUMNS + cells.columns
        _check(np.diff(places, prepend=self._last) > 0)
        if len(places):
            self._last = int(places[-1])
            self._pieces.append(cells)

    def _end(self, text: bytes) -> None:
        blank, end, rest = text.partition(b"</sheetData>")
        if blank:
            self._take(blank)
        _check(bool(end) and rest.rstrip().endswith(b"</worksheet>") and b"mergeCell" not in rest)
        _check(len(self._pieces) > 0)
        cells = _Cells(*map(np.concatenate, zip(*self._pieces, strict=True)))
        self._pieces.clear()
        top, bottom = int(cells.rows[0]), int(cells.rows[-1]) + 1
        left, right = int(cells.columns.min()), int(cells.columns.max()) + 1
        area = (bottom - top) * (right - left)
        _check(bottom <= _ROWS and area <= max(_SMALL_AREA, _SPARSE * len(cells.rows)))
        self.start, self.total_height, self.total_width = (top, left), bottom, right
        self.texts = int((cells.words[cells.kinds == _TEXT] + np.uint64(1)).max(initial=0))
        order = np.argsort(cells.columns.astype(np.int16), kind="stable")
        bounds = np.searchsorted(cells.columns[order], np.arange(left, right + 1)).tolist()
        for those in (order[begin:end] for begin, end in pairwise(bounds)):
            rows, kinds, words = cells.rows[those] - top, cells.kinds[those], cells.words[those]
            self._columns.append(column := _column(rows, kinds, words, bottom - top))
            for kind in column.values.keys() - {_TEXT}:
                _check(_NUMBERS.fullmatch(b"".join(number + b"\n" for number in self._numbers(column, kind))))
        self._ended = True

    def _numbers(self, column: _Column, kind: int) -> list[bytes]:
        """A column's different numbers of a kind, as they are written."""
        words = column.values[kind]
        if kind < _LONG:
            return words.view("S8").tolist()  # type: ignore[no-any-return]  # numpy leaves the NULs out
        long = list(self._long)
        return [long[word] for word in words.tolist()]

    def columns(
        self, texts: Sequence[Any], in_style: Callable[[list[bytes], int], Sequence[Any]]
    ) -> Iterator[Part]:
        """The columns, one after the other: `texts` are the shared ones, and `in_style` says what numbers are in the style of that number."""
        for column in self._columns:
            values: list[Any] = [""]
            for kind, words in column.values.items():
                if kind == _TEXT:
                    values += [texts[word] for word in words.tolist()]
                elif style := kind % _LONG:
                    values += in_style(self._numbers(column, kind), style - 1)
                else:
                    values += map(float, self._numbers(column, kind))
            yield _in_order(values, column.codes)


def _column(rows: _Small, kinds: _Small, words: _Words, height: int) -> _Column:
    """A column of so many rows, by its cells in some of them."""
    codes, values, known = np.zeros(height, dtype=np.int32), dict[int, _Words](), 1
    for kind in np.unique(kinds).tolist():
        those = np.flatnonzero(kinds == kind)
        values[kind], numbers = _different(words[those], dense=kind == _TEXT)
        codes[rows[those]] = numbers + known
        known += len(values[kind])
    return _Column(values, codes)


def _different(words: _Words, *, dense: bool) -> tuple[_Words, _Places]:
    """The different ones of words, and the number of each; `dense` ones are no larger than there may be shared texts."""
    if not dense:
        distinct, codes = np.unique(words, return_inverse=True)
        return distinct, codes
    numbers = np.zeros(int(words.max()) + 1, dtype=np.int64)
    numbers[words] = 1
    found = np.flatnonzero(numbers)
    numbers[found] = np.arange(len(found))
    return found.astype(np.uint64), numbers[words]


def _in_order(values: list[Any], codes: _Small) -> Part:
    """A column's values that there are in the order in which they come, and the number of each row's."""
    first = np.full(len(values), len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(codes))]
    numbers = np.zeros(len(values), dtype=np.int32)
    numbers[order] = np.arange(len(order))
    return [values[at] for at in order.tolist()], numbers[codes].tobytes()


class _Piece:
    """A piece of a sheet's text, of whole rows: where its tags are."""

    def __init__(self, text: bytes) -> None:
        self._size, self._text = len(text), text + bytes(16)
        self._bytes = np.frombuffer(self._text, dtype=np.uint8)
        #: At each byte the next eight.
        self._words: _Words = np.ndarray((self._size + 8,), "<u8", self._text, strides=(1,))
        at = np.flatnonzero(self._bytes == ord("<"))
        #: Where its tags begin, with its end some times behind them, and the eight bytes that each begins with.
        self._count, self._at = len(at), np.append(at, [self._size] * 3)
        self._tags = self._words[self._at]

    def _begin(self, tag: bytes) -> _Flags:
        """Which tags begin so."""
        found: _Flags = (self._tags & _FIRST[len(tag)]) == _word(tag)
        return found

    def _closed(self, tags: _Places) -> _Flags:
        """Which of these tags have nothing in them, and the next tag right behind them."""
        found: _Flags = (self._words[self._at[tags + 1] - 2] & _FIRST[2]) == _word(b"/>")
        return found

    def cells(self, long: dict[bytes, int]) -> _Cells:
        """All cells that have a value; a number of more than eight characters is added to the long ones. Raises _Odd."""
        rows, ends = np.flatnonzero(self._begin(b'<row r="')), np.flatnonzero(self._begin(b"</row>"))
        with_blank = np.flatnonzero(self._begin(b'<c r="'))
        filled = self._begin(b"<v>")[with_blank + 1]
        cells, blank = with_blank[filled], with_blank[~filled]
        _check(self._begin(b"</v>")[cells + 2] & self._begin(b"</c>")[cells + 3])
        _check(self._closed(blank))
        # Each row ends before the next one begins, and there is nothing between them; nor is there any other tag.
        behind = np.sort(np.concatenate([ends, rows[self._closed(rows)]])) + 1
        _check(len(rows) > 0 and rows[0] == 0 and np.array_equal(behind, np.append(rows, self._count)[1:]))
        _check(self._count == 4 * len(cells) + len(blank) + len(rows) + len(ends))
        of_rows = self._words[self._at[rows] + 8]
        sizes = (of_rows.view(np.uint8).reshape(-1, 8) == _QUOTE).argmax(axis=1)
        _check(sizes > 0)
        each = np.diff(np.searchsorted(cells, np.append(rows, self._count)))
        row = np.repeat(np.arange(len(rows)), each)
        numbered = of_rows & _FIRST[sizes + 1]
        columns, begin = self._columns(cells, numbered[row], sizes[row] + 1)
        kinds = self._kinds(begin, self._at[cells + 1] - 1)
        words = self._values(cells, kinds, long)
        return _Cells(_number(of_rows, sizes)[row].astype(np.int32) - 1, columns, kinds, words)

    def _columns(self, cells: _Places, numbered: _Words, sizes: _Places) -> tuple[_Small, _Places]:
        """The cells' columns, of one letter or two, before their row's number and a quote; and where each cell's further attributes begin."""
        tags = self._tags[cells].view(np.uint8).reshape(-1, 8)
        first, second = tags[:, 6].astype(np.int32), tags[:, 7].astype(np.int32)
        two = second >= _A
        _check((first >= _A) & (first <= _Z) & (second <= _Z))
        begin = self._at[cells] + 7 + two
        _check((self._words[begin] & _FIRST[sizes]) == numbered)
        first -= _A
        return np.where(two, (first + 1) * 26 + second - _A, first), begin + sizes

    def _kinds(self, begin: _Places, end: _Places) -> _Small:
        """The kinds of cells by their further attributes, which stand from here to there."""
        _check(self._bytes[end] == ord(">"))
        last = self._words[end - 8] >> np.uint64(16)
        text = last == _word(b' t="s"')
        sizes = end - begin - 6 * (text | (last == _word(b' t="n"')))
        styled = np.flatnonzero(sizes)
        kinds = np.zeros(len(begin), dtype=np.int32)
        if len(styled):
            its_sizes, words = sizes[styled], self._words[begin[styled]]
            _check((its_sizes >= 6) & (its_sizes <= 8) & ((words & _FIRST[4]) == _word(b' s="')))
            _check(self._bytes[begin[styled] + its_sizes - 1] == _QUOTE)
            kinds[styled] = _number(words >> np.uint64(32), its_sizes - 5).astype(np.int32) + 1
        kinds[text] = _TEXT
        return kinds

    def _values(self, cells: _Places, kinds: _Small, long: dict[bytes, int]) -> _Words:
        """The cells' values as words; what is too long for one is added to the long ones, and the cell's kind is told so."""
        begin, end = self._at[cells + 1] + 3, self._at[cells + 2]
        sizes, text = end - begin, kinds == _TEXT
        _check((sizes > 0) & ((sizes < 8) | ~text))
        short = np.minimum(sizes, 8)
        words: _Words = self._words[end - 8] >> (np.uint64(64) - np.uint64(8) * short.astype(np.uint64))
        words[text] = _number(words[text], sizes[text])
        for at in np.flatnonzero(sizes > 8).tolist():
            kinds[at] += _LONG
            words[at] = long.setdefault(self._text[begin[at] : end[at]], len(long))
        return words


def _number(words: _Words, sizes: _Places) -> _Words:
    """The numbers that the first one to eight bytes of words are the digits of. Raises _Odd."""
    missing = np.uint64(8) * (8 - sizes).astype(np.uint64)
    digits = (words ^ _ZEROS) << missing
    _check(((digits + _UP_TO_NINE) | digits) & _TOP_BITS == 0)
    pairs = digits * np.uint64(10) + (digits >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    fours = pairs * np.uint64(100) + (pairs >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    whole: _Words = fours * np.uint64(10_000) + (fours >> np.uint64(32)) & np.uint64(0xFFFFFFFF)
    return whole


def _check(fits: Any) -> None:
    """Raise _Odd where it is not so, or not so everywhere."""
    if not np.all(fits):
        raise _Odd
