"""Columns of cells as typed columns: each distinct cell is read once, and what can't be read is found."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pipeline.columns import Column, Kind
from pipeline.reading import cells
from pipeline.reading.leftout import is_blank
from pipeline.table import Finding, Mask, shown

_BAD = {
    Kind.TICKET: "bad_ticket_no",
    Kind.MONEY: "bad_amount",
    Kind.DATE: "bad_date",
    Kind.CHOICE: "bad_choice",
}
#: Texts are read as they are; what holds no value at all is said by the code of what it should be.
_BAD_TEXT = {"tax_no": "bad_tax_no", "phone": "bad_phone", "email": "bad_email", "buyer": "unknown_buyer"}


def typed(column: Column, values: pd.Series, words: Mapping[str, str]) -> tuple[Any, Finding | None]:
    """A column's values as the Table has them, and a finding of the cells that could not be read.

    Equal cells are read once: months hold few dates, statuses and amounts, and many rows.
    """
    codes, distinct = pd.factorize(values.to_numpy(dtype=object), use_na_sentinel=False)
    parse: Callable[[Any], Any] = {
        Kind.TEXT: cells.text,
        Kind.TICKET: cells.ticket_no,
        Kind.MONEY: cells.amount if column.name == "amount" else cells.money,
        Kind.DATE: cells.day,
        Kind.CHOICE: lambda value: cells.choice(column.name, value, words),
    }[column.kind]
    nothing: Any = {Kind.MONEY: 0, Kind.DATE: None}.get(column.kind, "")
    read, bad, hints = [nothing] * len(distinct), np.zeros(len(distinct), bool), [""] * len(distinct)
    for index, value in enumerate(distinct):
        if is_blank(value):
            continue
        try:
            read[index] = parse(cells.value(value))
        except cells.Unreadable as unreadable:
            bad[index], hints[index] = column.name != "order_type", str(unreadable)
    return _made(column, read, codes), _finding(column, values, bad[codes], [hints[code] for code in codes])


def _made(column: Column, read: list[Any], codes: Any) -> Any:
    if column.kind is Kind.MONEY:
        return np.array(read, dtype=np.int64)[codes]
    if column.kind is Kind.DATE:
        return np.array(read, dtype="datetime64[s]")[codes]
    if column.kind is Kind.CHOICE:
        names = [choice.name for choice in column.choices]
        position = {name: index for index, name in enumerate(names)}
        at = np.array([position.get(name, -1) for name in read], dtype=np.int8)
        return pd.Categorical.from_codes(at[codes], dtype=pd.CategoricalDtype(names))
    return np.array(read, dtype=object)[codes]


def _finding(column: Column, values: pd.Series, bad: Mask, hints: list[str]) -> Finding | None:
    rows = np.flatnonzero(bad)
    if not len(rows):
        return None
    facts: dict[str, str | Sequence[str]] = {
        "seen": [shown(value) for value in values.iloc[rows]],
        "hint": [hints[row] for row in rows],
    }
    if column.kind is Kind.CHOICE:
        facts["choices"] = " ".join(choice.name for choice in column.choices)
    code = _BAD.get(column.kind) or _BAD_TEXT.get(column.name, "missing_value")
    return Finding(code, column.name, rows, facts)
