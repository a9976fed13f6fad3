"""What became of a run's charges and rows, one array a column.

Totals, the exit code and the last lines are drawn from it, and so is what looks at all rows at once: the large sheets of
a result workbook. Texts are made, and single rows looked at (result.RowResult), only where somebody asks for them.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.model.encoded_column import EncodedColumn
from pipeline.model.status import STATUS, WORST
from pipeline.model.table import (
    Days,
    Indices,
    Mask,
    Money,
    Texts,
)


@dataclass(frozen=True)
class ChargeColumns:
    """By charge, in the order of the rows.

    `line` is each charge's row, ascending; `charge` and `product` what it is, "" where that can't be read; `ended` its status; `buyer` is
    the name on its voucher; `amount` in minor units, 0 where it is not known; `number` "" where it has none; `again` whether the ledger
    holds it, and an earlier row speaks of it too, so that it counts in no total; `request` the place of its request's ID in `request_ids`,
    -1 where it is in none; `last_day` NaT where it may be requested at any time, or is issued already.
    """

    line: Indices
    charge: Texts
    product: Texts
    voucher: Texts
    buyer: Texts
    amount: Money
    ended: EncodedColumn
    number: Texts
    request: Indices
    request_ids: Sequence[str]
    last_day: Days
    again: Mask

    @property
    def counted(self) -> Mask:
        """The charges that count in totals, each once."""
        mine: Mask = self.ended.where(lambda name: STATUS[name].counted) & ~self.again
        return mine

    @functools.cached_property
    def request_id(self) -> Texts:
        """The ID of each charge's request, "" where it is in none."""
        return np.array([*self.request_ids, ""], dtype=object)[self.request]

    @functools.cached_property
    def status(self) -> Texts:
        """Each charge's status."""
        return self.ended.texts

    def tallies(self) -> dict[str, tuple[int, int]]:
        """How many charges end in each status, and the money that totals count of them; statuses that occur, in the contract's order."""
        found = ((name, self.ended.says(name)) for name in STATUS)
        return {
            name: (int(of.sum()), int(self.amount[of & self.counted].sum())) for name, of in found if of.any()
        }


@dataclass(frozen=True)
class ResultColumns:
    """By row: what became of its one charge, or of the several that a wide bill's row carries.

    `size` is the number of rows; `file`, `sheet` and `row` are where each stands, and `ticket_no` is as it was read, "" where it can't be;
    `having` are by reason code the rows that have the reason, ascending.
    """

    size: int
    file: Texts
    sheet: Texts
    row: Indices
    ticket_no: Texts
    charges: ChargeColumns
    having: Mapping[str, Indices]

    @property
    def one_each(self) -> bool:
        """Whether every row has one charge, as nearly all workbooks have it."""
        return len(self.charges.line) == self.size

    @functools.cached_property
    def first(self) -> Indices:
        """The place of each row's first charge."""
        return np.searchsorted(self.charges.line, np.arange(self.size))

    @functools.cached_property
    def status(self) -> Texts:
        """The worst of its charges' statuses."""
        if self.one_each:
            return self.charges.status
        status = self.charges.ended
        badness = np.array([WORST.index(name) for name in status.words], dtype=np.int64)[status.codes]
        worst: Texts = np.array(WORST, dtype=object)[np.minimum.reduceat(badness, self.first)]
        return worst

    @functools.cached_property
    def totals(self) -> dict[str, int]:
        """Rows by status, in the order of the contract; statuses without rows are left out."""
        if self.one_each:
            return {name: count for name, (count, _) in self.charges.tallies().items()}
        status = EncodedColumn.of(self.status)
        counts = {name: int(status.says(name).sum()) for name in STATUS}
        return {name: count for name, count in counts.items() if count}

    @functools.cached_property
    def failed(self) -> Indices:
        """The rows of which a charge has to be corrected or sent again, ascending."""
        failures = self.charges.ended.among([name for name, status in STATUS.items() if status.failure])
        return np.unique(self.charges.line[failures])

    @functools.cached_property
    def last_day(self) -> Days:
        """The first day after which a charge of it is lost, NaT where nothing presses."""
        days: Days = self.charges.last_day
        return days if self.one_each else np.fmin.reduceat(days, self.first)

    @functools.cached_property
    def numbers(self) -> Sequence[tuple[str, ...]]:
        """Every voucher number of its charges, in their order, each once."""
        return self._each_once(self.charges.number)

    @functools.cached_property
    def request_ids(self) -> Sequence[tuple[str, ...]]:
        """Every request of its charges, in their order, each once."""
        return self._each_once(self.charges.request_id)

    def _each_once(self, texts: Texts) -> Sequence[tuple[str, ...]]:
        if self.one_each:
            return [(text,) if text else () for text in texts.tolist()]
        found: list[dict[str, None]] = [{} for _ in range(self.size)]
        for row, text in zip(self.charges.line.tolist(), texts.tolist(), strict=True):
            if text:
                found[row][text] = None
        return [tuple(once) for once in found]
