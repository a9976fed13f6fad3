"""The result of a run: what became of every row and every request, as values.

Made once (reporting/build_result.py); the result workbook, the report, the summary and the exit code are all drawn
from it. Whoever looks at all rows takes them by column, from `RunResult.columns`:

    columns.status, .last_day, .numbers, .request_ids   by row; all that were found of a row of several charges
    columns.failed, columns.having[code]                the positions of rows, ascending
    columns.charges.status, .amount, .number, …         by charge, `columns.charges.line` says of which row

Whoever looks at single rows takes them from `RunResult.rows`: a `RowResult`, with its reasons in words, is made when
it is looked at (a row without reasons is in no `columns.having`). Likewise `RunResult.requests`.
"""

import datetime
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
from pipeline.model.profile import Owner
from pipeline.model.request import Identity, Request
from pipeline.model.result_columns import ChargeColumns, ResultColumns
from pipeline.model.status import STATUS, WORST
from pipeline.model.table import Table, Texts


@dataclass(frozen=True)
class ReasonText:
    """One reason that applies to a row, in the language of what is written.

    `cell` is the input's cell that it is about, as the spreadsheet program names it, "" where it is about none.
    `brief` is the message without what people and the carrier wrote, which may name somebody. `source` is where what it is
    about was taken from, if that is no cell of the row; `message` begins with it. `key` is the carrier profile's key that it asks
    for, once for all rows that lack it.
    """

    code: str
    column: str
    message: str
    cure: str
    cell: str = ""
    brief: str = ""
    source: Message | None = None
    key: str = ""


@dataclass(frozen=True)
class ChargeResult:
    """What one charge came to. `amount` in minor units, None where it is not known.

    `amount` and `buyer`, the name on the voucher, are those that were asked for where an earlier run did. `last_day` is the last on which
    it may be requested, None where it has none or is issued already. `again`: the ledger holds it, and an earlier row speaks of it too, so
    that it counts in no total.
    """

    charge: str
    product: str
    voucher: str
    amount: int | None
    status: str
    number: str
    request_id: str
    reasons: tuple[ReasonText, ...]
    last_day: datetime.date | None = None
    buyer: str = ""
    again: bool = False


@dataclass(frozen=True)
class RowResult:
    """What one input row came to: its one charge, or the several that a wide bill's row carries."""

    index: int
    file: str
    sheet: str
    row: int
    ticket_no: str
    charges: tuple[ChargeResult, ...]
    reasons: tuple[ReasonText, ...]

    @property
    def status(self) -> str:
        """The worst of its charges' statuses."""
        if len(self.charges) == 1:
            return self.charges[0].status
        return min((charge.status for charge in self.charges), key=WORST.index)

    @property
    def shown(self) -> ChargeResult:
        """The charge that speaks for the row where one alone can be named: the first with a number, else the first."""
        return next((charge for charge in self.charges if charge.number), self.charges[0])

    @property
    def amount(self) -> int | None:
        """The total in minor units, None where it is not known."""
        amounts = [charge.amount for charge in self.charges]
        return None if None in amounts else sum(amount or 0 for amount in amounts)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Every voucher number, in the order of the charges, each once."""
        return tuple(dict.fromkeys(charge.number for charge in self.charges if charge.number))


@dataclass(frozen=True)
class RequestResult:
    """What one request came to; `rows` are its input rows, `attempt` 0: not attempted in this run.

    `run` is the number of the earlier run that sent it, 0 where this one did; what a statement alone shows has no attempt and no run.
    """

    request: Request
    rows: tuple[int, ...]
    attempt: int
    status: str
    number: str
    trace_id: str
    reason: ReasonText | None
    run: int = 0

    @property
    def request_id(self) -> str:
        """The request's ID, "" for a voucher that a statement alone shows."""
        return "" if self.status == "already_issued" and not self.attempt else self.request.request_id


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
class UnknownAttempt:
    """One attempt whose outcome is unknown, of this run or an earlier one, with what was in it.

    `epoch` is the ID of the epoch of the ledger that it belongs to, by which an answer names it; `typed` an answer that settled
    nothing, so that nobody types it again.
    """

    epoch: str
    request_id: str
    attempt: int
    voucher: str
    market: str
    header_name: str
    amount: int
    reason: ReasonText
    trace_id: str
    charges: tuple[tuple[Identity, int], ...]
    typed: tuple[str, str, str, str] = ("", "", "", "")


@dataclass(frozen=True)
class RunOrigin:
    """Where a result comes from: the carrier (None where none is named), when the run began, by the carrier's clock, who ran it,
    and its number in the ledger (0 where it is not recorded there).
    """

    carrier: Owner | None = None
    began: datetime.datetime | None = None
    operator: str = ""
    run: int = 0

    @property
    def is_sandbox(self) -> bool:
        """Whether none of its vouchers is a real one."""
        return self.carrier is not None and self.carrier.is_sandbox


NO_ORIGIN = RunOrigin()


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
