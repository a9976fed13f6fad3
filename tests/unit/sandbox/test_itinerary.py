"""How a fare is divided: to the minor unit, and as the published example has it."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.sandbox.itinerary import FareParts

AMOUNTS = st.integers(1, 10**9)
COMPONENTS = st.tuples(*[st.integers(0, 10**7)] * 5)


def test_the_published_example() -> None:
    """itinerary-files.md: 825.69 + 74.31 + 100.00 = 1000.00."""
    parts = FareParts.of(1000_00, (900_00, 0, 100_00, 0, 0))
    assert (parts.fare, parts.vat, parts.fund, parts.total) == (825_69, 74_31, 100_00, 1000_00)


@given(AMOUNTS)
def test_the_parts_of_any_amount_add_up_to_it(total: int) -> None:
    check(FareParts.of(total), total)


@given(COMPONENTS.filter(any))
def test_the_parts_are_those_of_the_books(components: tuple[int, ...]) -> None:
    total = sum(components)
    parts = FareParts.of(total, components)
    check(parts, total)
    fare, change_fee, fund, fuel, other_taxes = components
    assert (parts.fund, parts.other_taxes) == (fund, other_taxes)
    assert abs(parts.fuel * 1.09 - fuel) <= 0.55
    assert abs((parts.fare + parts.fuel) * 1.09 - (fare + change_fee + fuel)) <= 0.55


@given(AMOUNTS, COMPONENTS)
def test_components_that_do_not_add_up_count_for_nothing(total: int, components: tuple[int, ...]) -> None:
    if sum(components) != total:
        assert FareParts.of(total, components) == FareParts.of(total)


@given(AMOUNTS)
def test_a_red_one_takes_back_every_part(total: int) -> None:
    parts = FareParts.of(total)
    assert parts.negative.total == -total
    assert parts.negative.negative == parts


def check(parts: FareParts, total: int) -> None:
    assert parts.fare + parts.fuel + parts.vat + parts.fund + parts.other_taxes == total == parts.total
    assert min(parts.fare, parts.fuel, parts.vat, parts.fund, parts.other_taxes) >= 0
    # 9 % of what is without VAT, to the minor unit.
    assert abs((parts.fare + parts.fuel) * 0.09 - parts.vat) <= 0.55
