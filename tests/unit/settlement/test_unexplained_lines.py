"""Lines that nothing of ours explains are held, and asked about where they may be about what is in doubt."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pipeline.model.evidence import StatementLine
from tests.unit.settlement.weighing import (
    COMPLETE,
    NUMBER,
    OTHER,
    answer,
    attempt,
    charge,
    decided,
    evidence,
    held,
    holding,
    line,
    outcome,
    statement,
    weigh,
)


@pytest.mark.parametrize("amount", [1000, None, 777])
def test_an_ancillary_line_without_its_product_settles_nothing(amount: int | None) -> None:
    seat, meal = charge(1, "ancillary", "seat"), charge(1, "ancillary", "meal")
    one, unsaid = attempt(seat), line(seat, product="", amount=amount)
    for unknown in ([one], [attempt(seat), attempt(meal, attempt_id=2)]):
        found = decided(unknown, evidence(statement(unsaid), complete=COMPLETE))
        assert outcome(found) == []  # nor does silence
        assert [t.code for t in found.troubles] == ["ambiguous"]
        assert f"an ancillary charge of ticket {seat.ticket_no} as {NUMBER} and does not say which" in str(
            found.troubles[0].message
        )
        assert found.elsewhere == (unsaid,)  # held, whichever it is
    # A person who knows its number says whose it is; then it is no other's.
    found = decided([one], evidence(statement(unsaid), answers=[answer("issued", NUMBER)]))
    assert (outcome(found), found.troubles, found.elsewhere) == ([("issued", NUMBER)], (), ())
    denied = decided([one], evidence(statement(unsaid), answers=[answer("not issued")]))
    assert (outcome(denied), denied.elsewhere) == ([("not_sent", "")], (unsaid,))


def test_what_the_ledger_does_not_know_was_issued_elsewhere() -> None:
    one = attempt(charge(1))
    lines = [line(charge(1)), line(charge(2), OTHER), line(charge(2), "179525952880229399")]
    found = decided([one], evidence(statement(*lines)))
    assert found.elsewhere == tuple(lines[1:])
    assert decided([], evidence(statement(line(charge(3)))), issued=[(charge(3), NUMBER)]).elsewhere == ()


def test_a_line_that_an_earlier_statement_showed_too_is_told_once() -> None:
    seats = [attempt(charge(1, "ancillary", p), attempt_id=n) for n, p in ((1, "seat"), (2, "meal"))]
    shown = line(charge(1, "ancillary", ""))
    found = decided(seats, evidence(statement(shown)), earlier=[replace(shown, place="earlier")])
    assert [(trouble.code, trouble.place) for trouble in found.troubles] == [("ambiguous", shown.place)]


def test_a_line_without_its_product_is_told_and_leaves_the_others_as_they_are() -> None:
    seat, meal = charge(1, "ancillary", "seat"), charge(1, "ancillary", "meal")
    unsaid = line(seat, OTHER, product="")
    # Another ticket has one of the same amount, and the ticket's other one was issued elsewhere.
    two = [attempt(seat), attempt(charge(2, "ancillary", "seat"), attempt_id=2)]
    elsewhere = replace(holding(meal, "issued", NUMBER, ""), elsewhere=True)
    found = weigh(two, evidence(statement(unsaid)), held(*two) | {meal: elsewhere}, {})
    assert (outcome(found), [trouble.code for trouble in found.troubles]) == ([], ["ambiguous"])
    # Beside one that names its product it is of another charge; of which is not said.
    both = [attempt(seat), attempt(meal, attempt_id=2)]
    assert outcome(decided(both, evidence(statement(line(seat), unsaid)))) == [("issued", NUMBER)]
    # What one line speaks of is not left for the next.
    numbered = [(seat, NUMBER), (meal, OTHER)]
    lines = [line(seat, number, product="", amount=1000) for number in (NUMBER, "E-1", "E-2")]
    found = decided([], evidence(statement(*lines)), issued=numbered)
    assert [found.found[at] for at in range(3)] == [seat, meal, None]


def test_only_lines_that_may_be_about_what_is_in_doubt_are_asked_about_and_only_what_is_not_ours_is_held() -> (
    None
):
    seat, meal = charge(1, "ancillary", "seat"), charge(1, "ancillary", "meal")
    lounge, other = line(charge(1, "ancillary", "lounge"), OTHER), line(charge(7, "ancillary", ""), OTHER)
    for shown in (lounge, other):
        found = decided([attempt(seat)], evidence(statement(shown)))
        assert (found.troubles, found.elsewhere) == ((), (shown,))
    of_meal = line(meal, product="")
    found = decided([attempt(seat)], evidence(statement(of_meal)), issued=[(meal, NUMBER)])
    assert (found.troubles, found.elsewhere) == ((), ())
    # An invoice of ours under a number of the carrier's own is ours; what was issued elsewhere is shown again.
    own = weigh(
        [], evidence(statement(line(charge(3), OTHER), ours=())), held(issued=[(charge(3), NUMBER)]), {}
    )
    assert own.elsewhere == ()
    elsewhere = replace(holding(charge(3), "issued", OTHER, ""), elsewhere=True)
    again = line(charge(3), OTHER)
    assert weigh([], evidence(statement(again, ours=())), {charge(3): elsewhere}, {}).elsewhere == (again,)


def test_a_second_voucher_of_a_charge_is_held_too_for_it_stands_when_the_first_is_reversed() -> None:
    second, third = line(charge(3), OTHER), line(charge(3), "1" * 18, statement="other.csv")

    def held_by(*lines: StatementLine, **changes: Any) -> Sequence[StatementLine]:
        mine = {charge(3): replace(holding(charge(3), "issued", NUMBER, "R0"), **changes)}
        return weigh([], evidence(statement(*lines, ours=())), mine, {}).elsewhere

    first = line(charge(3), NUMBER)
    assert held_by(first, second) == (second,), "it shows our IDs"
    assert held_by(second, third) == (second, third), "one of them at least is another's"
    assert held_by(second, reason="no_answer") == (second,), "settled under a number of that make"
    other_kind = line(charge(3), "1" * 20, voucher="itinerary")
    assert held_by(other_kind) == (other_kind,)
    assert held_by(first) == held_by(line(charge(3), "1" * 20)) == ()
