"""A workbook in an archive. An .xlsx is begun to be laid out here, before all that looks through it is loaded."""

import re
from functools import partial
from importlib import import_module
from typing import Any

from pipeline.reading.formats.calamine import Beside, Workbook
from pipeline.reading.formats.refusal import Refusal
from pipeline.reading.formats.zip_package import OF_XLSX, Package

_SMALL = 1024**2
#: A workbook with a part of so many bytes is taken out by column; for less it does not pay to load what that takes.
LONG = 4 * 1024**2
#: Every .xlsb calls itself binary.macroEnabled, with macros or without.
_MACROS = re.compile(rb"(?<!binary\.)macroEnabled")


def sheets(content: bytes, exactly: bool = False) -> list[dict[str, Any]]:
    """The worksheets in their order; see `child` for their shape, and for when to look exactly."""
    package = Package(content)
    _refuse_macros(package)
    made: Any = partial(Workbook, content)
    usual = None
    if OF_XLSX in package and not exactly:
        package.check()
        if package.largest(".xml") >= LONG:
            usual = import_module("pipeline.reading.formats.usual_workbook").UsualWorkbook(content)
        else:
            made = Beside(partial(Workbook, content, first_sheet=True)).made
    found: list[dict[str, Any]] = import_module("pipeline.reading.formats.workbook").sheets(
        content, made, exactly, usual
    )
    return found


def _refuse_macros(package: Package) -> None:
    """Macros are never run here; but a file that has them is not what a month of tickets comes as."""
    if any(name.endswith("vbaproject.bin") for name in package.names()) or (
        "[content_types].xml" in package and _MACROS.search(package.whole("[content_types].xml", _SMALL))
    ):
        raise Refusal("macros")
