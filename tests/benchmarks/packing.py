"""How many invoices the packing needs, against the fewest that any packing could need, over random months.

    python -m tests.benchmarks.packing

A month is what `splitting.pack` is given: the charges of each buyer and market that may share invoices, by the amount.
Fares and fees are spread as such prices are (few high ones, many low ones), and some buyers travel at the few prices
of a contract. Months are the same for the same seed.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from random import Random

from pipeline.model.profile import Limits
from pipeline.splitting import pack
from tests.benchmarks.timing import Line
from tests.lower_bound import lower_bound

MONTHS = 1_000
LIMITS = Limits()
#: The price that half of the charges are below, in minor units, and how far they are spread (of the logarithm).
_PRICES = {
    "domestic": {"fare": (90_000, 0.6), "business": (280_000, 0.35), "ancillary": (15_000, 0.8)},
    "international": {"fare": (600_000, 0.6), "business": (2_500_000, 0.4), "ancillary": (40_000, 0.8)},
}
_LARGEST_BUYER = 1_500  # charges in a month


@dataclass(frozen=True)
class Packed:
    """How many invoices were made, and the fewest that there could be."""

    invoices: int
    bound: int

    @property
    def over(self) -> float:
        """What was made beyond the bound, as a part of it."""
        return self.invoices / self.bound - 1

    def __add__(self, other: "Packed") -> "Packed":
        return Packed(self.invoices + other.invoices, self.bound + other.bound)


def buyers(random: Random) -> Iterator[tuple[str, list[int]]]:
    """A month's buyers: each one's market, and the amounts of the charges that may share its invoices."""
    for _ in range(random.randrange(1, 40)):
        market = "international" if random.random() < 0.3 else "domestic"
        prices = _PRICES[market]
        kind = random.choices(tuple(prices), (8, 1, 3))[0]
        amounts = [
            _price(random, *prices[kind]) for _ in range(int(exp(random.uniform(0, log(_LARGEST_BUYER)))))
        ]
        if random.random() < 0.15:  # a contract's prices
            amounts = [random.choice(amounts[:12]) for _ in amounts]
        limit = LIMITS.of_market(market)
        yield market, sorted((amount for amount in amounts if amount <= limit), reverse=True)


def _price(random: Random, half_below: int, spread: float) -> int:
    return round(random.lognormvariate(log(half_below), spread))


def packed(random: Random) -> Packed:
    """One month, packed."""
    total = Packed(0, 0)
    for market, amounts in buyers(random):
        limit = LIMITS.of_market(market)
        total += Packed(len(pack(amounts, limit, 0)), lower_bound(amounts, limit, 0))
    return total


def over_months(months: int = MONTHS, seed: int = 1) -> tuple[Packed, list[Packed]]:
    """All months together, and each of them."""
    each = [packed(Random(seed * MONTHS + number)) for number in range(months)]
    return sum(each, Packed(0, 0)), each


def measured(_folder: Path | None = None, months: int = MONTHS, seed: int = 1) -> list[Line]:
    """The figure."""
    together, each = over_months(months, seed)
    over = sorted(month.over for month in each if month.bound)
    figures = (
        f"{together.invoices:,} invoices, at least {together.bound:,}: {together.over:.2%} over; of the months half are at most"
        f" {over[len(over) // 2]:.2%} over, nine in ten {over[len(over) * 9 // 10]:.2%}, the worst {over[-1]:.2%}"
    )
    what = f"number of invoices, {months:,} random months"
    return [
        Line(
            what, "lower bound of the packing", "≤ 1.01 ×", together.over + 1, together.over <= 0.01, figures
        )
    ]


def main() -> None:
    """Print the figure."""
    asked = argparse.ArgumentParser(description="Invoices against the lower bound of the packing.")
    asked.add_argument("--months", type=int, default=MONTHS)
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    for line in measured(None, given.months, given.seed):
        sys.stdout.write(f"{line.what}: {line.figures}\n")


if __name__ == "__main__":
    main()
