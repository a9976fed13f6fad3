"""What people corrected on the page: an overlay on what is read of the files, which stay as they were uploaded."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.model.columns import BUYER_COLUMNS

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

    def dumps(self) -> str:
        """The corrections as JSON, as they are handed to another process."""
        cells = [
            {"file": file, "sheet": sheet, "row": row, "cells": {**cells}}
            for (file, sheet, row), cells in self.cells.items()
        ]
        return json.dumps({"cells": cells, "buyers": [{**buyer} for buyer in self.buyers]})

    @classmethod
    def loads(cls, text: str) -> "Corrections":
        """What `dumps` has written. Raises ValueError, KeyError or TypeError for anything else."""
        said = json.loads(text)
        cells = {(one["file"], one["sheet"], int(one["row"])): one["cells"] for one in said["cells"]}
        names = [column.name for column in BUYER_COLUMNS]
        return cls(cells, tuple({name: one.get(name, "") for name in names} for one in said["buyers"]))


NO_CORRECTIONS = Corrections()
