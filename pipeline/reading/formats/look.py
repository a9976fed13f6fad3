"""What a look through a sheet tells before its cells are taken out: its extent, and cells without a value.

The quick look through an .xlsx leaves the extent open; it is filled in when the sheet is laid out.
"""

from dataclasses import dataclass, field

from pipeline.reading.formats.refusal import Refusal

#: Positions within a sheet that are laid out, filled or not; each costs some 40 bytes here.
LARGEST_AREA = 64_000_000
#: Up to here a sheet may be as empty as it likes: a whole column of 14 that end in its last row.
SPARSE_AREA = 20_000_000
#: Beyond that, of so many positions one at least is filled.
SPARSE = 20

NO_RESULT = b"="


@dataclass
class Look:
    """One sheet: the last row and column that hold anything (from 0), how many cells are filled, and marks.

    A mark is a cell that holds no value, with its row and column from 0: b"#N/A" and the like for an
    error, b"=" for a formula whose result was never stored. What is merged over several rows is told by its first row
    and column and its last ones; `foreign` are the numbers whose format shows another currency, which only an .xlsx is
    asked for.
    """

    last_row: int = -1
    last_column: int = -1
    filled: int = 0
    marks: list[tuple[int, int, bytes]] = field(default_factory=list)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    foreign: dict[tuple[int, int], str] = field(default_factory=dict)

    def reach(self, row: int, column: int) -> None:
        """Count a filled cell."""
        self.last_row, self.last_column = max(self.last_row, row), max(self.last_column, column)
        self.filled += 1

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
        return self.area > SPARSE_AREA and self.filled * SPARSE < self.area

    def check(self, sheet: str) -> None:
        """Refuse a sheet that would take all memory for empty cells, or for too many."""
        if self.sparse:
            raise Refusal(
                "far_away",
                f"sheet {sheet} reaches to row {self.last_row + 1} and column {letters(self.last_column)}"
                f" for {self.filled} filled cells",
            )
        if self.area > LARGEST_AREA:
            raise Refusal("too_large", f"sheet {sheet} spans {self.area} cells")
        if sum(max(min(bottom, self.last_row) - top, 0) for top, _, bottom, _ in self.merged) > self.area:
            raise Refusal("damaged", f"merged cells of sheet {sheet} overlap")


def letters(column: int) -> str:
    """A column's letters, from position 0.

    >>> letters(0), letters(27), letters(16383)
    ('A', 'AB', 'XFD')
    """
    found = ""
    column += 1
    while column > 0:
        column, rest = divmod(column - 1, 26)
        found = chr(65 + rest) + found
    return found


def column_of(name: bytes) -> int:
    """The position of a column, from its letters.

    >>> column_of(b"A"), column_of(b"xfd")
    (0, 16383)
    """
    position = 0
    for letter in name.upper():
        position = position * 26 + letter - 64
    return position - 1
