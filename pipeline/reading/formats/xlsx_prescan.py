"""A look through the sheets of an .xlsx file, before their cells are taken out.

A sheet is a long text of one shape, `<row r="2"><c r="A2" t="s"><v>4</v></c>…</row>`. It is unpacked piece by piece and
searched for what may be an error, a formula without a result or a hidden row, which costs a tenth of what reading it costs;
only rows that may hold one are parsed as XML (`xlsx_prescan_exact`), and what stands above and below the rows. How far the
sheet reaches is not asked: that shows when it is laid out, and the bounds of the process hold until then. A sheet of another
shape is parsed whole, which takes ten times as long and is exact.
"""

import contextlib
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from pipeline.reading.formats import xlsx_prescan_exact
from pipeline.reading.formats.column_letters import column_of
from pipeline.reading.formats.prescan import Prescan
from pipeline.reading.formats.refusal import Refusal, Seen
from pipeline.reading.formats.shown_currencies import currency_styles
from pipeline.reading.formats.xlsx_uncalculated_formulas import are_uncalculated
from pipeline.reading.formats.zip_package import OF_XLSX, Package

if TYPE_CHECKING:  # a short sheet needs no numpy, which is much to load
    from pipeline.reading.formats.usual_cells import UsualCells

_SMALL = 32 * 1024**2  # for what lists a workbook's sheets
_LONGEST_ROW = 32 * 1024**2
_OF_PROGRAM = "docProps/app.xml"

_DECLARES = b"<!DOCTYPE"  # entities can be declared nowhere else
#: What divides a value in two, of which the reader takes the first. Above the sheet it does no harm.
_DIVIDES = (b"<![CDATA[", b"<!--")
_PROLOGUE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?[^>]*\?>\s*|<!--.*?-->\s*)*", re.DOTALL)
_ROWS_BEGIN = re.compile(rb"<((?:[\w.-]+:)?)sheetData(?:\s[^<>]*)?>")


def sheet_parts(package: Package) -> dict[str, str]:
    """The part that holds each sheet, by the sheet's name."""
    targets = {name: part for name, _, part in related(package, OF_XLSX)}
    found = {}
    for node in parsed(package, OF_XLSX).iter():
        if _local(node.tag) == "sheet":
            relation = next((value for key, value in node.items() if _local(key) == "id"), "")
            found[node.get("name", "")] = targets.get(relation, "")
    return found


def listed(package: Package) -> list[tuple[str, bool]]:
    """The names of the sheets in their order, and whether each is shown."""
    return [
        (node.get("name", ""), node.get("state") not in ("hidden", "veryHidden"))
        for node in parsed(package, OF_XLSX).iter()
        if _local(node.tag) == "sheet"
    ]


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


def uncalculated(package: Package) -> bool:
    """Whether the results that the workbook's formulas have are none."""
    program = package.whole(_OF_PROGRAM, _SMALL) if _OF_PROGRAM in package else b""
    return are_uncalculated(parsed(package, OF_XLSX).iter(), program)


def look(
    pieces: Callable[[], Iterator[bytes]],
    exactly: bool = False,
    currencies: Mapping[bytes, str] | None = None,
    *,
    uncalculated: bool = False,
    cells: "UsualCells | None" = None,
) -> Prescan:
    """One sheet's cells without a value; `pieces` unpacks it from its start. How far it reaches the exact look tells alone.

    What is unpacked goes to `cells`, too; an exact look does not end them.
    Where its formulas are `uncalculated`, a result of 0 or nothing is none.
    """
    currencies = currencies or {}
    if not exactly:
        with contextlib.suppress(xlsx_prescan_exact.NeedsWhole):
            return _quickly(undivided(harmless(pieces())), currencies, uncalculated=uncalculated, cells=cells)
    return xlsx_prescan_exact.look(undivided(harmless(pieces())), currencies, uncalculated=uncalculated)


def harmless(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """XML passed on piece by piece; with declarations of its own, or in another encoding, it is refused."""
    before = b""
    for piece in pieces:
        if not before and b"\x00" in piece[:64]:
            raise Refusal("damaged", Seen.NOT_UTF_8)
        if (b"!" in piece and _DECLARES in piece) or _DECLARES in before[-16:] + piece[:16]:
            raise Refusal("entities")
        yield piece
        before = piece


def undivided(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """XML passed on piece by piece; where values may be divided by comments or the like, as no spreadsheet program has it, it is refused."""
    before = b""
    for piece in pieces:
        prologue = None if before else _PROLOGUE.match(piece)
        begin = prologue.end() if prologue else 0
        divided = b"!" in piece and any(piece.find(mark, begin) >= 0 for mark in _DIVIDES)
        if divided or any(mark in before[-8:] + piece[:8] for mark in _DIVIDES):
            raise Refusal("damaged", Seen.DIVIDED)
        yield piece
        before = piece


def _quickly(
    pieces: Iterator[bytes],
    currencies: Mapping[bytes, str],
    *,
    uncalculated: bool = False,
    cells: "UsualCells | None" = None,
) -> Prescan:
    """What the rows that need it tell when they are parsed; of the others how many cells are filled, and their currencies.

    Raises NeedsWhole where rows leave out their number, or are not written as usual.
    """
    look, rows, waiting = (
        xlsx_prescan_exact.Look(currencies, uncalculated=uncalculated, whole=False),
        None,
        b"",
    )
    look.parse(b"<rows>")
    for piece in pieces:
        waiting += piece
        if rows is None and (begin := _ROWS_BEGIN.search(waiting)):
            waiting = waiting[begin.end() :]
            rows = _Rows(begin[1], currencies, uncalculated=uncalculated)
        if rows and rows.end in waiting:
            whole, end, waiting = waiting.rpartition(rows.end)
            whole += end
            look.parse(rows.doubtful(whole, look.found))
            if cells:
                cells.take(whole)
        elif len(waiting) > _LONGEST_ROW:
            raise xlsx_prescan_exact.NeedsWhole
    if rows is None or rows.cell.search(waiting):
        raise xlsx_prescan_exact.NeedsWhole
    if cells:
        cells.end(waiting)
    # How far the parsed rows reach says nothing of the others.
    return replace(look.found, last_row=-1, last_column=-1)


class _Rows:
    """What tells of a sheet's rows whether they need to be parsed; some programs write <x:row> for <row>."""

    def __init__(self, prefix: bytes, currencies: Mapping[bytes, str], *, uncalculated: bool) -> None:
        self._begin, self.end = b"<" + prefix + b"row", b"</" + prefix + b"row>"
        self._value_end, self._text_end = b"</" + prefix + b"v>", b"</" + prefix + b"is>"
        x, digits = re.escape(prefix), rb"[1-9]" if uncalculated else rb"[^<\s]"
        self.cell = re.compile(rb"<%bc[\s>/]" % x)
        self._formula, self._formula_begin = re.compile(rb"<%bf[\s>/]" % x), b"<" + prefix + b"f"
        self._with_result = re.compile(
            rb"<%bf(?:\s[^<>]*)?(?:/>|>[^<]*</%bf>)\s*<%bv(?:\s[^<>]*)?>[^<]*%b[^<]*</%bv>"
            % (x, x, x, digits, x)
        )
        self._currencies = currencies
        self._styles = [b"s=%b%b%b" % (q, style, q) for style in currencies for q in (b'"', b"'")]
        self._in_currency = re.compile(
            rb'<%bc r="([A-Za-z]{1,3})([0-9]{1,7})" s="(%b)"(?: t="([A-Za-z]+)")?/?>'
            % (x, b"|".join(currencies))
        )

    def doubtful(self, rows: bytes, found: Prescan) -> bytes:
        """The rows that have to be parsed; what the others tell is taken note of."""
        if self._told(rows, found):
            return b""
        each = (self._begin + row for row in rows.split(self._begin)[1:])
        return b"".join(row for row in each if not self._told(row, found))

    def _told(self, rows: bytes, found: Prescan) -> bool:
        """Whether rows hold nothing that has to be parsed. Single letters, looked for first, are the quickest."""
        if b"e" in rows and (b'"e"' in rows or b"'e'" in rows or b"hidden=" in rows):
            return False
        formulas = len(self._formula.findall(rows)) if b"f" in rows and self._formula_begin in rows else 0
        if formulas and formulas != len(self._with_result.findall(rows)):
            return False
        if self._currencies:
            cells = self._in_currency.findall(rows)
            # Attributes may come in another order, or others among them.
            if len(cells) != sum(map(rows.count, self._styles)):
                return False
            for column, row, style, kind in cells:
                if kind in (b"", b"n"):
                    found.show(self._currencies[style], int(row) - 1, column_of(column))
        found.filled += rows.count(self._value_end) + (rows.count(self._text_end) if b"i" in rows else 0)
        return True


def parsed(package: Package, name: str) -> ElementTree.Element:
    """A small part as XML."""
    if name not in package:
        raise Refusal("no_workbook")
    text = b"".join(harmless(iter([package.whole(name, _SMALL)])))
    try:
        # As UTF-8 whatever it declares, as the reader has it; declarations of its own are refused above.
        return ElementTree.fromstring(text, ElementTree.XMLParser(encoding="utf-8"))  # noqa: S314
    except ElementTree.ParseError as error:
        line, column = error.position
        raise Refusal("damaged", Seen.SHEET_LIST, line=line, column=column + 1) from error


def _local(name: str) -> str:
    return name.rpartition("}")[2]
