"""A look through the sheets of an .xlsb file, before their cells are taken out.

Its parts are records: a number, a length, and so many bytes. A cell's record begins with its column; its row
is that of the row record before it. A formula's record always holds a result, so that none can be missing.
"""

import struct
from collections.abc import Iterator

from pipeline.reading.formats.look import Look
from pipeline.reading.formats.package import OF_XLSB, Package
from pipeline.reading.formats.refusal import Refusal

_ROW, _SHEET = 0, 156
_FIRST_CELL, _LAST_CELL = 2, 11  # records 2 to 11 are filled cells, 1 is a blank one
_ERROR, _ERROR_OF_FORMULA = 3, 11
_WITH_RICH_TEXT = 62
_MERGED = 176
_FURTHEST = (1_048_575, 16_383)

ERRORS = {
    0x00: b"#NULL!",
    0x07: b"#DIV/0!",
    0x0F: b"#VALUE!",
    0x17: b"#REF!",
    0x1D: b"#NAME?",
    0x24: b"#NUM!",
    0x2A: b"#N/A",
    0x2B: b"#GETTING_DATA",
}


def sheet_relations(package: Package) -> dict[str, str]:
    """The relation of each sheet, by the sheet's name."""
    found = {}
    for number, record in _records(package.pieces(OF_XLSB)):
        if number == _SHEET:
            relation, at = _text(record, 8)
            name, _ = _text(record, at)
            found[name] = relation
    return found


def look(pieces: Iterator[bytes]) -> Look:
    """One sheet's extent, its error cells and its merged ones."""
    found, row = Look(), -1
    for number, record in _records(pieces):
        if number == _ROW and len(record) >= 4:
            row = int.from_bytes(record[:4], "little")
        elif (_FIRST_CELL <= number <= _LAST_CELL or number == _WITH_RICH_TEXT) and len(record) >= 4:
            column = int.from_bytes(record[:4], "little")
            if row > _FURTHEST[0] or column > _FURTHEST[1]:
                raise Refusal("damaged", f"a cell of it is in row {row + 1}, column {column + 1}")
            found.reach(row, column)
            if number in (_ERROR, _ERROR_OF_FORMULA) and len(record) >= 9:
                found.marks.append((row, column, ERRORS.get(record[8], b"#ERROR!")))
        elif number == _MERGED and len(record) >= 16:
            top, bottom, left, right = struct.unpack_from("<4I", record)
            found.merge(top, left, bottom, right)
    return found


def _records(pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """The records of a part; of one that is cut off nothing."""
    waiting = b""
    for piece in pieces:
        waiting += piece
        at = 0
        while (head := _head(waiting, at)) and head[2] + head[1] <= len(waiting):
            number, length, begin = head
            yield number, waiting[begin : begin + length]
            at = begin + length
        waiting = waiting[at:]


def _head(waiting: bytes, at: int) -> tuple[int, int, int] | None:
    """A record's number, its length, and where its content begins; None where more bytes are needed."""
    try:
        number = waiting[at]
        at += 1
        if number & 0x80:
            number = number & 0x7F | (waiting[at] & 0x7F) << 7
            at += 1
        length = shift = 0
        while shift < 28:
            byte = waiting[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
    except IndexError:
        return None
    return number, length, at


def _text(record: bytes, at: int) -> tuple[str, int]:
    """A text with its length before it, and where it ends."""
    try:
        (length,) = struct.unpack_from("<I", record, at)
    except struct.error:
        return "", at
    end = at + 4 + 2 * min(length, 65_535)
    return record[at + 4 : end].decode("utf-16-le", errors="replace"), end
