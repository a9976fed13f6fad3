"""Blank cells filled with what the order type, the sheet's name, or a team's mapping says of them.

A filled cell always wins, and nothing is filled where order type and sheet disagree. The word is put into
the cell itself, so that the result workbook shows it, and its Failures can be issued again as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipeline.columns import COLUMN
from pipeline.reading.leftout import is_blank
from pipeline.reading.mapping import ColumnMap, Filling
from pipeline.reading.vocabulary import folded
from pipeline.table import Mask, Texts, shown


def filled(part: pd.DataFrame, place: str, sheet: str, mapping: ColumnMap) -> tuple[pd.DataFrame, list[str]]:
    """One sheet's rows with their blank cells filled, and what is to be told of it."""
    of_sheet = mapping.of_sheet(sheet)
    orders = _order_types(part, mapping)
    columns = dict.fromkeys([*mapping.fixed, *of_sheet, *(name for order in orders[1] for name in order)])
    if not columns:
        return part, []
    made, notes = dict(part.items()), list[str]()
    for name in columns:
        cells = part[name].to_numpy(dtype=object) if name in part else np.full(len(part), "", dtype=object)
        blank = _blanks(cells) & _may_be_filled(part, name)
        by_order = _by_order(orders, name)
        given = of_sheet.get(name, "")
        differ = _differ(by_order, given, mapping.words(name) if COLUMN[name].choices else {}) & blank
        words = np.where(by_order != "", by_order, given or mapping.fixed.get(name, ""))
        taken = blank & ~differ & (words != "")
        if taken.any():
            made[name] = pd.Series(np.where(taken, words, cells), index=part.index, dtype=object)
        notes += _notes(f"{place}, sheet {sheet}", name, given, taken & (by_order == ""), differ)
    return pd.DataFrame(made, dtype=object), notes


def _blanks(cells: Sequence[Any] | npt.NDArray[Any]) -> Mask:
    return np.fromiter((is_blank(cell) for cell in cells), dtype=bool, count=len(cells))


def _may_be_filled(part: pd.DataFrame, name: str) -> Mask:
    """Not a buyer for a row that says itself who it is, nor a header type for one that does not."""
    if name not in ("buyer", "header_type"):
        return np.ones(len(part), dtype=bool)
    own = [field for field in ("header_name", "tax_no") if field in part]
    says_itself = np.zeros(len(part), dtype=bool)
    for field in own:
        says_itself |= ~_blanks(part[field].to_numpy(dtype=object))
    if name == "buyer":
        return ~says_itself
    names_one = ~_blanks(part["buyer"].to_numpy(dtype=object)) if "buyer" in part else False
    return np.asarray(says_itself & ~np.asarray(names_one), dtype=bool)


def _order_types(part: pd.DataFrame, mapping: ColumnMap) -> tuple[npt.NDArray[np.int64], list[Filling]]:
    """Each row's order type as a position among what the order types say; the last says nothing."""
    if "order_type" not in part:
        return np.zeros(len(part), dtype=np.int64), [{}]
    codes, distinct = pd.factorize(part["order_type"].map(lambda cell: folded(shown(cell))))
    return codes, [mapping.of_order_type(text) for text in distinct]


def _by_order(orders: tuple[npt.NDArray[np.int64], list[Filling]], name: str) -> Texts:
    codes, sayings = orders
    return np.array([saying.get(name, "") for saying in sayings], dtype=object)[codes]


def _differ(by_order: Texts, given: str, words: Mapping[str, str]) -> Mask:
    """Where the order type says another thing than the sheet's name."""
    if not given:
        return np.zeros(len(by_order), dtype=bool)
    meant = words.get(folded(given), given)
    return np.array([text != "" and words.get(folded(text), text) != meant for text in by_order], dtype=bool)


def _notes(where: str, name: str, given: str, by_sheet: Mask, differ: Mask) -> Iterator[str]:
    if given and by_sheet.any():
        yield f"{where}: {name} is {given} by the sheet's name where its cell is blank ({by_sheet.sum()} rows)"
    if differ.any():
        yield (
            f"{where}: {name} stays blank in {differ.sum()} rows, because the order type says another thing than the"
            " sheet's name"
        )
