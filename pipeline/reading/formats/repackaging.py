"""A sound workbook written anew in the one way that python-calamine reads.

It looks for an .xlsx's parts under fixed names, and takes an unknown sheet state, a reference of whole rows in <dimension>,
white space between the tags of an .ods, or the short records of an .xlsb for damage, or for nothing. What no program would
stumble over is put right here, part by part as it is unpacked, and nothing else is changed.
"""

import html
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from pipeline.reading.formats import (
    ods_prescan,
    xlsb_prescan,
    xlsx_prescan,
    xlsx_prescan_exact,
)
from pipeline.reading.formats.far_cells import Far
from pipeline.reading.formats.zip_package import OF_ODS, OF_XLSX, Package

_PLACES = {"sharedStrings": "xl/sharedStrings.xml", "styles": "xl/styles.xml"}
_SHEETS = ("worksheet", "chartsheet", "dialogsheet", "macrosheet")
_OF_PROGRAM = "docProps/app.xml"
_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"

_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"

_BOOK = re.compile(rb"<(?:[\w.-]+:)?workbook[\s>]")
_STATE = re.compile(
    rb"""(<(?:[\w.-]+:)?sheet\s[^<>]*?\bstate\s*=\s*)(["'])(?!(?:visible|hidden|veryHidden)\2)[^"']*\2"""
)
_DIMENSION = re.compile(rb"<((?:[\w.-]+:)?dimension)\b[^<>]*?(?:/>|>\s*</\1\s*>)")
_BEFORE_ROWS = 1 << 20
_SPACE = re.compile(rb">\s+(?=<(?:/?(?:table|office|draw):|text:p(?![\w-])))")


def workbook_part(package: Package) -> str:
    """The part that lists an .xlsx's sheets, which the archive's root names; "" where it holds none."""
    for _, kind, part in xlsx_prescan.related(package, ""):
        if kind == "officeDocument" and part in package and _BOOK.search(next(package.pieces(part), b"")):
            return part
    return OF_XLSX if OF_XLSX in package else ""


def is_usual(package: Package, book: str) -> bool:
    """Whether an .xlsx's parts stand where they are looked for."""
    found = [(kind, part.lower()) for _, kind, part in xlsx_prescan.related(package, book)]
    return book.lower() == OF_XLSX and all(
        part.startswith(f"xl/{kind}s/") if kind in _SHEETS else _PLACES.get(kind, part).lower() == part
        for kind, part in found
    )


def xlsx_anew(package: Package, book: str, far: Mapping[str, Far] = MappingProxyType({})) -> bytes:
    """An .xlsx with its parts in their usual places, sheets of an unknown state shown, and no <dimension>.

    What is far from all other cells is moved, by the part that holds the sheet.
    """
    parts: dict[str, Iterable[bytes]] = {}
    relations = list[tuple[str, str, str]]()
    for at, (name, kind, part) in enumerate(xlsx_prescan.related(package, book)):
        place = f"xl/{kind}s/sheet{at}.xml" if kind in _SHEETS else _PLACES.get(kind, "")
        if place and place not in parts and part in package:
            pieces = package.pieces(part)
            if part in far:
                pieces = iter([xlsx_prescan_exact.moved(pieces, far[part])])
            parts[place] = _without_dimension(pieces) if kind in _SHEETS else pieces
            relations.append((name, kind, place))
    parts[OF_XLSX] = [_STATE.sub(rb"\1\2visible\2", b"".join(package.pieces(book)))]
    parts["xl/_rels/workbook.xml.rels"] = [_relations(relations)]
    parts["_rels/.rels"] = [_relations([("rId1", "officeDocument", OF_XLSX)])]
    if _OF_PROGRAM in package:
        parts[_OF_PROGRAM] = package.pieces(_OF_PROGRAM)
    return _archive(parts)


def ods_anew(package: Package, far: Mapping[str, Far] = MappingProxyType({})) -> bytes:
    """An .ods without white space between the tags of its tables, and in which what is far from all others is moved, by sheet."""
    content = package.pieces(OF_ODS)
    return _archive(
        {
            "mimetype": [b"application/vnd.oasis.opendocument.spreadsheet"],
            OF_ODS: _dense(ods_prescan.moved(content, far) if far else content),
        }
        | {name: package.pieces(name) for name in ("META-INF/manifest.xml",) if name in package}
    )


def xlsb_anew(package: Package, sheets: Mapping[str, Far | None]) -> bytes:
    """An .xlsb whose cells all say their column, and in which what is far from all others is moved, by the sheet's part."""
    parts: dict[str, Iterable[bytes]] = {name: package.pieces(name) for name in package.names()}
    return _archive(
        parts
        | {name.lower(): xlsb_prescan.with_columns(package.pieces(name), far) for name, far in sheets.items()}
    )


def _relations(to: Iterable[tuple[str, str, str]]) -> bytes:
    found = (
        f'<Relationship Id="{html.escape(name)}" Type="{_TYPES}{kind}" Target="/{part}"/>'
        for name, kind, part in to
    )
    return f'<Relationships xmlns="{_PACKAGE}">{"".join(found)}</Relationships>'.encode()


def _without_dimension(pieces: Iterator[bytes]) -> Iterator[bytes]:
    before = b""
    for piece in pieces:
        before += piece
        if b"sheetData" in before or len(before) > _BEFORE_ROWS:
            break
    yield _DIMENSION.sub(b"", before, count=1)
    yield from pieces


def _dense(pieces: Iterator[bytes]) -> Iterator[bytes]:
    waiting = b""
    for piece in pieces:
        waiting += piece
        cut = max(waiting.rfind(b">"), 0)
        yield _SPACE.sub(b">", waiting[:cut])
        waiting = waiting[cut:]
    yield _SPACE.sub(b">", waiting)


def _archive(parts: dict[str, Iterable[bytes]]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, pieces in parts.items():
            with archive.open(name, "w", force_zip64=True) as part:
                for piece in pieces:
                    part.write(piece)
    return made.getvalue()
