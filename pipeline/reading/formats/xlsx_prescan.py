"""A look through the sheets of an .xlsx file, before their cells are taken out.

A sheet is a long text of one shape, `<row r="2"><c r="A2" t="s"><v>4</v></c>…</row>`. It is unpacked piece by piece
and searched for what may be an error or a formula without a result, which costs a tenth of what reading it costs; only
rows that may hold one are taken apart. How far it reaches is not asked: that shows when it is laid out, and the bounds
of the process hold until then. A sheet of another shape is parsed once as XML (`xlsx_prescan_exact`), which takes longer and is
exact.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from xml.etree import ElementTree

from pipeline.reading.formats import xlsx_prescan_exact
from pipeline.reading.formats.currency_formats import currency_styles
from pipeline.reading.formats.prescan import NO_RESULT, Prescan, column_of
from pipeline.reading.formats.refusal import Refusal, Seen
from pipeline.reading.formats.zip_package import OF_XLSX, Package

_SMALL = 32 * 1024**2  # for what lists a workbook's sheets
_LONGEST_ROW = 32 * 1024**2
_OF_PROGRAM = "docProps/app.xml"
_TRUE = ("1", "true", "on")

_DECLARES = b"<!DOCTYPE"  # entities can be declared nowhere else
#: What divides a value in two, of which the reader takes the first. Above the sheet it does no harm.
_DIVIDES = (b"<![CDATA[", b"<!--")
_PROLOGUE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?[^>]*\?>\s*|<!--.*?-->\s*)*", re.DOTALL)
_PREFIX = re.compile(rb"<(?:([\w.-]+):)?sheetData[\s>/]")
_REF = re.compile(rb"([A-Za-z]{1,3})([0-9]{1,7})\"")
_ERROR = re.compile(rb"\st=(?:\"e\"|'e')")
_NO_NUMBER = re.compile(rb"\bt=(?!\"n\"|'n')")
_KIND = re.compile(rb"\st=[\"']([A-Za-z]+)[\"']")
_FORMULA = re.compile(rb"<f[\s>/]")
_STORED = re.compile(rb"<f(?:\s[^<>]*)?(?:/>|>[^<]*</f>)\s*<v(?:\s[^<>]*)?>[^<]*[^<\s][^<]*</v>")
_RECKONED = re.compile(rb"<f(?:\s[^<>]*)?(?:/>|>[^<]*</f>)\s*<v(?:\s[^<>]*)?>[^<]*[1-9][^<]*</v>")
_CELL_REF = re.compile(rb"\sr=\"" + _REF.pattern)
_MERGED = re.compile(
    rb"mergeCell\s+ref=[\"']" + rb":".join([rb"([A-Za-z]{1,3})([0-9]{1,7})"] * 2) + rb"[\"']"
)
_VALUE = re.compile(rb"<v(?:\s[^<>]*)?>([^<]*)<")
_HIDES = re.compile(rb"\shidden=[\"'](?:1|true|on)[\"']")
_ROW_NUMBER = re.compile(rb"\sr=[\"']([0-9]{1,7})[\"']")


class _Otherwise(Exception):
    """The sheet is not of the usual shape, so that its cells' places have to be counted."""


def sheet_parts(package: Package) -> dict[str, str]:
    """The part that holds each sheet, by the sheet's name."""
    targets = {name: part for name, _, part in related(package, OF_XLSX)}
    found = {}
    for node in parsed(package, OF_XLSX).iter():
        if _local(node.tag) == "sheet":
            relation = next((value for key, value in node.items() if _local(key) == "id"), "")
            found[node.get("name", "")] = targets.get(relation, "")
    return found


def hidden_sheets(package: Package) -> frozenset[str]:
    """The names of the sheets that nobody sees."""
    return frozenset(
        node.get("name", "")
        for node in parsed(package, OF_XLSX).iter()
        if _local(node.tag) == "sheet" and node.get("state") in ("hidden", "veryHidden")
    )


def related(package: Package, part: str) -> list[tuple[str, str, str]]:
    """What a part refers to within the archive: the relation's name, its kind, and the other part; "" is the archive."""
    folder, _, name = part.rpartition("/")
    relations = posixpath.join(folder, "_rels", f"{name}.rels")
    if relations not in package:
        return []
    return [
        (
            node.get("Id", ""),
            node.get("Type", "").rpartition("/")[2],
            posixpath.normpath(posixpath.join("/", folder, node.get("Target", ""))).lstrip("/"),
        )
        for node in parsed(package, relations)
        if node.get("TargetMode") != "External"
    ]


def check_texts(package: Package) -> dict[bytes, str]:
    """Unpack what the reader takes whole beside the sheets, so that it is known to be bounded and harmless.

    Gives the formats that show a currency.
    """
    styles, size = list[bytes](), 0
    for name in ("xl/sharedstrings.xml", "xl/styles.xml"):
        for piece in undivided(harmless(package.pieces(name))) if name in package else ():
            size += len(piece)
            if name == "xl/styles.xml" and size < _SMALL:
                styles.append(piece)
    return currency_styles(b"".join(styles))


def unreckoned(package: Package) -> bool:
    """Whether the workbook says that its formulas are still to be calculated, or is of a program that never does.

    XlsxWriter, openpyxl and others store 0 for every formula and ask for a full calculation when the file is opened; Apache
    POI stores 0 too and does not always ask.
    """
    for node in parsed(package, OF_XLSX).iter():
        if _local(node.tag) == "calcPr" and (
            node.get("fullCalcOnLoad") in _TRUE or node.get("calcCompleted", "1") not in _TRUE
        ):
            return True
    return _OF_PROGRAM in package and b"Apache POI" in package.whole(_OF_PROGRAM, _SMALL)


def look(
    pieces: Callable[[], Iterator[bytes]],
    exactly: bool = False,
    currencies: Mapping[bytes, str] | None = None,
    *,
    unreckoned: bool = False,
) -> Prescan:
    """One sheet's cells without a value; `pieces` unpacks it from its start. How far it reaches the exact look tells alone.

    Where its formulas are `unreckoned`, a result of 0 or nothing is none.
    """
    currencies = currencies or {}
    if not exactly:
        try:
            return _quickly(undivided(harmless(pieces())), currencies, unreckoned=unreckoned)
        except _Otherwise:
            pass
    return xlsx_prescan_exact.look(undivided(harmless(pieces())), currencies, unreckoned=unreckoned)


def harmless(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """XML passed on piece by piece; with declarations of its own, or in another encoding, it is refused."""
    before = b""
    for piece in pieces:
        if not before and b"\x00" in piece[:64]:
            raise Refusal("damaged", Seen.NOT_UTF_8)
        if _DECLARES in piece or _DECLARES in before[-16:] + piece[:16]:
            raise Refusal("entities")
        yield piece
        before = piece


def undivided(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """XML passed on piece by piece; where values may be divided by comments or the like, as no spreadsheet program has it, it is refused."""
    before = b""
    for piece in pieces:
        prologue = None if before else _PROLOGUE.match(piece)
        begin = prologue.end() if prologue else 0
        if any(piece.find(mark, begin) >= 0 or mark in before[-8:] + piece[:8] for mark in _DIVIDES):
            raise Refusal("damaged", Seen.DIVIDED)
        yield piece
        before = piece


def _quickly(
    pieces: Iterator[bytes], currencies: Mapping[bytes, str], *, unreckoned: bool = False
) -> Prescan:
    found, shown = Prescan(), _of_currency(currencies)
    for rows, names in _whole_rows(pieces):
        found.filled += rows.count(names.value_end) + (rows.count(names.text_end) if b"i" in rows else 0)
        if _may_mark(rows, names, _RECKONED if unreckoned else _STORED):
            _marks(rows, names, found, unreckoned=unreckoned)
        if b"hidden=" in rows:
            _hidden_rows(rows, names, found)
        if shown:
            _refuse_otherwise(rows, names)
            for column, row, style in shown(rows):
                found.show(currencies[style], int(row) - 1, column_of(column))
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
    if names is None or names.cell.search(waiting):
        raise _Otherwise
    yield waiting, names


def _of_currency(
    currencies: Mapping[bytes, str],
) -> Callable[[bytes], Iterable[tuple[bytes, bytes, bytes]]] | None:
    """What finds cells in one of these formats that may hold a number: their column, row and format."""
    if not currencies:
        return None
    styles, place = b"|".join(currencies), rb"r=\"([A-Za-z]{1,3})([0-9]{1,7})\""
    usual = re.compile(rb"c " + place + rb" s=\"(" + styles + rb")\"((?: t=\"[A-Za-z]+\")?)/?>")
    any_order = re.compile(
        rb"<(?:[\w.-]+:)?c\s(?=[^<>]*\b" + place + rb")(?=[^<>]*\bs=[\"'](" + styles + rb")[\"'])([^<>]*)>"
    )
    said = [b"s=" + quote + style + quote for style in currencies for quote in (b'"', b"'")]

    def cells(rows: bytes) -> Iterable[tuple[bytes, bytes, bytes]]:
        found = usual.findall(rows)
        if len(found) != sum(map(rows.count, said)):  # attributes in another order, or others among them
            found = any_order.findall(rows)
        return [cell[:3] for cell in found if not cell[3] or not _NO_NUMBER.search(cell[3])]

    return cells


class _Names:
    """The tags of one sheet as they are spelt in it: some programs write <x:row> for <row>."""

    def __init__(self, prefix: bytes | None) -> None:
        self.prefix = prefix + b":" if prefix else b""
        cell = b"<" + self.prefix + b"c"
        self.cell, self.cell_ref = re.compile(re.escape(cell) + rb"[\s/>]"), cell + b' r="'
        self.row_end, self.formula = b"</" + self.prefix + b"row>", b"<" + self.prefix + b"f"
        self.value_end, self.text_end = b"</" + self.prefix + b"v>", b"</" + self.prefix + b"is>"


def _may_mark(rows: bytes, names: _Names, stored: re.Pattern[bytes]) -> bool:
    """Whether rows may hold an error or a formula without its result. Single letters, looked for first, are the quickest."""
    if b"e" in rows and (b'"e"' in rows or b"'e'" in rows):
        return True
    if b"f" not in rows or names.formula not in rows:
        return False
    plain = _unprefixed(rows, names)
    return len(stored.findall(plain)) != len(_FORMULA.findall(plain))


def _hidden_rows(rows: bytes, names: _Names, found: Prescan) -> None:
    """Take note of the rows that are hidden or filtered out."""
    for row in _unprefixed(rows, names).split(b"<row")[1:]:
        attributes = row.partition(b">")[0]
        if _HIDES.search(attributes):
            number = _ROW_NUMBER.search(attributes)
            if not number:
                raise _Otherwise
            found.hide(int(number[1]) - 1)


def _unprefixed(rows: bytes, names: _Names) -> bytes:
    if not names.prefix:
        return rows
    return rows.replace(b"<" + names.prefix, b"<").replace(b"</" + names.prefix, b"</")


def _refuse_otherwise(rows: bytes, names: _Names) -> None:
    """Cells without a place of their own, or with attributes in another order, are for the exact look."""
    if rows.count(names.cell_ref) != len(names.cell.findall(rows)):
        raise _Otherwise


def _marks(rows: bytes, names: _Names, found: Prescan, *, unreckoned: bool) -> None:
    """Find the cells that hold an error, or a formula without its result."""
    _refuse_otherwise(rows, names)
    for cell in _unprefixed(rows, names).split(b"<c ")[1:]:
        attributes, _, content = (b" " + cell).partition(b">")
        content = content.partition(b"</c>")[0]
        value = _VALUE.search(content)
        text = value[1].decode(errors="replace") if value else ("" if b"<v" in content else None)
        if _ERROR.search(attributes):
            mark = xlsx_prescan_exact.error_mark(text or "")
        elif _FORMULA.search(content) and xlsx_prescan_exact.unstored(
            text, _kind(attributes), unreckoned=unreckoned
        ):
            mark, found.filled = NO_RESULT, found.filled + 1
        else:
            continue
        place = _CELL_REF.search(attributes)
        if not place:
            raise _Otherwise
        found.marks.append((int(place[2]) - 1, column_of(place[1]), mark))


def _kind(attributes: bytes) -> str:
    kind = _KIND.search(attributes)
    return kind[1].decode() if kind else ""


def parsed(package: Package, name: str) -> ElementTree.Element:
    """A small part as XML."""
    if name not in package:
        raise Refusal("no_workbook")
    text = b"".join(harmless(iter([package.whole(name, _SMALL)])))
    try:
        # As UTF-8 whatever it declares, as the reader has it; declarations of its own are refused above.
        return ElementTree.fromstring(text, ElementTree.XMLParser(encoding="utf-8"))  # noqa: S314
    except ElementTree.ParseError as error:
        raise Refusal("damaged", Seen.SHEET_LIST, problem=str(error)) from error


def _local(name: str) -> str:
    return name.rpartition("}")[2]
