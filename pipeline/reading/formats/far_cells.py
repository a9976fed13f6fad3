"""Cells far from all the others, such as a space that somebody typed in the last row.

A workbook's reader makes room for every position between them, which may be more than all memory. So before it lays the sheet
out they are moved to stand right behind the others; where they stood is known, and they are no part of the table.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.reading.formats.refusal import Refusal

#: So many blank rows, or columns, lie before what is far.
ROWS, COLUMNS = 1_000, 100
_MOST = 100


class Side:
    """Where filled cells stand along one side of a sheet: stretches of rows, or of columns, with a wide gap between two."""

    def __init__(self, gap: int) -> None:
        self._gap = gap
        self._found: list[list[int]] = []

    def add(self, first: int, last: int) -> None:
        """Take note of filled cells from one place to another; most come in their order."""
        stretch = self._found[-1] if self._found else None
        if stretch and stretch[0] <= first <= stretch[1] + self._gap:
            stretch[1] = max(stretch[1], last)
        else:
            self._found.append([first, last])

    def stretches(self) -> list[tuple[int, int]]:
        """The first and the last place of each stretch, in their order."""
        made = list[tuple[int, int]]()
        for first, last in sorted(self._found):
            if made and first <= made[-1][1] + self._gap:
                made[-1] = (made[-1][0], max(made[-1][1], last))
            else:
                made.append((first, last))
        return made


@dataclass(frozen=True)
class Moved:
    """Along one side of a sheet: the last place that stays, and the stretches beyond it, moved together behind it."""

    last: int
    beyond: tuple[tuple[int, int], ...] = ()

    @property
    def end(self) -> int:
        """The last place once they are moved."""
        return self.last + sum(last - first + 1 for first, last in self.beyond)

    def to(self, place: int) -> int:
        """Where a place comes to stand; of one in a gap, where what stands behind the gap does."""
        if place <= self.last:
            return place
        now = self.last + 1
        for first, last in self.beyond:
            if place <= last:
                return now + max(place - first, 0)
            now += last - first + 1
        return now

    def back(self, now: int) -> int:
        """Where a place stood."""
        if now <= self.last:
            return now
        left = now - self.last - 1
        for first, last in self.beyond:
            if left <= last - first:
                return first + left
            left -= last - first + 1
        raise ValueError(now)


@dataclass(frozen=True)
class Far:
    """How a sheet's rows and columns are moved, cells without a value among the far ones, and why it may not be read."""

    rows: Moved
    columns: Moved
    marked: tuple[tuple[int, int], ...]
    refusal: Refusal

    def near(self, row: int, column: int) -> bool:
        """Whether a cell stays where it is."""
        return row <= self.rows.last and column <= self.columns.last


def moved(rows: Side, columns: Side, *, fits: Callable[[int, int], bool]) -> tuple[Moved, Moved] | None:
    """How to move what is furthest, one stretch after the other, until the last row and column fit; None where they never do."""
    sides = [rows.stretches(), columns.stretches()]
    if sum(map(len, sides)) > _MOST:
        return None
    kept = [len(side) for side in sides]
    while True:
        now_rows, now_columns = (_moved(side, keep) for side, keep in zip(sides, kept, strict=True))
        if fits(now_rows.end, now_columns.end):
            return now_rows, now_columns
        shrunk = {  # by how much, where the furthest stretch of that side is moved
            at: (_moved(sides[at], kept[at] - 1).end + 1) / (now.end + 1)
            for at, now in enumerate((now_rows, now_columns))
            if kept[at] > 1
        }
        if not shrunk:
            return None
        kept[min(shrunk, key=shrunk.__getitem__)] -= 1


def _moved(stretches: list[tuple[int, int]], keep: int) -> Moved:
    return Moved(stretches[keep - 1][1], tuple(stretches[keep:]))
