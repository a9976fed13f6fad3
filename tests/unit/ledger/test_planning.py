"""Claiming charges, and letting go of those that were not sent."""

from typing import Any

import apsw
import pytest

from pipeline.ledger import planning


@pytest.mark.parametrize(("together", "said"), [(3, "an attempt stays the one it is"), (2, "twice")])
def test_a_plan_names_a_request_once(
    book: Any, fare: Any, monkeypatch: pytest.MonkeyPatch, together: int, said: str
) -> None:
    """Whether it is written in one statement or in two."""
    monkeypatch.setattr("pipeline.ledger.planning._TOGETHER", together)
    with pytest.raises(apsw.ConstraintError, match=said):
        book.plan(fare(1), fare(2), fare(1))
    assert book.states() == {}


def test_what_is_no_text_is_refused_and_nothing_is_planned(book: Any, fare: Any) -> None:
    with pytest.raises(UnicodeEncodeError):
        book.plan(fare(1), fare(2, remarks="half a character: \ud83d"))
    assert book.states() == {}


def test_a_plan_of_many_is_written_whole_and_in_its_order(
    book: Any, several: Any, fare: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More charges than go into one statement; texts are kept as they are."""
    monkeypatch.setattr("pipeline.ledger.planning._TOGETHER", 3)
    requests = [several(*range(1, 6)), *(fare(number, remarks='"\\ 空✈\t') for number in range(10, 17))]
    attempts = book.plan(*requests)
    assert [attempt.request for attempt in attempts] == requests
    assert [attempt.attempt for attempt in attempts] == [1] * len(requests)
    ids = [attempt.attempt_id for attempt in attempts]
    assert ids == sorted(set(ids))
    kept = book.connection.execute(
        "SELECT attempt_id, ticket_no, amount, content FROM charge ORDER BY attempt_id, ticket_no"
    )
    assert list(kept) == [
        (attempt.attempt_id, charge.identity.ticket_no, charge.amount, attempt.request.content_of(charge))
        for attempt in attempts
        for charge in sorted(attempt.request.charges, key=lambda charge: charge.identity.ticket_no)
    ]
    assert {row[0] for row in book.connection.execute("SELECT remarks FROM request")} == {"", '"\\ 空✈\t'}


def test_a_request_asked_for_again_is_a_new_attempt(book: Any, fare: Any) -> None:
    (first,) = book.plan(fare(1))
    book.state(first.attempt_id, "sending")
    book.state(first.attempt_id, "not_sent")
    assert planning.plan_again(book.connection, first.attempt_id)[1] == 2
    (third,) = book.plan(fare(1))
    assert (third.attempt, third.request.request_id) == (3, first.request.request_id)


def test_only_what_was_planned_is_dropped(book: Any, fare: Any) -> None:
    one, two, three = book.plan(fare(1), fare(2), fare(3))
    book.state(one.attempt_id, "sending")
    book.state(two.attempt_id, "sending")
    book.state(two.attempt_id, "unknown")
    assert planning.drop_planned(book.connection) == 1
    assert book.states() == {one.attempt_id: "sending", two.attempt_id: "unknown"}
    assert three.attempt_id not in book.states()
