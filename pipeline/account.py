"""The account of a run: what became of every row and every request, as values.

Made once (accounting.py); the result workbook, the report, the summary and the exit code are all drawn
from it.
"""

import datetime
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.carrier.replies import Outcome
from pipeline.chinese import in_language
from pipeline.columns import Lang
from pipeline.reasons import STATUS
from pipeline.request import Identity, Request
from pipeline.table import Table, Texts
from pipeline.wording import ReasonText


@dataclass(frozen=True)
class Result:
    """What sending one request came to: its last attempt and that attempt's outcome."""

    request: Request
    attempt: int
    outcome: Outcome


#: Statuses of charges that have their voucher.
ISSUED = ("issued", "already_issued")


@dataclass(frozen=True)
class ChargeAccount:
    """One charge's fate. `amount` in minor units, None where it is not known.

    `last_day` is the last on which it may be requested, None where it has none or is issued already.
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


#: Statuses from the worst on: what a row of several charges shows of them. Those that decide the
#: exit code come first, in its order.
WORST = (
    "unknown", "not_sent", "rejected", "invalid", "ineligible", "waiting", "ready", "issued", "already_issued",
)  # fmt: skip


@dataclass(frozen=True)
class RowAccount:
    """One input row's fate: that of its one charge, or of the several that a wide bill's row carries."""

    index: int
    file: str
    sheet: str
    row: int
    ticket_no: str
    charges: tuple[ChargeAccount, ...]
    reasons: tuple[ReasonText, ...]

    @property
    def status(self) -> str:
        """The worst of its charges' statuses."""
        if len(self.charges) == 1:
            return self.charges[0].status
        return min((charge.status for charge in self.charges), key=WORST.index)

    @property
    def failed(self) -> bool:
        """Whether a charge of it has to be corrected or sent again."""
        return any(STATUS[charge.status].failure for charge in self.charges)

    @property
    def shown(self) -> ChargeAccount:
        """The charge that speaks for the row where one alone can be named: the first with a number, else the first."""
        return next((charge for charge in self.charges if charge.number), self.charges[0])

    @property
    def amount(self) -> int | None:
        """The total in minor units, None where it is not known."""
        amounts = [charge.amount for charge in self.charges]
        return None if None in amounts else sum(amount or 0 for amount in amounts)

    @property
    def last_day(self) -> datetime.date | None:
        """The first day after which a charge of it is lost, None where nothing presses."""
        return min((charge.last_day for charge in self.charges if charge.last_day), default=None)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Every voucher number, in the order of the charges, each once."""
        return tuple(dict.fromkeys(charge.number for charge in self.charges if charge.number))

    @property
    def request_ids(self) -> tuple[str, ...]:
        """Every request, in the order of the charges, each once."""
        return tuple(dict.fromkeys(charge.request_id for charge in self.charges if charge.request_id))


@dataclass(frozen=True)
class RequestAccount:
    """One request's fate; `rows` are its input rows, `attempt` 0: not attempted in this run."""

    request: Request
    rows: tuple[int, ...]
    attempt: int
    status: str
    number: str
    trace_id: str
    reason: ReasonText | None


@dataclass(frozen=True)
class Doubt:
    """One attempt whose outcome is unknown, of this run or an earlier one, with what was in it."""

    request_id: str
    attempt: int
    voucher: str
    market: str
    header_name: str
    amount: int
    reason: ReasonText
    trace_id: str
    charges: tuple[tuple[Identity, int], ...]


@dataclass(frozen=True)
class Account:
    """A whole run. `header` holds each row's resolved buyer columns, by column, for the Failures sheet, and
    `found_buyer` the buyer of the Buyers sheet that they were filled in from.
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
    rows: tuple[RowAccount, ...]
    requests: tuple[RequestAccount, ...]
    doubts: tuple[Doubt, ...] = ()
    stopped: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader left out, for the summary."""
        return tuple(in_language(note, self.lang) for note in self.table.notes)

    @property
    def totals(self) -> dict[str, int]:
        """Rows by status, in the order of the contract; statuses without rows are left out."""
        counts = Counter(row.status for row in self.rows)
        return {name: counts[name] for name in STATUS if counts[name]}

    @property
    def exit_code(self) -> int:
        """The highest that applies (interface.md, Exit codes)."""
        totals = self.totals
        if "unknown" in totals:
            return 4
        if "not_sent" in totals or self.stopped:
            return 3
        failures = any(STATUS[name].failure for name in totals)
        differing = any(reason.code == "differs_from_issued" for row in self.rows for reason in row.reasons)
        return 1 if failures or differing else 0
