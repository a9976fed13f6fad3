"""A group written as sets comes to the same as change by change; and who commits it."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.ledger import attempt_changes
from pipeline.ledger.attempt_changes import (
    Change,
    Ended,
    GotAnswer,
    Sending,
)
from pipeline.ledger.commit_process import _Committer
from pipeline.ledger.lock import Named
from pipeline.model.message import verbatim
from pipeline.model.outcome import Answered, Outcome

#: Texts and bytes that a way through JSON could spoil.
ODD = "数\\\"'é\u2028😀"
ENDS = [
    Outcome("issued", number="00123456789012345678", trace_id="t-1", detail=verbatim(ODD)),
    Outcome("issued", number="12345678901234567890", trace_id="1e5"),
    Outcome("rejected", "carrier_rejected", trace_id="true", detail=verbatim("null")),
    Outcome("not_sent", "carrier_busy", detail=verbatim(ODD * 20)),
    Outcome("unknown", "answer_unexplained", trace_id="", detail=verbatim("[1,2]")),
]
ANSWERS = [
    Answered(200, bytes(range(256)), "7"),
    Answered(502, b"", ""),
    Answered(200, ODD.encode()),
    Answered(599, b'{"a":1}', "Wed, 21 Oct 2026 07:28:00 GMT"),
    Answered(200, b"\0"),
]
ALL = """
SELECT attempt_id, state, reason, number, trace_id, detail, was_unknown, http_status, typeof(http_status), answer,
       typeof(answer), retry_after, typeof(number), answered_at IS NULL, ended_at IS NULL, sending_at IS NULL
FROM attempt ORDER BY 1
"""
LIVE = "SELECT attempt_id, live FROM charge ORDER BY 1"


def written(book: Any, groups: Sequence[Sequence[Change]]) -> list[list[Any] | None]:
    results = []
    for group in groups:
        committer = _Committer(book.connection, Named(book.path))
        committer.add([change.plain() for change in group])
        written = committer.written()
        assert not written.failure
        results.append(written.results)
    return results


def a_life(ids: Sequence[int]) -> list[list[Change]]:
    return [
        [Sending(attempt) for attempt in ids],
        [GotAnswer(attempt, answer) for attempt, answer in zip(ids, ANSWERS, strict=True)],
        [Ended(attempt, outcome) for attempt, outcome in zip(ids, ENDS, strict=True)],
    ]


def test_sets_come_to_the_same_as_change_by_change(book: Any, fare: Any) -> None:
    first = [attempt.attempt_id for attempt in book.plan(*map(fare, range(1, 6)))]
    assert written(book, a_life(first)) == [None, None, None]  # as they were handed in
    rows, live = list(book.connection.execute(ALL)), list(book.connection.execute(LIVE))
    assert [row[9] for row in rows] == [answer.body for answer in ANSWERS]
    assert [row[3] for row in rows] == [outcome.number for outcome in ENDS]
    others = [attempt.attempt_id for attempt in book.plan(*map(fare, range(11, 16)))]
    apart = [
        [change if not isinstance(change, Ended) or not change.outcome.number else Ended(change.attempt_id, Outcome(
            "issued", number=change.outcome.number + "0", trace_id=change.outcome.trace_id, detail=change.outcome.detail))]
        for group in a_life(others) for change in group
    ]  # fmt: skip
    for (change,) in apart:
        book.connection.execute("BEGIN IMMEDIATE")
        attempt_changes.write_alone(book.connection, [change.plain()])
        book.connection.execute("COMMIT")
    again = [row for row in book.connection.execute(ALL) if row[0] in others]
    assert [(row[1:3], row[4:]) for row in again] == [(row[1:3], row[4:]) for row in rows]
    assert [row[1] for row in book.connection.execute(LIVE) if row[0] in others] == [row[1] for row in live]


def test_a_group_of_all_kinds_is_one_transaction_of_sets(book: Any, fare: Any) -> None:
    ids = [attempt.attempt_id for attempt in book.plan(*map(fare, range(1, 4)))]
    written(book, [[Sending(ids[0]), Sending(ids[1])]])
    seen: list[str] = []
    book.connection.set_profile(lambda sql, _: seen.append(sql.split()[0]))
    results = written(
        book,
        [[Sending(ids[2]), GotAnswer(ids[1], ANSWERS[0]), Ended(ids[0], ENDS[0])]],
    )
    book.connection.set_profile(None)
    assert results == [None]
    assert seen == ["BEGIN", "UPDATE", "UPDATE", "UPDATE", "COMMIT"]
    assert book.states() == {ids[0]: "issued", ids[1]: "sending", ids[2]: "sending"}


def test_a_number_that_is_taken_is_told_as_unknown_within_one_group_too(book: Any, fare: Any) -> None:
    ids = [attempt.attempt_id for attempt in book.plan(*map(fare, range(1, 4)))]
    yes = Outcome("issued", number="7", trace_id="t")
    written(book, [[Sending(attempt) for attempt in ids]])
    ((first, second, third),) = written(book, [[Ended(attempt, yes) for attempt in ids]])
    assert first == yes
    assert (second.state, third.state) == ("unknown", "unknown")
    assert book.states() == {ids[0]: "issued", ids[1]: "unknown", ids[2]: "unknown"}


def test_while_the_disk_is_slow_the_event_loop_goes_on(book: Any, fare: Any) -> None:
    """Answers are taken in and requests leave while a group is being committed."""
    (attempt,) = book.plan(fare(1))
    gone_on = threading.Event()
    book.connection.set_commit_hook(lambda: not gone_on.wait(20))

    async def run() -> list[Any]:
        async with book.writer() as writer:
            asyncio.get_running_loop().call_later(0.05, gone_on.set)
            return await book.together(writer, Sending(attempt.attempt_id))

    assert asyncio.run(run()) == [None]
    book.connection.set_commit_hook(None)
    assert book.states() == {attempt.attempt_id: "sending"}


@pytest.mark.parametrize(
    "statement", [attempt_changes._GOT_ANSWER, attempt_changes._ENDED, attempt_changes._SENDING]
)
def test_an_attempt_is_found_by_its_id_however_many_are_open(book: Any, statement: str) -> None:
    plan = [row[3] for row in book.connection.execute(f"EXPLAIN QUERY PLAN {statement}", ("now", "[]"))]
    assert [line for line in plan if " attempt" in line][:1] == [
        "SEARCH attempt USING INTEGER PRIMARY KEY (rowid=?)"
    ]


def test_what_is_no_text_is_refused_in_a_set_as_it_is_alone(book: Any, fare: Any) -> None:
    """Not written as bytes that nobody can read back."""
    first, second = [attempt.attempt_id for attempt in book.plan(fare(1), fare(2))]
    written(book, [[Sending(first), Sending(second)]])
    half = Ended(first, Outcome("unknown", "no_answer", detail=verbatim("half a character: \ud83d")))
    book.connection.execute("BEGIN IMMEDIATE")
    for write in (attempt_changes.write_as_sets, attempt_changes.write_alone):
        with pytest.raises(UnicodeEncodeError):
            write(book.connection, [half.plain()])
    book.connection.execute("ROLLBACK")
    assert book.states() == {first: "sending", second: "sending"}
