"""What is listed of a doubtful request and contradicts it settles nothing."""

import datetime
from dataclasses import replace
from typing import Any

import pytest

from pipeline.model.evidence import (
    Answer,
    StatementLine,
    Unsettled,
)
from pipeline.model.request import Identity
from pipeline.model.settled import Decided
from tests.unit.settlement.weighing import (
    AT,
    COMPLETE,
    DAY,
    NUMBER,
    OTHER,
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


@pytest.mark.parametrize(
    ("lines", "seen"),
    [
        ([line(charge(1))], "only 1 of its 2 charges"),
        ([line(charge(1)), line(charge(2), OTHER)], "several numbers"),
        ([line(charge(1)), line(charge(1), OTHER), line(charge(2))], "several numbers"),
        (
            [line(charge(1), voucher="itinerary"), line(charge(2), voucher="itinerary")],
            "asked for as invoice",
        ),
        ([line(charge(1)), line(charge(2)), line(charge(3))], "charges of other requests"),
        ([line(charge(1, "refund"), voucher="itinerary")], "an itinerary of ticket"),
    ],
)
def test_what_is_listed_in_part_or_in_two_ways_settles_nothing(lines: list[StatementLine], seen: str) -> None:
    found = decided([attempt(charge(1), charge(2))], evidence(statement(*lines), complete=COMPLETE))
    assert outcome(found) == []
    assert [t.code for t in found.troubles] == ["contradiction"]
    assert seen in str(found.troubles[0].message)


@pytest.mark.parametrize(
    ("changes", "settles"),
    [
        ({"number": f"26{NUMBER}"}, False),
        ({"number": f"26{NUMBER}", "issued": datetime.date(2026, 11, 9)}, False),
        (
            {"number": f"26{NUMBER}", "issued": datetime.date(2026, 11, 10)},
            False,
        ),  # it may be the 9th elsewhere
        ({"number": f"26{NUMBER}", "issued": datetime.date(2026, 11, 11)}, True),
        ({"number": NUMBER}, True),
    ],
)
def test_a_voucher_that_was_reversed_is_not_the_next_one_in_the_carriers_own_way_of_numbering(
    changes: dict[str, Any], *, settles: bool
) -> None:
    one, listed = attempt(charge(1)), replace(line(charge(1)), **changes)
    gone = {charge(1): (OTHER, "2026-11-09T23:00:00.000+00:00")}

    def found(one: Unsettled, *answers: Answer) -> Decided:
        return weigh([one], evidence(statement(listed), answers=answers), held(one), {}, gone=gone)

    assert outcome(found(one)) == ([("issued", listed.number)] if settles else [])
    assert settles or f"may be its voucher {OTHER}, that was reversed" in str(found(one).troubles[0].message)
    doubtful = replace(one, times_doubtful=True)  # a wrong clock may have said when it was reversed
    assert bool(found(doubtful).settled) == (listed.number == NUMBER)
    # A person may know that it is the next one.
    assert outcome(found(one, answer("issued", listed.number))) == [("issued", listed.number)]
    other = {charge(2): gone[charge(1)]}
    assert outcome(weigh([one], evidence(statement(listed)), held(one), {}, gone=other)) == [
        ("issued", listed.number)
    ]


def test_what_was_issued_before_it_was_asked_for_is_another_voucher() -> None:
    early = line(charge(1), issued=(AT - 2 * DAY).date())
    found = decided([attempt(charge(1))], evidence(statement(early)))
    assert outcome(found) == []
    assert "before it was asked for" in str(found.troubles[0].message)
    assert outcome(
        decided([attempt(charge(1))], evidence(statement(line(charge(1), issued=(AT - DAY).date()))))
    ) == [("issued", NUMBER)]
    doubtful = replace(attempt(charge(1)), first_asked="")  # a wrong clock says when that was
    assert outcome(decided([doubtful], evidence(statement(early)))) == [("issued", NUMBER)]
    again = replace(attempt(charge(1)), first_asked=(AT - 3 * DAY).isoformat())
    assert outcome(decided([again], evidence(statement(early)))) == [("issued", NUMBER)]


def denied(*charges: Identity, number: int = 1, **changes: Any) -> Unsettled:
    """An earlier attempt in doubt, which somebody said was not issued."""
    return replace(attempt(*charges, attempt_id=number, at=AT - 5 * DAY), denial=f"S{number}", **changes)


def test_what_is_listed_of_an_earlier_attempt_said_not_to_be_issued_does_not_contradict_that_the_later_one_was_not() -> (
    None
):
    one = replace(attempt(charge(1), charge(2), charge(3), attempt_id=2), denied=(denied(charge(1)),))
    said = answer("not issued", attempt_id=2)
    shown = line(charge(1), issued=(AT - 5 * DAY).date(), amount=1000)
    brought = evidence(statement(shown), answers=[said])
    found = decided([one], brought)
    assert (outcome(found), found.troubles) == ([("not_sent", "")], ())
    assert found.elsewhere == (shown,)  # so that it is held
    # The statement alone settles nothing, complete or not: it says what to do.
    for complete in ((), COMPLETE):
        alone = decided([one], evidence(statement(shown), complete=complete))
        assert outcome(alone) == []
        assert "It may be that of request R1, attempt 1" in str(alone.troubles[0].message)
        assert "then withdraw S1" in str(alone.troubles[0].message)
    # What was said not to be issued and is listed as something else explains nothing.
    for other, listed in (
        ((), [shown]),
        ((denied(charge(1), voucher="itinerary"),), [shown]),
        ((denied(charge(1)),), [replace(shown, amount=999)]),
        ((denied(charge(1)),), [replace(shown, issued=AT.date())]),  # the later one's day
        ((denied(charge(1)),), [replace(shown, issued=(AT - 8 * DAY).date())]),
        ((denied(charge(1), charge(4)),), [shown]),
        ((denied(charge(1)),), [shown, line(charge(5))]),
        ((denied(charge(1)),), [shown, line(charge(2), OTHER)]),
    ):
        again = decided([replace(one, denied=other)], evidence(statement(*listed), answers=[said]))
        assert outcome(again) == [], (other, listed)
        assert [trouble.code for trouble in again.troubles] == ["contradiction"]
    taken = decided([one], brought, taken={NUMBER: "another request (R9)"})
    assert outcome(taken) == []
    # Each of several, and one of which a charge is not asked for again.
    both = replace(one, denied=(denied(charge(1)), denied(charge(2), charge(4), number=3)))
    listed = [shown, line(charge(2), OTHER), line(charge(4), OTHER)]
    assert outcome(decided([both], evidence(statement(*listed), answers=[said]))) == [("not_sent", "")]
    # Whoever says that it was issued, too, is not believed; what to do is about what is listed.
    said_issued = answer("issued", OTHER, attempt_id=2)
    assert outcome(decided([one], evidence(statement(shown), answers=[said_issued]))) == []
    both_said = decided([one], evidence(statement(shown), answers=[said, said_issued]))
    assert outcome(both_said) == []
    assert str(both_said.troubles[0].message).startswith("the statement says")


@pytest.mark.parametrize(
    ("day", "hours", "changes", "explains"),
    [
        (-4, None, {}, True),
        (-3, None, {}, False),
        (-2, 48, {}, True),
        (-2, 24, {}, False),  # the carrier's statement would have listed it by then
        (9, 24, {"times_doubtful": True, "first_asked": ""}, True),  # a wrong clock says when that was
    ],
)
def test_an_earlier_attempt_explains_what_was_issued_as_long_after_it_as_the_carrier_may_take(
    day: int, hours: float | None, changes: dict[str, Any], *, explains: bool
) -> None:
    """The days of a line may be another time zone's, so that one more counts."""
    one = replace(
        attempt(charge(1), charge(2), attempt_id=2),
        first_asked=(AT - 5 * DAY).isoformat(),
        denied=(denied(charge(1), **changes),),
    )
    listed = statement(line(charge(1), issued=(AT + day * DAY).date()))
    found = decided([one], evidence(listed, answers=[answer("not issued", attempt_id=2)], hours=hours))
    assert outcome(found) == [("not_sent", "")] * explains


def test_what_may_be_bought_beside_a_ticket_says_nothing_of_its_fare() -> None:
    one = attempt(charge(1), voucher="itinerary")
    seat = line(charge(1, "ancillary", "seat"))
    found = decided([one], evidence(statement(seat), answers=[answer("issued", "3" * 20)]))
    assert (outcome(found), found.troubles) == ([("issued", "3" * 20)], ())
