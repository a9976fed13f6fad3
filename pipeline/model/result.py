"""The result of a run: what became of every row and every request, as values.

Made once (reporting/build_result.py); the result workbook, the report, the summary and the exit code are all drawn
from it. Whoever looks at all rows takes them by column, from `RunResult.columns`:

    columns.status, .last_day, .numbers, .request_ids   by row; all that were found of a row of several charges
    columns.failed, columns.having[code]                the positions of rows, ascending
    columns.charges.status, .amount, .number, …         by charge, `columns.charges.line` says of which row

Whoever looks at single rows takes them from `RunResult.rows`: a `RowResult`, with its reasons in words, is made when
it is looked at (a row without reasons is in no `columns.having`). Likewise `RunResult.requests`.
"""

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.model import exit_code
from pipeline.model.columns import Lang
from pipeline.model.encoded_column import EncodedColumn
from pipeline.model.exit_code import ExitCode
from pipeline.model.lazy import LazySequence
from pipeline.model.message import NOTHING, Message
from pipeline.model.request import Request
from pipeline.model.result_columns import ChargeColumns, ResultColumns
from pipeline.model.result_values import (
    NO_ORIGIN,
    RequestResult,
    RowResult,
    RunOrigin,
    UnknownAttempt,
)
from pipeline.model.status import STATUS
from pipeline.model.table import Table, Texts


class RowResults(LazySequence[RowResult]):
    """The results of all rows, each made when it is looked at, in a language, and what is known of them by column."""

    def __init__(
        self, columns: ResultColumns, told: Callable[[Lang], Callable[[int], RowResult]], lang: Lang
    ) -> None:
        super().__init__(columns.size, functools.cache(told(lang)))
        self.columns = columns
        self._told = told

    def in_language(self, lang: Lang) -> "RowResults":
        """The same rows, with their reasons in another language."""
        return RowResults(self.columns, self._told, lang)


class RequestResults(LazySequence[RequestResult]):
    """The results of all requests, each made when it is looked at, and how each of them ended."""

    def __init__(
        self, asked: Sequence[Request], statuses: Sequence[str], make: Callable[[int], RequestResult]
    ) -> None:
        super().__init__(len(statuses), functools.cache(make))
        self.asked = asked
        self.statuses = statuses


@dataclass(frozen=True)
class RunResult:
    """A whole run. `header` holds each row's resolved buyer columns, by column, for the Failures sheet, and
    `found_buyer` the buyer of the Buyers sheet that they were filled in from. `repeats` says of a row with a charge that
    an earlier row has already which row that is, both by their position. `issued_before` are the requests of earlier runs
    whose charges stand in it. `lacking` are the carrier profile's keys that rows cannot be sent without.
    """

    command: str
    as_of: str
    lang: Lang
    currency: str
    ledger: str
    ledger_id: str
    table: Table
    header: Mapping[str, Texts]
    found_buyer: Texts
    rows: Sequence[RowResult]
    requests: Sequence[RequestResult]
    doubts: tuple[UnknownAttempt, ...] = ()
    stopped: Message = NOTHING
    repeats: Mapping[int, int] = field(default_factory=dict)
    origin: RunOrigin = NO_ORIGIN
    issued_before: Sequence[RequestResult] = ()
    lacking: tuple[str, ...] = ()

    def rows_in(self, lang: Lang) -> Sequence[RowResult]:
        """The rows with their reasons in that language; rows whose results are made already, as they are."""
        return self.rows.in_language(lang) if isinstance(self.rows, RowResults) else self.rows

    @property
    def notes(self) -> tuple[Message, ...]:
        """What nobody sees in the files, and what the reader left out, for the summary."""
        return (*self.table.warnings, *self.table.notes)

    @functools.cached_property
    def columns(self) -> ResultColumns:
        """What became of the rows, by column."""
        return self.rows.columns if isinstance(self.rows, RowResults) else _by_column(self.rows)

    @property
    def totals(self) -> dict[str, int]:
        """Rows by status, in the order of the contract; statuses without rows are left out."""
        return self.columns.totals

    @property
    def request_totals(self) -> dict[str, int]:
        """Requests by status."""
        asked = self.requests
        statuses = asked.statuses if isinstance(asked, RequestResults) else [one.status for one in asked]
        return dict(Counter(statuses))

    @property
    def asked(self) -> Sequence[Request]:
        """What each request asks for."""
        made = self.requests
        return made.asked if isinstance(made, RequestResults) else [one.request for one in made]

    @property
    def exit_code(self) -> ExitCode:
        """What the run ends with."""
        differs = "differs_from_issued" in self.columns.having
        return exit_code.of_run(
            (STATUS[name].exit_code for name in self.totals), stopped=self.stopped, differs=differs
        )


def _by_column(rows: Sequence[RowResult]) -> ResultColumns:
    """What became of rows whose results are made already, by column."""
    charges = [charge for row in rows for charge in row.charges]
    having: dict[str, dict[int, None]] = {}
    for position, row in enumerate(rows):
        for reason in row.reasons:
            having.setdefault(reason.code, {})[position] = None
    return ResultColumns(
        len(rows),
        _texts(row.file for row in rows),
        _texts(row.sheet for row in rows),
        np.array([row.row for row in rows], dtype=np.int64),
        _texts(row.ticket_no for row in rows),
        ChargeColumns(
            np.repeat(np.arange(len(rows)), np.array([len(row.charges) for row in rows], dtype=np.int64)),
            _texts(charge.charge for charge in charges),
            _texts(charge.product for charge in charges),
            _texts(charge.voucher for charge in charges),
            _texts(charge.buyer for charge in charges),
            np.array([charge.amount or 0 for charge in charges], dtype=np.int64),
            EncodedColumn.of(_texts(charge.status for charge in charges)),
            _texts(charge.number for charge in charges),
            np.arange(len(charges)),
            [charge.request_id for charge in charges],
            np.array([charge.last_day for charge in charges], dtype="datetime64[D]"),
            np.array([charge.again for charge in charges], dtype=bool),
        ),
        {code: np.array([*at], dtype=np.int64) for code, at in having.items()},
    )


def _texts(texts: Iterable[str]) -> Texts:
    return np.array([*texts], dtype=object)
