"""What an itinerary file says, and how a fare is divided as it says it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Self

from pipeline.model.money import money_text

#: Source: itinerary-files.md, `VatRate`. International flights have the same here, which is no rule of anybody's.
VAT_PERCENT = 9
#: Of a ticket of which the books have only the total: the share of the fund and of the fuel surcharge (made up), from this total on.
_FUND, _FUEL, _FROM = 50_00, 20_00, 200_00


@dataclass(frozen=True)
class FareParts:
    """A fare as the file says it, in minor units; `fare` and `fuel` are without VAT."""

    fare: int
    fuel: int
    vat: int
    fund: int
    other_taxes: int

    @classmethod
    def of(cls, total: int, components: Sequence[int] = ()) -> Self:
        """Divide a total into the parts, which add up to it to the minor unit.

        `components`: the books' own, each with its VAT (fare, change fee, airport fee, fuel surcharge, other taxes). They count only
        where they add up to the total; else the total is divided in a way that looks real.

        >>> FareParts.of(1000_00, (900_00, 0, 100_00, 0, 0))
        FareParts(fare=82569, fuel=0, vat=7431, fund=10000, other_taxes=0)
        """
        if sum(components) == total and components:
            _, _, fund, fuel, other_taxes = components
        else:
            fund, fuel, other_taxes = (_FUND, _FUEL, 0) if total >= _FROM else (0, 0, 0)
        taxed = total - fund - other_taxes
        without_vat, fuel = _without_vat(taxed), _without_vat(fuel)
        return cls(without_vat - fuel, fuel, taxed - without_vat, fund, other_taxes)

    @property
    def total(self) -> int:
        """What the traveller paid."""
        return self.fare + self.fuel + self.vat + self.fund + self.other_taxes

    @property
    def negative(self) -> Self:
        """The same taken back. That a red voucher's amounts are below zero is inferred from red invoices."""
        return type(self)(-self.fare, -self.fuel, -self.vat, -self.fund, -self.other_taxes)


@dataclass(frozen=True)
class Itinerary:
    """One itinerary, or the red one that takes back the itinerary `red_of`; dates are the carrier's."""

    number: str
    ticket_no: str
    passenger_name: str
    buyer_name: str
    buyer_tax_no: str
    market: str
    flight_date: date | None
    issued_on: date
    parts: FareParts
    red_of: str = ""


def _without_vat(amount: int) -> int:
    """Half a minor unit is rounded up."""
    return (amount * 200 + (100 + VAT_PERCENT)) // (2 * (100 + VAT_PERCENT))


def amount_text(minor: int) -> str:
    """An amount, which may be below zero, as a decimal text.

    >>> amount_text(-105)
    '-1.05'
    """
    return f"-{money_text(-minor)}" if minor < 0 else money_text(minor)
