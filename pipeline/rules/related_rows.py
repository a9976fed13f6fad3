"""Rows that have something to do with each other: those of one charge, or of one ticket, and what is found about them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pipeline.model.lazy import LazySequence
from pipeline.model.message import Fact, Joined, Message, joined
from pipeline.model.table import Finding, Indices, Mask
from pipeline.rules.rows import Rows

#: So many of the others are named to each.
_NAMED = 3


@dataclass(frozen=True)
class Together:
    """Rows that have something to do with each other, in groups: `rows` group after group, each ascending.

    `group` is by place in `rows` the number of its group, from 0, and `starts` where each group begins.
    """

    rows: Indices
    group: Indices
    starts: Indices

    @classmethod
    def of(cls, rows: Indices, groups: Indices) -> "Together":
        """These rows by the numbers of their groups, without those that are alone in theirs."""
        several = pd.Series(groups).duplicated(keep=False).to_numpy()
        rows, groups = rows[several], groups[several]
        order = np.argsort(groups, kind="stable")
        new = np.diff(groups[order], prepend=-1) != 0
        return cls(rows[order], np.cumsum(new) - 1, np.flatnonzero(new))

    def differ(self, values: np.ndarray) -> Mask:
        """In which groups not every row has the same of these whole numbers, which are by place in `rows`."""
        if not len(self.rows):
            return np.zeros(0, dtype=bool)
        least, most = (f.reduceat(values, self.starts) for f in (np.minimum, np.maximum))
        return np.asarray(least != most, dtype=bool)

    def finding(
        self, code: str, column: str, rows: Rows, refused: Mask, fate: Callable[[int], Message] | None = None
    ) -> list[Finding]:
        """The finding about the refused ones of the rows: each is told where the others of its group are."""
        refused_at = np.flatnonzero(refused)
        refused_at = refused_at[np.argsort(self.rows[refused_at])]
        if not len(refused_at):
            return []
        at, groups = self.rows[refused_at], self.group[refused_at]
        facts: dict[str, Sequence[Fact]] = {
            "other": LazySequence(len(at), lambda n: self._others(rows, groups[n], at[n]))
        }
        if fate:
            facts["fate"] = LazySequence(len(at), lambda n: fate(groups[n]))
        return [Finding(code, column, at, facts)]

    def _others(self, rows: Rows, group: int, row: int) -> Joined:
        """Where the first few others of a row's group stand."""
        first = self.starts[group]
        end = self.starts[group + 1] if group + 1 < len(self.starts) else len(self.rows)
        return places(
            rows.place, [o for o in self.rows[first : min(end, first + _NAMED + 2)].tolist() if o != row]
        )


def places(place: Callable[[int], Message], at: Sequence[int]) -> Joined:
    """Where the first few of these rows stand, for a message."""
    more = ["…"] if len(at) > _NAMED else []
    return joined([*map(place, at[:_NAMED]), *more], "sentences")
