"""A look through the sheets of an .ods file, before their cells are taken out.

Places are not written but counted: a cell or a row may stand for many ("number-columns-repeated").
"""

import contextlib
import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from pipeline.reading.formats import ods_days
from pipeline.reading.formats.far_cells import Far, Moved
from pipeline.reading.formats.prescan import NO_RESULT, Mark, Prescan
from pipeline.reading.formats.refusal import Refusal, Seen
from pipeline.reading.formats.shown_currencies import changed_in, currencies_in, of_country, units_in

_FURTHEST = 1 << 40
_MOST_MARKS = 1_000_000
_CELL = 160  # bytes, each time that it is repeated
_ERROR = re.compile(r"#[A-Z/0]{3,6}[!?]?|Err:[0-9]{3}")
_CELLS = ("table-cell", "covered-table-cell")
#: Where the value of a cell stands, by the cell's type; a text's stands within it.
_VALUE_OF = {
    **dict.fromkeys(("float", "percentage", "currency"), "office:value"),
    **{kind: f"office:{kind}-value" for kind in ("date", "time", "boolean")},
}
_TYPE, _CALC_TYPE = "office:value-type", "calcext:value-type"
_NUMBERS = ("float", "currency", "percentage")
#: LibreOffice's words, in English and Chinese, for what its formulas come to where they compare: the value beside them is 1 or 0.
_TRUTH_VALUES = {"TRUE": "TRUE", "FALSE": "FALSE", "真": "TRUE", "假": "FALSE"}


def looks(pieces: Iterator[bytes], styles: Iterator[bytes] | None = None) -> dict[str, Prescan]:
    """A look at each sheet, by the sheet's name; `styles` is the part that holds the named styles."""
    known = _Styles()
    if styles is not None:
        _parsed(styles, known)
    return _parsed(pieces, known).found


def moved(pieces: Iterator[bytes], beyond: Mapping[str, Far]) -> Iterator[bytes]:
    """The content with what is far from all other cells moved, by the sheet's name."""
    text = b"".join(pieces)
    content = _Moving(text, beyond)
    content.parser.Parse(text, True)
    at = 0
    for begin, end, instead in sorted(content.changes):
        yield text[at:begin] + instead
        at = end
    yield text[at:]


@dataclass
class _Styles:
    """What styles say of numbers: the country whose currency is shown, by its code, and whether it is a day."""

    countries: dict[str, str] = field(default_factory=dict)
    days: set[str] = field(default_factory=set)

    def take(self, name: str, of: str) -> None:
        """Take note of a style that shows numbers as another one does."""
        self.countries[name] = self.countries.get(of, "")
        if of in self.days:
            self.days.add(name)


def _parsed(pieces: Iterator[bytes], styles: _Styles) -> "_Content":
    content = _Content(styles)
    try:
        for piece in pieces:
            content.parser.Parse(piece, False)
        content.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise Refusal("damaged", Seen.SHEET_XML, line=error.lineno, column=error.offset + 1) from error
    return content


class _Content:
    """What the parser calls; see `looks`."""

    def __init__(self, styles: _Styles) -> None:
        self._styles = styles
        self._data_style = self._row_style = ""
        self._first_day = ods_days.FIRST
        self._column_styles: list[tuple[int, str]] = []
        self.found: dict[str, Prescan] = {}
        self.parser = expat.ParserCreate("utf-8")  # whatever it declares: nothing else is read
        self.parser.buffer_text = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self._look = Prescan()
        self._row = self._rows = self._column = self._columns = 0
        self._attributes: dict[str, str] = {}
        self._text: list[str] = []
        self._is_read = self._not_seen = False
        self._paragraphs = 0
        self._in_row: list[tuple[int, int, Mark | None, str]] = []

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if name == "p":
            self._paragraphs += 1
        elif name in _CELLS:
            self._columns = _repeated(attributes, "columns")
            self._attributes, self._text, self._paragraphs = attributes, [], 0
            self._is_read = (
                "table:formula" in attributes
                or attributes.get(_TYPE) in _NUMBERS
                or attributes.get("office:date-value", "").endswith("Z")
            )
            if self._is_read:
                self.parser.CharacterDataHandler = self._text.append
        elif name == "annotation":  # a note to the cell, and no part of it
            self.parser.CharacterDataHandler = None
        elif name == "table-row":
            self._rows, self._column, self._in_row = _repeated(attributes, "rows"), 0, []
            self._not_seen = attributes.get("table:visibility") in ("collapse", "filter")
            self._row_style = attributes.get("table:default-cell-style-name", "")
        elif name == "table":
            self._column_styles = []
            self._look = self.found.setdefault(attributes.get("table:name", ""), Prescan(cell_bytes=_CELL))
            self._row = 0
        else:
            self._start_style(name, attributes)

    def _start_style(self, name: str, attributes: dict[str, str]) -> None:
        """Take note of how a style shows numbers, of the style of a column's cells, and of the first day."""
        if name == "currency-style":
            self._data_style = attributes.get("style:name", "")
        elif name == "currency-symbol":
            self._styles.countries[self._data_style] = attributes.get("number:country", "")
        elif name == "date-style":
            self._styles.days.add(attributes.get("style:name", ""))
        elif name == "style" and "style:name" in attributes:
            of = attributes.get("style:data-style-name") or attributes.get("style:parent-style-name", "")
            self._styles.take(attributes["style:name"], of)
        elif name == "null-date":
            with contextlib.suppress(ValueError):
                self._first_day = datetime.date.fromisoformat(attributes.get("table:date-value", ""))
        elif name == "table-column":
            last = self._column_styles[-1][0] if self._column_styles else -1
            style = attributes.get("table:default-cell-style-name", "")
            self._column_styles.append((last + _repeated(attributes, "columns"), style))

    def _end(self, name: str) -> None:
        name = name.rpartition(":")[2]
        if name in _CELLS:
            self.parser.CharacterDataHandler = None
            mark = self._mark()
            if mark or self._paragraphs or _TYPE in self._attributes:
                self._in_row.append((self._column, self._columns, mark, "" if mark else self._currency()))
            spanned = self._attributes.get("table:number-rows-spanned", "1")
            if spanned.isdecimal() and len(spanned) < 8:
                self._look.merge(self._row, self._column, self._row + int(spanned) - 1, self._column)
            self._column += self._columns
        elif name == "annotation" and self._is_read:
            self.parser.CharacterDataHandler = self._text.append
        elif name == "table-row":
            self._end_row()
            self._row += self._rows

    def _mark(self) -> Mark | None:
        """What a cell has in place of its value, or nothing."""
        attributes, text = self._attributes, "".join(self._text)
        if attributes.get(_CALC_TYPE) == "error" or (text and _ERROR.fullmatch(text)):
            return text.encode("ascii", "replace")[:32] or b"#ERROR!"
        value = _VALUE_OF.get(attributes.get(_TYPE, ""))
        stored = value in attributes if value else _TYPE in attributes or self._paragraphs
        if "table:formula" in attributes and not stored:
            return NO_RESULT
        if value not in attributes or not self._is_read:
            return None
        if attributes[_TYPE] in _NUMBERS and text in _TRUTH_VALUES:
            return _TRUTH_VALUES[text]
        return self._day(attributes[value], text)

    def _day(self, value: str, text: str) -> datetime.date | None:
        """The day that a number's style or text says that it is, or None."""
        if self._attributes[_TYPE] == "float" and self._style() in self._styles.days:
            return ods_days.of_number(value, self._first_day)
        return ods_days.shown(text.strip(), value, self._first_day)

    def _style(self) -> str:
        """The name of the cell's style: its own, or the row's, or the column's."""
        return (
            self._attributes.get("table:style-name")
            or self._row_style
            or next((style for last, style in self._column_styles if self._column <= last), "")
        )

    def _currency(self) -> str:
        """What a number shows of currencies and units: in its text, and as the cell itself names it."""
        if self._attributes.get(_TYPE) not in _NUMBERS:
            return ""
        named = self._attributes.get("office:currency", "")
        text = "".join(self._text)
        # Mere text (see shown_currencies.py); but a formula such as =50% is shown as a percentage and called a number.
        if self._attributes[_TYPE] != "percentage" and "table:formula" not in self._attributes:
            text = text.replace("%", "％")
        changed = changed_in(text, self._attributes.get("office:value", ""))
        signs = dict.fromkeys(f"{currencies_in(text)} {named} {units_in(text)} {changed}".split())
        if not signs:
            return ""
        country = self._styles.countries.get(self._style(), "")
        return " ".join(of_country(sign, country) for sign in signs)

    def _end_row(self) -> None:
        """Count the row's filled cells, as often as it is repeated."""
        look = self._look
        if self._not_seen and self._in_row:
            look.hide(self._row, self._row + self._rows - 1)
        for column, times, mark, currency in self._in_row:
            last = column + times - 1
            look.last_row = max(look.last_row, self._row + self._rows - 1)
            look.last_column = max(look.last_column, last)
            look.rows.add(self._row, self._row + self._rows - 1)
            look.columns.add(column, last)
            look.filled += self._rows * times
            if not (mark or currency):
                continue
            if self._rows * times > _MOST_MARKS:
                value = (mark.decode() if isinstance(mark, bytes) else str(mark or "")) or currency
                raise Refusal("too_large", Seen.REPEATED_CELL, value=value, count=self._rows * times)
            for row in range(self._row, self._row + self._rows):
                for at in range(column, last + 1):
                    if mark:
                        look.marks.append((row, at, mark))
                    else:
                        look.show(currency, row, at)
        if self._row + self._rows > _FURTHEST or self._column > _FURTHEST:
            raise Refusal("damaged", Seen.REPEATED_ROW)


class _Moving(_Content):
    """What is to be changed in a file's text: from where to where, and what comes there."""

    def __init__(self, text: bytes, beyond: Mapping[str, Far]) -> None:
        super().__init__(_Styles())
        self._text_of_all, self._beyond, self._far = text, beyond, None
        self.changes = list[tuple[int, int, bytes]]()
        self._row_begin = self._cell_begin = 0

    _far: Far | None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        super()._start(name, attributes)
        name = name.rpartition(":")[2]
        if name == "table":
            self._far = self._beyond.get(attributes.get("table:name", ""))
        elif name == "table-row":
            self._row_begin = self.parser.CurrentByteIndex
        elif name in _CELLS:
            self._cell_begin = self.parser.CurrentByteIndex

    def _end(self, name: str) -> None:
        local = name.rpartition(":")[2]
        if self._far and local == "table-row":
            self._repeat(b"rows", self._row_begin, self._far.rows, self._row, self._rows)
        elif self._far and local in _CELLS:
            self._repeat(b"columns", self._cell_begin, self._far.columns, self._column, self._columns)
        super()._end(name)

    def _repeat(self, what: bytes, begin: int, side: Moved, place: int, times: int) -> None:
        """Let a row or cell that ends here stand as often as it comes to, or not at all."""
        now = side.to(place + times) - side.to(place)
        if now == times:
            return
        tag_end, end = self._text_of_all.index(b">", begin) + 1, self.parser.CurrentByteIndex
        if now == 0:
            if self._text_of_all[tag_end - 2 : tag_end] == b"/>":
                end = tag_end
            else:
                end = self._text_of_all.index(b">", end) + 1
            while self.changes and self.changes[-1][0] > begin:  # of the cells in a row that is left out
                self.changes.pop()
            self.changes.append((begin, end, b""))
            return
        tag = re.sub(
            rb"(:number-" + what + rb"-repeated\s*=\s*[\"'])[0-9]+",
            lambda found: found[1] + b"%d" % now,
            self._text_of_all[begin:tag_end],
        )
        self.changes.append((begin, tag_end, tag))


def _repeated(attributes: dict[str, str], what: str) -> int:
    times = attributes.get(f"table:number-{what}-repeated", "1")
    return max(int(times), 1) if times.isdecimal() and len(times) < 12 else 1
