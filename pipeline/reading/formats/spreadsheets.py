"""The sheets of .xlsx, .xls, .xlsb and .ods files as plain cells.

python-calamine takes the cells out, and is quick. It lays out every position from a sheet's first cell to its
last, and shows an error cell, or a formula without its result, as a blank one; so each sheet is looked through
before (`Look`), and what holds no value is put in its place here.

Each kind's own module is loaded where a file is of that kind, that of an .xlsx while the file is being laid out already.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from python_calamine import CalamineError, PasswordError

from pipeline.reading.formats import compound
from pipeline.reading.formats.columns import Columns
from pipeline.reading.formats.laying import Beside, Workbook, is_visible
from pipeline.reading.formats.look import LARGEST_AREA, Look
from pipeline.reading.formats.package import OF_ODS, OF_XLSB, OF_XLSX, Package
from pipeline.reading.formats.refusal import Refusal

_SMALL = 1024**2
#: Every .xlsb calls itself binary.macroEnabled, with macros or without.
_MACROS = re.compile(rb"(?<!binary\.)macroEnabled")
_HIDDEN_CELL = "…"
_NOWHERE = 1 << 20  # beyond every sheet's last row


def sheets(content: bytes, exactly: bool = False) -> list[dict[str, Any]]:
    """The worksheets in their order; see `child` for their shape, and for when to look exactly."""
    if content.startswith(compound.SIGNATURE):
        return _quietly(partial(_sheets, partial(Workbook, content), _looks_of_xls(content)))
    package = Package(content)
    _refuse_macros(package)
    if OF_XLSX in package:
        made: Callable[[], Workbook] = partial(Workbook, content)
        if not exactly:
            package.check()
            made = Beside(content).workbook
        return _quietly(partial(_sheets, made, _looks_of_xlsx(package, exactly)))
    if OF_XLSB in package:
        looks = _looks_of_xlsb(package)
    elif OF_ODS in package and _is_open_document(package):
        looks = _looks_of_ods(package)
    else:
        raise _no_workbook(package)
    return _quietly(partial(_sheets, partial(Workbook, content), looks))


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
    from pipeline.reading.formats import xlsx  # noqa: PLC0415 - see above

    foreign = xlsx.check_texts(package)
    parts = {sheet: part for sheet, part in xlsx.sheet_parts(package).items() if part in package}
    return {
        sheet: xlsx.look(partial(package.pieces, part), exactly, foreign)
        for sheet, part in parts.items()
        if _is_cells(part)
    }


def _is_cells(part: str) -> bool:
    return "chartsheet" not in part.lower() and "dialogsheet" not in part.lower()


def _looks_of_ods(package: Package) -> dict[str, Look]:
    from pipeline.reading.formats import ods, xlsx  # noqa: PLC0415 - see above

    looks = ods.looks(xlsx.harmless(package.pieces(OF_ODS)))
    for name, look in looks.items():  # the reader lays them all out at once, hidden ones too
        look.check(name)
    return looks


def _looks_of_xlsb(package: Package) -> dict[str, Look]:
    from pipeline.reading.formats import xlsb, xlsx  # noqa: PLC0415 - see above

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
    from pipeline.reading.formats import xls  # noqa: PLC0415 - see above

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


def _sheets(made: Callable[[], Workbook], looks: dict[str, Look] | list[Look]) -> list[dict[str, Any]]:
    """The sheets' cells, within bounds; of a hidden sheet one cell alone, to show that it holds something."""
    workbook = made()
    if isinstance(looks, list):  # .xls: in the order of the worksheets
        looks = dict(zip((meta.name for meta in workbook.worksheets), looks, strict=False))
    found, area = [], 0
    for meta in workbook.worksheets:
        look, columns = looks.get(meta.name, Look()), Columns()
        visible = is_visible(meta)
        sheet: dict[str, Any] = {"name": meta.name, "visible": visible, "first_row": 0, "first_column": 0}
        if visible:
            look.check(meta.name)
            cells = workbook.sheet(meta.name)
            area += _laid_out(cells, look).area
            if area > LARGEST_AREA:
                raise Refusal("too_large", f"its sheets span {area} cells")
            sheet |= _taken_in(cells, look, columns)
        elif look.filled:
            columns.take([[_HIDDEN_CELL]])
        found.append(sheet | {"height": columns.height, "columns": columns.handed_over()})
    return found


def _laid_out(sheet: Any, look: Look) -> Look:
    """The look with the sheet's extent as it was laid out, which the quick one does not see; within bounds."""
    last_row = max([sheet.total_height - 1, *(row for row, _, _ in look.marks)])
    last_column = max([sheet.total_width - 1, *(column for _, column, _ in look.marks)])
    found = replace(look, last_row=last_row, last_column=last_column)
    found.check(sheet.name)
    return found


def _taken_in(sheet: Any, look: Look, columns: Columns) -> dict[str, Any]:
    """Take one sheet's cells into the columns, and say where they begin."""
    top, left = sheet.start or (_NOWHERE, _NOWHERE)
    first_row = min([top, *(row for row, _, _ in look.marks)])
    first_column = min([left, *(column for _, column, _ in look.marks)])
    if sheet.height:
        columns.skip(top - first_row)
        columns.take(islice(sheet.iter_rows(), top, None), left - first_column)
    for row, column, mark in look.marks:  # beyond the cells taken out too
        columns.put(row - first_row, column - first_column, mark)
    place = {"first_row": first_row, "first_column": first_column} if columns.height else {}
    return {**place, "merged": look.merged, "foreign": look.foreign}
