"""A look through the sheets of an .ods file, before their cells are taken out.

Places are not written but counted: a cell or a row may stand for many ("number-columns-repeated").
"""

import re
from collections.abc import Iterator
from xml.parsers import expat

from pipeline.reading.formats.look import NO_RESULT, Look
from pipeline.reading.formats.refusal import Refusal

_FURTHEST = 1 << 40
_MOST_MARKS = 1_000_000
_ERROR = re.compile(r"#[A-Z/0]{3,6}[!?]?|Err:[0-9]{3}")
_CELLS = ("table-cell", "covered-table-cell")
_TYPE, _CALC_TYPE = "office:value-type", "calcext:value-type"


def looks(pieces: Iterator[bytes]) -> dict[str, Look]:
    """A look at each sheet, by the sheet's name."""
    content = _Content()
    try:
        for piece in pieces:
            content.parser.Parse(piece, False)
        content.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise Refusal("damaged", str(error)) from error
    return content.found


class _Content:
    """What the parser calls; see `looks`."""

    def __init__(self) -> None:
        self.found: dict[str, Look] = {}
        self.parser = expat.ParserCreate("utf-8")  # whatever it declares: nothing else is read
        self.parser.buffer_text = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self._look = Look()
        self._row = self._rows = self._column = self._columns = 0
        self._attributes: dict[str, str] = {}
        self._text: list[str] = []
        self._paragraphs = 0
        self._in_row: list[tuple[int, int, bytes]] = []

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if name == "p":
            self._paragraphs += 1
        elif name in _CELLS:
            self._columns = _repeated(attributes, "columns")
            self._attributes, self._text, self._paragraphs = attributes, [], 0
            if "table:formula" in attributes:
                self.parser.CharacterDataHandler = self._text.append
        elif name == "table-row":
            self._rows, self._column, self._in_row = _repeated(attributes, "rows"), 0, []
        elif name == "table":
            self._look = self.found.setdefault(attributes.get("table:name", ""), Look())
            self._row = 0

    def _end(self, name: str) -> None:
        name = name.rpartition(":")[2]
        if name in _CELLS:
            self.parser.CharacterDataHandler = None
            mark = self._mark()
            if mark or self._paragraphs or _TYPE in self._attributes:
                self._in_row.append((self._column, self._columns, mark))
            spanned = self._attributes.get("table:number-rows-spanned", "1")
            if spanned.isdecimal() and len(spanned) < 8:
                self._look.merge(self._row, self._column, self._row + int(spanned) - 1, self._column)
            self._column += self._columns
        elif name == "table-row":
            self._end_row()
            self._row += self._rows

    def _mark(self) -> bytes:
        """What a cell has in place of a value, or nothing."""
        attributes, text = self._attributes, "".join(self._text)
        if attributes.get(_CALC_TYPE) == "error" or (text and _ERROR.fullmatch(text)):
            return text.encode("ascii", "replace")[:32] or b"#ERROR!"
        if "table:formula" in attributes and not self._paragraphs and _TYPE not in attributes:
            return NO_RESULT
        return b""

    def _end_row(self) -> None:
        """Count the row's filled cells, as often as it is repeated."""
        look = self._look
        for column, times, mark in self._in_row:
            last = column + times - 1
            look.last_row = max(look.last_row, self._row + self._rows - 1)
            look.last_column = max(look.last_column, last)
            look.filled += self._rows * times
            if mark:
                if self._rows * times > _MOST_MARKS:
                    raise Refusal(
                        "too_large", f"one cell with {mark.decode()} is repeated {self._rows * times} times"
                    )
                look.marks += [
                    (self._row + row, at, mark) for row in range(self._rows) for at in range(column, last + 1)
                ]
        if self._row + self._rows > _FURTHEST or self._column > _FURTHEST:
            raise Refusal("damaged", "a row of it is repeated beyond all bounds")


def _repeated(attributes: dict[str, str], what: str) -> int:
    times = attributes.get(f"table:number-{what}-repeated", "1")
    return max(int(times), 1) if times.isdecimal() and len(times) < 12 else 1
