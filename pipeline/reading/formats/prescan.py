"""What a look through a sheet tells before its cells are taken out: its extent, and cells without a value.

The quick look through an .xlsx leaves the extent open; it is filled in when the sheet is laid out.
"""

import datetime
import resource
from dataclasses import dataclass, field, replace

from pipeline.reading.formats.column_letters import column_letters
from pipeline.reading.formats.far_cells import (
    COLUMNS,
    ROWS,
    Far,
    Side,
    moved,
)
from pipeline.reading.formats.refusal import Refusal, Seen
from pipeline.reading.formats.sheet_bounds import LARGEST_AREA, SMALL_AREA, SPARSE, SPARSE_AREA

NO_RESULT = b"="
Mark = bytes | datetime.date | str


@dataclass
class Prescan:
    """One sheet: the last row and column that hold anything (from 0), how many cells are filled, and marks.

    A mark is what a cell holds in place of what the reader takes out, with its row and column from 0: b"#N/A" and the like for an error,
    b"=" for a formula whose result was never stored, and a day or a truth value (a text then) that the file holds as a number (.ods). What
    is merged over several rows is told by its first row and column and its last ones; `currencies` are the rows and columns, in turn, of
    the numbers whose format shows one. `hidden` are rows that are hidden or filtered out, each time the first and the last of several on
    end. `short`: some cells leave out their place, as an .xlsb's may. Laid out, each position costs `position_bytes`, and `cell_bytes` more
    where it is filled. `rows` and `columns` are where filled cells stand (the quick look does not tell them), and `far` is how what stands
    far from all others is moved.
    """

    last_row: int = -1
    last_column: int = -1
    filled: int = 0
    marks: list[tuple[int, int, Mark]] = field(default_factory=list)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    currencies: dict[str, list[int]] = field(default_factory=dict)
    hidden: list[tuple[int, int]] = field(default_factory=list)
    short: bool = False
    position_bytes: int = 48
    cell_bytes: int = 0
    rows: Side = field(default_factory=lambda: Side(ROWS))
    columns: Side = field(default_factory=lambda: Side(COLUMNS))
    far: Far | None = None

    def hide(self, row: int, last: int = -1) -> None:
        """Take note of a row, or of several on end, that nobody sees."""
        last = max(row, last)
        if self.hidden and self.hidden[-1][1] == row - 1:
            self.hidden[-1] = (self.hidden[-1][0], last)
        else:
            self.hidden.append((row, last))

    def reach(self, row: int, column: int) -> None:
        """Count a filled cell."""
        self.last_row, self.last_column = max(self.last_row, row), max(self.last_column, column)
        self.filled += 1
        self.rows.add(row, row)
        self.columns.add(column, column)

    def show(self, currency: str, row: int, column: int) -> None:
        """Take note of a number that is shown in a currency."""
        self.currencies.setdefault(currency, []).extend((row, column))

    def merge(self, top: int, left: int, bottom: int, right: int) -> None:
        """Take note of a merged cell that covers more than one row."""
        if bottom > top and right >= left:
            self.merged.append((top, left, bottom, right))

    @property
    def area(self) -> int:
        """Positions from the first cell to the last."""
        return (self.last_row + 1) * (self.last_column + 1)

    @property
    def sparse(self) -> bool:
        """Whether it reaches far beyond what it holds."""
        return (
            self.area > SPARSE_AREA * Prescan.position_bytes // self.position_bytes
            and self.filled * SPARSE < self.area
        )

    def check(self, sheet: str) -> None:
        """Refuse a sheet that would take all memory for empty cells, or for too many."""
        if self.sparse:
            raise self._reaching(sheet)
        cost = self.area * self.position_bytes + self.filled * self.cell_bytes
        if self.area > LARGEST_AREA or cost > _memory():
            raise Refusal("too_large", Seen.SHEET_SPANS, sheet=sheet, count=self.area)

    def gathered(self, sheet: str) -> "Prescan":
        """The same with what is far from all others moved together, where it is that alone that takes up the room."""
        if not self.sparse:
            return self
        fits = lambda row, column: (row + 1) * (column + 1) <= max(self.filled * SPARSE, SMALL_AREA)  # noqa: E731
        if not (sides := moved(self.rows, self.columns, fits=fits)):
            return self
        places = [(row, column) for row, column, _ in self.marks]
        beyond = Far(*sides, (), self._reaching(sheet))
        return replace(
            self,
            last_row=beyond.rows.end,
            last_column=beyond.columns.end,
            marks=[mark for mark in self.marks if beyond.near(*mark[:2])],
            far=replace(beyond, marked=tuple(place for place in places if not beyond.near(*place))),
        )

    def _reaching(self, sheet: str) -> Refusal:
        return Refusal(
            "far_away", Seen.REACHES, sheet=sheet, row=self.last_row + 1, column=column_letters(self.last_column), count=self.filled
        )  # fmt: skip


def _memory() -> int:
    """What this process may have, in bytes; where it has no bound, more than any sheet takes."""
    bound, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return bound if bound != resource.RLIM_INFINITY else 1 << 62
