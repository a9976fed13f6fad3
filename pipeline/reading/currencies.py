"""Amounts that a cell's number format shows in another currency: read as they are seen, not as bare numbers."""

from typing import Any

from pipeline.columns import COLUMN, Kind
from pipeline.reading.headings import Layout
from pipeline.reading.sheet import Sheet
from pipeline.table import shown


def as_seen(sheet: Sheet, layout: Layout) -> Sheet:
    """The sheet with the currency before such an amount, where it is one of ours; it is then refused as a text would be."""
    if not sheet.foreign:
        return sheet
    money = {at for name, at in layout.columns.items() if COLUMN[name].kind is Kind.MONEY}
    seen: dict[int, dict[int, Any]] = {at: {} for at in money}
    for (line, column), currency in sheet.foreign.items():
        row, at = line - sheet.first_row, column - sheet.first_column
        if at in money and layout.heading_row < row < sheet.height:
            cell = sheet.columns[at][row]
            if isinstance(cell, float) and cell:
                seen[at][row] = f"{currency}{shown(cell)}"
    return sheet.changed(seen)
