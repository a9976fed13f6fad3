"""Results of earlier runs, whose Failures were corrected: which sheets count, where their rows stood at first, and whose buyers they mean."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pipeline.messages.translate import RESULT_HEADINGS, in_every_language
from pipeline.model.buyer_source import (
    BEHIND,
    KEPT_APART,
    Source,
    flat,
)
from pipeline.model.columns import (
    BUYER_COLUMNS,
    HEADER_FIELDS,
    RECONCILIATION_SHEETS,
    RESULT_SHEETS,
)
from pipeline.model.shown_cells import shown
from pipeline.model.table import Indices
from pipeline.reading import cells
from pipeline.reading.cell_words import folded
from pipeline.reading.fill_blanks import Part
from pipeline.reading.heading_rows import Layout
from pipeline.reading.sheet import Cells, Sheet, is_blank

_SOURCE = {*in_every_language("buyer_source", "column")}
#: Headings of ours that say nothing about a row that is to be issued again.
LEFT_OUT = RESULT_HEADINGS - _SOURCE
_FIRST_PLACE = [{*in_every_language(name, "column")} for name in ("file", "sheet", "row")]
_OTHER_ROWS = [*in_every_language("status_of_other_rows", "column")]
_STATUS = {folded(word): said for said in ("used", "refunded") for word in in_every_language(said, "choice")}
_REFILLED = {"buyer", *HEADER_FIELDS}


def is_result(sheets: Iterable[Sheet]) -> bool:
    """Whether a workbook is a result or a reconciliation of ours."""
    names = {sheet.name for sheet in sheets} | {"Not covered"}  # reconciliations of earlier versions lack it
    return names >= set(RESULT_SHEETS) or names >= set(RECONCILIATION_SHEETS)


def is_failures(sheet: Sheet) -> bool:
    """Whether a result's sheet holds the rows to be issued again."""
    return _named(sheet, ("Failures",))


def has_failures(sheets: Iterable[Sheet]) -> bool:
    """Whether anything stands below the headings of a result's Failures, be they hidden."""
    return any(
        sheet.hidden_tickets or any(not all(map(is_blank, row)) for row in sheet.rows[1:])
        for sheet in sheets
        if is_failures(sheet)
    )


def is_added(sheet: Sheet) -> bool:
    """Whether a result's sheet is its Buyers, or was put there by somebody."""
    return not _named(sheet, (*RESULT_SHEETS, *RECONCILIATION_SHEETS))


def _named(sheet: Sheet, names: Sequence[str]) -> bool:
    return bool(re.fullmatch(rf"(?:{'|'.join(names)})(?: [0-9]+)?", sheet.name))


def first_places(sheet: Sheet, layout: Layout, rows: Indices) -> tuple[Cells, Cells, Indices] | None:
    """File, sheet and row that rows of a result's Failures stood at before any round of correction.

    "", "" and 0 for a row that somebody added there; None where the sheet does not say it.
    """
    aside = layout.set_aside
    at = [next((aside[name] for name in names if name in aside), None) for names in _FIRST_PLACE]
    found = [sheet.columns[position].at(rows).read(shown) for position in at if position is not None]
    if len(found) < len(_FIRST_PLACE):
        return None
    added = found[0].blank | found[1].blank | ~found[2].where(str.isdecimal)
    file, name, row = (column.mixed(added, Cells.same("", len(rows))) for column in found)
    return file, name, row.read(lambda text: int(text) if text.isdecimal() else 0).objects().astype(np.int64)


def said_elsewhere(sheet: Sheet, layout: Layout, rows: Indices) -> Cells:
    """What rows that are not on a result's Failures say of the ticket's status, used or refunded; "" where it does not tell."""
    at = next((layout.set_aside[name] for name in _OTHER_ROWS if name in layout.set_aside), None)
    if at is None:
        return Cells.same("", len(rows))
    return sheet.columns[at].at(rows).read(lambda cell: _STATUS.get(folded(shown(cell)), ""))


def buyers_of(place: str, row: Sequence[Any], layout: Layout, *, kept_apart: bool) -> str | None:
    """Whose a row of buyers is: every row's of that workbook, or one workbook's behind an earlier result.

    None for what an earlier result took from a buyers file, where such a file is given again (`kept_apart`) and nobody
    changed the row.
    """
    if not place:
        return ""

    def cell(at: int | None) -> str:
        return cells.text(row[at]) if at is not None and at < len(row) else ""

    source = Source.read(cell(next((at for name, at in layout.extra.items() if name in _SOURCE), None)))
    if source.book != KEPT_APART:
        return _book(place, source.book)
    now = [flat(cell(layout.columns.get(column.name))) for column in BUYER_COLUMNS]
    return None if kept_apart and now == [source.buyer, *source.filled] else place


def _book(place: str, source: str) -> str:
    return f"{place}{BEHIND}{source}" if source else place


def refilled(as_read: Part, places: Cells) -> tuple[Part, Cells, Cells]:
    """Rows without what was filled in for another buyer than they name now.

    Beside them, whose buyers each row means, and what stays remembered of its buyer. The type is kept where a row has
    a name of its own: it may be the same word for both buyers.
    """
    said = [heading for heading in as_read if heading in _SOURCE]
    if not said:
        return as_read, places, Cells.same("", len(places))
    sources = [
        Source.read(next(filter(None, map(cells.text, texts)), ""))
        for texts in zip(*(as_read[heading].objects() for heading in said), strict=True)
    ]
    made = {name: column.objects().tolist() for name, column in as_read.items() if name in _REFILLED}
    remembered = [_remembered(made, row, source) for row, source in enumerate(sources)]
    books = [_book(place, source.book) for place, source in zip(places.objects(), sources, strict=True)]
    kept = {name: column for name, column in as_read.items() if name not in said}
    return (
        kept | {name: Cells.of(column) for name, column in made.items()},
        Cells.of(books),
        Cells.of(remembered),
    )


def _remembered(made: dict[str, list[Any]], row: int, source: Source) -> str:
    """What stays remembered of a row's buyer, with what is still as it was filled in; for another buyer nothing, and its
    cells are made blank.
    """

    def cell(name: str) -> str:
        return flat(cells.text(made[name][row])) if name in made else ""

    named = cell("buyer")
    unchanged = tuple(
        value if value and cell(name) == value else ""
        for name, value in zip(HEADER_FIELDS, source.filled, strict=True)
    )
    if not source.buyer or not named or named.casefold() == source.buyer.casefold():
        return Source(source.book, source.buyer, unchanged).text if source.buyer else ""
    old = [name for name, value in zip(HEADER_FIELDS, unchanged, strict=True) if value]
    if "header_name" not in old and cell("header_name") and "header_type" in old:
        old.remove("header_type")
    for name in old:
        made[name][row] = ""
    return ""
