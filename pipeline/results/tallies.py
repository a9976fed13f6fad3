"""Counts and money of an account, by status, voucher and buyer, for the Summary and the last lines."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pipeline.account import Account, RowAccount
from pipeline.reasons import STATUS, STATUSES

ISSUED = ("issued", "already_issued")


@dataclass
class Tally:
    """Rows and their money in minor units; rows whose amount is not known count without it."""

    rows: int = 0
    amount: int = 0

    def add(self, row: RowAccount) -> None:
        """Count one row."""
        self.rows += 1
        self.amount += row.amount or 0


@dataclass(frozen=True)
class Group:
    """One line of a table: all its rows, those that are issued, those that are ready, and the rest."""

    name: str
    all: Tally
    issued: Tally
    ready: Tally
    rest: Tally


def _group(name: str) -> Group:
    return Group(name, Tally(), Tally(), Tally(), Tally())


def _add(group: Group, row: RowAccount) -> None:
    group.all.add(row)
    part = group.issued if row.status in ISSUED else group.ready if row.status == "ready" else group.rest
    part.add(row)


def together(name: str, groups: Iterable[Group]) -> Group:
    """Several lines as one."""
    total = _group(name)
    for group in groups:
        for part in ("all", "issued", "ready", "rest"):
            tally, more = getattr(total, part), getattr(group, part)
            tally.rows += more.rows
            tally.amount += more.amount
    return total


def by_status(account: Account) -> dict[str, Tally]:
    """Statuses that occur, in the contract's order."""
    tallies = {status.name: Tally() for status in STATUSES}
    for row in account.rows:
        tallies[row.status].add(row)
    return {name: tally for name, tally in tallies.items() if tally.rows}


def _grouped(account: Account, name_of: Callable[[RowAccount], str]) -> list[Group]:
    groups: dict[str, Group] = {}
    for row in account.rows:
        name = name_of(row)
        if name not in groups:
            groups[name] = _group(name)
        _add(groups[name], row)
    return list(groups.values())


def by_voucher(account: Account) -> list[Group]:
    """Invoices, then itineraries."""
    return sorted(_grouped(account, lambda row: row.voucher), key=lambda group: group.name)


def by_buyer(account: Account) -> list[Group]:
    """Buyers by the name on the voucher, the largest amounts first."""
    names = account.header["header_name"]
    return sorted(
        _grouped(account, lambda row: str(names[row.index])),
        key=lambda group: (-group.all.amount, group.name),
    )


def failing(account: Account, code: str) -> int:
    """How many rows that are to be corrected have that reason."""
    return sum(
        any(reason.code == code for reason in row.reasons)
        for row in account.rows
        if STATUS[row.status].failure
    )


def differing(account: Account) -> int:
    """How many rows were issued earlier with something else in them."""
    return sum(any(reason.code == "differs_from_issued" for reason in row.reasons) for row in account.rows)
