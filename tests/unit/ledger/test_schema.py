"""What the database itself refuses, whatever the program does."""

import itertools
from typing import Any

import apsw
import pytest

STATES = ("planned", "sending", "issued", "rejected", "not_sent", "unknown")
LEGAL = {
    ("planned", "sending"),
    ("sending", "issued"),
    ("sending", "rejected"),
    ("sending", "not_sent"),
    ("sending", "unknown"),
}


def bring_to(book: Any, attempt_id: int, state: str) -> None:
    if state != "planned":
        book.state(attempt_id, "sending")
    if state not in ("planned", "sending"):
        book.state(attempt_id, state, "1" if state == "issued" else "")


@pytest.mark.parametrize(
    ("old", "new"), [pair for pair in itertools.product(STATES, STATES) if pair not in LEGAL]
)
def test_illegal_changes_of_state_are_refused(book: Any, fare: Any, old: str, new: str) -> None:
    (attempt,) = book.plan(fare(1))
    bring_to(book, attempt.attempt_id, old)
    with pytest.raises(apsw.ConstraintError):
        book.state(attempt.attempt_id, new, "1" if new == "issued" else "")
    assert book.states() == {attempt.attempt_id: old}


@pytest.mark.parametrize(("old", "new"), sorted(LEGAL))
def test_legal_changes_of_state_are_taken(book: Any, fare: Any, old: str, new: str) -> None:
    (attempt,) = book.plan(fare(1))
    bring_to(book, attempt.attempt_id, old)
    book.state(attempt.attempt_id, new, "1" if new == "issued" else "")
    assert book.states() == {attempt.attempt_id: new}


@pytest.mark.parametrize("first", ["sending", "issued", "unknown"])
def test_a_charge_is_in_one_live_attempt_at_most(book: Any, fare: Any, first: str) -> None:
    one, other = book.plan(fare(1), fare(1, remarks="another invoice"))
    bring_to(book, one.attempt_id, first)
    with pytest.raises(apsw.ConstraintError):
        book.state(other.attempt_id, "sending")
    assert book.states()[other.attempt_id] == "planned"


@pytest.mark.parametrize("first", ["rejected", "not_sent"])
def test_a_charge_that_was_not_issued_may_be_tried_again(book: Any, fare: Any, first: str) -> None:
    one, other = book.plan(fare(1), fare(1, remarks="another invoice"))
    bring_to(book, one.attempt_id, first)
    book.state(other.attempt_id, "sending")
    assert book.states()[other.attempt_id] == "sending"


def test_charges_that_are_equal_on_the_wire_are_one(book: Any, ancillary: Any) -> None:
    bag, seat = book.plan(ancillary("baggage", "Extra"), ancillary("seat", "Extra"))
    book.state(bag.attempt_id, "sending")
    with pytest.raises(apsw.ConstraintError):
        book.state(seat.attempt_id, "sending")


def test_a_charge_is_the_same_when_the_carrier_renames_its_codes(book: Any, ancillary: Any) -> None:
    (old,), (new,) = book.plan(ancillary("seat", "Seat")), book.plan(ancillary("seat", "SeatSelection"))
    assert old.request.request_id == new.request.request_id  # codes are no part of what is asked for
    book.state(old.attempt_id, "sending")
    with pytest.raises(apsw.ConstraintError):
        book.state(new.attempt_id, "sending")


def test_fare_and_refund_of_a_ticket_share_one_kind_of_voucher(book: Any, fare: Any, refund: Any) -> None:
    as_itinerary, as_invoice = book.plan(fare(1, voucher="itinerary"), refund(1))
    book.state(as_itinerary.attempt_id, "sending")
    with pytest.raises(apsw.ConstraintError, match="other kind"):
        book.state(as_invoice.attempt_id, "sending")


def test_an_unknown_outcome_is_settled_by_evidence_alone(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    bring_to(book, attempt.attempt_id, "unknown")
    settle = "INSERT INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES (?, 'issued', '123', 'somebody', 'the carrier said so', 'now')"
    book.connection.execute(settle, (attempt.attempt_id,))
    with pytest.raises(apsw.ConstraintError):
        book.state(attempt.attempt_id, "not_sent")  # not what the evidence says
    with pytest.raises(apsw.ConstraintError):
        book.state(attempt.attempt_id, "issued", "456")  # not its number
    book.state(attempt.attempt_id, "issued", "123")
    assert book.states() == {attempt.attempt_id: "issued"}


@pytest.mark.parametrize("state", ["planned", "sending", "issued", "rejected", "not_sent"])
def test_only_the_unknown_is_settled(book: Any, fare: Any, state: str) -> None:
    (attempt,) = book.plan(fare(1))
    bring_to(book, attempt.attempt_id, state)
    with pytest.raises(apsw.ConstraintError, match="only an unknown outcome"):
        book.connection.execute(
            "INSERT INTO settlement (attempt_id, state, number, settled_by, evidence, settled_at) VALUES (?, 'not_sent', '', 'somebody', 'why', 'now')",
            (attempt.attempt_id,),
        )


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE attempt SET number = '9'",
        "UPDATE attempt SET detail = 'other'",
        "UPDATE attempt SET request_id = 'other'",
        "DELETE FROM attempt",
        "DELETE FROM charge",
        "UPDATE charge SET live = 0",
        "UPDATE charge SET amount = 1",
        "UPDATE charge SET ticket_no = '1'",
        "UPDATE charge SET content = ''",
        "INSERT INTO charge SELECT attempt_id, '9', charge, product, wire, voucher, 1, file, sheet, row, 0, content FROM charge",
        "INSERT INTO attempt (request_id, attempt, run, state, planned_at) SELECT request_id, 9, run, 'issued', '' FROM attempt",
        "INSERT INTO attempt (request_id, attempt, run, state, planned_at) VALUES ('nobody', 1, 1, 'planned', '')",
    ],
)
def test_what_was_issued_stays_as_it_is(book: Any, fare: Any, change: str) -> None:
    (attempt,) = book.plan(fare(1))
    bring_to(book, attempt.attempt_id, "issued")
    before = list(book.connection.execute("SELECT * FROM attempt JOIN charge USING (attempt_id)"))
    with pytest.raises(apsw.ConstraintError):
        book.connection.execute(change)
    assert list(book.connection.execute("SELECT * FROM attempt JOIN charge USING (attempt_id)")) == before


def test_an_issued_attempt_has_a_number(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    with pytest.raises(apsw.ConstraintError):
        book.state(attempt.attempt_id, "issued", "")
