"""One number for two requests settles neither."""

import re

from tests.unit.settlement.weighing import (
    NUMBER,
    answer,
    attempt,
    charge,
    decided,
    evidence,
    held,
    line,
    outcome,
    statement,
    weigh,
)


def test_a_number_that_another_request_has_settles_nothing() -> None:
    one = attempt(charge(1))
    found = decided([one], evidence(statement(line(charge(1)))), taken={NUMBER: "another request (R9)"})
    assert outcome(found) == []
    assert "which another request (R9) has already" in str(found.troubles[0].message)
    two = [attempt(charge(1)), attempt(charge(2), attempt_id=2)]
    said = evidence(answers=[answer("issued", NUMBER), answer("issued", NUMBER, 2)])
    assert outcome(decided(two, said)) == []
    assert len(decided(two, said).troubles) == 2
    # What has it already is told before what is said to have it.
    for trouble in decided(two, said, taken={NUMBER: "another request (R9)"}).troubles:
        assert "and another request (R9) has that number" in str(trouble.message)


def test_an_answer_with_a_number_that_is_listed_for_another_ticket_settles_nothing() -> None:
    one = attempt(charge(1))
    for other in (charge(2), charge(1, "refund"), charge(1, "ancillary", "seat")):
        for listed, earlier in (([line(other)], ()), ([], (line(other),))):
            said = evidence(statement(*listed), answers=[answer("issued", NUMBER)])
            found = weigh([one], said, held(one), {}, earlier)
            assert outcome(found) == []
            assert f"another request (ticket {other.ticket_no} on a statement) has that number" in str(
                found.troubles[0].message
            )


def test_of_two_requests_with_one_number_both_places_are_told() -> None:
    two = [attempt(charge(1)), attempt(charge(2), attempt_id=2)]
    by_answer = [answer("issued", NUMBER, place="a"), answer("issued", NUMBER, 2, place="b")]
    for trouble in decided(two, evidence(answers=by_answer)).troubles:
        assert re.findall(r"\b([ab])\)", str(trouble.message)) in (["a", "b"], ["b", "a"])
    listed = decided(two, evidence(statement(line(charge(1))), answers=by_answer[1:]))
    assert outcome(listed) == []
    assert all("s.csv, s, row 2" in str(trouble.message) for trouble in listed.troubles)


def test_a_number_that_another_request_has_is_no_answer_and_several_may_be_settled_as_not_issued() -> None:
    two = [attempt(charge(1)), attempt(charge(2), attempt_id=2)]
    found = decided(two[:1], evidence(answers=[answer("issued", NUMBER)]), taken={NUMBER: "request R9"})
    assert (outcome(found), "request R9 has that number" in str(found.troubles[0].message)) == ([], True)
    both = decided(two, evidence(answers=[answer("not issued"), answer("not issued", attempt_id=2)]))
    assert (outcome(both), both.warnings) == ([("not_sent", "")] * 2, ())


def test_a_number_that_is_listed_for_another_ancillary_charge_settles_nothing() -> None:
    seat, meal = charge(1, "ancillary", "seat"), charge(1, "ancillary", "meal")
    for also, issued in (
        (line(charge(1, "ancillary", "lounge")), ()),
        (line(charge(7, "ancillary", "")), ()),
        (line(meal, product=""), [(meal, NUMBER)]),
    ):
        for said in ((), [answer("issued", NUMBER)]):
            found = decided(
                [attempt(seat)], evidence(statement(line(seat), also), answers=said), issued=issued
            )
            assert (outcome(found), [t.code for t in found.troubles]) == ([], ["contradiction"])
