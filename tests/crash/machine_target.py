"""What an illegal change by a stranger's SQL is aimed at."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pipeline.model.request import Charge
from tests.crash.machine_model import Model, Tried


@dataclass(frozen=True)
class Target:
    """What an illegal change is aimed at; `dice` makes its own small choices."""

    model: Model
    tried: Tried
    dice: int
    either: str  # OR REPLACE, OR IGNORE, ...

    def pick(self, *choices: Any) -> Any:
        return choices[self.dice % len(choices)]

    @property
    def at(self) -> str:
        return f"WHERE attempt_id = {self.tried.attempt_id}"

    @property
    def charge(self) -> Charge:
        return self.tried.request.charges[self.dice % len(self.tried.request.charges)]

    @property
    def this_charge(self) -> str:
        i = self.charge.identity
        return (
            f"{self.at} AND ticket_no = '{i.ticket_no}' AND charge = '{i.charge}' AND product = '{i.product}'"
        )


#: An illegal change's statements, of which one must be refused; None where it can't be aimed at this attempt.
Illegal = Callable[[Target], list[str] | None]
ATTEMPT = "attempt (attempt_id, request_id, attempt, run, state, planned_at)"
CHARGE = "charge (attempt_id, ticket_no, charge, product, wire, voucher, amount, file, sheet, row, live)"
SENT = "state = 'sending', sending_at = '2026-11-20T00:00:00.000+00:00'"
