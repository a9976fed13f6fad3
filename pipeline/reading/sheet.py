"""One sheet's cells, column by column, and row by row where somebody asks for a row.

A column is its values, each read once however often it stands there, and for each row the number of its value. What
is asked of every cell is asked of the values and spread over the rows; rows are made where a few are looked at.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, overload

import numpy as np
import numpy.typing as npt

from pipeline.model.table import Indices, Mask, Texts
from pipeline.reading.formats.column_letters import column_letters

Codes = npt.NDArray[np.int32]


def is_blank(cell: Any) -> bool:
    """Whether a cell holds nothing but spaces."""
    return isinstance(cell, str) and not cell.strip()


@dataclass(frozen=True, eq=False)
class Cells:
    """A column's cells: its different values (equal ones may be among them), and for each row the number of its value."""

    different: Sequence[Any]
    codes: Codes

    @classmethod
    def of(cls, cells: Sequence[Any]) -> Self:
        """Cells that are all there."""
        return cls(cells, np.arange(len(cells), dtype=np.int32))

    @classmethod
    def same(cls, cell: Any, rows: int) -> Self:
        """The same cell in so many rows."""
        return cls([cell], np.zeros(rows, dtype=np.int32))

    @classmethod
    def joined(cls, parts: Sequence["Cells"]) -> "Cells":
        """One column below the other."""
        if len(parts) == 1:
            return parts[0]
        begins = np.cumsum([0, *(len(part.different) for part in parts)])
        codes = [part.codes + begin for part, begin in zip(parts, begins[:-1], strict=True)]
        return cls(
            [value for part in parts for value in part.different], np.concatenate(codes).astype(np.int32)
        )

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Any:
        return self.different[self.codes[row]]

    def at(self, rows: Indices | slice) -> "Cells":
        """The cells of these rows."""
        return Cells(self.different, self.codes[rows])

    def where(self, test: Callable[[Any], bool]) -> Mask:
        """The rows whose cell passes a test."""
        return np.fromiter(map(test, self.different), dtype=bool, count=len(self.different))[self.codes]

    def read(self, reader: Callable[[Any], Any]) -> "Cells":
        """The same with each value as a reader reads it."""
        return Cells([reader(value) for value in self.different], self.codes)

    @cached_property
    def blank(self) -> Mask:
        """The rows whose cell is blank."""
        return self.where(is_blank)

    def mixed(self, rows: Mask, other: "Cells") -> "Cells":
        """The same with the other's cells in some rows."""
        codes = np.where(rows, other.codes + np.int32(len(self.different)), self.codes)
        return Cells([*self.different, *other.different], codes)

    def changed(self, cells: Mapping[int, Any]) -> "Cells":
        """The same with other cells in some rows."""
        codes = self.codes.copy()
        codes[list(cells)] = np.arange(len(self.different), len(self.different) + len(cells))
        return Cells([*self.different, *cells.values()], codes)

    def objects(self) -> Texts:
        """The cells of all rows."""
        return taken(self.different, self.codes)


def taken(values: Sequence[Any], codes: Codes) -> Texts:
    """Each row's value."""
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found[codes]


class Rows(Sequence[list[Any]]):
    """A sheet's rows as lists, made when they are asked for."""

    def __init__(self, columns: Sequence[Cells], height: int) -> None:
        self._columns, self._height = columns, height

    def __len__(self) -> int:
        return self._height

    @overload
    def __getitem__(self, at: int) -> list[Any]: ...
    @overload
    def __getitem__(self, at: slice) -> list[list[Any]]: ...
    def __getitem__(self, at: int | slice) -> list[Any] | list[list[Any]]:
        if isinstance(at, slice):
            columns = [column.at(at) for column in self._columns]
            return list(Rows(columns, len(range(*at.indices(self._height)))))
        if not -self._height <= at < self._height:
            raise IndexError(at)
        return [column[at] for column in self._columns]

    def __iter__(self) -> Iterator[list[Any]]:
        if not self._columns:
            return iter([[] for _ in range(self._height)])
        return map(list, zip(*(column.objects() for column in self._columns), strict=True))


@dataclass(frozen=True, eq=False)
class Sheet:
    """One sheet's cells as they stand; `first_row` and `first_column` count from 0.

    `merged` are the cells merged over several rows: first row and column, last row and column, as the spreadsheet program
    counts, from 0. `currencies` are the rows and columns of numbers that are shown in a currency, by what shows it.
    `hidden_rows` are those that are hidden or filtered out, the first and the last of each stretch, from 0. Of a sheet that is
    hidden itself one cell is there, and `hidden_tickets` of its rows hold a ticket's number. `far` are rows and columns of filled cells
    that stand too far from all others to be laid out with them, and are not here.
    """

    name: str
    visible: bool
    first_row: int
    first_column: int
    height: int
    columns: tuple[Cells, ...]
    merged: Sequence[tuple[int, int, int, int]] = ()
    currencies: Mapping[str, Codes] = field(default_factory=dict)
    hidden_rows: Sequence[tuple[int, int]] = ()
    hidden_tickets: int = 0
    far: Sequence[tuple[int, int]] = ()

    @classmethod
    def of_rows(cls, name: str, rows: Sequence[Sequence[Any]], **more: Any) -> Self:
        """A sheet of rows that are all there; they may differ in length."""
        width = max(map(len, rows), default=0)
        columns = [Cells.of([row[at] if at < len(row) else "" for row in rows]) for at in range(width)]
        place = {"visible": True, "first_row": 0, "first_column": 0} | more
        return cls(name, height=len(rows), columns=tuple(columns), **place)

    @classmethod
    def handed_over(cls, sheet: Mapping[str, Any]) -> Self:
        """A sheet as the child process hands it over; see reading.formats.columnar."""
        height = sheet["height"]
        columns = tuple(_column(values, codes, height) for values, codes in sheet["columns"])
        currencies = {
            signs: np.frombuffer(places, dtype=np.int32).reshape(-1, 2)
            for signs, places in sheet.get("currencies", {}).items()
        }
        return cls(**{**sheet, "columns": columns, "currencies": currencies})

    def cell_name(self, row: int, column: int) -> str:
        """A cell as the spreadsheet program names it, from positions in `rows`."""
        return f"{column_letters(self.first_column + column)}{self.first_row + row + 1}"

    def at(self, rows: Indices) -> "Sheet":
        """These rows alone."""
        return replace(self, height=len(rows), columns=tuple(column.at(rows) for column in self.columns))

    @property
    def hidden(self) -> Mask:
        """Which of its rows are hidden or filtered out."""
        found = np.zeros(self.height, dtype=bool)
        for first, last in self.hidden_rows:
            found[max(first - self.first_row, 0) : max(last - self.first_row + 1, 0)] = True
        return found

    @property
    def width(self) -> int:
        """How many columns it has."""
        return len(self.columns)

    @cached_property
    def rows(self) -> Rows:
        """Its rows as lists."""
        return Rows(self.columns, self.height)

    def changed(self, cells: Mapping[int, Mapping[int, Any]]) -> "Sheet":
        """The same with other cells, by column and row."""
        columns = [
            column.changed(cells[at]) if cells.get(at) else column for at, column in enumerate(self.columns)
        ]
        return replace(self, columns=tuple(columns))

    @property
    def filled(self) -> bool:
        """Whether it holds anything."""
        return any(not is_blank(value) for column in self.columns for value in column.different)


def _column(values: list[Any], codes: Codes, height: int) -> Cells:
    """A column down to the sheet's last row, as it was handed over."""
    if len(codes) == height:
        return Cells(values, codes)
    below = np.full(height - len(codes), len(values), dtype=np.int32)
    return Cells([*values, ""], np.concatenate([codes, below]))
