"""The sheets of an .xls file: their cells as xlrd takes them out, and a look at each.

What xlrd does not tell is looked for in the records of the file's one stream (a number, a length, and so many bytes): a
formula's record always holds a result; whether a program has calculated it is told by what else the file says (`_no_results`).
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

from pipeline.reading.formats.prescan import NO_RESULT, Prescan
from pipeline.reading.formats.refusal import Refusal, Seen
from pipeline.reading.formats.shown_currencies import PERCENTAGES, shown_currency
from pipeline.reading.formats.xlsb_prescan import ERRORS

_SHEET, _BEGIN, _END, _PASSWORD, _FORMULA = 0x85, 0x809, 0x0A, 0x2F, 0x06
_WORKSHEET = 0
_POSITION = 8  # bytes: its rows are kept as long as each is
#: The program that calculated the workbook last; the sheet has formulas left to calculate; this formula is one on loading.
_CALCULATED, _LEFT_TO_DO, _ON_LOAD = 0x1C1, 0x5E, 0x02
#: A formula's result that is no number ends so; the one of nothing begins so.
_NO_NUMBER, _EMPTY = b"\xff\xff", 3
_BLANK = frozenset({xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK})  # the other one has a format

_EXCEL_97 = b"\x00\x06"  # the version in its first record
#: Before Excel 97 a text's encoding was a code page; of a Western one, which some programs name whatever they write,
#: letters beyond ASCII stand alone, and each Chinese character would be two of them.
_CHINESE = (936, 950, 1200, 54936, 65001)
_CHINESE_PERHAPS = re.compile(r"[^\x00-\x7f]{2}")


class Workbook:
    """The sheets of an .xls file as xlrd takes them out, and a look at each by its name."""

    def __init__(self, stream: bytes) -> None:
        """Raises Refusal for what is older than Excel 5, and for texts in an encoding that is not known."""
        self._of_97 = stream[4:6] == _EXCEL_97
        with _understood(self._of_97):
            self._book = xlrd.open_workbook(
                file_contents=stream,
                logfile=io.StringIO(),  # it would write to standard output
                on_demand=True,
                formatting_info=True,
                ragged_rows=True,
                encoding_override="latin-1" if self._of_97 else None,  # of texts that are not UTF-16
            )
        self._formats = _formats(self._book)
        parts = dict(zip(self._book.sheet_names(), _sheets(stream), strict=False))
        self.worksheets = [(name, visible) for name, (_, visible) in parts.items()]
        self.looks = {
            name: self._look(name, _no_results(stream, start)) for name, (start, _) in parts.items()
        }

    def sheet(self, name: str) -> "_Cells":
        """A sheet's cells."""
        with _understood(self._of_97):
            made = self._book.sheet_by_name(name)
        doubtful = not self._of_97 and self._book.codepage not in _CHINESE
        return _Cells(made, self._book.datemode, doubtful=doubtful)

    def _look(self, name: str, no_results: Iterator[tuple[int, int]]) -> Prescan:
        try:
            cells = self.sheet(name)
        except Refusal:  # raised again where the sheet is to be read; a hidden one is passed over
            return Prescan(filled=1)
        found = cells.look(self._formats)
        found.marks += [(*place, NO_RESULT) for place in no_results]
        return found


def _formats(book: Any) -> dict[int, str]:
    """What cell formats show of currencies, by the format's number as cells refer to it."""
    codes = dict.fromkeys(
        PERCENTAGES, "%"
    )  # what other built-in numbers show depends on the program's language
    codes |= {one.format_key: shown_currency(one.format_str) for one in book.format_list}
    return {at: said for at, one in enumerate(book.xf_list) if (said := codes.get(one.format_key))}


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
    """A sheet laid out; its properties are those of python-calamine's sheets."""

    merged_cell_ranges = None  # the look has them

    def __init__(self, sheet: Any, calendar: int, *, doubtful: bool) -> None:
        self.name: str = sheet.name
        self._sheet, self._calendar, self._doubtful = sheet, calendar, doubtful
        self._filled = {
            row: columns
            for row in range(sheet.nrows)
            if (columns := [at for at, kind in enumerate(sheet.row_types(row)) if kind not in _BLANK])
        }
        lefts = (columns[0] for columns in self._filled.values())
        self.start = (min(self._filled), min(lefts)) if self._filled else None
        self.total_height = self.height = max(self._filled, default=-1) + 1
        self.total_width = max((columns[-1] for columns in self._filled.values()), default=-1) + 1

    def look(self, formats: Mapping[int, str]) -> Prescan:
        """The sheet's extent, its merged cells and hidden rows, and the numbers in one of these formats."""
        filled = sum(map(len, self._filled.values()))
        found = Prescan(self.total_height - 1, self.total_width - 1, filled, position_bytes=_POSITION)
        for row, columns in self._filled.items() if formats else ():
            kinds = self._sheet.row_types(row)
            for column in columns:
                style = self._sheet.cell_xf_index(row, column)
                if kinds[column] == xlrd.XL_CELL_NUMBER and style in formats:
                    found.show(formats[style], row, column)
        for top, below, left, beyond in self._sheet.merged_cells:
            found.merge(top, left, below - 1, beyond - 1)
        for row in sorted(row for row, info in self._sheet.rowinfo_map.items() if info.hidden):
            found.hide(row)
        return found

    def iter_rows(self) -> Iterator[list[Any]]:
        """The rows from the sheet's first to its last filled one, each from the first filled column on."""
        ends = (self.start[1] if self.start else 0, self.total_width)
        for row in range(self.height):
            kinds, cells = self._sheet.row_types(row, *ends), self._sheet.row_values(row, *ends)
            yield [self._value(kind, cell) for kind, cell in zip(kinds, cells, strict=True)]

    def _value(self, kind: int, cell: Any) -> Any:
        if kind == xlrd.XL_CELL_TEXT:
            if self._doubtful and _CHINESE_PERHAPS.search(cell):
                raise Refusal("excel_95")
            return cell
        if kind == xlrd.XL_CELL_DATE:
            return _moment(cell, self._calendar)
        if kind == xlrd.XL_CELL_BOOLEAN:
            return bool(cell)
        return ERRORS.get(cell, b"#ERROR!") if kind == xlrd.XL_CELL_ERROR else cell


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


def _sheets(stream: bytes) -> Iterator[tuple[int, bool]]:
    """Where each worksheet begins, and whether it is shown."""
    for number, at, length in _records(stream, 0):
        if number == _SHEET and length >= 6 and stream[at + 5] == _WORKSHEET:
            yield struct.unpack_from("<I", stream, at)[0], stream[at + 4] & 3 == 0


def _no_results(stream: bytes, start: int) -> Iterator[tuple[int, int]]:
    """Rows and columns of a sheet's formulas whose stored result is what stands for one that nobody calculated.

    Java's programs store 0 and say that the formula is to be calculated on loading; xlwt stores nothing, as Excel does for "",
    in a workbook that does not say which program calculated it last.
    """
    calculated = any(
        number == _CALCULATED and any(stream[at + 4 : at + length])
        for number, at, length in _records(stream, 0)
    )
    left_to_do = False
    for number, at, length in _records(stream, start):
        if number == _LEFT_TO_DO:
            left_to_do = True
        elif number == _FORMULA and length >= 16:
            result, to_do = stream[at + 6 : at + 14], left_to_do or stream[at + 14] & _ON_LOAD
            empty = result[0] == _EMPTY and result.endswith(_NO_NUMBER)
            if (to_do or not calculated) if empty else (to_do and not any(result)):
                yield struct.unpack_from("<HH", stream, at)


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
