"""What each sheet of a workbook is read as: the reader takes it, and says what it made of headings and values."""

import difflib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.model.columns import COLUMN
from pipeline.model.errors import InputProblem
from pipeline.model.quoting import quoted
from pipeline.model.shown_cells import shown
from pipeline.model.survey import HeadingUse, SheetUse, ValueUse
from pipeline.model.table import Indices
from pipeline.reading import previous_result
from pipeline.reading.ambiguous_amounts import any_taxes, says_money, tax_included
from pipeline.reading.cell_words import folded
from pipeline.reading.columns_file import ColumnMap
from pipeline.reading.heading_meanings import vague
from pipeline.reading.heading_rows import Heading, Layout, Own, beside_ours, doubts, headings_seen, may_mean
from pipeline.reading.hidden_rows import warnings
from pipeline.reading.sheet import Cells, Sheet, is_blank
from pipeline.reading.tickets import Gathered, sheets_to_read, take_sheet

_SAMPLES = 3
#: Rows that are looked at for samples.
_LOOKED_AT = 200


def survey_file(
    path: Path, name: str, sheets: list[Sheet], mapping: ColumnMap, currency: str
) -> Iterator[SheetUse]:
    """What each sheet is read as; `name` is how the file is called. Raises InputProblem where nothing in it can be read."""
    earlier_result = previous_result.is_result(sheets)
    own = beside_ours(mapping.headings) if earlier_result else mapping.headings
    before = Gathered({path: name}, mapping, currency)
    for sheet in sheets_to_read(path, sheets, before):
        gathered = Gathered({path: name}, mapping, currency)
        seen = headings_seen(sheet, own)
        try:
            taken = take_sheet(path, sheet, own, gathered, from_result=earlier_result)
        except InputProblem as problem:
            named = {column for one in seen if len(one.means) == 1 for column in one.means}
            uses = tuple(
                _heading(one, next(iter(one.means), ""), _unsure(one, named, own), sheet, None)
                for one in seen
            )
            yield SheetUse(name, sheet.name, "unreadable", headings=uses, notes=(problem.message,))
            continue
        notes = (*warnings(gathered.sheets), *gathered.notes)
        if taken.layout is None or taken.use == "left_out" or (gathered.left_out and not gathered.parts):
            uses = tuple(_heading(one, "", (), sheet, None) for one in seen)
            left = "left_out" if gathered.left_out else taken.use
            yield SheetUse(name, sheet.name, left, headings=uses, notes=notes)
            continue
        rows = gathered.parts[0].lines - sheet.first_row - 1 if gathered.parts else None
        yield SheetUse(
            name, sheet.name, taken.use, taken.layout.heading_row + sheet.first_row + 1,
            sum(len(part.lines) for part in gathered.parts) or sum(map(len, gathered.buyers)),
            tuple(_headings(sheet, seen, taken.layout, own, rows)),
            tuple(_values(sheet, taken.layout, rows, mapping)) if rows is not None else (),
            notes,
        )  # fmt: skip
    if notes := (*warnings(before.sheets), *before.notes):
        yield SheetUse(name, "", "left_out", notes=notes)


def _unsure(one: Heading, named: Collection[str], own: Own) -> tuple[str, ...]:
    return () if one.means or folded(one.text) in own else may_mean(one.text, named)[0]


def _headings(
    sheet: Sheet, seen: tuple[Heading, ...], layout: Layout, own: Own, rows: Indices | None
) -> Iterator[HeadingUse]:
    """Every heading with what the reader took it for."""
    named = {at: column for column, at in layout.columns.items()}
    unsure = {at: columns for _, at, columns, _ in doubts(layout, own)}
    for one in seen:
        if one.position in named or one.position in layout.extra.values():
            column = named.get(one.position, "")
            yield _heading(one, column, unsure.get(one.position, ()), sheet, rows)


def _heading(
    one: Heading, column: str, unsure: tuple[str, ...], sheet: Sheet, rows: Indices | None
) -> HeadingUse:
    may_mean = unsure or (tuple(sorted(one.means)) if len(one.means) > 1 else ())
    return HeadingUse(
        one.cell,
        one.text,
        "" if may_mean else column,
        may_mean,
        _samples(sheet, one, rows),
        _plain(one, column),
    )


def _plain(one: Heading, column: str) -> bool:
    """Whether saying of a heading what it is taken for changes nothing: the team's word would end the reader's doubts."""
    if column:
        return bool(one.means) and not tax_included(one.text) and not any_taxes(one.text)
    return not says_money(one.text) and not vague(one.text)


def _samples(sheet: Sheet, one: Heading, rows: Indices | None) -> tuple[str, ...]:
    """Some different values below a heading, of the input rows where these are known."""
    below = np.arange(one.row + 1, sheet.height)
    looked_at = sheet.columns[one.position].at((below if rows is None else rows)[:_LOOKED_AT]).objects()
    texts = dict.fromkeys(quoted(shown(cell).strip()) for cell in looked_at if not is_blank(cell))
    return tuple(texts)[:_SAMPLES]


def _values(sheet: Sheet, layout: Layout, rows: Indices, mapping: ColumnMap) -> Iterator[ValueUse]:
    """The different values of the columns of choices, and the order types, as they stand in the input rows."""
    for name, at in layout.columns.items():
        column, cells = COLUMN[name], sheet.columns[at].at(rows)
        if not (column.choices or name == "order_type"):
            continue
        words = mapping.words(name) if column.choices else {}
        for text, count in _counted(cells).items():
            choice = words.get(folded(text), "")
            known = choice or name == "order_type"
            yield ValueUse(name, text, count, choice, () if known else _close(text, words))


def _counted(cells: Cells) -> dict[str, int]:
    """The number of rows of each different text."""
    found: dict[str, int] = {}
    for cell, count in zip(
        cells.different, np.bincount(cells.codes, minlength=len(cells.different)), strict=True
    ):
        if count and not is_blank(cell):
            text = shown(cell).strip()
            found[text] = found.get(text, 0) + int(count)
    return found


def _close(text: str, words: Mapping[str, Any]) -> tuple[str, ...]:
    """The choices that have a word close to a text."""
    word = folded(text)
    close = difflib.get_close_matches(word, list(words), n=3, cutoff=0.6)
    close += [known for known in words if len(known) > 1 and (known in word or word in known)]
    return tuple(dict.fromkeys(words[known] for known in close))
