"""A look through the sheets of an .xlsx file, before their cells are taken out.

A sheet is a long text of one shape, `<row r="2"><c r="A2" t="s"><v>4</v></c>…</row>`. It is looked
through row by row with byte searches, which costs a fifth of what reading it costs; only rows that may
hold an error or a formula without a result are taken apart. A sheet of another shape, or one that seems
to reach far, is parsed once as XML (`xlsx_slowly`), which takes longer and is exact.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from xml.etree import ElementTree

from pipeline.reading.formats import xlsx_slowly
from pipeline.reading.formats.currencies import foreign_styles
from pipeline.reading.formats.look import NO_RESULT, Look, column_of
from pipeline.reading.formats.package import Package
from pipeline.reading.formats.refusal import Refusal

WORKBOOK = "xl/workbook.xml"
_SMALL = 32 * 1024**2  # for what lists a workbook's sheets
_LONGEST_ROW = 32 * 1024**2

_DECLARES = b"<!DOCTYPE"  # entities can be declared nowhere else
_PREFIX = re.compile(rb"<(?:([\w.-]+):)?sheetData[\s>/]")
_REF = re.compile(rb"([A-Za-z]{1,3})([0-9]{1,7})\"")
_FAR = re.compile(rb'c r="(?:[A-Za-z]{3}|[A-Za-z]{1,2}[0-9]{6})')
_NEAR_ROW, _NEAR_COLUMN = 99_999, 702
_ERROR = re.compile(rb"\st=(?:\"e\"|'e')")
_TEXT = re.compile(rb"\st=(?:\"str\"|'str')")
_FORMULA = re.compile(rb"<f[\s>/]")
_UNSTORED = re.compile(rb"<f(?:\s[^<>]*)?(?:/>|>[^<]*</f>)\s*(?:</c|<v\s*/>|<v>\s*</v>)")
_CELL_REF = re.compile(rb"\sr=\"" + _REF.pattern)
_MERGED = re.compile(
    rb"mergeCell\s+ref=[\"']" + rb":".join([rb"([A-Za-z]{1,3})([0-9]{1,7})"] * 2) + rb"[\"']"
)
_VALUE = re.compile(rb"<v(?:\s[^<>]*)?>([^<]*)<")


class _Otherwise(Exception):
    """The sheet is not of the usual shape, so that its cells' places have to be counted."""


def sheet_parts(package: Package) -> dict[str, str]:
    """The part that holds each sheet, by the sheet's name."""
    targets = relations(package, "xl/_rels/workbook.xml.rels")
    found = {}
    for node in _xml(package, WORKBOOK).iter():
        if _local(node.tag) == "sheet":
            relation = next((value for key, value in node.items() if _local(key) == "id"), "")
            found[node.get("name", "")] = targets.get(relation, "")
    return found


def relations(package: Package, name: str) -> dict[str, str]:
    """The parts that a part refers to, by the relation's name."""
    return {node.get("Id", ""): _inside(node.get("Target", "")) for node in _xml(package, name)}


def check_texts(package: Package) -> dict[bytes, str]:
    """Unpack what the reader takes whole beside the sheets, so that it is known to be bounded and harmless.

    Gives the formats in which numbers are shown in another currency.
    """
    styles, size = list[bytes](), 0
    for name in ("xl/sharedstrings.xml", "xl/styles.xml"):
        for piece in harmless(package.pieces(name)) if name in package else ():
            size += len(piece)
            if name == "xl/styles.xml" and size < _SMALL:
                styles.append(piece)
    return foreign_styles(b"".join(styles))


def look(
    pieces: Callable[[], Iterator[bytes]], exactly: bool = False, foreign: Mapping[bytes, str] | None = None
) -> Look:
    """One sheet's extent and the cells without a value; `pieces` unpacks it from its start."""
    foreign = foreign or {}
    try:
        found = None if exactly else _quickly(harmless(pieces()), foreign)
    except _Otherwise:
        found = None
    if found is None:
        return xlsx_slowly.look(harmless(pieces()), foreign)
    # The quick look counts cells that have a format alone; whole columns often do, down to the last row.
    return xlsx_slowly.look(harmless(pieces()), foreign) if found.sparse else found


def harmless(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """XML passed on piece by piece; with declarations of its own, or in another encoding, it is refused."""
    before = b""
    for piece in pieces:
        if not before and b"\x00" in piece[:64]:
            raise Refusal("damaged", "its XML is not UTF-8")
        if _DECLARES in piece or _DECLARES in before[-16:] + piece[:16]:
            raise Refusal("entities")
        yield piece
        before = piece


def _quickly(pieces: Iterator[bytes], foreign: Mapping[bytes, str]) -> Look:
    found, names, waiting = Look(), None, b""
    shown = _shown_foreign(foreign)
    for piece in pieces:
        waiting += piece
        if names is None:
            if not (root := _PREFIX.search(waiting)):
                if len(waiting) > _LONGEST_ROW:
                    raise _Otherwise
                continue
            names = _Names(root[1])
        cut = waiting.rfind(names.row_end) + len(names.row_end)
        if cut < len(names.row_end):
            if len(waiting) > _LONGEST_ROW:
                raise _Otherwise
            continue
        _rows(waiting[:cut], names, found)
        for column, row, style in shown.findall(waiting[:cut]) if shown else ():
            found.foreign[int(row) - 1, column_of(column)] = foreign[style]
        waiting = waiting[cut:]
    if names is None or names.cell in waiting:
        raise _Otherwise
    for left, top, right, bottom in _MERGED.findall(waiting):  # they stand below the rows
        found.merge(int(top) - 1, column_of(left), int(bottom) - 1, column_of(right))
    return found


def _shown_foreign(foreign: Mapping[bytes, str]) -> re.Pattern[bytes] | None:
    """Cells that hold a number in one of these formats."""
    if not foreign:
        return None
    styles = b"|".join(foreign)
    return re.compile(
        rb"<(?:[\w.-]+:)?c r=\"([A-Za-z]{1,3})([0-9]{1,7})\" s=\"(" + styles + rb")\"(?: t=\"n\")?\s*>"
    )


class _Names:
    """The tags of one sheet as they are spelt in it: some programs write <x:row> for <row>."""

    def __init__(self, prefix: bytes | None) -> None:
        self.prefix = prefix + b":" if prefix else b""
        self.cell, self.row_end = b"<" + self.prefix + b"c", b"</" + self.prefix + b"row>"
        self.cell_ref = self.cell + b' r="'
        self.value_end, self.text_end = b"</" + self.prefix + b"v>", b"</" + self.prefix + b"is>"


def _rows(rows: bytes, names: _Names, found: Look) -> None:
    """Take whole rows into account."""
    if rows.count(names.cell_ref) != rows.count(names.cell + b" ") or names.cell + b">" in rows:
        raise _Otherwise  # cells without a place of their own, or with attributes in another order
    found.filled += rows.count(names.value_end) + rows.count(names.text_end)
    skip = len(names.cell_ref)
    # A row's cells stand in their order: its last one is its furthest.
    last = [
        row[at + skip : at + skip + 12]
        for row in rows.split(names.row_end)
        if (at := row.rfind(names.cell_ref)) >= 0
    ]
    places = _REF.findall(b"<".join(last))
    if len(places) != len(last):
        raise _Otherwise
    if places:
        last_row = max(int(row) for _, row in places) - 1
        found.last_row = max(found.last_row, last_row)
        found.last_column = max(found.last_column, *map(column_of, {column for column, _ in places}))
        if last_row < _NEAR_ROW and found.last_column < _NEAR_COLUMN and _FAR.search(rows):
            raise _Otherwise  # a far-away cell in the midst of a near row
    if names.prefix:
        rows = rows.replace(b"<" + names.prefix, b"<").replace(b"</" + names.prefix, b"</")
    if b'"e"' in rows or b"'e'" in rows or (b"<f" in rows and _UNSTORED.search(rows)):
        _marks(rows, found)


def _marks(rows: bytes, found: Look) -> None:
    """Find the cells that hold an error, or a formula without its result."""
    for cell in rows.split(b"<c ")[1:]:
        attributes, _, content = (b" " + cell).partition(b">")
        content = content.partition(b"</c>")[0]
        value = _VALUE.search(content)
        text = value[1].decode(errors="replace") if value else ("" if b"<v" in content else None)
        if _ERROR.search(attributes):
            mark = xlsx_slowly.error_mark(text or "")
        elif _FORMULA.search(content) and xlsx_slowly.unstored(
            text, "str" if _TEXT.search(attributes) else ""
        ):
            mark = NO_RESULT
        else:
            continue
        place = _CELL_REF.search(attributes)
        if not place:
            raise _Otherwise
        found.marks.append((int(place[2]) - 1, column_of(place[1]), mark))


def _xml(package: Package, name: str) -> ElementTree.Element:
    if name not in package:
        raise Refusal("no_workbook")
    text = b"".join(harmless(iter([package.whole(name, _SMALL)])))
    try:
        return ElementTree.fromstring(text)  # noqa: S314 - declarations of its own are refused above
    except ElementTree.ParseError as error:
        raise Refusal("damaged", f"its list of sheets: {error}") from error


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _inside(target: str) -> str:
    """A part's name from where a relation points to: from the archive's root, or from xl/."""
    return target.lstrip("/") if target.startswith(("/", "xl/")) else f"xl/{target}"
