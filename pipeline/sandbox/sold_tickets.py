"""The carrier's tickets and their charges, read from the same workbooks as the pipeline reads.

A workbook stands in for the carrier's books. Rows from which no ticket number, charge, product or
amount can be read tell the carrier nothing: what they mean is not known here.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from pipeline.model.columns import COMPONENTS, FEES
from pipeline.model.table import Mask, Table

_TICKET_NO = re.compile(r"([0-9]{3})-?([0-9]{10})")
_FLIGHT = "flight"
# carrier-interface.md, Terms, "Ancillary service charge": the supported products.
_ANCILLARY_PRODUCTS = frozenset({"baggage", "seat", "upgrade", "meal", "lounge"})
_TELLING_COLUMNS = ("ticket_no", "charge", "product")


def plain_ticket_no(text: str) -> str | None:
    """Give the 13 digits of a ticket number written with or without a hyphen after the third.

    >>> plain_ticket_no("999-1234567890")
    '9991234567890'
    >>> plain_ticket_no("99-91234567890") is None
    True
    """
    match = _TICKET_NO.fullmatch(text)
    return match[1] + match[2] if match else None


class ChargeKey(NamedTuple):
    """What makes a charge that charge, and no other."""

    ticket_no: str
    charge: str
    product: str


@dataclass(frozen=True, slots=True)
class Charge:
    """One charge on one ticket, and what the carrier knows of that ticket with it.

    Texts that aren't known are blank, dates None. `amount` is in minor units, and so are a ticket fare's `components`, in the order
    of COMPONENTS, where the books have any.
    """

    key: ChargeKey
    amount: int
    market: str
    ticket_status: str
    flight_date: date | None
    used_on: date | None
    refund_approved_on: date | None
    purchased_on: date | None
    components: tuple[int, ...] = ()


class Registry:
    """Every ticket that the carrier knows: its passenger and its charges, in the books' order."""

    def __init__(self, entries: Iterable[tuple[str, Charge]]) -> None:
        self._names: dict[str, str] = {}
        self._charges: dict[str, dict[ChargeKey, Charge]] = {}
        for name, charge in entries:
            ticket_no = charge.key.ticket_no
            self._names[ticket_no] = self._names.get(ticket_no) or name
            self._charges.setdefault(ticket_no, {}).setdefault(charge.key, charge)

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Make the registry of a table's rows.

        The first row of a charge wins, and the first passenger name of a ticket; all of a ticket's
        charges are kept.
        """
        return cls(_entries(table))

    def __len__(self) -> int:
        return len(self._charges)

    def __contains__(self, ticket_no: str) -> bool:
        return ticket_no in self._charges

    def passenger_name(self, ticket_no: str) -> str:
        """Give the name on a known ticket; blank if the books don't have it."""
        return self._names[ticket_no]

    def charges(self, ticket_no: str) -> Iterable[Charge]:
        """List the charges of a ticket in the books' order; none for an unknown one."""
        return self._charges.get(ticket_no, {}).values()


def _as_on_ticket(name: str) -> str:
    """A passenger's name as a ticket has it: in one line, of characters that can be seen."""
    lines = "".join(line.strip() for line in name.splitlines())
    return "".join(c for c in lines if unicodedata.category(c) != "Cf").replace("\t", " ").strip()


def _entries(table: Table) -> Iterator[tuple[str, Charge]]:
    frame = _spread(table.frame[_readable(table)])
    for ticket, name, charge, product, *facts in zip(
        frame["ticket_no"],
        frame["passenger_name"].map(_as_on_ticket),
        _texts(frame["charge"]),
        _texts(frame["product"]),
        _amounts(frame),
        _texts(frame["market"]),
        _texts(frame["ticket_status"]),
        _days(frame["flight_date"]),
        # interface.md, Input columns: used_on is the flight date where it is left blank.
        _days(frame["used_on"].fillna(frame["flight_date"])),
        _days(frame["refund_approved_on"]),
        _days(frame["purchased_on"]),
        _components(frame),
        strict=True,
    ):
        ticket_no = plain_ticket_no(ticket)
        known_product = _product(charge, product)
        amount = facts[0]
        if ticket_no and known_product and amount > 0:
            yield name, Charge(ChargeKey(ticket_no, charge, known_product), *facts)


def _spread(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows, a bill that names no charge as often as it has charges.

    Source: carrier-interface.md, Terms: a used ticket's fare, a refunded one's refund, ancillary services. A ticket
    flown in part has both, and its change fee is the fare's.
    """
    bills = frame[frame["charge"].isna()]
    status = bills["ticket_status"]
    partly = bills[status == "partly_used"].assign(change_fee=0)
    flown = {
        charge: of_it.assign(charge=charge, product=_FLIGHT, amount=0)
        for charge, of_it in (
            ("ticket_fare", bills[status != "refunded"]),
            ("refund", pd.concat([bills[status == "refunded"], partly])),
        )
    }
    services = [
        bills.assign(charge="ancillary", product=product, amount=bills[fee]) for product, fee in FEES.items()
    ]
    named = frame[frame["charge"].notna()].astype({"charge": object, "product": object})
    return pd.concat([named, *flown.values(), *services]).sort_index(kind="stable")


def _readable(table: Table) -> Mask:
    """Tell of each row whether its ticket number, charge and product could be read.

    A blank product and an unreadable one look alike in the frame; the findings tell them apart.
    """
    readable = np.ones(len(table), dtype=np.bool_)
    for finding in table.findings:
        if finding.column in _TELLING_COLUMNS:
            readable[finding.rows] = False
    return readable


def _product(charge: str, product: str) -> str | None:
    """Give the product of a charge, or None if no such thing is sold.

    >>> _product("refund", "")
    'flight'
    >>> _product("ancillary", "flight") is None
    True
    """
    if charge in COMPONENTS:  # fares and refunds, which are of the flight itself
        return _FLIGHT if product in ("", _FLIGHT) else None
    return product if charge == "ancillary" and product in _ANCILLARY_PRODUCTS else None


def _amounts(frame: pd.DataFrame) -> list[int]:
    """Each row's amount: the one given, else the sum of its charge's components.

    Source: carrier-interface.md, Terms, the components of the ticket fare and refund charges.
    """
    amounts = frame["amount"].to_numpy(np.int64, copy=True)
    for charge, components in COMPONENTS.items():
        open_amounts = (frame["charge"] == charge).to_numpy(bool) & (amounts == 0)
        sums = frame[list(components)].to_numpy(np.int64).sum(axis=1)
        amounts[open_amounts] = sums[open_amounts]
    for product, fee in FEES.items():  # an ancillary charge has its product's own column
        of_it = (frame["charge"] == "ancillary") & (frame["product"] == product)
        open_amounts = of_it.to_numpy(bool) & (amounts == 0)
        amounts[open_amounts] = frame[fee].to_numpy(np.int64)[open_amounts]
    whole: list[int] = amounts.tolist()
    return whole


def _components(frame: pd.DataFrame) -> list[tuple[int, ...]]:
    """Each row's components of a ticket fare; none where all are blank, as in many books."""
    found: list[tuple[int, ...]] = [()] * len(frame)
    given = frame[list(COMPONENTS["ticket_fare"])].to_numpy(np.int64)
    rows = np.flatnonzero((frame["charge"] == "ticket_fare").to_numpy(bool) & given.any(axis=1))
    for row, components in zip(rows.tolist(), given[rows].tolist(), strict=True):
        found[row] = tuple(components)
    return found


def _texts(choices: pd.Series) -> list[str]:
    return choices.astype(object).where(choices.notna(), "").tolist()


def _days(dates: pd.Series) -> list[date | None]:
    days: list[date | None] = dates.to_numpy().astype("datetime64[D]").astype(object).tolist()
    return days
