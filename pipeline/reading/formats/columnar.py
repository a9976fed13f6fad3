"""Cells as the child hands them over: a sheet column by column, each column as its values and where they stand.

A month has few different days, statuses and buyers, and many rows. Of such a column each value is handed over once,
with a number for every row that says which of them stands there: a fifth of what the cells themselves would take. A
column whose values are nearly all their own, such as ticket numbers, is handed over as its cells.

Of a long sheet the rows are handed over in pieces, while those below are still taken in.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, islice, zip_longest
from typing import Any, ClassVar, NamedTuple

from pipeline.reading.formats.refusal import Refusal, Seen

#: So many rows at a time stay near the processor while they are sorted into columns.
_BLOCK = 500
#: A column is looked at when it has this many values: are more than half of its cells their own?
_MANY = 2_000
#: No program shows a sheet of more columns than 16,384; in a text each may cost a column of its own.
_WIDEST = 100_000
_LARGEST = 256_000_000
_NUMBERS = {bool, int}
#: So many rows are a piece.
_PIECE = 10_000
#: A column's values, or those that are new in a piece, and the number of the value in each row (int32); None where each row has its own.
Part = tuple[list[Any], bytes | None]


class ByColumn(NamedTuple):
    """A sheet whose columns are there already, from its first cell to its last; what a laid out one says of its extent it says, too."""

    name: str
    start: tuple[int, int]
    total_height: int
    total_width: int
    columns: Iterator[Part]
    merged_cell_ranges: None = None

    @property
    def height(self) -> int:
        """How many rows it has."""
        return self.total_height - self.start[0]


class Columns:
    """A sheet's cells, taken in row by row; `by_piece` where none of them is put in its place later."""

    #: What a piece is handed over to, each column's part of it; it tells the piece's number. None where nobody takes pieces.
    hand_over: ClassVar[Callable[[list[Part]], int] | None] = None

    def __init__(self, *, by_piece: bool = False) -> None:
        self.height = 0
        self._columns: list[_Column] = []
        self._pieces: list[int] = []
        self._whole: list[Part] = []
        self._hand_over = Columns.hand_over if by_piece else None

    def take(self, rows: Iterable[Sequence[Any]], left: int = 0) -> None:
        """Take in rows below those that are there, the first cell of each at `left`; they may differ in length."""
        rows = iter(rows)
        while block := list(islice(rows, _BLOCK)):
            self._reach(self.height + len(block), left + max(map(len, block)))
            columns = (
                zip_longest(*block, fillvalue="") if left or _ragged(block) else zip(*block, strict=True)
            )
            for at, cells in enumerate(columns, start=left):
                self._columns[at].take(self.height, cells)
            self.height += len(block)
            if self._hand_over and self.height >= _PIECE * (1 + len(self._pieces)):
                self._pieces.append(self._hand_over([column.part() for column in self._columns]))

    def take_columns(self, height: int, columns: Iterable[Part]) -> None:
        """Take in all of a sheet of so many rows; its columns are handed over one by one."""
        self.height = height
        for part in columns:
            if self._hand_over:
                self._pieces.append(self._hand_over([*self._whole, part]))
            self._whole.append(([], b"") if self._hand_over else part)

    def skip(self, rows: int) -> None:
        """Take in so many blank rows."""
        self.height += rows

    def put(self, row: int, column: int, cell: Any) -> None:
        """Put one cell in its place, beyond those that are there too."""
        self._reach(row + 1, column + 1)
        self.height = max(self.height, row + 1)
        self._columns[column].put(row, cell)

    def handed_over(self) -> dict[str, Any]:
        """The sheet's height, the numbers of its pieces, and each column's part behind them.

        A column may end above the sheet's last row: below it is blank.
        """
        columns = self._whole or [column.part() for column in self._columns]
        return {"height": self.height, "pieces": self._pieces, "columns": columns}

    def _reach(self, height: int, width: int) -> None:
        if width > _WIDEST:
            raise Refusal("too_large", Seen.ROW_CELLS, count=width)
        if (area := height * max(width, len(self._columns))) > _LARGEST:
            raise Refusal("too_large", Seen.SPANS, count=area)
        self._columns += [_Column() for _ in range(width - len(self._columns))]


def _ragged(block: list[Sequence[Any]]) -> bool:
    return len(set(map(len, block))) > 1


class _Column:
    """One column so far: `_numbers` gives each value's number, and a new value the next one."""

    def __init__(self) -> None:
        self._numbers: defaultdict[Any, int] = defaultdict(count().__next__)
        self._codes = array("i")
        self._cells: list[Any] | None = None
        self._values_above = self._rows_above = 0  # those that are handed over

    def take(self, row: int, cells: Sequence[Any]) -> None:
        """Take in the cells from this row on."""
        if not _NUMBERS.isdisjoint(map(type, cells)):
            cells = [_plain(cell) for cell in cells]
        self._reach(row)
        if self._cells is not None:
            self._cells += cells
            return
        self._codes.extend(map(self._numbers.__getitem__, cells))
        if len(self._numbers) > _MANY and 2 * len(self._numbers) > self._rows_above + len(self._codes):
            values = list(self._numbers)
            self._cells = [values[code] for code in self._codes]

    def put(self, row: int, cell: Any) -> None:
        """Put one cell in its place."""
        self._reach(row + 1)
        if self._cells is not None:
            self._cells[row] = cell
        else:
            self._codes[row] = self._numbers[cell]

    def _reach(self, height: int) -> None:
        """Blank cells down to there."""
        height -= self._rows_above
        if self._cells is not None:
            self._cells += [""] * (height - len(self._cells))
        elif height > len(self._codes):
            self._codes.extend(array("i", [self._numbers[""]]) * (height - len(self._codes)))

    def part(self) -> Part:
        """What was taken in since it was asked for last."""
        if self._cells is not None:
            part, self._cells = (self._cells, None), []
            self._rows_above += len(part[0])
            return part
        values, codes = list(islice(self._numbers, self._values_above, None)), self._codes
        self._values_above, self._rows_above, self._codes = (
            len(self._numbers),
            self._rows_above + len(codes),
            array("i"),
        )
        return values, codes.tobytes()


def _plain(cell: Any) -> Any:
    """A cell as the parent expects it: a whole number is a number too, and a checkbox can't pass for 1."""
    if isinstance(cell, bool):
        return str(cell).upper()
    return float(cell) if isinstance(cell, int) else cell
