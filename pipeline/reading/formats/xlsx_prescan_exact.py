"""The exact look through a sheet of an .xlsx file, as XML, for sheets that the quick look can't vouch for.

Places are counted as the reader counts them: a cell or row without a reference stands after the one before it.
"""

import re
from collections.abc import Iterator, Mapping
from xml.parsers import expat

from pipeline.reading.formats.column_letters import column_letters, column_of
from pipeline.reading.formats.far_cells import Far
from pipeline.reading.formats.prescan import NO_RESULT, Prescan
from pipeline.reading.formats.refusal import Refusal, Seen
from pipeline.reading.formats.xlsx_uncalculated_formulas import has_no_result

_REF = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")
_PLACE = re.compile(rb"""(\sr\s*=\s*)(?:"[^"]*"|'[^']*')""")
_FURTHEST = (1_048_575, 16_383)
_NUMBER = ("", "n")


class NeedsWhole(Exception):
    """Rows that can't be understood without those that were left out, such as one without its number."""


def look(
    pieces: Iterator[bytes], currencies: Mapping[bytes, str] | None = None, *, uncalculated: bool = False
) -> Prescan:
    """One sheet's extent and the cells without a value; see `xlsx_prescan.look` for `uncalculated`."""
    found = Look(currencies or {}, uncalculated=uncalculated)
    for piece in pieces:
        found.parse(piece)
    found.parse(b"", last=True)
    return found.found


def moved(pieces: Iterator[bytes], beyond: Far) -> bytes:
    """The sheet with the cells that are far from the others moved."""
    text = b"".join(pieces)
    cells = _Moving(beyond)
    cells.parser.Parse(text, True)
    made, at = list[bytes](), 0
    for begin, place in cells.places:
        end = text.index(b">", begin)
        made += text[at:begin], _PLACE.sub(rb"\1" + place.encode() + rb'"', text[begin:end], count=1)
        at = end
    return b"".join([*made, text[at:]])


class Look:
    """What is found in a sheet while it is parsed; where it is not `whole`, rows may be left out of it."""

    def __init__(self, currencies: Mapping[bytes, str], *, uncalculated: bool, whole: bool = True) -> None:
        self.found, self._currencies, self._uncalculated = Prescan(), currencies, uncalculated
        self._whole = whole
        self.parser = expat.ParserCreate("utf-8")  # whatever it declares: nothing else is read
        self.parser.buffer_text = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self.parser.CharacterDataHandler = self._text
        self._row, self._column, self._kind = -1, -1, ""
        self._formula, self._value, self._inline = False, None, False
        self._open = ""

    _value: str | None

    def parse(self, text: bytes, *, last: bool = False) -> None:
        """Go on with the sheet's text. Raises Refusal where it is no XML, or NeedsWhole."""
        try:
            self.parser.Parse(text, last)
        except expat.ExpatError as error:
            if not self._whole:
                raise NeedsWhole from error
            raise Refusal("damaged", Seen.SHEET_XML, line=error.lineno, column=error.offset + 1) from error

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._open = name = name.rpartition(":")[2]
        if name == "row":
            given = attributes.get("r", "")
            numbered = given.isdecimal() and len(given) < 9
            if not numbered and not self._whole:
                raise NeedsWhole
            self._row = int(given) - 1 if numbered else self._row + 1
            self._column = -1
            if attributes.get("hidden") in ("1", "true", "on"):
                self.found.hide(self._row)
        elif name == "c":
            self._place(attributes.get("r", ""))
            self._kind = attributes.get("t", "")
            self._formula, self._value, self._inline = False, None, False
            if self._kind in _NUMBER and (said := self._currencies.get(attributes.get("s", "").encode())):
                self.found.show(said, self._at_row, self._column)
        elif name == "f":
            self._formula = True
        elif name == "v":
            self._value = ""
        elif name == "is":
            self._inline = True

    def _place(self, reference: str) -> None:
        """A cell's own reference, or the next place in its row."""
        if place := _REF.fullmatch(reference):
            self._at_row, self._column = int(place[2]) - 1, column_of(place[1].encode())
        else:
            self._at_row, self._column = self._row, self._column + 1
        if self._at_row > _FURTHEST[0] or self._column > _FURTHEST[1] or (reference and not place):
            raise Refusal("damaged", Seen.CELL_CALLED, name=reference[:20])

    def _text(self, text: str) -> None:
        if self._open == "v" and self._value is not None:
            self._value += text

    def _end(self, name: str) -> None:
        self._open = ""
        if name.rpartition(":")[2] != "c":
            return
        if self._kind == "e":
            mark = (self._value or "").strip()[:32].encode("ascii", "replace") or b"#ERROR!"
        elif (
            self._formula
            and not self._inline
            and has_no_result(self._kind, self._value, uncalculated=self._uncalculated)
        ):
            mark = NO_RESULT
        elif self._value is None and not self._inline:
            return
        else:
            mark = None
        self.found.reach(self._at_row, self._column)
        if mark:
            self.found.marks.append((self._at_row, self._column, mark))


class _Moving(Look):
    """Where the tags of rows and cells that are moved begin, and the place that each is given."""

    def __init__(self, beyond: Far) -> None:
        super().__init__({}, uncalculated=False)
        self._beyond, self.places = beyond, list[tuple[int, str]]()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        super()._start(name, attributes)
        if self._open == "row" and self._row > self._beyond.rows.last:
            self._put(f"{self._beyond.rows.to(self._row) + 1}")
        elif self._open == "c" and not self._beyond.near(self._at_row, self._column):
            row, column = self._beyond.rows.to(self._at_row), self._beyond.columns.to(self._column)
            self._put(f"{column_letters(column)}{row + 1}")

    def _put(self, place: str) -> None:
        self.places.append((self.parser.CurrentByteIndex, f'"{place}'))
