"""What a result workbook shows of its input rows, by their position: where it takes all rows of a run's result from."""

import datetime
from functools import cached_property

import numpy as np

from pipeline.model.result import RunResult
from pipeline.model.result_values import ReasonText
from pipeline.reporting.failure_causes import Cause


class ByRow:
    """By a row's position: where it stood, its status, its voucher numbers and requests, its reasons and last day."""

    def __init__(self, result: RunResult) -> None:
        self._result = result
        self._columns = result.columns

    @cached_property
    def causes(self) -> dict[Cause, list[int]]:
        """The rows of which something has to be corrected or sent again, by why: the order in which Failures numbers it."""
        found: dict[Cause, list[int]] = {}
        for row in self._columns.failed.tolist():
            found.setdefault(Cause.of(self.status[row], self.reasons(row)), []).append(row)
        return {cause: found[cause] for cause in sorted(found, key=lambda cause: cause.order)}

    @cached_property
    def failed(self) -> list[int]:
        """The same rows one after another, as they stand on Failures."""
        return [row for rows in self.causes.values() for row in rows]

    @cached_property
    def file(self) -> list[str]:
        """The file that the row stood in before any round of correction, "" for one that was added on an earlier result."""
        files: list[str] = self._result.table.frame["first_file"].tolist()
        return files

    @cached_property
    def sheet(self) -> list[str]:
        """The sheet that it stood on there."""
        sheets: list[str] = self._result.table.frame["first_sheet"].tolist()
        return sheets

    @cached_property
    def number(self) -> list[int | None]:
        """Its number there."""
        numbers: list[int] = self._result.table.frame["first_row"].tolist()
        return [number or None for number in numbers]

    @cached_property
    def status(self) -> list[str]:
        """The worst status of its charges."""
        statuses: list[str] = self._columns.status.tolist()
        return statuses

    @cached_property
    def vouchers(self) -> list[str]:
        """The numbers of its vouchers, a line each."""
        return ["\n".join(numbers) for numbers in self._columns.numbers]

    @cached_property
    def requests(self) -> list[tuple[str, ...]]:
        """The requests that its charges are in."""
        return list(self._columns.request_ids)

    @cached_property
    def last_day(self) -> list[datetime.date | None]:
        """The first day after which a charge of it is lost."""
        days: list[datetime.date | None] = (
            self._columns.last_day.astype("datetime64[D]").astype(object).tolist()
        )
        return days

    @cached_property
    def _reasons(self) -> dict[int, tuple[ReasonText, ...]]:
        with_reasons = np.unique(np.concatenate([[], *self._columns.having.values()])).astype(np.int64)
        return {row: self._result.rows[row].reasons for row in with_reasons.tolist()}

    def reasons(self, row: int) -> tuple[ReasonText, ...]:
        """Its reasons, those of its status first."""
        return self._reasons.get(row, ())

    def having(self, code: str) -> list[int]:
        """The rows with that reason."""
        rows: list[int] = np.asarray(self._columns.having.get(code, [])).tolist()
        return rows
