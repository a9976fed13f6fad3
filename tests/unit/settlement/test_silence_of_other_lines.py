"""What the statements do not list, where other lines may be about it."""

from dataclasses import replace

import pytest

from pipeline.model.evidence import (
    StatementLine,
)
from tests.unit.settlement.weighing import (
    COMPLETE,
    NUMBER,
    OTHER,
    attempt,
    charge,
    decided,
    evidence,
    held,
    holding,
    line,
    ours,
    outcome,
    statement,
    weigh,
)


def test_another_line_of_the_ticket_that_is_none_of_ours_keeps_silence_from_proving_anything() -> None:
    """The carrier may call the doubtful charge by another's word."""
    refund, fare = charge(1, "refund"), charge(1)
    around_it = [
        replace(one, identity=replace(one.identity, charge="refund")) if one.voucher == "invoice" else one
        for one in ours()
    ]
    lines = [line(one.identity, one.number) for one in around_it if one.voucher == "invoice"]

    def silent(*more: StatementLine) -> list[tuple[str, str]]:
        issued = [(one.identity, one.number) for one in around_it if one.voucher == "invoice"]
        brought = evidence(statement(*lines, *more, ours=()), complete=COMPLETE)
        found = decided([attempt(refund)], brought, around=around_it, issued=[*issued, (fare, OTHER)])
        assert outcome(found) or "none of those known here" in str(found.notes[0])
        return outcome(found)

    assert silent() == [("not_sent", "")]
    assert silent(line(fare, OTHER)) == [("not_sent", "")]  # the ticket's fare, as it was issued
    assert silent(line(charge(1, "ancillary", "seat"), OTHER)) == []  # none that we know
    assert silent(line(fare, OTHER, amount=1001)) == []  # not as it was issued
    assert silent(line(fare, OTHER), line(fare, NUMBER)) == []  # one fare is not two vouchers


def test_why_silence_proves_nothing_is_said_of_what_is_not_listed_alone() -> None:
    one = attempt(charge(1), charge(2))
    listed = statement(line(charge(1)), line(charge(2)))
    for brought in (
        evidence(listed, complete=COMPLETE),
        evidence(statement(line(charge(1))), complete=COMPLETE),
        evidence(statement()),
        evidence(complete=COMPLETE),
    ):
        assert decided([one], brought).notes == ()


def test_several_charges_of_its_ticket_that_are_known_each_explain_their_own_line() -> None:
    one = attempt(charge(1))
    known = [(charge(1, "ancillary", "seat"), NUMBER), (charge(1, "ancillary", "meal"), OTHER)]
    listed = statement(*(line(identity, number) for identity, number in known))
    assert outcome(decided([one], evidence(listed, complete=COMPLETE), issued=known)) == [("not_sent", "")]


def test_an_itinerary_under_another_number_is_none_of_those_known() -> None:
    known = attempt(charge(1), voucher="itinerary")
    refund = line(charge(1, "refund"), voucher="itinerary", number="2" * 19 + "9")
    for number, settles in (("2" * 19 + "9", True), ("2" * 19 + "8", False)):
        held_as = holding(charge(1, "refund"), "issued", number, "R0", "itinerary")
        brought = evidence(statement(refund), complete=COMPLETE)
        found = weigh([known], brought, held(known) | {held_as.identity: held_as}, {}, (), ours())
        assert outcome(found) == [("not_sent", "")] * settles


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_line_of_its_ticket_is_explained_by_what_this_ledger_itself_issued_alone(
    *, elsewhere: bool
) -> None:
    fare, refund = attempt(charge(1)), charge(1, "refund")
    other = replace(holding(refund, "issued" if elsewhere else "unknown", "", "R2"), elsewhere=elsewhere)
    brought = evidence(statement(line(refund)), complete=COMPLETE)
    found = weigh([fare], brought, held(fare) | {refund: other}, {}, (), ours())
    assert outcome(found) == []
    assert "none of those known here" in str(found.notes[0])
