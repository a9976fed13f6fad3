"""Counts and money of a run, by status, voucher and buyer, for the Summary and the last lines."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from pipeline.model.result import RunResult
from pipeline.model.status import ISSUED, STATUSES


@dataclass
class Tally:
    """Charges and their money in minor units; those whose amount is not known count without it."""

    charges: int = 0
    amount: int = 0


@dataclass(frozen=True)
class Group:
    """One line of a table: all its charges, those that are issued, those that are ready, and the rest."""

    name: str
    all: Tally
    issued: Tally
    ready: Tally
    rest: Tally


_PARTS = ("all", "issued", "ready", "rest")


def everything(tallies: Iterable[Tally]) -> Tally:
    """Several tallies as one."""
    total = Tally()
    for tally in tallies:
        total.charges += tally.charges
        total.amount += tally.amount
    return total


def together(name: str, groups: Sequence[Group]) -> Group:
    """Several lines as one."""
    return Group(name, *(everything(getattr(group, part) for group in groups) for part in _PARTS))


class Tallies:
    """A run's charges, counted once by what they are grouped by: status, voucher, and name on the voucher.

    Charges that repeat others are in none of it, nor differing rows of one that the ledger holds, but for the first.
    """

    def __init__(self, result: RunResult) -> None:
        charges = result.columns.charges
        counted = charges.counted
        kinds = [kind[counted] for kind in (charges.status, charges.voucher, charges.buyer)]
        found = pd.Series(charges.amount[counted]).groupby(kinds, sort=False).agg(["size", "sum"])
        self._of = {
            kind: Tally(count, amount)
            for kind, count, amount in zip(
                found.index, found["size"].tolist(), found["sum"].tolist(), strict=True
            )
        }

    def by_status(self) -> dict[str, Tally]:
        """Statuses that occur, in the contract's order."""
        found = {
            status.name: everything(tally for (name, _, _), tally in self._of.items() if name == status.name)
            for status in STATUSES
        }
        return {name: tally for name, tally in found.items() if tally.charges}

    def by_voucher(self) -> list[Group]:
        """Invoices, then itineraries."""
        return sorted(self._groups(1), key=lambda group: group.name)

    def by_buyer(self) -> list[Group]:
        """Buyers by the name on the voucher, the largest amounts first."""
        return sorted(self._groups(2), key=lambda group: (-group.all.amount, group.name))

    def _groups(self, by: int) -> list[Group]:
        found: dict[str, list[Group]] = {}
        for kind, tally in self._of.items():
            status, none = kind[0], Tally()
            issued, ready = status in ISSUED, status == "ready"
            one = Group(
                kind[by],
                tally,
                tally if issued else none,
                tally if ready else none,
                none if issued or ready else tally,
            )
            found.setdefault(kind[by], []).append(one)
        return [together(name, groups) for name, groups in found.items()]
