"""The sheets of .xlsx, .xls, .xlsb and .ods files as plain cells.

python-calamine takes the cells out, and is quick. It lays out every position from a sheet's first cell to its
last, and shows an error cell, or a formula without its result, as a blank one; so each sheet is looked through
before (`Look`), and what holds no value is put in its place here.
"""

import io
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum, SheetVisibleEnum

from pipeline.reading.formats import compound, ods, xls, xlsb, xlsx
from pipeline.reading.formats.look import LARGEST_AREA, Look
from pipeline.reading.formats.package import Package
from pipeline.reading.formats.refusal import Refusal

_SMALL = 1024**2
#: Every .xlsb calls itself binary.macroEnabled, with macros or without.
_MACROS = re.compile(rb"(?<!binary\.)macroEnabled")
_HIDDEN_CELL = "…"


def sheets(content: bytes, exactly: bool = False) -> list[dict[str, Any]]:
    """The worksheets in their order; see `child` for their shape, and for when to look exactly."""
    if content.startswith(compound.SIGNATURE):
        return _quietly(partial(_taken, content, _looks_of_xls(content)))
    package = Package(content)
    _refuse_macros(package)
    if xlsx.WORKBOOK in package:
        looks = _looks_of_xlsx(package, exactly)
    elif xlsb.WORKBOOK in package:
        looks = _looks_of_xlsb(package)
    elif ods.CONTENT in package and _is_open_document(package):
        looks = ods.looks(xlsx.harmless(package.pieces(ods.CONTENT)))
        for name, look in looks.items():  # the reader lays them all out at once, hidden ones too
            look.check(name)
    else:
        raise _no_workbook(package)
    return _quietly(partial(_taken, content, looks))


def _no_workbook(package: Package) -> Refusal:
    for folder, kind in (("word/", "a text document"), ("ppt/", "a presentation")):
        if any(name.startswith(folder) for name in package.names()):
            return Refusal("other", kind)
    return Refusal("no_workbook")


def _refuse_macros(package: Package) -> None:
    """Macros are never run here; but a file that has them is not what a month of tickets comes as."""
    if any(name.endswith("vbaproject.bin") for name in package.names()) or (
        "[content_types].xml" in package and _MACROS.search(package.whole("[content_types].xml", _SMALL))
    ):
        raise Refusal("macros")


def _is_open_document(package: Package) -> bool:
    """Whether it is a spreadsheet, and not a letter; one with a password says so in its manifest."""
    kind = package.whole("mimetype", _SMALL) if "mimetype" in package else b"spreadsheet"
    manifest = package.whole("meta-inf/manifest.xml", _SMALL) if "meta-inf/manifest.xml" in package else b""
    if b"encryption-data" in manifest:
        raise Refusal("encrypted")
    return b"spreadsheet" in kind


def _looks_of_xlsx(package: Package, exactly: bool) -> dict[str, Look]:
    foreign = xlsx.check_texts(package)
    parts = {sheet: part for sheet, part in xlsx.sheet_parts(package).items() if part in package}
    return {
        sheet: xlsx.look(partial(package.pieces, part), exactly, foreign)
        for sheet, part in parts.items()
        if _is_cells(part)
    }


def _is_cells(part: str) -> bool:
    return "chartsheet" not in part.lower() and "dialogsheet" not in part.lower()


def _looks_of_xlsb(package: Package) -> dict[str, Look]:
    targets = xlsx.relations(package, "xl/_rels/workbook.bin.rels")
    named = {sheet: targets.get(to, "") for sheet, to in xlsb.sheet_relations(package).items()}
    for name in ("xl/sharedstrings.bin", "xl/styles.bin"):
        if name in package:
            for _ in package.pieces(name):
                pass
    return {
        sheet: xlsb.look(package.pieces(part))
        for sheet, part in named.items()
        if part in package and _is_cells(part)
    }


def _looks_of_xls(content: bytes) -> list[Look]:
    inside = compound.Compound(content)
    stream = xls.content_of(inside)
    if any(name.upper().startswith("_VBA_PROJECT") for name in inside.names()):
        raise Refusal("macros")
    return xls.looks(stream)


def _quietly(cells_of: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """What the workbook reader gives, or a refusal where it stumbles."""
    try:
        return cells_of()
    except PasswordError as error:
        raise Refusal("encrypted") from error
    except (CalamineError, OSError) as error:  # what it can't unpack it calls an error of reading
        raise Refusal("damaged", str(error)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of no class that can be named
            raise
        raise Refusal("damaged", "the workbook reader stumbled over it") from error


def _taken(content: bytes, looks: dict[str, Look] | list[Look]) -> list[dict[str, Any]]:
    """The sheets' cells, within bounds; of a hidden sheet one cell alone, to show that it holds something."""
    workbook = CalamineWorkbook.from_filelike(io.BytesIO(content))
    metas = [meta for meta in workbook.sheets_metadata if meta.typ == SheetTypeEnum.WorkSheet]
    if isinstance(looks, list):  # .xls: in the order of the worksheets
        looks = dict(zip((meta.name for meta in metas), looks, strict=False))
    found, area = [], 0
    kept: dict[Any, Any] = {}
    for meta in metas:
        look = looks.get(meta.name, Look())
        visible = meta.visible == SheetVisibleEnum.Visible
        sheet: dict[str, Any] = {"name": meta.name, "visible": visible, "first_row": 0, "first_column": 0}
        if visible:
            look.check(meta.name)
            area += look.area
            if area > LARGEST_AREA:
                raise Refusal("too_large", f"its sheets span {area} cells")
            sheet |= _cells(workbook.get_sheet_by_name(meta.name), look, kept)
        else:
            sheet["rows"] = [[_HIDDEN_CELL]] if look.filled else []
        found.append(sheet)
    return found


def _cells(sheet: Any, look: Look, kept: dict[Any, Any]) -> dict[str, Any]:
    """One sheet's cells and where they begin.

    Equal texts and dates are one object: a month has few of most of them, and handing them over takes as
    long as reading them.
    """
    # The same again, for what the look did not see: a cell far away in the midst of a near row.
    Look(sheet.total_height - 1, sheet.total_width - 1, look.filled).check(sheet.name)
    top, left = sheet.start or (0, 0)
    once = kept.setdefault
    rows: list[list[Any]] = [
        [
            cell
            if cell.__class__ is float
            else once(cell, cell)
            if cell.__class__ is str
            else _plain(cell, once)
            for cell in row
        ]
        for row in sheet.to_python(skip_empty_area=True)
    ]
    if look.marks:
        top, left = _mark(rows, top, left, look.marks)
    return {
        "first_row": top,
        "first_column": left,
        "rows": rows,
        "merged": look.merged,
        "foreign": look.foreign,
    }


def _plain(cell: Any, once: Callable[[Any, Any], Any]) -> Any:
    """A cell as the parent expects it: a whole number is a number too, and a checkbox can't pass for 1."""
    if isinstance(cell, bool):
        return str(cell).upper()
    return float(cell) if isinstance(cell, int) else once(cell, cell)


def _mark(
    rows: list[list[Any]], top: int, left: int, marks: Iterable[tuple[int, int, bytes]]
) -> tuple[int, int]:
    """Put what holds no value in its place, beyond the cells taken out too; gives where they begin now."""
    marks = list(marks)
    if not rows:
        top, left = marks[0][:2]
    new_top, new_left = min(top, *(row for row, _, _ in marks)), min(left, *(at for _, at, _ in marks))
    width = max(left + len(rows[0]) if rows else 0, *(at + 1 for _, at, _ in marks)) - new_left
    height = max(top + len(rows), *(row + 1 for row, _, _ in marks)) - new_top
    if left > new_left or width > (len(rows[0]) if rows else 0):
        for at, row in enumerate(rows):
            rows[at] = ([""] * (left - new_left) + row + [""] * width)[:width]
    rows[:0] = [[""] * width for _ in range(top - new_top)]
    rows += [[""] * width for _ in range(height - len(rows))]
    for row_at, column, mark in marks:
        rows[row_at - new_top][column - new_left] = mark
    return new_top, new_left
