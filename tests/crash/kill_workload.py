"""What is issued at a kill point: tickets that no other point has, their faults, and how it is sent."""

import csv
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from tests.crash.counting_carrier import FAULTS

_USED = {
    "market": "domestic",
    "flight_date": "2026-10-01",
    "ticket_status": "used",
    "purchased_on": "2026-09-20",
}
_BUYERS = (
    ("business", "Acme Trading Co.", "91110000600037341L", "+86 10 8520 0000", "finance@example.com"),
    ("individual", "Li Na", "", "13800138000", "li.na@example.com"),
)
_BUYER_COLUMNS = ("header_type", "header_name", "tax_no", "phone", "email")
_COLUMNS = (
    "ticket_no", "passenger_name", "charge", "product", "voucher", "amount",
    "market", "flight_date", "ticket_status", "purchased_on", "refund_approved_on",
)  # fmt: skip
_FAULTLESS, _FAULTY = "012345", "".join(FAULTS)


#: The ledger that a point begins with: none, one of an earlier run, or one of an earlier version of the program.
Earlier = Literal["none", "used", "older"]


@dataclass(frozen=True)
class Workload:
    """One input and the way it is sent; `slice_no` makes its tickets its own."""

    rows: tuple[dict[str, Any], ...]
    concurrency: int
    ledger: Earlier
    slice_no: int = 0

    def at(self, slice_no: int) -> "Workload":
        """The same with other tickets."""
        return replace(self, slice_no=slice_no)

    @property
    def charges(self) -> list[tuple[str, str, str]]:
        """The identities of the charges that are to be issued, sorted."""
        return sorted((self._ticket(row), row["charge"], row["product"]) for row in self.rows)

    def _ticket(self, row: dict[str, Any]) -> str:
        return f"999{self.slice_no:06}{row['ticket_no']}"

    def write(self, path: Path) -> None:
        """The input as a file."""
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, (*_COLUMNS, *_BUYER_COLUMNS))
            writer.writeheader()
            writer.writerows({**row, "ticket_no": self._ticket(row)} for row in self.rows)


def workload(seed: int) -> Workload:
    """A workload by its seed: which charges, whose, with which faults, how many at a time."""
    chance = random.Random(seed)
    often = chance.choice((0.0, 0.1, 0.3))  # of faults
    market = chance.choice(("domestic", "domestic", "international"))
    rows: list[dict[str, Any]] = []

    def add(count: int, voucher: str, charge: str, amounts: tuple[int, ...], **more: str) -> None:
        for _ in range(count):
            digit = chance.choice(_FAULTY if chance.random() < often else _FAULTLESS)
            product = chance.choice(("baggage", "seat")) if charge == "ancillary" else "flight"
            known = {"ticket_no": f"{len(rows) + 1:03}{digit}", "passenger_name": "ZHANG/WEI MR"}
            what = {
                "charge": charge,
                "product": product,
                "voucher": voucher,
                "amount": chance.choice(amounts),
            }
            buyer = dict(zip(_BUYER_COLUMNS, chance.choice(_BUYERS), strict=True))
            rows.append({**_USED, **known, **what, "market": market, **more, **buyer})

    add(chance.randint(0, 6), "itinerary", "ticket_fare", (800, 1200))
    add(chance.randint(0, 7), "invoice", "ticket_fare", (900, 3000, 4200, 6000))
    add(chance.randint(1, 5), "invoice", "ancillary", (60, 150, 3000))
    refunded = {"ticket_status": "refunded", "refund_approved_on": "2026-10-20"}
    add(chance.randint(0, 3), "invoice", "refund", (200, 5000), **refunded)
    ledgers: tuple[Earlier, ...] = ("none", "none", "used", "used", "older")
    return Workload(tuple(rows), chance.choice((1, 2, 3, 8)), chance.choice(ledgers))
