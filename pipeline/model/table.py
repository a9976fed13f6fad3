"""The Table: every input row of every workbook, typed, in one frame.

Shapes, shared by the reader (which makes it) and the core (which judges it):

- `frame`: one row per input row, RangeIndex = the report's `index`. `file`, `sheet` (str) and `row` (int64, as the spreadsheet program
  counts); `first_file`, `first_sheet` and `first_row`, the same of rows that were corrected on earlier results' Failures: where they stood
  before ("", "" and 0 where they were added there); `book`, whose buyers the row's names mean, and `remembered`, what an earlier result
  filled in for the buyer that it names (buyer_source.Source, "" for nothing); `elsewhere`, what rows that an earlier result does not have
  on its Failures say of the ticket's status (used or refunded, "" for nothing); then every column of the vocabulary: text and ticket numbers
  as str ("" where blank or unreadable), choices as categories of the choices' names (missing where blank or unreadable), money as int64
  whole minor units (0 where not given or unreadable), dates as datetime64[s] at midnight (NaT where not given or unreadable).
- `cells`: the same rows as they were read, as objects: the vocabulary's columns by name, then the
  extra columns under their own headings. Nothing that was filled in is changed; blank cells may hold what
  the order type, the sheet's name or a team's mapping says of them. The result workbook shows it.
- `findings`: the cells that could not be read.
- `paid_back`: by row, in minor units below zero, what a bill's refund line says was paid back (0 for other rows).
- `unread`: columns that are not read and that a total may be off by.
- `said_issued`: by the heading of a column that is not ours, the rows that say there that they have a voucher.
- `sheets`: what was read of each sheet that holds tickets, and what of it nobody sees who opens the file.
- `warnings`: what the sheets hold that nobody sees who opens the files; `notes`: what else the reader has to tell.
- `letters`: by file and sheet, the letters that each column of the vocabulary stood under.
- `buyers`: the rows of the Buyers sheets, `file` and the buyer columns as text; rows of a buyers
  file kept apart have `file` "", those of an earlier result the `book` of its rows, and those that were entered on the
  page buyer_source.ENTERED. BUYER_PLACE says where each stands, "", "" and 0 for what was entered.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipeline.model.lazy import LazySequence
from pipeline.model.message import Fact, Message, message
from pipeline.model.places import on_sheet
from pipeline.model.quoting import quoted

Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]
Money = npt.NDArray[np.int64]
Days = npt.NDArray[np.datetime64]
Texts = npt.NDArray[np.object_]

#: The columns of `buyers` that say where a buyer stands: file, sheet and row.
BUYER_PLACE = ("of_file", "of_sheet", "of_row")


@dataclass(frozen=True)
class Finding:
    """One reason that applies to many rows: a stable code, the column to look at, the rows.

    `facts` are what the reason's message says beside the row's own values: one text for all rows,
    or one for each.
    """

    code: str
    column: str
    rows: Indices
    facts: Mapping[str, Fact | Sequence[Fact]] = field(default_factory=dict)

    def fact(self, name: str, place: int) -> Fact:
        """A fact of the row at that place of its rows."""
        fact = self.facts[name]
        return fact if isinstance(fact, Fact) else fact[place]

    def at(self, positions: Indices, rows: Indices) -> "Finding":
        """The same reason about `rows`, for each with the facts of the row at that position in this one."""
        facts = {name: _facts_at(fact, positions) for name, fact in self.facts.items()}
        return Finding(self.code, self.column, rows, facts)


def _facts_at(fact: Fact | Sequence[Fact], positions: Indices) -> Fact | Sequence[Fact]:
    if isinstance(fact, Fact):
        return fact
    return LazySequence(len(positions), lambda at: fact[int(positions[at])])


@dataclass(frozen=True)
class SheetRows:
    """A sheet that holds tickets: how many `rows` of it were read, and how many nobody sees who opens the file.

    `hidden_rows` are hidden or filtered out, and read all the same; those of a `hidden_sheet` are not read.
    """

    file: str
    sheet: str
    rows: int
    hidden_rows: int = 0
    hidden_sheet: bool = False


@dataclass(frozen=True)
class UnreadAmounts:
    """A column that is not read, by its heading, with its amounts in the rows whose total is off (signed minor units by row, else 0).

    `total` is the heading of the totals.
    """

    heading: str
    total: str
    amounts: Money


@dataclass(frozen=True)
class Table:
    """All input rows; shapes in the module's docstring."""

    frame: pd.DataFrame
    cells: pd.DataFrame
    findings: tuple[Finding, ...]
    buyers: pd.DataFrame
    warnings: tuple[Message, ...] = ()
    notes: tuple[Message, ...] = ()
    letters: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    sheets: tuple[SheetRows, ...] = ()
    paid_back: Money | None = None
    unread: tuple[UnreadAmounts, ...] = ()
    said_issued: Mapping[str, Mask] = field(default_factory=dict)

    @classmethod
    def empty(cls) -> "Table":
        """No rows at all."""
        return cls(pd.DataFrame({"ticket_no": []}, dtype=object), pd.DataFrame(), (), pd.DataFrame())

    def __len__(self) -> int:
        return len(self.frame)

    def tickets(self) -> list[str]:
        """Every ticket number that could be read, once."""
        found: list[str] = self.frame["ticket_no"].unique().tolist()
        return [ticket for ticket in found if ticket]

    def cell(self, file: str, sheet: str, line: int, column: str) -> str:
        """A cell as the spreadsheet program names it; "" where the sheet has no such column."""
        letters = self.letters.get((file, sheet), {}).get(column)
        return f"{letters}{line}" if letters else ""

    def buyer_place(self, buyer: int, column: str) -> Message:
        """Where a buyer's cell stands: its file, sheet and cell, or row where the sheet has no such column."""
        file, sheet, line = (self.buyers[name].iloc[buyer] for name in BUYER_PLACE)
        if not line:
            return message("The buyers that were entered on the page")
        cell = self.cell(file, sheet, line, column)
        place = on_sheet(quoted(file), sheet)
        if cell:
            return message("{place}, cell {cell}", place=place, cell=cell)
        return message("{place}, row {row}", place=place, row=int(line))


def among(values: Texts, wanted: Iterable[str]) -> Mask:
    """Which texts are among the wanted ones, by hashing: numpy's isin compares objects pair by pair."""
    known = list(wanted)
    if not known:
        return np.zeros(len(values), dtype=bool)
    return pd.Series(values, dtype=object).isin(known).to_numpy()
