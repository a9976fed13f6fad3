"""Attempts and their outcomes as the ledger has them."""

from typing import Any

import apsw
import pytest

from pipeline.ledger import attempts
from pipeline.model.outcome import Answered
from pipeline.model.request import Identity


def test_a_raw_answer_is_kept_as_it_came(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    attempts.record_answer(book.connection, attempt.attempt_id, Answered(200, b"\x00\xff{}", "7"))
    (left,) = attempts.interrupted(book.connection)
    assert left.answer == Answered(200, b"\x00\xff{}", "7")
    assert left.request.charges[0].identity == Identity("9990000000001", "ticket_fare", "flight")


def test_an_attempt_whose_request_is_not_there_shows_a_damaged_ledger(book: Any, fare: Any) -> None:
    """As an older file does beside a newer -wal, of which the pages between them are missing."""
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    book.connection.execute("PRAGMA foreign_keys = OFF; DROP TRIGGER request_remains; DELETE FROM request")
    with pytest.raises(apsw.CorruptError, match=f"attempt {attempt.attempt_id} is at a request"):
        attempts.interrupted(book.connection)
