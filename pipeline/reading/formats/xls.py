"""A look through the sheets of an .xls file, before their cells are taken out.

Its one stream is records: a number, a length, and so many bytes. A formula's record always holds a result, so
that one that was never reckoned can't be told from one whose result is 0.
"""

import struct
from collections.abc import Iterator

from pipeline.reading.formats.compound import Compound
from pipeline.reading.formats.look import Look
from pipeline.reading.formats.refusal import Refusal
from pipeline.reading.formats.xlsb import ERRORS

_SHEET, _BEGIN, _END, _PASSWORD = 0x85, 0x809, 0x0A, 0x2F
#: Cells of one value: formula, number, label (of several kinds), logical value or error.
_CELLS = frozenset({0x06, 0x203, 0x204, 0x205, 0x27E, 0xD6, 0xFD})
_MANY_NUMBERS, _MERGED = 0xBD, 0xE5
_FORMULA, _LOGICAL_OR_ERROR = 0x06, 0x205
_WORKSHEET = 0


def content_of(compound: Compound) -> bytes:
    """The stream that holds everything."""
    names = {name.lower(): name for name in compound.names()}
    for name in ("workbook", "book"):
        if name in names:
            return compound.stream(names[name])
    raise Refusal("encrypted" if "encryptedpackage" in names else "no_workbook")


def looks(stream: bytes) -> list[Look]:
    """A look at each worksheet, in the order of the workbook."""
    starts = []
    for number, at, length in _records(stream, 0):
        if number == _PASSWORD:
            raise Refusal("encrypted")
        if number == _SHEET and length >= 6 and stream[at + 5] == _WORKSHEET:
            starts.append(struct.unpack_from("<I", stream, at)[0])
    return [_look(stream, start) for start in starts]


def _look(stream: bytes, start: int) -> Look:
    found = Look()
    for number, at, length in _records(stream, start):
        if number in _CELLS and length >= 6:
            row, column = struct.unpack_from("<HH", stream, at)
            found.reach(row, column)
            if number == _LOGICAL_OR_ERROR and length >= 8 and stream[at + 7]:
                found.marks.append((row, column, ERRORS.get(stream[at + 6], b"#ERROR!")))
            elif number == _FORMULA and length >= 14 and _is_error(stream[at + 6 : at + 14]):
                found.marks.append((row, column, ERRORS.get(stream[at + 8], b"#ERROR!")))
        elif number == _MANY_NUMBERS and length >= 6:
            row, column = struct.unpack_from("<HH", stream, at)
            found.reach(row, column)
            found.reach(row, struct.unpack_from("<H", stream, at + length - 2)[0])
            found.filled += max((length - 6) // 6 - 2, 0)
        elif number == _MERGED and length >= 2:
            ranges = stream[at + 2 : at + 2 + (length - 2) // 8 * 8]
            for top, bottom, left, right in struct.iter_unpack("<4H", ranges):
                found.merge(top, left, bottom, right)
    return found


def _is_error(result: bytes) -> bool:
    """Whether a formula's stored result is an error: no number, and of kind 2."""
    return result[6:] == b"\xff\xff" and result[0] == 2


def _records(stream: bytes, at: int) -> Iterator[tuple[int, int, int]]:
    """Number, place and length of each record from `at` to the end of its part, without parts within it (charts)."""
    depth = 0
    while at + 4 <= len(stream):
        number, length = struct.unpack_from("<HH", stream, at)
        at += 4
        depth += (number == _BEGIN) - (number == _END)
        if (number == _END and depth < 1) or at + length > len(stream):
            return
        if depth < 2:
            yield number, at, length
        at += length
