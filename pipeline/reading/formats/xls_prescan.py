"""The sheets of an .xls file: a look through them before their cells are taken out, and the cells as xlrd takes them out.

Its one stream is records: a number, a length, and so many bytes. A formula's record always holds a result; whether a
program has reckoned it is told by what else the file says (`_mark`).
"""

import contextlib
import datetime
import io
import re
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import xlrd
from xlrd.xldate import xldate_as_datetime

from pipeline.reading.formats.currency_formats import PERCENTAGES, shown_currency
from pipeline.reading.formats.prescan import NO_RESULT, Prescan
from pipeline.reading.formats.refusal import Refusal, Seen
from pipeline.reading.formats.xlsb_prescan import ERRORS

_SHEET, _BEGIN, _END, _PASSWORD = 0x85, 0x809, 0x0A, 0x2F
#: Cells of one value: formula, number, label (of several kinds), logical value or error.
_CELLS = frozenset({0x06, 0x203, 0x204, 0x205, 0x27E, 0xD6, 0xFD})
_MANY_NUMBERS, _MERGED = 0xBD, 0xE5
_FORMULA, _LOGICAL_OR_ERROR = 0x06, 0x205
_ROW, _NOT_SEEN = 0x208, 0x20  # a row's record, and in it that the row is hidden or filtered out
_NUMBERS = frozenset({0x06, 0x203, 0x27E})
_FORMAT, _CELL_FORMAT = 0x41E, 0xE0
_WORKSHEET = 0
_POSITION = 8  # bytes: its rows are kept as long as each is
#: The program that calculated the workbook last; the sheet has formulas left to calculate; this formula is one on loading.
_CALCULATED, _LEFT_TO_DO, _ON_LOAD = 0x1C1, 0x5E, 0x02
_ERROR_RESULT, _EMPTY = 2, 3  # results that are no numbers

_EXCEL_97 = b"\x00\x06"  # the version in its first record
#: Before Excel 97 a text's encoding was a code page; of a Western one, which some programs name whatever they write,
#: letters beyond ASCII stand alone, and each Chinese character would be two of them.
_CHINESE = (936, 950, 1200, 54936, 65001)
_CHINESE_PERHAPS = re.compile(r"[^\x00-\x7f]{2}")


class Workbook:
    """The visible sheets of an .xls file, as xlrd takes their cells out."""

    def __init__(self, stream: bytes) -> None:
        """Raises Refusal for what is older than Excel 5, and for texts in an encoding that is not known."""
        of_97 = stream[4:6] == _EXCEL_97
        with _understood(of_97):
            self._book = xlrd.open_workbook(
                file_contents=stream,
                logfile=io.StringIO(),  # it would write to standard output
                on_demand=True,
                ragged_rows=True,
                encoding_override="latin-1"
                if of_97
                else None,  # since Excel 97 texts are UTF-16, whatever it says
            )
        self._of_97 = of_97
        self._at = {name: at for at, name in enumerate(self._book.sheet_names())}
        self.worksheets = list(zip(self._at, (visible for _, visible in _sheets(stream)), strict=False))

    def sheet(self, name: str) -> "_Cells":
        """A sheet's cells."""
        with _understood(self._of_97):
            made = self._book.sheet_by_index(self._at[name])
        self._book.unload_sheet(self._at[name])
        doubtful = not self._of_97 and self._book.codepage not in _CHINESE
        return _Cells(made, self._book.datemode, doubtful=doubtful)


@contextlib.contextmanager
def _understood(of_97: bool) -> Iterator[None]:
    """Whatever xlrd stumbles over, and it raises errors of many kinds, is one refusal."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        if of_97 or not isinstance(error, UnicodeError | LookupError):
            raise Refusal("damaged", Seen.RECORDS) from error
        raise Refusal("excel_95") from error  # a code page that is not the file's, or unknown


class _Cells:
    """A sheet laid out; see laying.LaidOut."""

    def __init__(self, sheet: Any, calendar: int, *, doubtful: bool) -> None:
        self.name: str = sheet.name
        self.merged_cell_ranges = None  # the look has them
        self._sheet, self._calendar, self._doubtful = sheet, calendar, doubtful
        firsts = ((row, self._first(row)) for row in range(sheet.nrows))
        filled = [(row, first) for row, first in firsts if first is not None]
        self.start = (filled[0][0], min(first for _, first in filled)) if filled else None
        self.total_height = self.height = filled[-1][0] + 1 if filled else 0
        self.total_width: int = max((sheet.row_len(row) for row, _ in filled), default=0)

    def iter_rows(self) -> Iterator[list[Any]]:
        """The rows from the sheet's first to its last filled one, each from the first filled column on."""
        left = self.start[1] if self.start else 0
        for row in range(self.height):
            yield [
                self._value(kind, cell)
                for kind, cell in zip(
                    self._sheet.row_types(row, left), self._sheet.row_values(row, left), strict=True
                )
            ]

    def _first(self, row: int) -> int | None:
        kinds = self._sheet.row_types(row)
        return next((at for at, kind in enumerate(kinds) if kind != xlrd.XL_CELL_EMPTY), None)

    def _value(self, kind: int, cell: Any) -> Any:
        if kind == xlrd.XL_CELL_TEXT:
            if self._doubtful and _CHINESE_PERHAPS.search(cell):
                raise Refusal("excel_95")
            return cell
        if kind == xlrd.XL_CELL_DATE:
            return _moment(cell, self._calendar)
        if kind == xlrd.XL_CELL_BOOLEAN:
            return bool(cell)
        return "" if kind == xlrd.XL_CELL_ERROR else cell


def _moment(number: float, calendar: int) -> Any:
    """A day, a time of day, or both; a number that is none stays a number."""
    try:
        moment = xldate_as_datetime(number, calendar)
    except (ValueError, OverflowError):
        return number
    if number < 1:
        return moment.time() if number >= 0 else number
    return moment.date() if moment.time() == datetime.time() else moment


def is_encrypted(stream: bytes) -> bool:
    """Whether its cells are encrypted."""
    return any(number == _PASSWORD for number, _, _ in _records(stream, 0))


def looks(stream: bytes) -> list[Prescan]:
    """A look at each worksheet, in the order of the workbook."""
    currencies = _currency_styles(stream)
    calculated = any(
        number == _CALCULATED and any(stream[at + 4 : at + length])
        for number, at, length in _records(stream, 0)
    )
    return [_look(stream, start, currencies, calculated=calculated) for start, _ in _sheets(stream)]


def _sheets(stream: bytes) -> Iterator[tuple[int, bool]]:
    """Where each worksheet begins, and whether it is shown."""
    for number, at, length in _records(stream, 0):
        if number == _SHEET and length >= 6 and stream[at + 5] == _WORKSHEET:
            yield struct.unpack_from("<I", stream, at)[0], stream[at + 4] & 3 == 0


def _currency_styles(stream: bytes) -> dict[int, str]:
    """What cell formats show of currencies, by the format's number as cells refer to it."""
    codes, formats, of_97 = dict.fromkeys(PERCENTAGES, "0%"), list[int](), stream[4:6] == _EXCEL_97
    for number, at, length in _records(stream, 0):
        if number == _FORMAT and length >= 5:
            codes[struct.unpack_from("<H", stream, at)[0]] = _code(stream[at + 2 : at + length], of_97=of_97)
        elif number == _CELL_FORMAT and length >= 4:
            formats.append(struct.unpack_from("<H", stream, at + 2)[0])
    shown = {number: said for number, code in codes.items() if (said := shown_currency(code))}
    return {at: shown[number] for at, number in enumerate(formats) if number in shown}


def _code(record: bytes, *, of_97: bool) -> str:
    """A number format's code: its length, then in newer files whether its characters take two bytes each."""
    if not of_97:
        return record[1:].decode("gb18030", errors="replace")
    return record[3:].decode("utf-16-le" if record[2] & 1 else "latin-1", errors="replace")


def _look(stream: bytes, start: int, currencies: Mapping[int, str], *, calculated: bool) -> Prescan:
    found, left_to_do = Prescan(position_bytes=_POSITION), False
    for number, at, length in _records(stream, start):
        if number in _CELLS and length >= 6:
            row, column = struct.unpack_from("<HH", stream, at)
            found.reach(row, column)
            if mark := _mark(number, stream[at : at + length], left_to_do=left_to_do, calculated=calculated):
                found.marks.append((row, column, mark))
            elif number in _NUMBERS and currencies and _is_number(number, stream[at + 6 : at + 14]):
                _show(found, (row, column), stream[at + 4 : at + 6], currencies)
        elif number == _LEFT_TO_DO:
            left_to_do = True
        elif number == _ROW and length >= 16 and stream[at + 12] & _NOT_SEEN:
            found.hide(struct.unpack_from("<H", stream, at)[0])
        elif number == _MANY_NUMBERS and length >= 6:
            _many_numbers(found, stream[at : at + length], currencies)
        elif number == _MERGED and length >= 2:
            ranges = stream[at + 2 : at + 2 + (length - 2) // 8 * 8]
            for top, bottom, left, right in struct.iter_unpack("<4H", ranges):
                found.merge(top, left, bottom, right)
    return found


def _many_numbers(found: Prescan, record: bytes, currencies: Mapping[int, str]) -> None:
    """Count the cells of a record that holds several numbers side by side."""
    row, column = struct.unpack_from("<HH", record)
    found.reach(row, column)
    found.reach(row, struct.unpack_from("<H", record, len(record) - 2)[0])
    count = (len(record) - 6) // 6
    found.filled += max(count - 2, 0)
    for more in range(count if currencies else 0):
        _show(found, (row, column + more), record[4 + 6 * more : 6 + 6 * more], currencies)


def _is_number(record: int, result: bytes) -> bool:
    """Whether a cell's record holds a number: a formula's may hold a text or a logical value."""
    return record != _FORMULA or result[6:] != b"\xff\xff"


def _show(found: Prescan, place: tuple[int, int], style: bytes, currencies: Mapping[int, str]) -> None:
    """Take note of a number whose format shows a currency."""
    if said := currencies.get(int.from_bytes(style, "little")):
        found.show(said, *place)


def _mark(number: int, cell: bytes, *, left_to_do: bool, calculated: bool) -> bytes:
    """What a cell has in place of a value, or nothing: an error, or what stands for a result that nobody calculated.

    Java's programs store 0 and say that the formula is to be calculated on loading; xlwt stores nothing, as Excel does for "",
    in a workbook that does not say which program calculated it last.
    """
    if number == _LOGICAL_OR_ERROR and len(cell) >= 8 and cell[7]:
        return ERRORS.get(cell[6], b"#ERROR!")
    if number != _FORMULA or len(cell) < 16:
        return b""
    result, to_do = cell[6:14], left_to_do or cell[14] & _ON_LOAD
    kind = result[0] if result[6:] == b"\xff\xff" else None
    if kind == _ERROR_RESULT:
        return ERRORS.get(result[2], b"#ERROR!")
    if kind == _EMPTY and (to_do or not calculated):
        return NO_RESULT
    return NO_RESULT if to_do and not any(result) else b""


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
