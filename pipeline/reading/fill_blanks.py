"""Blank cells filled with what the order type, the sheet's name, or a team's mapping says of them.

A filled cell always wins, and nothing is filled where order type and sheet disagree. The word is put into
the cell itself, so that the result workbook shows it, and its Failures can be issued again as they are.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from pipeline.model.columns import COLUMN
from pipeline.model.message import Message, Private, Term, message
from pipeline.model.places import on_sheet
from pipeline.model.shown_cells import shown
from pipeline.model.table import Mask
from pipeline.reading.agency_words import says_no_fare
from pipeline.reading.cell_words import folded
from pipeline.reading.columns_file import ColumnMap
from pipeline.reading.sheet import Cells

#: One sheet's input rows: its columns by their names, those that are not ours by their headings.
Part = Mapping[str, Cells]


def filled(part: Part, place: str, sheet: str, mapping: ColumnMap) -> tuple[Part, list[Message]]:
    """One sheet's rows with their blank cells filled, and what is to be told of it."""
    orders = _order_types(part, mapping)
    of_sheet = mapping.of_sheet(sheet)
    if not of_sheet and "order_type" not in part and mapping.skips_sheet(sheet) is None:
        of_sheet = _no_fare(sheet)
    columns = dict.fromkeys(
        [*mapping.fixed, *of_sheet, *(name for order in orders.different for name in order)]
    )
    if not columns:
        return part, []
    made, notes = dict(part), list[Message]()
    for name in columns:
        cells = part.get(name, Cells.same("", len(orders)))
        blank = cells.blank & _may_be_filled(part, name)
        given = of_sheet.get(name, "")
        said = Cells([order.get(name, "") for order in orders.different], orders.codes)
        differ = blank & _differ(said, given, mapping.words(name) if COLUMN[name].choices else {})
        words = Cells([text or given or mapping.fixed.get(name, "") for text in said.different], said.codes)
        taken = blank & ~differ & words.where(bool)
        if taken.any():
            made[name] = cells.mixed(taken, words)
        notes += _notes(on_sheet(place, sheet), name, given, taken & ~said.where(bool), differ)
    return made, notes


def _may_be_filled(part: Part, name: str) -> Mask | bool:
    """Not a buyer for a row that says itself who it is, nor a header type for one that does not."""
    if name not in ("buyer", "header_type"):
        return True
    says_itself: Mask | bool = False
    for field in ("header_name", "tax_no"):
        if field in part:
            says_itself = says_itself | ~part[field].blank
    if name == "buyer":
        return np.logical_not(says_itself)
    names_one = ~part["buyer"].blank if "buyer" in part else False
    return says_itself & np.logical_not(names_one)


def _order_types(part: Part, mapping: ColumnMap) -> Cells:
    """Each row's order type, as what it says; without such a column nothing."""
    if "order_type" not in part:
        return Cells.same({}, len(next(iter(part.values()))))
    cells = part["order_type"]
    said = [
        mapping.of_order_type(folded(text))
        or (_no_fare(text) if mapping.skips_order_type(text) is None else {})
        for text in map(shown, cells.different)
    ]
    return Cells(said, cells.codes)


def _no_fare(name: str) -> Mapping[str, str]:
    """Its own name as the charge of rows that name none, so that it is told that this is none of ours, and no fare is issued for it."""
    return {"charge": name} if says_no_fare(name) else {}


def _differ(said: Cells, given: str, words: Mapping[str, str]) -> Mask | bool:
    """Where the order type says another thing than the sheet's name."""
    meant = words.get(folded(given), given)
    return bool(given) and said.where(lambda text: text != "" and words.get(folded(text), text) != meant)


def _notes(where: Message, name: str, given: str, by_sheet: Mask, differ: Mask) -> Iterator[Message]:
    if given and by_sheet.any():
        yield message(
            "{place}: {column} is {value} by the sheet's name where its cell is blank ({count} rows)",
            place=where,
            column=Term(name),
            value=Term(given, "choice") if COLUMN[name].choices else Private(given),
            count=int(by_sheet.sum()),
        )
    if differ.any():
        yield message(
            "{place}: {column} stays blank in {count} rows, because the order type says another thing than the sheet's name",
            place=where,
            column=Term(name),
            count=int(differ.sum()),
        )
