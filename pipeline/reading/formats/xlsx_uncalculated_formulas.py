"""Formulas of an .xlsx whose result was never stored: a blank or 0 stands in their cells, which nobody meant.

XlsxWriter, openpyxl and others store 0 for every formula and ask for a full calculation when the file is opened; Apache
POI stores 0 too and does not always ask. An .xlsb asks in a record of its own (`xlsb_prescan`), an .xls as well (`xls_prescan`).
"""

from collections.abc import Iterable
from xml.etree.ElementTree import Element

_TRUE = ("1", "true", "on")
_NUMBER = ("", "n")


def are_uncalculated(workbook: Iterable[Element], program: bytes) -> bool:
    """Whether a workbook part says that its formulas are still to be calculated, or its program is one that never calculates.

    ECMA-376 part 1, 18.2.2 (calcPr).
    """
    for node in workbook:
        if node.tag.rpartition("}")[2] == "calcPr" and (
            node.get("fullCalcOnLoad") in _TRUE or node.get("calcCompleted", "1") not in _TRUE
        ):
            return True
    return b"Apache POI" in program


def has_no_result(kind: str, value: str | None, *, uncalculated: bool) -> bool:
    """Whether the result of a cell's formula is missing; "" is a result where the cell says that it holds text (`kind` "str").

    Of formulas that nobody calculated neither that is one, nor the number 0: what was not given was stored so.
    """
    if value is None or not value.strip():
        return value is None or kind != "str" or uncalculated
    if not uncalculated or kind not in _NUMBER:
        return False
    try:
        return float(value) == 0
    except ValueError:
        return False
