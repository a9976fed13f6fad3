"""Rows that are alike: what many rows have in common is looked at once, and spread over them.

A column is kept as its distinct values and, by row, the number of its value among them: comparing rows is then
comparing whole numbers. Rows that are alike in several columns have one number for all of them.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pipeline.model.table import Indices, Mask, Texts

#: The numbers of several columns together stay below it, so that an int64 holds them.
_ROOM = 2**62


@dataclass(frozen=True)
class EncodedColumn:
    """A column: the distinct `words` that it may have, and by row the number of its value among them."""

    codes: Indices
    words: Texts

    @classmethod
    def of(cls, texts: Texts) -> "EncodedColumn":
        """The column of these texts, its values in the order in which they first stand."""
        if len(texts) and texts.tolist().count(texts[0]) == len(texts):  # as all blank ones are
            return cls(np.zeros(len(texts), dtype=np.int64), texts[:1])
        codes, words = pd.factorize(texts)
        return cls(codes.astype(np.int64, copy=False), np.asarray(words, dtype=object))

    @classmethod
    def of_choices(cls, choices: "pd.Series[str]") -> "EncodedColumn":
        """A categorical column, "" where it has none of its categories."""
        codes = choices.cat.codes.to_numpy().astype(np.int64)
        blank = len(choices.cat.categories)
        return cls(np.where(codes < 0, blank, codes), np.array([*choices.cat.categories, ""], dtype=object))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def texts(self) -> Texts:
        """The column's values, row by row."""
        return self.words[self.codes]

    def says(self, value: str) -> Mask:
        """The rows that have this value."""
        return np.asarray(self.codes == self._number(value), dtype=bool)

    def but(self, rows: Mask, value: str) -> "EncodedColumn":
        """The column with this value in these rows."""
        number = self._number(value)
        if number >= 0:
            return EncodedColumn(np.where(rows, number, self.codes), self.words)
        return EncodedColumn(np.where(rows, len(self.words), self.codes), np.append(self.words, value))

    def _number(self, value: str) -> int:
        """The number of a value, -1 where the column does not have it."""
        return next(iter(np.flatnonzero(self.words == value).tolist()), -1)

    def where(self, holds: Callable[[str], bool]) -> Mask:
        """The rows of whose value that is true; each value is looked at once."""
        return np.array([holds(value) for value in self.words], dtype=bool)[self.codes]

    def among(self, wanted: Container[str]) -> Mask:
        """The rows whose value is one of these."""
        return self.where(lambda value: value in wanted)

    def spread(self, rows: Indices) -> "EncodedColumn":
        """The column that has at each place the value of this row."""
        return EncodedColumn(self.codes[rows], self.words)


@dataclass(frozen=True)
class Groups:
    """Groups of rows: by row the number of its group, from 0, and the first row of each group, ascending."""

    group: Indices
    first: Indices

    def __len__(self) -> int:
        return len(self.first)


def alike(columns: Sequence[EncodedColumn]) -> Groups:
    """The rows grouped by their values in all of these columns, the groups in the order of their first rows."""
    together, different = columns[0].codes, len(columns[0].words)
    for column in columns[1:]:
        if different * len(column.words) >= _ROOM:
            together, distinct = pd.factorize(together)
            different = len(distinct)
        together = together * len(column.words) + column.codes
        different *= len(column.words)
    group, distinct = pd.factorize(together)
    first = np.empty(len(distinct), dtype=np.int64)
    first[group[::-1]] = np.arange(len(group), dtype=np.int64)[::-1]
    return Groups(group.astype(np.int64, copy=False), first)
