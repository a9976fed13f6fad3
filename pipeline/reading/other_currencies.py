"""Amounts that are shown in another currency than the carrier's, or in another unit: seen as a text that says so."""

from typing import Any

from pipeline.model.columns import COLUMN, Kind
from pipeline.model.shown_cells import shown
from pipeline.reading.formats.currency_names import is_own
from pipeline.reading.formats.shown_currencies import units_in
from pipeline.reading.heading_rows import Layout
from pipeline.reading.sheet import Sheet


def as_seen(sheet: Sheet, layout: Layout, currency: str) -> Sheet:
    """The sheet with another currency or unit beside an amount that is shown in it, which is then refused as a text would be."""
    money = {at for name, at in layout.columns.items() if name in COLUMN and COLUMN[name].kind is Kind.MONEY}
    seen: dict[int, dict[int, Any]] = {at: {} for at in money}
    for signs, places in sheet.currencies.items():
        if is_own(signs, currency):
            continue
        for line, column in places.tolist():
            row, at = line - sheet.first_row, column - sheet.first_column
            if at in money and layout.heading_row < row < sheet.height:
                cell = sheet.columns[at][row]
                if isinstance(cell, float) and cell:
                    seen[at][row] = _seen(cell, signs)
    return sheet.changed(seen)


def _seen(cell: float, signs: str) -> str:
    if "," in signs:
        return f"{shown(cell / 1000)}k"
    minus, signs = "-" if "-" in signs else "", signs.replace("-", "").strip()
    amount = shown(cell * 100 if "%" in signs else cell)
    return f"{minus}{amount}{signs}" if units_in(signs) else f"{minus}{signs}{amount}"
