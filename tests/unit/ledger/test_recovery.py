"""What an earlier run left is put in order whole or not at all, and as often as the start is repeated."""

from pathlib import Path
from typing import Any

import pytest

from pipeline.ledger import attempts, opening, recovery, runs
from pipeline.ledger.lock import Phase
from pipeline.ledger.recovery import Recovered, recover
from pipeline.ledger.spill import Spill, set_aside, spill_path
from pipeline.model.errors import LedgerProblem
from pipeline.model.outcome import Answered, Outcome


def never(*_: object) -> Outcome:
    raise AssertionError("there is no answer to interpret")


def spilling(book: Any, **kept: Any) -> None:
    """A spill file of this ledger with what a test spills."""
    with Spill(spill_path(book.path), opening.ledger_id(book.connection), 1) as spill:
        for move, given in kept.items():
            getattr(spill, move)(*given)


def test_an_outcome_that_had_reached_the_ledger_after_all_is_taken_in_once(book: Any, fare: Any) -> None:
    first, second = book.plan(fare(1), fare(2))
    for attempt in (first, second):
        book.state(attempt.attempt_id, "sending")
    book.state(first.attempt_id, "issued", "1")
    spilling(book, ended=(first.attempt_id, Outcome("issued", number="1")))
    assert recover(book.connection, book.path, book.lock, never) == Recovered(spilled=1, unknown=1)
    assert book.states() == {first.attempt_id: "issued", second.attempt_id: "unknown"}
    assert not spill_path(book.path).exists()


def test_a_start_that_was_killed_before_it_removed_the_spill_file_is_repeated(book: Any, fare: Any) -> None:
    first, second = book.plan(fare(1), fare(2))
    for attempt in (first, second):
        book.state(attempt.attempt_id, "sending")
    book.state(first.attempt_id, "issued", "1")
    # The second brings the first one's number and is unknown; the file is there again the next time.
    for _ in range(2):
        spilling(book, ended=(second.attempt_id, Outcome("issued", number="1")))
        recover(book.connection, book.path, book.lock, never)
        assert book.states() == {first.attempt_id: "issued", second.attempt_id: "unknown"}


@pytest.mark.parametrize(
    "left", ["planned", "not there", "issued with another number", "not_sent", "unknown", "rejected"]
)
def test_a_spill_file_that_does_not_fit_stops_the_start_and_stays(book: Any, fare: Any, left: str) -> None:
    (attempt,) = book.plan(fare(1))
    attempt_id = attempt.attempt_id
    if left in ("not_sent", "unknown", "rejected"):
        book.state(attempt_id, "sending")
        book.state(attempt_id, left)
    if left == "issued with another number":
        book.state(attempt_id, "sending")
        book.state(attempt_id, "issued", "8")
    if left == "not there":
        attempt_id += 1
    spilling(book, ended=(attempt_id, Outcome("issued", number="7")))
    before, kept = book.states(), spill_path(book.path).read_bytes()
    for _ in range(2):
        with pytest.raises(LedgerProblem, match=rf"attempt {attempt_id}, which does not fit.*mark-gap"):
            recover(book.connection, book.path, book.lock, never)
    assert book.states() == before
    assert spill_path(book.path).read_bytes() == kept


def test_an_answer_that_had_reached_the_ledger_after_all_stays_as_it_is(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    attempts.record_answer(book.connection, attempt.attempt_id, Answered(200, b"yes"))
    spilling(book, answer=(attempt.attempt_id, Answered(200, b"yes")))
    found = recover(book.connection, book.path, book.lock, lambda *_: Outcome("issued", number="1"))
    assert found == Recovered(spilled=1, answered=1)
    assert book.states() == {attempt.attempt_id: "issued"}


def test_an_answer_for_what_was_never_sent_does_not_fit(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    spilling(book, answer=(attempt.attempt_id, Answered(200, b"{}")))
    with pytest.raises(LedgerProblem, match="does not fit"):
        recover(book.connection, book.path, book.lock, never)


@pytest.mark.parametrize("left", ["planned", "sending", "not_sent", "not there"])
def test_what_never_left_is_not_sent_wherever_its_claim_got_to(book: Any, fare: Any, left: str) -> None:
    (attempt,) = book.plan(fare(1))
    if left in ("sending", "not_sent"):
        book.state(attempt.attempt_id, "sending")
    if left == "not_sent":
        book.state(attempt.attempt_id, "not_sent")
    spilling(book, never_sent=(attempt.attempt_id + (left == "not there"),))
    recover(book.connection, book.path, book.lock, never)
    assert book.states() == ({} if left in ("planned", "not there") else {attempt.attempt_id: "not_sent"})


def test_what_never_left_can_not_be_in_doubt(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    book.state(attempt.attempt_id, "unknown")
    spilling(book, never_sent=(attempt.attempt_id,))
    with pytest.raises(LedgerProblem, match="does not fit"):
        recover(book.connection, book.path, book.lock, never)


def test_an_answer_on_disk_is_read_and_its_doubt_is_told(book: Any, several: Any, fare: Any) -> None:
    (earlier,) = book.plan(fare(1))
    book.state(earlier.attempt_id, "sending")
    book.state(earlier.attempt_id, "unknown")
    book.connection.execute(
        "INSERT INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES (?, 'not_sent', '', 'chen', 'statement', 'now')",
        (earlier.attempt_id,),
    )
    book.state(earlier.attempt_id, "not_sent")
    answered, plain = book.plan(several(1, 2), fare(3))
    for attempt in (answered, plain):
        book.state(attempt.attempt_id, "sending")
        attempts.record_answer(book.connection, attempt.attempt_id, Answered(200, b"yes", "7"))
    seen = []

    def meaning(left: attempts.Interrupted, answer: Answered) -> Outcome:
        seen.append((left.attempt_id, left.request.voucher, left.doubted, answer))
        return Outcome("issued", number=str(left.attempt_id))

    assert recover(book.connection, book.path, book.lock, meaning) == Recovered(answered=2)
    assert seen == [
        (answered.attempt_id, "invoice", True, Answered(200, b"yes", "7")),
        (plain.attempt_id, "invoice", False, Answered(200, b"yes", "7")),
    ]
    assert book.states()[answered.attempt_id] == "issued"


@pytest.mark.parametrize("left", ["planned", "sending", "spilled", "nothing"])
def test_before_anything_is_recorded_the_lock_file_says_that_the_file_may_be_half_written(
    book: Any, fare: Any, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    if left in ("planned", "sending"):
        (attempt,) = book.plan(fare(1))
    if left == "sending":
        book.state(attempt.attempt_id, left)
    if left == "spilled":
        spilling(book, never_sent=(7,))  # neither its claim nor its plan was written
    book.lock.run = runs.last_run(book.connection, Phase.AT_REST)
    seen: list[Phase] = []

    def note(*_: object) -> bool:
        seen.append(book.lock.run.phase)
        return False

    book.connection.set_commit_hook(note)
    monkeypatch.setattr(recovery, "end_open", note)
    recover(book.connection, book.path, book.lock, never)
    assert set(seen) == {Phase.AT_REST if left == "nothing" else Phase.FOLDING}
    book.connection.set_commit_hook(None)


def test_a_spill_file_that_does_not_fit_is_kept_under_a_name_that_no_run_takes_in(
    book: Any, tmp_path: Path
) -> None:
    assert set_aside(book.path) is None
    (tmp_path / "test.ledger.spill.kept").write_text("an earlier one")
    spilling(book, ended=(7, Outcome("issued", number="7")))
    kept = spill_path(book.path).read_bytes()
    aside = set_aside(book.path)
    assert aside == tmp_path / "test.ledger.spill.kept.2"
    assert aside.read_bytes() == kept
    assert (tmp_path / "test.ledger.spill.kept").read_text() == "an earlier one"
    assert recover(book.connection, book.path, book.lock, never) == Recovered()
