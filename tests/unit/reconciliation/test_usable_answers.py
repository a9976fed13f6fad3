"""Answers that settle nothing: they lack something, or are about what is known already or of another history."""

from dataclasses import replace
from typing import Any

import pytest

from pipeline.ledger import withdrawals
from pipeline.model.message import Message
from pipeline.model.outcome import Outcome
from tests.unit.reconciliation.desk import Desk, line, problems, statement


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"problem": Message("the cell is spoilt")}, "the cell is spoilt"),
        ({"resolution": "perhaps"}, "“perhaps” is no answer; enter “issued” or “not issued”"),
        ({"attempt": 7}, "there is no such attempt in this ledger"),
        ({"number": ""}, "says issued, and the voucher's number is missing"),
        ({"resolution": "not issued"}, "says not issued, and gives a number (N-01)"),
        ({"number": "N 01"}, "“N 01” is not a voucher's number"),
        ({"resolved_by": ""}, "resolved_by missing: say who found out, and how"),
        ({"resolved_by": "", "evidence": ""}, "resolved_by and evidence missing: say who found out, and how"),
    ],
)
def test_an_answer_that_lacks_something_settles_nothing_and_is_kept_for_typing(
    desk: Desk, changes: dict[str, Any], problem: str
) -> None:
    answer = replace(desk.answer(desk.doubt(1), "issued", "N-01"), **changes)
    decided = desk.settle(answer)
    ((code, place, told),) = problems(decided)
    assert (code, place) == ("incomplete", "answered.xlsx, Unknown, row 1")
    assert problem in told
    assert (desk.states(), decided.settled, decided.answers) == ([("unknown", "")], (), (answer,))


def test_an_answer_about_what_is_settled_already_changes_nothing(desk: Desk) -> None:
    issued, refused = desk.doubt(1), desk.doubt(2)
    answers = desk.answer(issued, "issued", "N-01"), desk.answer(refused, "not issued")
    desk.settle(*answers)
    assert problems(desk.settle(*answers)) == [], "it is what was said before"
    numbered = replace(answers[1], number="N-05")
    assert problems(desk.settle(numbered)) == [], "a number beside “not issued” is nothing that was said"
    sent = [
        desk.sent(3, Outcome("issued", number="N-03")),
        desk.sent(4, Outcome("rejected", "carrier_rejected")),
    ]
    others = [
        desk.answer(issued, "issued", "N-02"), desk.answer(issued, "not issued"),
        desk.answer(sent[0], "issued", "N-03"), desk.answer(sent[1], "not issued"), desk.answer(issued, "perhaps"),
    ]  # fmt: skip
    states = [
        "issued as N-01",
        "issued as N-01",
        "issued as N-03",
        "refused by the carrier",
        "issued as N-01",
    ]
    told = problems(desk.settle(*others))
    assert told == [
        ("stale", str(one.place), f"request {one.request_id}, attempt 1 is not unknown any more: it is {state}; the answer changes nothing")
        for one, state in zip(others, states, strict=True)
    ]  # fmt: skip
    assert desk.states() == [("issued", "N-01"), ("not_sent", ""), ("issued", "N-03"), ("rejected", "")]


def test_an_answer_that_was_withdrawn_contradicts_no_statement(desk: Desk) -> None:
    misheard = desk.answer(desk.doubt(1), "issued", "N-01")
    desk.settle(misheard)
    withdrawals.withdraw(desk.ledger._connection, "S1", withdrawn_by="Li", why="misheard")
    decided = desk.settle(misheard, statements=statement(line(1, "N-02")))
    assert [code for code, _, _ in problems(decided)] == ["withdrawn"]
    assert desk.states() == [("issued", "N-02")]


def test_an_answer_about_another_history_s_attempt_is_told_and_settles_nothing(desk: Desk) -> None:
    answer = desk.answer(desk.doubt(1), "issued", "N-01", ledger_id="lost")
    ((code, place, told),) = problems(desk.settle(answer))
    assert (code, place) == ("stale", str(answer.place))
    assert (
        f"request {answer.request_id}, attempt 1: the answer is about an attempt of that number that was lost"
        in told
    )
    assert desk.states() == [("unknown", "")]


def test_an_answer_issued_after_not_issued_names_what_to_withdraw_and_then_settles(desk: Desk) -> None:
    about = desk.doubt(1)
    desk.settle(desk.answer(about, "not issued"))
    after_all = desk.answer(about, "issued", "N-01", evidence="letter")
    ((code, _, told),) = problems(desk.settle(after_all))
    assert code == "stale"
    assert "it is not issued (S1); the answer changes nothing" in told
    assert "(voucher ledger withdraw S1), and give the answer again" in told
    assert desk.states() == [("not_sent", "")]
    withdrawals.withdraw(desk.ledger._connection, "S1", withdrawn_by="Li", why="misheard")
    desk.settle(after_all)
    assert desk.states() == [("issued", "N-01")]
