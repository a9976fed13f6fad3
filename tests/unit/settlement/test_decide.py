"""What evidence settles, and what it does not: a contradiction settles nothing."""

import datetime
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.model.evidence import (
    Misread,
)
from pipeline.model.request import Identity
from tests.unit.settlement.weighing import (
    AT,
    COMPLETE,
    NUMBER,
    OTHER,
    answer,
    around,
    attempt,
    charge,
    decided,
    evidence,
    held,
    line,
    ours,
    outcome,
    statement,
    weigh,
)


def test_a_request_that_is_listed_whole_under_one_number_is_issued() -> None:
    one = attempt(charge(1), charge(2))
    found = decided([one], evidence(statement(line(charge(1)), line(charge(2)))))
    assert outcome(found) == [("issued", NUMBER)]
    assert found.settled[0].settled_by == "cron"
    assert "s.csv" in str(found.settled[0].evidence)
    assert (found.troubles, found.elsewhere) == ((), ())


@pytest.mark.parametrize(
    ("answers", "lines", "complete", "settled"),
    [
        ([answer("issued", NUMBER)], [], (), [("issued", NUMBER)]),
        ([answer("not issued")], [], (), [("not_sent", "")]),
        ([answer("未开具")], [], (), [("not_sent", "")]),
        ([answer("not issued"), answer("not issued", place="again")], [], (), [("not_sent", "")]),
        ([answer("issued", NUMBER)], [line(charge(1))], (), [("issued", NUMBER)]),
        ([answer("not issued")], [], COMPLETE, [("not_sent", "")]),
        # and those that contradict each other
        ([answer("not issued")], [line(charge(1))], (), []),
        ([answer("issued", OTHER)], [line(charge(1))], (), []),
        ([answer("issued", NUMBER)], [], COMPLETE, []),
        ([answer("issued", NUMBER), answer("not issued")], [], (), []),
        ([answer("issued", NUMBER), answer("issued", OTHER)], [], (), []),
    ],
)
def test_a_persons_answer_with_or_against_the_statement(
    answers: Any, lines: Any, complete: Any, settled: Any
) -> None:
    found = decided([attempt(charge(1))], evidence(statement(*lines), answers=answers, complete=complete))
    assert outcome(found) == settled
    assert [t.code for t in found.troubles] == ([] if settled else ["contradiction"])


def test_who_answered_and_how_is_the_evidence() -> None:
    (one,) = decided([attempt(charge(1))], evidence(answers=[answer("not issued")])).settled
    assert (one.settled_by, str(one.evidence)) == ("Wang", "r.xlsx, Unknown, row 2: telephone")


def test_a_line_on_two_statements_is_one_line() -> None:
    found = decided(
        [attempt(charge(1))], evidence(statement(line(charge(1))), statement(line(charge(1), place="again")))
    )
    assert outcome(found) == [("issued", NUMBER)]
    assert len(found.lines) == 1 + len(around("invoice", "itinerary"))


def test_a_number_of_another_shape_is_recorded_with_a_warning() -> None:
    found = decided([attempt(charge(1))], evidence(statement(line(charge(1), "INV-1"))))
    assert outcome(found) == [("issued", "INV-1")]
    assert "another shape" in str(found.warnings[0])
    assert decided([attempt(charge(1))], evidence(statement(line(charge(1))))).warnings == ()


def test_what_a_statement_showed_once_counts_at_the_next_reconciliation_too() -> None:
    one = attempt(charge(1), charge(2))
    first = decided([one], evidence(statement(line(charge(1)))))
    assert outcome(first) == []
    assert first.elsewhere == (line(charge(1)),)
    denied = weigh([one], evidence(answers=[answer("not issued")]), held(one), {}, earlier=first.elsewhere)
    assert outcome(denied) == []
    assert denied.troubles[0].code == "contradiction"
    silent = decided([one], evidence(statement(), complete=COMPLETE), earlier=first.elsewhere)
    assert outcome(silent) == []
    agreed = weigh(
        [one], evidence(answers=[answer("issued", NUMBER)]), held(one), {}, earlier=first.elsewhere
    )
    assert outcome(agreed) == [("issued", NUMBER)]
    other = weigh([one], evidence(answers=[answer("issued", OTHER)]), held(one), {}, earlier=first.elsewhere)
    assert outcome(other) == []
    whole = statement(line(charge(1)), line(charge(2)))
    assert outcome(weigh([one], evidence(whole), held(one), {}, earlier=first.elsewhere)) == [
        ("issued", NUMBER)
    ]


NUMBERS = st.sampled_from([NUMBER, OTHER])


LINES = st.lists(
    st.builds(
        lambda ticket, number, voucher, product: line(charge(ticket), number, voucher=voucher, product=product),
        st.integers(1, 4), NUMBERS, st.sampled_from(["invoice", "itinerary"]), st.just("flight"),
    ),
    max_size=5,
)  # fmt: skip


ANSWERS = st.lists(
    st.one_of(
        st.builds(lambda number, of: answer("issued", number, of), NUMBERS, st.integers(1, 2)),
        st.builds(lambda of: answer("not issued", attempt_id=of), st.integers(1, 2)),
    ),
    max_size=3,
)


@given(lines=LINES, answers=ANSWERS, complete=st.sampled_from([(), COMPLETE]))
def test_nothing_is_settled_against_any_of_the_evidence(lines: Any, answers: Any, complete: Any) -> None:
    attempts = [attempt(charge(1), charge(2)), attempt(charge(3), attempt_id=2)]
    found = decided(attempts, evidence(statement(*lines), answers=answers, complete=complete))
    assert len({one.attempt.attempt_id for one in found.settled}) == len(found.settled)
    issued = [one.number for one in found.settled if one.state == "issued"]
    assert len(set(issued)) == len(issued)
    for one in found.settled:
        identities = {identity for identity, _, _ in one.attempt.charges}
        listed = [each for each in lines if Identity(each.ticket_no, each.charge, each.product) in identities]
        said = [each for each in answers if each.request_id == one.attempt.request_id]
        if one.state == "issued":
            assert all(each.number == one.number and each.voucher == one.attempt.voucher for each in listed)
            assert all((each.resolution, each.number) == ("issued", one.number) for each in said)
            assert listed or said
        else:
            assert listed == []
            assert all(each.resolution == "not issued" for each in said)
            assert said or complete


def test_each_trouble_says_where_it_stands_and_what_was_said() -> None:
    part = statement(line(charge(1)))
    request = "request R1, attempt 1"
    found = decided([attempt(charge(1), charge(2))], evidence(part))
    assert [str(trouble.place) for trouble in found.troubles] == [request]
    two = [attempt(charge(1)), attempt(charge(2), attempt_id=2)]
    found = decided(two, evidence(answers=[answer("issued", NUMBER), answer("issued", NUMBER, 2)]))
    assert [str(trouble.place) for trouble in found.troubles] == [request, "request R2, attempt 1"]
    for said, told in ((answer("not issued"), "says not issued"), (answer("issued", OTHER), f"as {OTHER}")):
        found = decided([attempt(charge(1))], evidence(part, answers=[said]))
        assert [(str(trouble.place), str(trouble.message).endswith(told)) for trouble in found.troubles] == [
            (request, True)
        ]
    unread = replace(statement(misread=[Misread("s.csv, row 9", "", "no number")]), unread=("Old",))
    found = decided([], evidence(unread))
    assert [(str(trouble.place), str(trouble.message).split(":")[0]) for trouble in found.troubles] == [
        ("s.csv, row 9", "no number; the line proves nothing"),
        ("s.csv", "sheet Old was not read"),
    ]
    alike = [Misread("s.csv, row 1", ticket, "no column") for ticket in ("9990000000001", "9990000000002")]
    (told,) = decided([], evidence(statement(misread=alike))).troubles  # once, of the headings
    assert str(told.message) == "no column; 2 lines prove nothing"
    lacking = decided([], evidence(statement(ours=("invoice",)), statement(ours=()), complete=COMPLETE),
                      around=[replace(one, voucher="invoice") for one in ours()])  # fmt: skip
    assert str(lacking.troubles[0].place) == "s.csv, s.csv"


def test_an_answer_that_agrees_with_the_statement_stands_beside_it_as_evidence() -> None:
    both = line(charge(1)), line(charge(2))
    said = answer("issued", NUMBER)
    (whole,) = decided([attempt(charge(1), charge(2))], evidence(statement(*both), answers=[said])).settled
    assert whole.settled_by == "Wang"
    assert "s.csv, s, row 2" in str(whole.evidence)
    assert "r.xlsx, Unknown, row 2: telephone" in str(whole.evidence)
    # A statement that lists a part of it alone is completed by the answer, and by whoever gave it.
    (part,) = decided([attempt(charge(1), charge(2))], evidence(statement(both[0]), answers=[said])).settled
    assert (part.number, part.settled_by, part.answered) == (NUMBER, "Wang", "telephone")
    assert str(part.evidence) == "r.xlsx, Unknown, row 2: telephone"
    assert decided([attempt(charge(1))], evidence(statement(line(charge(1))))).settled[0].answered == ""


@pytest.mark.parametrize("last", range(8))
def test_an_answer_completes_no_statement_that_contradicts_it_or_other_answers(last: int) -> None:
    number = f"17952588888888888{last}"
    one, part, said = (
        attempt(charge(1), charge(2)),
        line(charge(1), number),
        answer("issued", number),
    )
    assert outcome(decided([one], evidence(statement(part), answers=[said]))) == [("issued", number)]
    for lines, answers in (
        ([part], [said, answer("not issued")]),
        ([part, line(charge(3), number)], [said]),  # the number is of another request's charge, too
        ([replace(part, issued=(AT - datetime.timedelta(days=9)).date())], [said]),
    ):
        found = decided([one], evidence(statement(*lines), answers=answers))
        assert (outcome(found), [trouble.code for trouble in found.troubles]) == ([], ["contradiction"])
