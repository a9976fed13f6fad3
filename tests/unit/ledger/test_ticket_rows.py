"""What the ledger has of one ticket."""

from typing import Any

from pipeline.ledger import attempts, ticket_rows
from pipeline.model.message import verbatim
from pipeline.model.outcome import Outcome


def test_history_tells_every_attempt_in_order(book: Any, fare: Any) -> None:
    (first,) = book.plan(fare(1))
    book.state(first.attempt_id, "sending")
    attempts.record_outcome(
        book.connection, first.attempt_id, Outcome("not_sent", "carrier_busy", detail=verbatim("HTTP 429"))
    )
    (second,) = book.plan(fare(1))
    book.state(second.attempt_id, "sending")
    attempts.record_outcome(book.connection, second.attempt_id, Outcome("issued", number="123"))
    told = ticket_rows.attempts(book.connection, "9990000000001")
    assert [(event["attempt"], event["state"], event["number"]) for event in told] == [
        (1, "not_sent", ""), (2, "issued", "123"),
    ]  # fmt: skip
    assert ticket_rows.attempts(book.connection, "9990000000002") == []
