"""Which line of a statement speaks of which charge."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pipeline.model.evidence import (
    StatementLine,
)
from pipeline.model.known_charges import KnownCharge
from pipeline.model.request import Identity
from pipeline.settlement.match import matched
from tests.unit.settlement.weighing import (
    NUMBER,
    OTHER,
    attempt,
    charge,
    decided,
    evidence,
    holding,
    line,
    outcome,
    statement,
)


@pytest.mark.parametrize(
    ("number", "listed", "amount", "is_ours", "holds"),
    [
        (NUMBER, NUMBER, 1000, True, False),
        (NUMBER, NUMBER, None, True, False),
        (
            NUMBER,
            f"26{NUMBER}",
            1000,
            True,
            True,
        ),  # in the carrier's own way: it may be another's all the same
        (NUMBER, OTHER, 1000, False, True),  # another number as the service gives it
        (NUMBER, f"26{NUMBER}", 777, False, True),
        (NUMBER, f"26{NUMBER}", None, False, True),
        ("INV-0017", "INV-0018", 1000, False, True),
        ("INV-0017", "0017/INV", 1000, True, True),
    ],
)
def test_an_ancillary_line_without_its_product_is_compared_with_what_was_issued(
    number: str, listed: str, amount: int | None, *, is_ours: bool, holds: bool
) -> None:
    seat, meal = charge(1, "ancillary", "seat"), charge(1, "ancillary", "meal")
    unsaid = line(seat, listed, product="", amount=amount)
    found = decided([], evidence(statement(unsaid, ours=())), issued=[(seat, number)])
    assert found.found == {0: seat if is_ours else None}
    assert found.elsewhere == ((unsaid,) if holds else ())
    # One more of that amount in doubt, and it may be either's.
    doubt = decided([attempt(meal)], evidence(statement(unsaid, ours=())), issued=[(seat, number)])
    assert doubt.found == {0: seat if listed == number else None}
    assert outcome(doubt) == []
    # Two of ours on one voucher: each is on it.
    both = decided([], evidence(statement(unsaid, ours=())), issued=[(seat, number), (meal, number)])
    assert both.elsewhere == (() if listed == number else (unsaid,))


def test_a_line_without_its_product_speaks_of_an_ancillary_charge_of_its_ticket_that_is_ours() -> None:
    seat, meal = charge(1, "ancillary", "seat"), charge(1, "ancillary", "meal")
    unsaid = line(seat, product="")

    def about(*known: KnownCharge, lines: Sequence[StatementLine] = (unsaid,)) -> list[Identity | None]:
        return [*matched(lines, {one.identity: one for one in known}).values()]

    ours_as = holding(seat, "issued", NUMBER, "R0")
    assert about(ours_as) == [seat]
    assert about(replace(ours_as, identity=charge(2, "ancillary", "seat"))) == [None]
    assert about(replace(ours_as, identity=charge(1))) == [None]
    assert about(replace(ours_as, elsewhere=True)) == [None]
    assert about(replace(ours_as, amount=999)) == [None]
    both = ours_as, replace(ours_as, identity=meal)  # one invoice of two charges
    assert about(*both, lines=(line(seat), unsaid)) == [seat, meal]
