"""A look through the sheets of an .xlsb file, before their cells are taken out.

Its parts are records: a number, a length, and so many bytes. A cell's record begins with its column, unless it is a short one (SheetJS
writes them, python-calamine passes over them); its row is that of the row record before it. A formula's record always holds a result, so
that one that was never calculated is told by what the workbook says of all.
"""

import struct
from collections.abc import Iterator, Mapping

from pipeline.reading.formats.far_cells import Far
from pipeline.reading.formats.prescan import NO_RESULT, Prescan
from pipeline.reading.formats.refusal import Refusal, Seen
from pipeline.reading.formats.shown_currencies import PERCENTAGES, shown_currency
from pipeline.reading.formats.zip_package import OF_XLSB, Package

_ROW, _SHEET = 0, 156
_NOT_SEEN = 0x10  # of a row: it is hidden, or filtered out
_BLANK, _FIRST_CELL, _LAST_CELL = 1, 2, 11  # records 2 to 11 are filled cells, 1 is a blank one
_FIRST_SHORT, _LAST_SHORT = 12, 18  # the same without their column, but for formulas
_ERROR, _ERROR_OF_FORMULA = 3, 11
_NUMBERS = frozenset({2, 5, 9})  # a short one, a long one, a formula's
_WITH_RICH_TEXT = 62
_FORMAT, _CELL_FORMAT, _CELL_FORMATS_BEGIN, _CELL_FORMATS_END = 44, 47, 617, 618
_MERGED = 176
_RESULT = {8: 4, 9: 8}  # a formula's text and number; so many bytes that are all 0 say that it is "" or 0
_CALCULATION, _ON_LOAD, _SOME_LEFT = 157, 0x01, 0x10
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


def currency_styles(pieces: Iterator[bytes]) -> dict[int, str]:
    """What cell formats show of currencies, by the format's number as cells refer to it."""
    codes, formats, in_cells = dict.fromkeys(PERCENTAGES, "%"), list[int](), False
    for number, record in _records(pieces):
        if number == _FORMAT:
            codes[int.from_bytes(record[:2], "little")] = shown_currency(_text(record, 2)[0])
        elif number in (_CELL_FORMATS_BEGIN, _CELL_FORMATS_END):
            in_cells = number == _CELL_FORMATS_BEGIN
        elif number == _CELL_FORMAT and in_cells:
            formats.append(int.from_bytes(record[2:4], "little"))
    return {at: said for at, number in enumerate(formats) if (said := codes.get(number))}


def uncalculated(package: Package) -> bool:
    """Whether the workbook says that its formulas are still to be calculated; see `xlsx_prescan.uncalculated`."""
    return any(
        number == _CALCULATION and len(record) >= 26 and record[24] & (_ON_LOAD | _SOME_LEFT)
        for number, record in _records(package.pieces(OF_XLSB))
    )


def look(
    pieces: Iterator[bytes], currencies: Mapping[int, str] | None = None, *, uncalculated: bool = False
) -> Prescan:
    """One sheet's extent, its error cells, its merged ones, and the numbers in formats that show a currency.

    See `xlsx_prescan.look` for `uncalculated`.
    """
    found, row, currencies = Prescan(), -1, currencies or {}
    for number, record, short in _whole_cells(pieces):
        found.short = found.short or short
        if number == _ROW and len(record) >= 4:
            row = int.from_bytes(record[:4], "little")
            if len(record) >= 12 and record[11] & _NOT_SEEN:
                found.hide(row)
        elif (_FIRST_CELL <= number <= _LAST_CELL or number == _WITH_RICH_TEXT) and len(record) >= 4:
            column = int.from_bytes(record[:4], "little")
            if row > _FURTHEST[0] or column > _FURTHEST[1]:
                raise Refusal("damaged", Seen.CELL_AT, row=row + 1, column=column + 1)
            found.reach(row, column)
            if number in (_ERROR, _ERROR_OF_FORMULA) and len(record) >= 9:
                found.marks.append((row, column, ERRORS.get(record[8], b"#ERROR!")))
            elif uncalculated and number in _RESULT and not any(record[8 : 8 + _RESULT[number]]):
                found.marks.append((row, column, NO_RESULT))
            elif number in _NUMBERS and (said := currencies.get(int.from_bytes(record[4:7], "little"))):
                found.show(said, row, column)
        elif number == _MERGED and len(record) >= 16:
            top, bottom, left, right = struct.unpack_from("<4I", record)
            found.merge(top, left, bottom, right)
    return found


def with_columns(pieces: Iterator[bytes], beyond: Far | None = None) -> Iterator[bytes]:
    """A sheet's records with each cell's column in its record, and what is far from the others moved; the rest as they are."""
    for number, whole, _ in _whole_cells(pieces):
        record = _moved(number, whole, beyond) if beyond else whole
        yield _varied(number) + _varied(len(record)) + record


def _moved(number: int, record: bytes, beyond: Far) -> bytes:
    """A row or a cell in its new place, which its record begins with."""
    if number == _ROW:
        side = beyond.rows
    elif _BLANK <= number <= _LAST_CELL or number == _WITH_RICH_TEXT:
        side = beyond.columns
    else:
        return record
    return side.to(int.from_bytes(record[:4], "little")).to_bytes(4, "little") + record[4:]


def _varied(number: int) -> bytes:
    """A number as records have it, seven bits a byte."""
    found = b""
    while number > 0x7F:
        found += bytes([number & 0x7F | 0x80])
        number >>= 7
    return found + bytes([number])


def _whole_cells(pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes, bool]]:
    """The records, and whether each is made whole here: short ones leave out the column, the one after the last cell's."""
    column = -1
    for number, record in _records(pieces):
        if number == _ROW:
            column = -1
        elif _FIRST_SHORT <= number <= _LAST_SHORT:
            column += 1
            yield number - _FIRST_SHORT + _BLANK, column.to_bytes(4, "little") + record, True
            continue
        elif _BLANK <= number <= _LAST_CELL or number == _WITH_RICH_TEXT:
            column = int.from_bytes(record[:4], "little")
        yield number, record, False


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
