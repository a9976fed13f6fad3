"""Columns of cells as typed columns: each distinct cell is read once, and what can't be read is found."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pipeline.model.columns import Column, Kind
from pipeline.model.message import Fact, terms
from pipeline.model.shown_cells import shown
from pipeline.model.table import Finding
from pipeline.reading import amount_cells, cells_fast
from pipeline.reading import cells as single
from pipeline.reading.sheet import Cells, Codes, is_blank
from pipeline.reading.ticket_number import ticket_no

_BAD = {
    Kind.TICKET: "bad_ticket_no",
    Kind.MONEY: "bad_amount",
    Kind.DATE: "bad_date",
    Kind.CHOICE: "bad_choice",
}
_AT_SIGHT: Mapping[Kind, cells_fast.Reader] = {
    Kind.TEXT: cells_fast.texts,
    Kind.TICKET: cells_fast.tickets,
    Kind.MONEY: cells_fast.money,
}
#: Texts are read as they are; what holds no value at all is said by the code of what it should be.
_BAD_TEXT = {"tax_no": "bad_tax_no", "phone": "bad_phone", "email": "bad_email", "buyer": "unknown_buyer"}


def typed(
    column: Column, cells: Cells, words: Mapping[str, str], currency: str
) -> tuple[Any, Finding | None]:
    """A column's cells as the Table has them, and a finding of those that could not be read.

    Each value is read once: months hold few dates, statuses and amounts, and many rows.
    """
    read, hints = _read(column, cells.different, words, currency)
    return _made(column, read, cells.codes), _finding(column, cells, hints)


def _read(
    column: Column, values: Sequence[Any], words: Mapping[str, str], currency: str
) -> tuple[list[Any], dict[int, str]]:
    """Each value as it is read, and the hints of those that can't be, by position."""
    nothing: Any = {Kind.MONEY: 0, Kind.DATE: None}.get(column.kind, "")
    parse: Callable[[Any], Any] = {
        Kind.TEXT: single.text,
        Kind.TICKET: ticket_no,
        Kind.MONEY: lambda value: (amount_cells.amount if column.name == "amount" else amount_cells.money)(
            value, currency
        ),
        Kind.DATE: single.day,
        Kind.CHOICE: lambda value: single.choice(column.name, value, words),
    }[column.kind]
    at_sight = _AT_SIGHT.get(column.kind)
    read = cells_fast.at_sight(at_sight, values) if at_sight else [None] * len(values)
    hints: dict[int, str] = {}
    for index in [at for at, plain in enumerate(read) if plain is None]:
        read[index] = nothing
        if is_blank(values[index]):
            continue
        try:
            read[index] = parse(single.value(values[index]))
        except single.Unreadable as unreadable:
            if column.name not in ("order_type", "ticket_prefix"):  # what they say is told where it is used
                hints[index] = str(unreadable)
    return read, hints


def _made(column: Column, read: list[Any], codes: Codes) -> Any:
    if column.kind is Kind.MONEY:
        return np.array(read, dtype=np.int64)[codes]
    if column.kind is Kind.DATE:
        return np.array(read, dtype="datetime64[s]")[codes]
    if column.kind is Kind.CHOICE:
        names = [choice.name for choice in column.choices]
        position = {name: index for index, name in enumerate(names)}
        at = np.array([position.get(name, -1) for name in read], dtype=np.int8)
        return pd.Categorical.from_codes(at[codes], dtype=pd.CategoricalDtype(names))
    return as_texts(Cells(read, codes))


def as_texts(texts: Cells) -> Any:
    """Each row's text, as a column of the Table."""
    return pd.array(np.array(texts.different, dtype=object), dtype="str").take(texts.codes)


def _finding(column: Column, cells: Cells, hints: Mapping[int, str]) -> Finding | None:
    if not hints:
        return None
    rows = np.flatnonzero(np.isin(cells.codes, list(hints))).astype(np.int64)
    if not len(rows):
        return None
    codes = cells.codes[rows].tolist()
    facts: dict[str, Fact | Sequence[Fact]] = {
        "seen": [shown(cells.different[code]) for code in codes],
        "hint": [hints[code] for code in codes],
    }
    if column.kind is Kind.CHOICE:
        facts["choices"] = terms((choice.name for choice in column.choices), "choice")
    code = _BAD.get(column.kind) or _BAD_TEXT.get(column.name, "missing_value")
    return Finding(code, column.name, rows, facts)
