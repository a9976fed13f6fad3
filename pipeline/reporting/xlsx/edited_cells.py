"""Single cells of an .xlsx written anew, everything else of it byte for byte as it was: formats, formulas with their results,
charts, pictures, macros.

openpyxl would write the whole workbook anew, without the results of its formulas, its shapes and pictures. ECMA-376 part 1,
18.3.1 (sheetData); 18.6 (calcChain), which may not name a cell whose formula is gone.
"""

import datetime
import re
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from openpyxl.formula.translate import Translator
from openpyxl.utils.cell import (
    column_index_from_string,
    coordinate_from_string,
    get_column_letter,
)
from openpyxl.worksheet.cell_range import CellRange

#: Row and column, as the spreadsheet program counts, from 1.
Place = tuple[int, int]
Value = str | float | datetime.date
_WORKBOOK = "xl/workbook.xml"
_CHAIN = re.compile(rb"<(?:\w+:)?(?:Override|Relationship)\s[^<>]*calcChain[^<>]*/>")
_CALCULATED_BY = re.compile(rb"(<(?:\w+:)?calcPr\b[^<>]*?)\s+calcId=\"[0-9]+\"")
_EXTENT = re.compile(rb"<(?:\w+:)?dimension\s[^<>]*/>")
_SPANS = re.compile(rb"\s+spans=\"[^\"]*\"")
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"


@dataclass
class _Element:
    """Where an element stands in the text: its start, the end of its start tag, and its end; what it holds, of some."""

    start: int
    head: int
    attributes: dict[str, str]
    end: int = 0
    place: Place = (0, 0)
    text: str = ""
    formula: "_Element | None" = None
    result: "_Element | None" = None
    cells: "dict[int, _Element]" = field(default_factory=dict)


class _Scan:
    """Where a sheet's rows and cells stand in its text, those of the wanted rows and those with formulas."""

    def __init__(self, xml: bytes, wanted: Collection[int]) -> None:
        self.rows: dict[int, _Element] = {}
        self.formulas: list[_Element] = []
        self.data = _Element(0, 0, {})
        self.prefix = ""
        self._xml, self._wanted = xml, wanted
        self._open: list[tuple[str, _Element | None]] = []
        self._row = self._column = 0
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartElementHandler, self._parser.EndElementHandler = self._start, self._end
        self._parser.CharacterDataHandler = self._said
        self._parser.Parse(xml, True)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        prefix, _, local = name.rpartition(":")
        start = self._parser.CurrentByteIndex
        element = None
        if local in ("sheetData", "row", "c", "f", "v"):
            element = _Element(start, self._xml.index(b">", start) + 1, attributes)
        self._open.append((local, element))
        if element is None:
            return
        if local == "sheetData":
            self.data, self.prefix = element, prefix and f"{prefix}:"
        elif local == "row":
            self._row, self._column = int(attributes.get("r", self._row + 1)), 0
            self.rows[self._row] = element
        elif local == "c":
            at = attributes.get("r", "")
            letters = coordinate_from_string(at)[0] if at else ""
            self._column = column_index_from_string(letters) if letters else self._column + 1
            element.place = self._row, self._column
            if self._row in self._wanted:
                self.rows[self._row].cells[self._column] = element
        elif (cell := self._open[-2][1]) is not None:  # of a cell
            cell.formula, cell.result = (element, cell.result) if local == "f" else (cell.formula, element)
            if local == "f":
                self.formulas.append(cell)

    def _said(self, text: str) -> None:
        local, element = self._open[-1]
        if local == "f" and element is not None:
            element.text += text

    def _end(self, _: str) -> None:
        element = self._open.pop()[1]
        if element is not None:
            empty = self._xml[element.head - 2] == ord("/")
            at = self._parser.CurrentByteIndex
            element.end = element.head if empty else self._xml.index(b">", at) + 1


def edited_sheet(
    xml: bytes, cells: Mapping[Place, Value], kept: Collection[int], first_day: datetime.date
) -> tuple[bytes, list[str]]:
    """A sheet's part with these cells, and which of them held formulas.

    Of other formulas the results go, so that they are calculated anew, but for those in the rows `kept`: they are read.
    `first_day` is the workbook's day 0. A new cell with a text looks like the one on its left.
    """
    scan = _Scan(xml, {row for row, _ in cells})
    gone = [cell for cell in scan.formulas if cell.place in cells]
    _refuse_part_of_array(scan, cells)
    changes: list[tuple[int, int, bytes]] = []
    by_row: dict[int, dict[int, Value]] = {}
    for (number, column), value in sorted(cells.items()):
        by_row.setdefault(number, {})[column] = value
    for number, values in by_row.items():
        row = scan.rows.get(number)
        made = {
            column: _cell(scan, row, (number, column), value, first_day) for column, value in values.items()
        }
        if row is None or row.end == row.head:  # there is none, or it holds nothing
            head = (
                f'<{scan.prefix}row r="{number}">'.encode()
                if row is None
                else xml[row.start : row.head - 2] + b">"
            )
            after = min((one.start for at, one in scan.rows.items() if at > number), default=0)
            last = xml.rindex(b"</", 0, scan.data.end)
            start, end = (after or last, after or last) if row is None else (row.start, row.end)
            changes.append((start, end, head + b"".join(made.values()) + f"</{scan.prefix}row>".encode()))
            continue
        changes.append((row.start, row.head, _SPANS.sub(b"", xml[row.start : row.head])))
        for column, text in made.items():
            there = row.cells.get(column)
            left = max((at for at in row.cells if at < column), default=0)
            at = row.cells[left].end if left else row.head
            changes.append((there.start, there.end, text) if there else (at, at, text))
    changes += _other_formulas(scan, gone, kept)
    return _EXTENT.sub(b"", _spliced(xml, changes), count=1), [_name(cell.place) for cell in gone]


def _refuse_part_of_array(scan: _Scan, cells: Collection[Place]) -> None:
    """Raise ValueError, which names it, for a formula that fills several cells of which one would change."""
    for cell in scan.formulas:
        extent = cell.formula.attributes.get("ref", "") if cell.formula else ""
        if ":" in extent and cell.formula and cell.formula.attributes.get("t") != "shared":
            filled = CellRange(extent)
            if any(
                filled.min_row <= row <= filled.max_row and filled.min_col <= column <= filled.max_col
                for row, column in cells
            ):
                raise ValueError(extent)


def _other_formulas(scan: _Scan, gone: list[_Element], kept: Collection[int]) -> list[tuple[int, int, bytes]]:
    """What changes of formulas that stay: those that share one that is gone get their own, and stale results go."""
    changes = []
    shared = {
        cell.formula.attributes["si"]: cell
        for cell in gone
        if cell.formula and cell.formula.text and "si" in cell.formula.attributes
    }
    places = {cell.place for cell in gone}
    for cell in scan.formulas:
        formula = cell.formula
        if formula is None or cell.place in places:
            continue
        master = shared.get(formula.attributes.get("si", ""))
        if master and master.formula and not formula.text:
            own = Translator(f"={master.formula.text}", _name(master.place)).translate_formula(
                _name(cell.place)
            )
            tag = f"{scan.prefix}f"
            changes.append((formula.start, formula.end, f"<{tag}>{escape(own[1:])}</{tag}>".encode()))
        if cell.place[0] not in kept and cell.result:
            changes.append((cell.result.start, cell.result.end, b""))
    return changes


def _spliced(xml: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    parts, at = [], 0
    for start, end, text in sorted(changes, key=lambda change: change[:2]):
        parts += [xml[at:start], text]
        at = end
    return b"".join([*parts, xml[at:]])


def _name(place: Place) -> str:
    return f"{get_column_letter(place[1])}{place[0]}"


def _cell(scan: _Scan, row: _Element | None, place: Place, value: Value, first_day: datetime.date) -> bytes:
    there = row.cells.get(place[1]) if row else None
    left = max((at for at in row.cells if at < place[1]), default=0) if row else 0
    looks = there or (row.cells[left] if row and left and isinstance(value, str) else None)
    style = looks.attributes.get("s", "") if looks else ""
    x, head = scan.prefix, f'r="{_name(place)}"' + (f' s="{style}"' if style else "")
    if isinstance(value, str):
        text = f'<{x}is><{x}t xml:space="preserve">{escape(value)}</{x}t></{x}is>'
        made = f'<{x}c {head} t="inlineStr">{text}</{x}c>' if value else f"<{x}c {head}/>"
    else:
        number = (value - first_day).days if isinstance(value, datetime.date) else format(value, ".15g")
        made = f"<{x}c {head}><{x}v>{number}</{x}v></{x}c>"
    return made.encode()


def write_package(original: Path, finished: Path, parts: Mapping[str, bytes], *, formulas_gone: bool) -> None:
    """The workbook's archive with other parts in place of some, which are known by their names; what is new is added."""
    left = dict(parts)
    with zipfile.ZipFile(original) as before, zipfile.ZipFile(finished, "w", zipfile.ZIP_DEFLATED) as after:
        for info in before.infolist():
            content = left.pop(info.filename, None) or before.read(info)
            if formulas_gone and info.filename.lower().endswith("calcchain.xml"):
                continue
            if formulas_gone and info.filename.lower().endswith(("[content_types].xml", "workbook.xml.rels")):
                content = _CHAIN.sub(b"", content)
            if info.filename == _WORKBOOK:
                content = _CALCULATED_BY.sub(
                    rb"\1", content
                )  # so that a program calculates it when it is opened
            after.writestr(info, content)
        for name, content in left.items():
            after.writestr(name, content)


def with_new_sheet(original: Path, name: str, rows: list[list[str]]) -> dict[str, bytes]:
    """The parts of a workbook that has another sheet at its end, with texts alone."""
    lines = "".join(
        f'<row r="{number}">'
        + "".join(
            f'<c r="{_name((number, at))}" t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'
            for at, text in enumerate(row, 1)
            if text
        )
        + "</row>"
        for number, row in enumerate(rows, 1)
    )
    sheet = f'<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="{_MAIN}"><sheetData>{lines}</sheetData></worksheet>'
    with zipfile.ZipFile(original) as package:
        relations = "xl/_rels/workbook.xml.rels"
        there = {each: package.read(each) for each in ("[Content_Types].xml", relations, _WORKBOOK)}
        taken = {each.lower() for each in package.namelist()}
    number = next(n for n in range(1, 10_000) if f"xl/worksheets/sheet{n}.xml" not in taken)
    sheet_id = 1 + max(map(int, re.findall(rb'\ssheetId="([0-9]+)"', there[_WORKBOOK])))
    part, ident = f"worksheets/sheet{number}.xml", f"rIdVoucher{number}"
    new = {
        "[Content_Types].xml": f'<Override PartName="/xl/{part}" ContentType="{_SHEET_TYPE}"/>',
        relations: f'<Relationship Id="{ident}" Type="{_RELATIONS}/worksheet" Target="{part}"/>',
        _WORKBOOK: f'<sheet xmlns:voucher="{_RELATIONS}" name={quoteattr(name)} sheetId="{sheet_id}" voucher:id="{ident}"/>',
    }
    ends = {
        "[Content_Types].xml": rb"</(\w+:)?Types>",
        relations: rb"</(\w+:)?Relationships>",
        _WORKBOOK: rb"</(\w+:)?sheets>",
    }
    made = {}
    for each, content in there.items():
        end = [*re.finditer(ends[each], content)][-1]
        entry = new[each].encode().replace(b"<", b"<" + (end[1] or b""), 1)
        made[each] = content[: end.start()] + entry + content[end.start() :]
    return made | {f"xl/{part}": sheet.encode()}
