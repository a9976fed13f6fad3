"""What a result is made of: where it comes from, and what became of single rows, charges and requests. It needs no numpy, which takes long
to load.
"""

import datetime
from dataclasses import dataclass

from pipeline.model.message import Message
from pipeline.model.profile import Owner
from pipeline.model.request import Identity, Request
from pipeline.model.status import WORST


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
