"""A look through the sheets of an .xlsx file, before their cells are taken out.

A sheet is a long text of one shape, `<row r="2"><c r="A2" t="s"><v>4</v></c>…</row>`. It is unpacked piece by piece
and searched for what may be an error or a formula without a result, which costs a tenth of what reading it costs; only
rows that may hold one are taken apart. How far it reaches is not asked: that shows when it is laid out, and the bounds
of the process hold until then. A sheet of another shape is parsed once as XML (`xlsx_slowly`), which takes longer and is
exact.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from xml.etree import ElementTree

from pipeline.reading.formats import xlsx_slowly
from pipeline.reading.formats.currencies import foreign_styles
from pipeline.reading.formats.look import NO_RESULT, Look, column_of
from pipeline.reading.formats.package import OF_XLSX, Package
from pipeline.reading.formats.refusal import Refusal

_SMALL = 32 * 1024**2  # for what lists a workbook's sheets
_LONGEST_ROW = 32 * 1024**2

_DECLARES = b"<!DOCTYPE"  # entities can be declared nowhere else
_PREFIX = re.compile(rb"<(?:([\w.-]+):)?sheetData[\s>/]")
_REF = re.compile(rb"([A-Za-z]{1,3})([0-9]{1,7})\"")
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
    for node in _xml(package, OF_XLSX).iter():
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
    """One sheet's cells without a value; `pieces` unpacks it from its start. How far it reaches the exact look tells alone."""
    foreign = foreign or {}
    if not exactly:
        try:
            return _quickly(harmless(pieces()), foreign)
        except _Otherwise:
            pass
    return xlsx_slowly.look(harmless(pieces()), foreign)


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
    found, shown = Look(), _shown_foreign(foreign)
    for rows, names in _whole_rows(pieces):
        found.filled += rows.count(names.value_end) + (rows.count(names.text_end) if b"i" in rows else 0)
        if _may_mark(rows, names):
            _marks(rows, names, found)
        if shown:
            _refuse_otherwise(rows, names)
            for column, row, style in shown.findall(rows):
                found.foreign[int(row) - 1, column_of(column)] = foreign[style]
        below = b"" if rows.endswith(names.row_end) else rows
        for left, top, right, bottom in _MERGED.findall(below):
            found.merge(int(top) - 1, column_of(left), int(bottom) - 1, column_of(right))
    return found


def _whole_rows(pieces: Iterator[bytes]) -> Iterator[tuple[bytes, "_Names"]]:
    """A sheet's text in pieces that end where a row ends; the last one is what stands below the rows."""
    names, waiting = None, b""
    for piece in pieces:
        waiting += piece
        if names is None and (root := _PREFIX.search(waiting)):
            names = _Names(root[1])
        cut = waiting.rfind(names.row_end) + len(names.row_end) if names else 0
        if names and cut >= len(names.row_end):
            yield waiting[:cut], names
            waiting = waiting[cut:]
        elif len(waiting) > _LONGEST_ROW:
            raise _Otherwise
    if names is None or any(cell in waiting for cell in names.cells):
        raise _Otherwise
    yield waiting, names


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
        cell = b"<" + self.prefix + b"c"
        self.cells, self.cell_ref = (cell + b" ", cell + b">"), cell + b' r="'
        self.row_end, self.formula = b"</" + self.prefix + b"row>", b"<" + self.prefix + b"f"
        self.value_end, self.text_end = b"</" + self.prefix + b"v>", b"</" + self.prefix + b"is>"


def _may_mark(rows: bytes, names: _Names) -> bool:
    """Whether rows may hold an error or a formula without its result. Single letters, looked for first, are the quickest."""
    if b"e" in rows and (b'"e"' in rows or b"'e'" in rows):
        return True
    return b"f" in rows and names.formula in rows and bool(_UNSTORED.search(_unprefixed(rows, names)))


def _unprefixed(rows: bytes, names: _Names) -> bytes:
    if not names.prefix:
        return rows
    return rows.replace(b"<" + names.prefix, b"<").replace(b"</" + names.prefix, b"</")


def _refuse_otherwise(rows: bytes, names: _Names) -> None:
    """Cells without a place of their own, or with attributes in another order, are for the exact look."""
    if rows.count(names.cell_ref) != rows.count(names.cells[0]) or names.cells[1] in rows:
        raise _Otherwise


def _marks(rows: bytes, names: _Names, found: Look) -> None:
    """Find the cells that hold an error, or a formula without its result."""
    _refuse_otherwise(rows, names)
    for cell in _unprefixed(rows, names).split(b"<c ")[1:]:
        attributes, _, content = (b" " + cell).partition(b">")
        content = content.partition(b"</c>")[0]
        value = _VALUE.search(content)
        text = value[1].decode(errors="replace") if value else ("" if b"<v" in content else None)
        if _ERROR.search(attributes):
            mark = xlsx_slowly.error_mark(text or "")
        elif _FORMULA.search(content) and xlsx_slowly.unstored(
            text, "str" if _TEXT.search(attributes) else ""
        ):
            mark, found.filled = NO_RESULT, found.filled + 1
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
        # As UTF-8 whatever it declares, as the reader has it; declarations of its own are refused above.
        return ElementTree.fromstring(text, ElementTree.XMLParser(encoding="utf-8"))  # noqa: S314
    except ElementTree.ParseError as error:
        raise Refusal("damaged", f"its list of sheets: {error}") from error


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _inside(target: str) -> str:
    """A part's name from where a relation points to: from the archive's root, or from xl/."""
    return target.lstrip("/") if target.startswith(("/", "xl/")) else f"xl/{target}"
