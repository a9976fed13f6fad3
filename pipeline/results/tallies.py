"""Counts and money of an account, by status, voucher and buyer, for the Summary and the last lines."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pipeline.account import ISSUED, Account, ChargeAccount, RowAccount
from pipeline.reasons import STATUSES


@dataclass
class Tally:
    """Charges and their money in minor units; those whose amount is not known count without it."""

    charges: int = 0
    amount: int = 0

    def add(self, charge: ChargeAccount) -> None:
        """Count one charge."""
        self.charges += 1
        self.amount += charge.amount or 0


@dataclass(frozen=True)
class Group:
    """One line of a table: all its charges, those that are issued, those that are ready, and the rest."""

    name: str
    all: Tally
    issued: Tally
    ready: Tally
    rest: Tally


_PARTS = ("all", "issued", "ready", "rest")


def _group(name: str) -> Group:
    return Group(name, Tally(), Tally(), Tally(), Tally())


def _add(group: Group, charge: ChargeAccount) -> None:
    group.all.add(charge)
    part = (
        group.issued if charge.status in ISSUED else group.ready if charge.status == "ready" else group.rest
    )
    part.add(charge)


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


def by_status(account: Account) -> dict[str, Tally]:
    """Statuses that occur, in the contract's order."""
    tallies = {status.name: Tally() for status in STATUSES}
    for row in account.rows:
        for charge in row.charges:
            tallies[charge.status].add(charge)
    return {name: tally for name, tally in tallies.items() if tally.charges}


def _grouped(account: Account, name_of: Callable[[RowAccount, ChargeAccount], str]) -> list[Group]:
    groups: dict[str, Group] = {}
    for row in account.rows:
        for charge in row.charges:
            name = name_of(row, charge)
            if name not in groups:
                groups[name] = _group(name)
            _add(groups[name], charge)
    return list(groups.values())


def by_voucher(account: Account) -> list[Group]:
    """Invoices, then itineraries."""
    return sorted(_grouped(account, lambda _, charge: charge.voucher), key=lambda group: group.name)


def by_buyer(account: Account) -> list[Group]:
    """Buyers by the name on the voucher, the largest amounts first."""
    names = account.header["header_name"]
    return sorted(
        _grouped(account, lambda row, _: str(names[row.index])),
        key=lambda group: (-group.all.amount, group.name),
    )


def failing(account: Account, code: str) -> int:
    """How many rows that are to be corrected have that reason."""
    return sum(any(reason.code == code for reason in row.reasons) for row in account.rows if row.failed)


def differing(account: Account) -> int:
    """How many rows were issued earlier with something else in them."""
    return sum(any(reason.code == "differs_from_issued" for reason in row.reasons) for row in account.rows)
