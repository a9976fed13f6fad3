"""An input's own cells on a result's sheets: as they were read, under headings that can be read again."""

from collections.abc import Sequence
from typing import Any

from xlsxwriter.utility import xl_col_to_name

from pipeline.messages.translate import RESULT_HEADINGS, in_every_language
from pipeline.model.columns import COLUMN, COLUMNS, Kind
from pipeline.model.money import MINOR
from pipeline.model.table import Indices, Table
from pipeline.reporting.xlsx.column_specs import Field, width_of
from pipeline.reporting.xlsx.row_stream import Rows
from pipeline.reporting.xlsx.styles import Style

_KNOWN = {
    word.casefold()
    for column in COLUMNS
    for word in (*in_every_language(column.name, "column"), *column.variants)
}


def extra_heading(heading: str) -> str:
    """An input's own heading as we write it: never one of ours, so that the file can be read again.

    >>> extra_heading("cost_centre"), extra_heading("status")
    ('cost_centre', 'status (input)')
    """
    if heading in RESULT_HEADINGS:
        return f"{heading} (input)"
    # With brackets at its end the reader would take it for the column, in a unit.
    return f"input: {heading}" if heading.casefold() in _KNOWN else heading


def extras(table: Table) -> list[Field]:
    """The columns that are the input's own, each under its own heading."""
    names = [str(name) for name in table.cells if name not in COLUMN]
    return [Field(name, extra_heading(name), Style.TEXT, width_of(table.cells[name])) for name in names]


def letters_of(fields: Sequence[Field]) -> dict[str, str]:
    """The letters under which the columns of the vocabulary stand on a sheet with these."""
    return {field.name: xl_col_to_name(at) for at, field in enumerate(fields) if field.name in COLUMN}


def shown_cells(name: str, table: Table, at: Indices) -> list[Any]:
    """A column's cells as they were read, except that a text which is money or a date becomes one.

    (A CSV file has nothing but texts.) What can't be read stays as it was.
    """
    if name not in table.cells:
        return [""] * len(at)
    cells: list[Any] = table.cells[name].to_numpy(dtype=object)[at].tolist()
    kind = COLUMN[name].kind if name in COLUMN else Kind.TEXT
    if kind not in (Kind.MONEY, Kind.DATE):
        return cells
    texts = [place for place, cell in enumerate(cells) if isinstance(cell, str) and cell]
    meant = table.frame[name].to_numpy()[at[texts]]
    if kind is Kind.MONEY:
        read: list[Any] = [minor / MINOR if minor else None for minor in meant.tolist()]
    else:
        read = meant.astype("datetime64[D]").astype(object).tolist()
    for place, value in zip(texts, read, strict=True):
        if value is not None:
            cells[place] = value
    return cells


def beside(ours: Rows, columns: Sequence[Sequence[Any]]) -> Rows:
    """What became of the rows, and then their own columns."""
    return lambda start, stop: [*ours(start, stop), *(column[start:stop] for column in columns)]
