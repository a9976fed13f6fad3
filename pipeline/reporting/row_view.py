"""What a result workbook shows of its input rows, by their position: where it takes all rows of a run's result from."""

import datetime
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from pipeline.messages.translate import rendered
from pipeline.model.columns import COLUMN, Lang
from pipeline.model.places import about
from pipeline.model.result import ReasonText, RunResult
from pipeline.model.status import STATUS, STATUS_OF

#: Of a sheet that has none of the input's columns.
NO_LETTERS: Mapping[str, str] = MappingProxyType({})
_STATUSES, _COLUMNS = list(STATUS), list(COLUMN)


class Cause(NamedTuple):
    """Why rows failed: their status, and of their reasons the first, with the column or the profile's key that it is about, "" for none."""

    status: str
    code: str
    column: str
    key: str = ""

    @classmethod
    def of(cls, status: str, reasons: Sequence[ReasonText]) -> "Cause":
        """The reason of that status to begin with: what has to change in the row itself, before what the profile lacks for many."""
        own = sorted(reasons, key=lambda reason: (STATUS_OF[reason.code] != status, bool(reason.key)))
        return cls(status, own[0].code, own[0].column, own[0].key) if own else cls(status, "", "")

    @property
    def order(self) -> tuple[bool, bool, int, int, int, str]:
        """What a person has to mend in rows comes before what the profile lacks, and that before what time or another run does."""
        status = STATUS[self.status]
        return (
            status.tone != "bad",
            bool(self.key),
            _STATUSES.index(self.status),
            status.codes.index(self.code) if self.code in status.codes else len(status.codes),
            _COLUMNS.index(self.column) if self.column in COLUMN else len(_COLUMNS),
            self.key,
        )


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


def reason_lines(
    reasons: Sequence[ReasonText], lang: Lang, letters: Mapping[str, str] = NO_LETTERS, line: int = 0
) -> str:
    """Every reason that applies to a row, its own status's first: its cell, what is said of it, and its code.

    `letters` are those of the columns on the sheet that says so, and `line` is the row's number there: who reads it
    looks for the cell where they are.
    """

    def said(reason: ReasonText) -> str:
        if reason.column not in letters:
            return reason.message
        return rendered(about(f"{letters[reason.column]}{line}", reason.message), lang)

    return "\n".join(f"{said(reason)} [{reason.code}]" for reason in reasons)
