"""Columns that say which currency the amounts of their rows are in: carried through, and heeded where it is another one.

Under 单位, and where there is no heading, only what says nothing but a unit or a currency is heeded.

A blank cell and every usual name of the carrier's own currency are taken. Everything else is refused, a word that is no
known currency too: a refused row is put right in a minute, and a voucher of a wrong amount can't be taken back. A team
whose column says nothing of the amounts says so in its mapping ("" under [headings]), and it is not looked at.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pipeline.model.columns import COLUMNS, Kind
from pipeline.model.shown_cells import shown
from pipeline.model.table import Finding, Indices
from pipeline.reading.cell_words import folded, plain
from pipeline.reading.formats.currency_names import is_own
from pipeline.reading.formats.shown_currencies import currencies_in
from pipeline.reading.heading_meanings import other_unit, says_currency
from pipeline.reading.heading_rows import Layout, Own
from pipeline.reading.sheet import Sheet

_AMOUNTS = [column.name for column in COLUMNS if column.kind is Kind.MONEY]


@dataclass(frozen=True)
class OtherCurrency:
    """A cell that says another currency than the carrier's, with its column's heading."""

    heading: str
    cell: str
    seen: str


def other_currencies(
    sheet: Sheet, layout: Layout, own: Own, rows: Indices, currency: str
) -> dict[int, OtherCurrency]:
    """The cells of some rows that say another currency than the carrier's, the first of each row, by place among these rows."""
    found: dict[int, OtherCurrency] = {}
    for heading, at in layout.extra.items():
        said = heading.removesuffix(" (input)")  # as our results have it (reporting/input_cells.py)
        if folded(said) in own:
            continue
        column = sheet.columns[at]
        if says_currency(said):
            others = column.where(lambda cell: not _is_taken(cell, currency))[rows]
        elif folded(said) in _UNITS:
            others = column.where(lambda cell: bool(_unit(cell, currency)))[rows]
        elif not layout.words.get(at) or _UNHEADED.fullmatch(said):
            others = column.where(lambda cell: _unit(cell, currency) == "currency")[rows]
            if not (others | column.where(lambda cell: _is_taken(cell, currency))[rows]).all():
                continue
        else:
            continue
        for place in np.flatnonzero(others).tolist():
            row = int(rows[place])
            found.setdefault(place, OtherCurrency(heading, sheet.cell_name(row, at), shown(column[row])))
    return found


#: Headings under which something else than an amount's unit may stand: a firm, tickets and so on.
_UNITS = ("单位", "计价单位", "unit")
#: What a column without a heading is called in our results, which are read back.
_UNHEADED = re.compile("column [A-Z]{1,3}")


def _unit(cell: Any, currency: str) -> str:
    """Whether a cell is nothing but a unit other than the main one ("scaled"), or another currency ("currency")."""
    return other_unit(f"单位:{cell}", currency, title=True) if isinstance(cell, str) else ""


def _is_taken(cell: Any, currency: str) -> bool:
    """Whether a cell names the carrier's own currency, or nothing."""
    if isinstance(cell, bytes):  # an error, or a formula that nobody has calculated
        return False
    text = plain(shown(cell))
    if signs := currencies_in(text):
        return is_own(signs, currency)
    return not any(map(str.isalnum, text))


def refused(frame: pd.DataFrame, found: Mapping[int, OtherCurrency], currency: str) -> Finding:
    """The finding about these rows of the Table, whose amounts are not known then.

    A bill that names no charge keeps its amounts: they tell which charges it has.
    """
    rows, others = np.array(list(found), dtype=np.int64), found.values()
    unknown = rows[frame["charge"].notna().to_numpy()[rows]]
    frame.loc[unknown, _AMOUNTS] = 0
    return Finding(
        "bad_amount",
        "amount",
        rows,
        {
            "seen": [other.seen for other in others],
            "heading": [other.heading for other in others],
            "cell": [other.cell for other in others],
            "currency": currency,
            "hint": "currency_column",
        },
    )
