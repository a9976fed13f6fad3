"""What people corrected on the page: an overlay on what is read of the files, which stay as they were uploaded."""

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Where a row stands: its file and sheet as messages name them, and its number as the spreadsheet program counts.
Place = tuple[str, str, int]


@dataclass(frozen=True)
class Corrections:
    """Texts in place of cells, by row and column, and whole buyers.

    A column is one of the vocabulary (model/columns.py) or a heading of the file's own, as `Table.cells` names it. The
    text is read as if somebody had typed it there; a blank one empties the cell. A row of `buyers` says what a
    voucher in that buyer's name says, whatever a Buyers sheet says of the same name; what it lacks is blank.
    """

    cells: Mapping[Place, Mapping[str, str]] = field(default_factory=dict)
    buyers: tuple[Mapping[str, str], ...] = ()

    def of_sheet(self, file: str, sheet: str) -> dict[int, Mapping[str, str]]:
        """One sheet's corrections, by row."""
        return {place[2]: cells for place, cells in self.cells.items() if place[:2] == (file, sheet)}


NO_CORRECTIONS = Corrections()
