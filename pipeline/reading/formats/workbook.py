"""The sheets of .xlsx, .xlsb and .ods files as plain cells; those of an .xls: `xls_or_encrypted`.

python-calamine takes the cells out, and is quick. It lays out every position from a sheet's first cell to its
last, and shows an error cell, or a formula without its result, as a blank one; so each sheet is looked through
before (`Prescan`), and what holds no value is put in its place here.
"""

import contextlib
import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from python_calamine import CalamineError, PasswordError

from pipeline.reading.formats import ods_prescan, repackaging, xlsb_prescan, xlsx_prescan
from pipeline.reading.formats.calamine import Workbook
from pipeline.reading.formats.columnar import ByColumn, Columns
from pipeline.reading.formats.far_cells import Far
from pipeline.reading.formats.prescan import Prescan
from pipeline.reading.formats.refusal import Refusal, Seen
from pipeline.reading.formats.sheet_bounds import LARGEST_AREA, SPARSE, SPARSE_SHEETS
from pipeline.reading.formats.zip_package import (
    OF_ODS,
    OF_XLSB,
    OF_XLSX,
    Package,
)

_SMALL = 1024**2
_HIDDEN_CELL = "…"
_TICKET = re.compile("[0-9]{3}-?[0-9]{10}")
_MOST_FAR, _TICKET_DIGITS = 1_000, 10  # without the airline's own
_NOWHERE = 1 << 20  # beyond every sheet's last row


def sheets(
    content: bytes, made: Callable[[], Workbook], exactly: bool, long: Any = None
) -> list[dict[str, Any]]:
    """The worksheets in their order; `made` gives them laid out, where nothing is in the way of that, or a `long` workbook by column."""
    try:
        return _all_sheets(content, made, exactly, long)
    except Refusal as refusal:
        if refusal.code != "far_away" or exactly:
            raise
        # Which tells how it can be read all the same, if it can.
        return _all_sheets(content, partial(Workbook, content), True)


def _all_sheets(
    content: bytes, made: Callable[[], Workbook], exactly: bool, long: Any = None
) -> list[dict[str, Any]]:
    package = Package(content)
    if book := repackaging.workbook_part(package):
        if not repackaging.is_usual(package, book):
            content = repackaging.xlsx_anew(package, book)
            package, made, long = Package(content), partial(Workbook, content), None
        looks = looks_of_xlsx(package, exactly, long.cells_of if long else None)
        return _sheets_of_xlsx(content, long.workbook if long else made, looks)
    if OF_XLSB in package:
        return _sheets_of_xlsb(content, package)
    if OF_ODS in package and _is_open_document(package):
        looks = _looks_of_ods(package)
        far = {sheet: look.far for sheet, look in looks.items() if look.far}
        anew = partial(repackaging.ods_anew, Package(content), far)
        return taken_out(partial(Workbook, anew()), looks) if far else _sheets_or_anew(made, looks, anew)
    raise _no_workbook(package)


def _sheets_of_xlsx(
    content: bytes, made: Callable[[], Workbook], looks: dict[str, Prescan]
) -> list[dict[str, Any]]:
    far = {sheet: look.far for sheet, look in looks.items() if look.far}

    def anew() -> bytes:
        package = Package(content)
        parts = _parts_of_xlsx(package)
        return repackaging.xlsx_anew(package, OF_XLSX, {parts[sheet]: moved for sheet, moved in far.items()})

    return taken_out(partial(Workbook, anew()), looks) if far else _sheets_or_anew(made, looks, anew)


def _sheets_of_xlsb(content: bytes, package: Package) -> list[dict[str, Any]]:
    made, (parts, looks) = partial(Workbook, content), _looks_of_xlsb(package)
    if any(look.short or look.far for look in looks.values()):
        far = {part: looks[sheet].far for sheet, part in parts.items()}
        made = partial(Workbook, repackaging.xlsb_anew(Package(content), far))
    return taken_out(made, looks)


def _sheets_or_anew(
    made: Callable[[], Workbook], looks: dict[str, Prescan], anew: Callable[[], bytes]
) -> list[dict[str, Any]]:
    """The worksheets, of a workbook written anew where the reader stumbles over it as it is."""
    try:
        return taken_out(made, looks)
    except _Stumbled:
        return taken_out(partial(Workbook, anew()), looks)


def _no_workbook(package: Package) -> Refusal:
    for folder, kind in (("word/", Seen.TEXT_DOCUMENT), ("ppt/", Seen.PRESENTATION)):
        if any(name.startswith(folder) for name in package.names()):
            return Refusal("other", kind)
    return Refusal("no_workbook")


def _is_open_document(package: Package) -> bool:
    """Whether it is a spreadsheet, and not a letter; one with a password says so in its manifest."""
    kind = package.whole("mimetype", _SMALL) if "mimetype" in package else b"spreadsheet"
    manifest = package.whole("meta-inf/manifest.xml", _SMALL) if "meta-inf/manifest.xml" in package else b""
    if b"encryption-data" in manifest:
        raise Refusal("encrypted")
    return b"spreadsheet" in kind


def looks_of_xlsx(
    package: Package, exactly: bool, cells_of: Callable[[str], Any] | None = None
) -> dict[str, Prescan]:
    """What the look through each sheet of an .xlsx tells, by the sheet's name; `cells_of` gives what takes in a sheet's cells meanwhile."""
    currencies, uncalculated = xlsx_prescan.check_texts(package), xlsx_prescan.uncalculated(package)
    hidden = {name for name, shown in xlsx_prescan.listed(package) if not shown}
    return {
        # A hidden sheet is laid out only where its extent is known to be within bounds.
        sheet: xlsx_prescan.look(
            partial(package.pieces, part),
            exactly or sheet in hidden,
            currencies,
            uncalculated=uncalculated,
            cells=cells_of(sheet) if cells_of else None,
        ).gathered(sheet)
        for sheet, part in _parts_of_xlsx(package).items()
    }


def _parts_of_xlsx(package: Package) -> dict[str, str]:
    parts = xlsx_prescan.sheet_parts(package)
    return {sheet: part for sheet, part in parts.items() if part in package and _is_cells(part)}


def _is_cells(part: str) -> bool:
    return "chartsheet" not in part.lower() and "dialogsheet" not in part.lower()


def _looks_of_ods(package: Package) -> dict[str, Prescan]:
    styles = xlsx_prescan.harmless(package.pieces("styles.xml")) if "styles.xml" in package else None
    content = xlsx_prescan.undivided(xlsx_prescan.harmless(package.pieces(OF_ODS)))
    found = ods_prescan.looks(content, styles)
    looks = {name: look.gathered(name) for name, look in found.items()}
    for name, look in looks.items():  # the reader lays them all out at once, hidden ones too
        look.check(name)
    return looks


def _looks_of_xlsb(package: Package) -> tuple[dict[str, str], dict[str, Prescan]]:
    """The part that holds each sheet, and a look at it, by the sheet's name."""
    targets = {name: part for name, _, part in xlsx_prescan.related(package, OF_XLSB)}
    sheets, uncalculated = xlsb_prescan.sheet_relations(package), xlsb_prescan.uncalculated(package)
    named = {sheet: targets.get(to, "") for sheet, to in sheets.items()}
    parts = {sheet: part for sheet, part in named.items() if part in package and _is_cells(part)}
    if "xl/sharedstrings.bin" in package:
        for _ in package.pieces("xl/sharedstrings.bin"):
            pass
    currencies = (
        xlsb_prescan.currency_styles(package.pieces("xl/styles.bin")) if "xl/styles.bin" in package else {}
    )
    return parts, {
        sheet: xlsb_prescan.look(package.pieces(part), currencies, uncalculated=uncalculated).gathered(sheet)
        for sheet, part in parts.items()
    }


class _Stumbled(Refusal):
    """The workbook reader can't read it."""


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Whatever the workbook reader stumbles over is a refusal."""
    try:
        yield
    except PasswordError as error:
        raise Refusal("encrypted") from error
    except (CalamineError, OSError) as error:  # what it can't unpack it calls an error of reading
        raise _Stumbled("damaged", Seen.STUMBLED) from error
    except OverflowError as error:  # a number shown as a time of more days than Python counts
        raise _Stumbled("damaged", Seen.STUMBLED) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of no class that can be named
            raise
        raise _Stumbled("damaged", Seen.STUMBLED) from error


@_quietly()
def taken_out(made: Callable[[], Any], looks: dict[str, Prescan]) -> list[dict[str, Any]]:
    """The sheets' cells, within bounds; of a hidden sheet one cell alone, to show that it holds something."""
    workbook = made()
    found, area, filled = [], 0, 0
    for name, visible in workbook.worksheets:
        if name not in looks:  # its errors, and formulas without a result, would be taken for blank cells
            raise Refusal("damaged", Seen.CUT_OFF)
        look, columns = looks[name], Columns(by_piece=not looks[name].marks)
        sheet: dict[str, Any] = {"name": name, "visible": visible, "first_row": 0, "first_column": 0}
        if visible:
            look.check(name)
            cells = workbook.sheet(name)
            area += _laid_out(cells, look).area
            filled += look.filled
            if area > LARGEST_AREA or (area > SPARSE_SHEETS and filled * SPARSE < area):
                raise Refusal("too_large", Seen.SHEETS_SPAN, count=area)
            sheet |= _taken_in(cells, look, columns)
        elif look.filled:
            columns.take([[_HIDDEN_CELL]])
            sheet["hidden_tickets"] = _tickets_of_hidden(workbook, name, look, LARGEST_AREA - area)
        found.append(sheet | columns.handed_over())
    return found


def _tickets_of_hidden(workbook: Any, name: str, look: Prescan, room: int) -> int:
    """How many rows of a hidden sheet hold a ticket's number; 0 where it can't be laid out within bounds."""
    try:
        look.check(name)
        if look.area > room:
            return 0
        with _quietly():
            return sum(any(map(_is_ticket, row)) for row in workbook.sheet(name).iter_rows())
    except Refusal:
        return 0


def _is_ticket(cell: Any) -> bool:
    if isinstance(cell, str):
        return _TICKET.fullmatch(cell.strip()) is not None
    return isinstance(cell, float) and 1e12 <= cell < 1e13


def _may_be_ticket(cell: Any) -> bool:
    """Whether a cell may hold a ticket's number, however it is written."""
    return sum(map(str.isdecimal, str(cell))) >= _TICKET_DIGITS


def _laid_out(sheet: Any, look: Prescan) -> Prescan:
    """The look with the sheet's extent as it was laid out, which the quick one does not see; within bounds."""
    last_row = max([sheet.total_height - 1, *(row for row, _, _ in look.marks)])
    last_column = max([sheet.total_width - 1, *(column for _, column, _ in look.marks)])
    found = replace(look, last_row=last_row, last_column=last_column)
    found.check(sheet.name)
    return found


def _taken_in(sheet: Any, look: Prescan, columns: Columns) -> dict[str, Any]:
    """Take one sheet's cells into the columns, and say where they begin."""
    top, left = sheet.start or (_NOWHERE, _NOWHERE)
    first_row = min([top, *(row for row, _, _ in look.marks)])
    first_column = min([left, *(column for _, column, _ in look.marks)])
    beyond = list[tuple[int, int]]()
    if isinstance(sheet, ByColumn):
        columns.take_columns(sheet.height, sheet.columns)
    elif sheet.height:
        rows = islice(sheet.iter_rows(), top, None)
        columns.skip(top - first_row)
        columns.take(_near(rows, (top, left), look.far, beyond) if look.far else rows, left - first_column)
    for row, column, mark in look.marks:  # beyond the cells taken out too
        columns.put(row - first_row, column - first_column, mark)
    place = {"first_row": first_row, "first_column": first_column} if columns.height else {}
    for corners in sheet.merged_cell_ranges or ():  # None of an .xlsb or .ods
        look.merge(*corners[0], *corners[1])
    currencies = {shown: array("i", places).tobytes() for shown, places in look.currencies.items()}
    return {
        **place,
        "merged": look.merged,
        "currencies": currencies,
        "hidden_rows": look.hidden,
        "far": sorted(beyond),
    }


def _near(
    rows: Iterator[list[Any]], start: tuple[int, int], far: Far, beyond: list[tuple[int, int]]
) -> Iterator[list[Any]]:
    """The cells that stay where they are; where the others stood is put into `beyond`, but for blank ones.

    Raises Refusal if a ticket is among the others, or they are many.
    """
    top, left = start
    width = far.columns.last + 1 - left
    beyond += far.marked
    for at, row in enumerate(rows, start=top):
        near = at <= far.rows.last
        for column, cell in enumerate(row[width:] if near else row, start=left + (width if near else 0)):
            if isinstance(cell, str) and not cell.strip():
                continue
            if _may_be_ticket(cell) or len(beyond) >= _MOST_FAR:
                raise far.refusal
            beyond.append((far.rows.back(at), far.columns.back(column)))
        if near:
            yield row[:width]
