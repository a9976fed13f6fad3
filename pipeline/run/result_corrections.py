"""What people corrected on the results of a workbook, by its own sheets, rows and columns.

A result's Rows says what each row held when it was judged, and its Failures what the row says by now: what differs is a
correction, but for the buyer columns that were filled in. Results count in the order of their runs.
"""

import contextlib
import datetime
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.file_reading import is_ours
from pipeline.messages.translate import in_every_language
from pipeline.model.buyer_source import BEHIND, KEPT_APART, Source, flat
from pipeline.model.columns import BUYER_COLUMNS, COLUMN, HEADER_FIELDS, RESULT_SHEETS, Kind
from pipeline.model.error_cells import no_value
from pipeline.model.errors import InputProblem
from pipeline.model.message import Fact, Message, Private, Term, joined
from pipeline.model.money import MINOR
from pipeline.model.places import on_sheet, row_at
from pipeline.model.shown_cells import shown
from pipeline.model.table import Table
from pipeline.reading import amount_cells, previous_result
from pipeline.reading import cells as single
from pipeline.reading.columns_file import ColumnMap
from pipeline.reading.heading_rows import beside_ours, find_layout
from pipeline.reading.input_files import read_sheets
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble
from pipeline.reporting.input_cells import extra_heading
from pipeline.reporting.xlsx.unfit_characters import fit

_BEGUN, _WORKBOOKS = ({*in_every_language(name)} for name in ("Begun", "Workbooks"))
_SOURCE = {*in_every_language("buyer_source", "column")}
_BUYER = tuple(column.name for column in BUYER_COLUMNS)
#: A row's sheet and number in the original.
Key = tuple[str, int]
Buyer = dict[str, str]


def named(column: str) -> Fact:
    """A column as a message names it."""
    return Term(column) if column in COLUMN else Private(column)


class Held:
    """What the rows of a table hold, and where they stood at first."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.seen: dict[str, list[Any]] = {str(name): table.cells[name].tolist() for name in table.cells}
        frame = table.frame
        self.first = [
            *zip(frame["first_file"], frame["first_sheet"], frame["first_row"].tolist(), strict=True)
        ]
        #: The rows' positions by their places in one workbook.
        self.rows: dict[Key, int] = {place[1:]: at for at, place in enumerate(self.first)}
        #: How many workbooks are behind each row: 1 where the result is the first.
        self.behind: list[int] = [book.count(BEHIND) for book in frame["book"]]

    @cached_property
    def meant(self) -> dict[str, list[Any]]:
        """The columns of the vocabulary as they can be read, None where they can't or nothing is there."""
        frame = self.table.frame
        return {
            name: [None if pd.isna(value) or not value else value for value in frame[name].astype(object)]
            for name in COLUMN
        }


@dataclass(frozen=True)
class Cell:
    """A cell of a row."""

    held: Held
    row: int
    column: str

    @property
    def seen(self) -> Any:
        """What stands in it, as it was read."""
        return self.held.seen[self.column][self.row] if self.column in self.held.seen else ""

    @property
    def text(self) -> str:
        """The same as a text on one line."""
        return flat(fit(shown(self.seen)))

    @property
    def meant(self) -> Any:
        """What it means, None where that can't be told."""
        return self.held.meant[self.column][self.row] if self.column in COLUMN else None

    @property
    def value(self) -> str | float | datetime.date:
        """What is to be written for it: an amount as a number, a day as a date, other columns of a team's own as they are."""
        kind = COLUMN[self.column].kind if self.column in COLUMN else None
        if kind is Kind.MONEY:  # as the cell says it: of a refund line the amount that is meant is another
            with contextlib.suppress(single.Unreadable):
                return amount_cells.signed_money(self.seen) / MINOR
        if kind is Kind.DATE and self.meant:
            day: datetime.date = self.meant.date()
            return day
        as_it_is = kind in (None, Kind.MONEY, Kind.DATE) and isinstance(self.seen, float | datetime.date)
        return self.seen if as_it_is else fit(shown(self.seen))

    def says(self, other: "Cell") -> bool:
        """Whether both say the same, in whatever words."""
        if self.seen == other.seen or self.text == other.text:
            return True
        return self.meant is not None and bool(self.meant == other.meant)

    @property
    def place(self) -> Message:
        """Its row, for a message."""
        return row_at(*(self.held.table.frame[name].iloc[self.row] for name in ("file", "sheet", "row")))


@dataclass(frozen=True)
class Round:
    """A result: its rows by now, and as they were judged; the buyers that were corrected there, each as it was and as it is.

    `order` is when its run began, and how many results are behind it.
    """

    path: Path
    order: tuple[str, int]
    now: Held
    before: Held
    buyers: Sequence[tuple[Source, Buyer]]


@dataclass
class ResultCorrections:
    """All corrections of a workbook, by row and column; of its buyers each with its row, None for a new one, and what is new.

    `added` are the rows of Failures that stand in no workbook, `others` says of how many rows other workbooks are, and `listed`
    are the workbook's own that stand on a Failures.
    """

    of_cells: dict[tuple[Key, str], tuple[Cell, tuple[str, int]]] = field(default_factory=dict)
    buyers: list[tuple[Key | None, Buyer]] = field(default_factory=list)
    added: list[Message] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    listed: set[Key] = field(default_factory=set)


def read_round(path: Path, given: Collection[str], mapping: ColumnMap, currency: str) -> Round | None:
    """A result, None where nothing failed. Raises InputProblem for what is no result, and where it was made of an earlier
    result that is not among those `given`, whose corrections would be lost.
    """
    sheets = read_sheets(path, mapping.knows)
    if not {*RESULT_SHEETS} <= {sheet.name for sheet in sheets}:
        raise InputProblem(
            "{file}: is no result of voucher issue or voucher check; give the workbooks whose Failures were corrected",
            file=str(path),
        )
    made_of = _summary(sheets, _WORKBOOKS).split(", ")
    if missing := [name for name in made_of if is_ours(Path(name)) and name not in given]:
        raise InputProblem(
            "{file}: was made of {missing}, whose corrections are wanted as well; give that result too, under the name that it had",
            file=str(path), missing=joined(missing),
        )  # fmt: skip
    if not previous_result.has_failures(sheets):
        return None
    now = assemble([(path, sheets)], None, mapping, currency)
    before = assemble([(path, [*map(_swapped, sheets)])], None, mapping, currency)
    changed, held = [*_changed_buyers(path, sheets, mapping)], Held(now)
    return Round(path, (_summary(sheets, _BEGUN), max(held.behind)), held, Held(before), changed)


def _swapped(sheet: Sheet) -> Sheet:
    """A sheet of Rows in the place of Failures, and the other way round: what Rows shows is read as Failures is."""
    other = {"Rows": "Failures", "Failures": "Rows"}
    name = re.sub("^(Rows|Failures)(?=( [0-9]+)?$)", lambda found: other[found[0]], sheet.name)
    return replace(sheet, name=name)


def _summary(sheets: Sequence[Sheet], wanted: Collection[str]) -> str:
    """What a result's Summary says of something, such as when its run began; "" where it does not."""
    for row in next(sheet for sheet in sheets if sheet.name == "Summary").rows:
        texts = [text for text in map(shown, row) if text.strip()]
        if len(texts) > 1 and texts[0] in wanted:
            return texts[1]
    return ""


def _changed_buyers(
    path: Path, sheets: Sequence[Sheet], mapping: ColumnMap
) -> Iterator[tuple[Source, Buyer]]:
    """The buyers of a result that are not as it was written: each as it was, and as it is."""
    for sheet in (one for one in sheets if one.visible and previous_result.is_added(one)):
        own = beside_ours(mapping.headings)
        layout = find_layout(on_sheet(str(path), sheet.name), sheet, own, ours=True, currency="")
        if layout is None or "ticket_no" in layout.columns:
            continue
        source_at = next((at for name, at in layout.extra.items() if name in _SOURCE), None)
        for row in sheet.rows[layout.heading_row + 1 :]:
            texts = {name: flat(single.text(row[at])) for name, at in layout.columns.items()}
            now = {name: texts.get(name, "") for name in _BUYER}
            source = Source.read("" if source_at is None else single.text(row[source_at]))
            if any(now.values()) and [*now.values()] != [source.buyer, *source.filled]:
                yield source, now


def corrections(original: Held, path: Path, results: Sequence[Round]) -> ResultCorrections:
    """What the results of a workbook correct in it.

    Raises InputProblem where it holds something else than they say it held, where they contradict each other, and where the
    first of them is missing.
    """
    found, names = ResultCorrections(), (path.name, str(path))
    results = sorted(results, key=lambda one: one.order)
    own = {extra_heading(name): name for name in original.seen if name not in COLUMN}
    told = {
        place[1:]
        for one in results
        for place, behind in zip(one.now.first, one.now.behind, strict=True)
        if behind <= 1 and place[1:] in original.rows
    }
    for result in results:
        for key, was, here in _rows_of(result, names, found):
            if not (changed := _changed(here, was)):
                continue
            if key not in told:
                raise InputProblem(
                    "{place}: nothing tells what {row} held before; give the result of the first run too, and the workbook that"
                    " it was made of",
                    place=here.place, row=row_at(path.name, *key),
                )  # fmt: skip
            if result.now.behind[here.row] <= 1:
                _check_same(Cell(original, original.rows[key], ""), was, here, own, result.path)
            for column in changed:
                _take(found, (key, own.get(column, column)), replace(here, column=column), result.order)
    for (key, column), (cell, _) in [*found.of_cells.items()]:
        if cell.says(Cell(original, original.rows[key], column)):  # put back as it was
            del found.of_cells[key, column]
        elif no_value(cell.text):
            raise InputProblem(
                "{place}: {column} holds “{seen}” and no value: a formula without its result, or an error; enter the value there",
                place=cell.place, column=named(column), seen=Private(cell.text),
            )  # fmt: skip
    found.buyers = _buyers(original, names, results)
    return found


def _rows_of(
    result: Round, names: tuple[str, str], found: ResultCorrections
) -> Iterator[tuple[Key, Cell, Cell]]:
    """The rows of a result that are of the workbook of these names: where each stood, what it held, and its row of Failures."""
    before, seen = {place: at for at, place in enumerate(result.before.first)}, dict[Key, Cell]()
    for at, place in enumerate(result.now.first):
        (file, *_), here = place, Cell(result.now, at, "")
        if file and file not in names:
            found.others[file] += 1
        elif place not in before:
            found.added.append(here.place)
        else:
            if (key := place[1:]) in seen:
                raise InputProblem(
                    "{first} and {second} both say that they are {row}; take file, sheet and row out of the one that was added",
                    first=seen[key].place, second=here.place, row=row_at(*place),
                )  # fmt: skip
            seen[key] = here
            found.listed.add(key)
            yield key, Cell(result.before, before[place], ""), here


def _changed(now: Cell, before: Cell) -> list[str]:
    """The columns of a row of Failures in which somebody wrote something else."""
    source = Source.read(now.held.table.frame["remembered"].iloc[now.row])
    filled = dict(zip(HEADER_FIELDS, source.filled, strict=True))
    return [
        column
        for column in now.held.seen
        if not filled.get(column) and not replace(now, column=column).says(replace(before, column=column))
    ]


def _check_same(now: Cell, before: Cell, wanted: Cell, own: dict[str, str], result: Path) -> None:
    """Raise InputProblem where a row of the original no longer holds what the result says that it held, nor what it is
    corrected to: that may have been done by hand.
    """
    for column in before.held.seen:
        was, name = replace(before, column=column), own.get(column, column)
        held = replace(now, column=name)
        if not (held.says(was) or held.says(replace(wanted, column=column))):
            frame = now.held.table.frame
            place = [frame[key].iloc[now.row] for key in ("file", "sheet", "row")]
            raise InputProblem(
                "{place}: {column} {cell} holds “{now}”, and held “{then}” when {result} was made; give the workbook as it was"
                " then, and change it after the merge",
                place=now.place, column=named(name), cell=now.held.table.cell(place[0], place[1], place[2], name),
                now=Private(held.text), then=Private(was.text), result=result.name,
            )  # fmt: skip


def _take(found: ResultCorrections, place: tuple[Key, str], new: Cell, order: tuple[str, int]) -> None:
    """Take a correction in place of an earlier result's. Raises InputProblem where one of the same round says otherwise."""
    old, of = found.of_cells.get(place, (new, order))
    if of == order and not old.says(new):
        raise InputProblem(
            "{first} and {second} correct {column} of the same row in two ways; say the same in both",
            first=old.place, second=new.place, column=named(new.column),
        )  # fmt: skip
    found.of_cells[place] = new, order


def _buyers(
    original: Held, names: tuple[str, str], results: Sequence[Round]
) -> list[tuple[Key | None, Buyer]]:
    """Of the buyers that were corrected or added, where each stands in the original and what is new of it."""
    known: list[tuple[Key | None, Buyer, Buyer]] = [
        ((buyer["of_sheet"], buyer["of_row"]), {name: flat(buyer[name]) for name in _BUYER}, {})
        for buyer in original.table.buyers.to_dict("records")
    ]
    for result in results:
        for source, now in result.buyers:
            last = source.book.rpartition(BEHIND)[2]
            if last not in ("", KEPT_APART, *names) and not is_ours(Path(last)):
                continue  # of another workbook
            was = dict(zip(_BUYER, [source.buyer, *source.filled], strict=True))
            same = [
                one for one in known if all(one[1][name] == was[name] for name in ("buyer", "header_name"))
            ]
            if not same:
                known.append((None, now, {name: text for name, text in now.items() if text}))
                continue
            new = {name: text for name, text in now.items() if text != was[name]}
            same[0][1].update(new)
            same[0][2].update(new)
    return [(place, new) for place, _, new in known if new]
