"""Amounts that a cell's number format shows in another currency: read as they are seen, not as bare numbers."""

from dataclasses import replace

from pipeline.columns import COLUMN, Kind
from pipeline.reading.headings import Layout
from pipeline.reading.inputs import Sheet
from pipeline.table import shown


def as_seen(sheet: Sheet, layout: Layout) -> Sheet:
    """The sheet with the currency before such an amount, where it is one of ours; it is then refused as a text would be."""
    if not sheet.foreign:
        return sheet
    money = {at for name, at in layout.columns.items() if COLUMN[name].kind is Kind.MONEY}
    rows = list(sheet.rows)
    for (line, column), currency in sheet.foreign.items():
        row, at = line - sheet.first_row, column - sheet.first_column
        if at in money and layout.heading_row < row < len(rows) and at < len(rows[row]):
            cell = rows[row][at]
            if isinstance(cell, float) and cell:
                rows[row] = [*rows[row][:at], f"{currency}{shown(cell)}", *rows[row][at + 1 :]]
    return replace(sheet, rows=rows)
