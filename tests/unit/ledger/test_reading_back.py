"""What is written to a ledger is what is read from it, field by field."""

import json
from dataclasses import replace
from typing import Any

from pipeline.ledger import (
    attempts,
    held_charges,
    opening,
    planning,
    runs,
    settlements,
    ticket_rows,
)
from pipeline.ledger.lock import LastRun, Phase
from pipeline.ledger.recovery import Recovered, recover
from pipeline.ledger.spill import Spill, spill_path
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import message, to_text, verbatim
from pipeline.model.outcome import Answered, Outcome
from pipeline.model.request import Identity

FARE = Identity("9990000000001", "ticket_fare", "flight")


def rows(book: Any, query: str) -> list[tuple[Any, ...]]:
    return list(book.connection.execute(query))


def never(*_: object) -> Outcome:
    raise AssertionError("there is no answer to interpret")


def test_a_request_is_planned_with_all_that_was_asked_and_its_rows(book: Any, several: Any) -> None:
    (attempt,) = book.plan(several(1, 2))
    request = attempt.request
    assert rows(book, "SELECT * FROM request") == [
        (
            *(request.request_id, "invoice", "domestic", 200_00, "business", "Example Trading Co."),
            *("91110000600037341L", "", "finance@example.com", ""),
        )
    ]
    assert rows(book, "SELECT attempt_id, request_id, attempt, run, state FROM attempt") == [
        (attempt.attempt_id, request.request_id, 1, book.run, "planned")
    ]
    assert rows(book, "SELECT * FROM charge") == [
        (
            *(attempt.attempt_id, f"999000000000{n}", "ticket_fare", "flight", "FARE/Flight", "invoice"),
            *(100_00, "tickets.xlsx", "Tickets", n + 2, request.content_of(request.charges[n - 1])),
            *("ZHANG/WEI", "{}", "{}", 0),
        )
        for n in (1, 2)
    ]
    (planned_at,) = rows(book, "SELECT planned_at FROM attempt")[0]
    assert planned_at.endswith("+00:00")
    assert len(planned_at) == len("2026-11-20T00:00:00.000+00:00")


def test_a_charge_whose_codes_nobody_named_is_held_by_its_identity_alone(book: Any, fare: Any) -> None:
    request = fare(1, voucher="itinerary")
    (charge,) = request.charges
    book.plan(replace(request, charges=(replace(charge, wire=None),)))
    assert rows(book, "SELECT wire FROM charge") == [("",)]


def test_a_run_is_recorded_from_its_beginning_to_its_end(book: Any) -> None:
    run = runs._begin_run(
        book.connection, runs.RunStart("reconcile", "2026-11-21", ["票.xlsx", "b.csv"], version="1.2")
    )
    runs._end_run(book.connection, run, 4)
    found = rows(book, "SELECT command, version, as_of, files, exit_code FROM run ORDER BY run")
    assert found == [
        ("issue", "0", "2026-11-20", '["tickets.xlsx"]', None),
        ("reconcile", "1.2", "2026-11-21", '["票.xlsx", "b.csv"]', 4),
    ]
    (began, ended) = rows(book, f"SELECT started_at, ended_at FROM run WHERE run = {run}")[0]
    assert began <= ended
    assert runs.last_run(book.connection, Phase.ON) == LastRun(
        opening.ledger_id(book.connection), run, began, Phase.ON
    )


def test_an_outcome_is_recorded_with_all_that_is_known(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    told = attempts.record_outcome(
        book.connection,
        attempt.attempt_id,
        Outcome("rejected", "carrier_rejected", "", "t-1", verbatim("too late")),
    )
    assert told == Outcome("rejected", "carrier_rejected", "", "t-1", verbatim("too late"))
    assert rows(book, "SELECT state, reason, number, trace_id, detail, ended_at > '2026' FROM attempt") == [
        ("rejected", "carrier_rejected", "", "t-1", to_text(verbatim("too late")), 1)
    ]
    attempts.record_outcome(book.connection, attempt.attempt_id, Outcome("issued", number="1"))  # too late
    assert rows(book, "SELECT state FROM attempt") == [("rejected",)]


def test_a_number_that_is_taken_is_told_with_the_request_that_has_it(book: Any, fare: Any) -> None:
    first, second = book.plan(fare(1), fare(2))
    for attempt in (first, second):
        book.state(attempt.attempt_id, "sending")
    attempts.record_outcome(book.connection, first.attempt_id, Outcome("issued", number="7", trace_id="a"))
    expected = Outcome(
        "unknown",
        "answer_unexplained",
        trace_id="b",
        detail=verbatim(f"the answer brings number 7, which request {first.request.request_id} has already"),
    )
    yes = Outcome("issued", number="7", trace_id="b")
    recorded = attempts.as_recorded(book.connection, second.attempt_id, yes)
    assert replace(recorded, detail=str(recorded.detail)) == replace(expected, detail=str(expected.detail))
    assert attempts.record_outcome(book.connection, second.attempt_id, yes) == recorded
    # its own number is no other's: what is recorded already stays as it is
    mine = Outcome("issued", number="7", trace_id="a")
    assert attempts.as_recorded(book.connection, first.attempt_id, mine) == mine


def test_what_is_held_is_told_whole(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    (held,) = held_charges.holdings(book.connection, [FARE.ticket_no, FARE.ticket_no]).held.values()
    expected = KnownCharge(
        FARE,
        "FARE/Flight",
        "invoice",
        "unknown",
        "",
        100_00,
        "business",
        "Example Trading Co.",
        "91110000600037341L",
        attempt.request.request_id,
        1,
        book.run,
        "now",
        "run_killed",
        held.detail,
        "tickets.xlsx",
        "Tickets",
        3,
    )
    assert held == expected
    assert "killed" in str(held.detail)
    attempts.record_outcome(
        book.connection,
        attempt.attempt_id,
        Outcome("unknown", "no_answer", "", "t", verbatim("no answer in time")),
    )
    (held,) = held_charges.holdings(book.connection, [FARE.ticket_no]).held.values()
    assert held == replace(expected, at=held.at, reason="no_answer", detail=verbatim("no answer in time"))
    assert held.at > "2026"


def test_tickets_are_asked_for_anew_each_time(book: Any, fare: Any) -> None:
    for attempt in book.plan(fare(1), fare(2)):
        book.state(attempt.attempt_id, "sending")
    assert len(held_charges.holdings(book.connection, ["9990000000001"]).held) == 1
    assert list(held_charges.holdings(book.connection, ["9990000000002"]).held) == [
        Identity("9990000000002", "ticket_fare", "flight")
    ]
    assert held_charges.holdings(book.connection, []).held == {}


def test_what_was_interrupted_is_read_with_all_that_an_answer_is_measured_by(book: Any, several: Any) -> None:
    (attempt,) = book.plan(several(1, 2))
    book.state(attempt.attempt_id, "sending")
    (left,) = attempts.interrupted(book.connection)
    request = attempt.request
    charges = tuple(replace(charge, passenger_name="", row=-1) for charge in request.charges)
    assert left == attempts.Interrupted(
        attempt.attempt_id, replace(request, charges=charges), None, doubted=False, accepted=False, beside=()
    )


def test_a_charge_without_a_code_is_interrupted_without_one(book: Any, fare: Any) -> None:
    request = fare(1, voucher="itinerary")
    (charge,) = request.charges
    (attempt,) = book.plan(replace(request, charges=(replace(charge, wire=None),)))
    book.state(attempt.attempt_id, "sending")
    (left,) = attempts.interrupted(book.connection)
    assert [charge.wire for charge in left.request.charges] == [None]


def test_an_answer_without_a_body_is_an_answer(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    attempts.record_answer(book.connection, attempt.attempt_id, Answered(401, b""))
    (left,) = attempts.interrupted(book.connection)
    assert left.answer == Answered(401, b"", "")


def test_what_is_in_doubt_is_told_whole(book: Any, several: Any, fare: Any) -> None:
    other, attempt = book.plan(fare(3), several(2, 1))
    for each in (other, attempt):
        book.state(each.attempt_id, "sending")
    attempts.record_outcome(
        book.connection,
        attempt.attempt_id,
        Outcome("unknown", "no_answer", trace_id="t-1", detail=verbatim("no answer in time")),
    )
    (told,) = settlements.contents(book.connection, [(attempt.request.request_id, 1)])
    assert (told.request_id, told.attempt, told.voucher, told.market, told.header_name, told.amount) == (
        *(attempt.request.request_id, 1, "invoice"),
        *("domestic", "Example Trading Co.", 200_00),
    )
    assert (told.reason, str(told.detail), told.trace_id) == ("no_answer", "no answer in time", "t-1")
    assert [(of, amount) for of, _, amount in told.charges] == [
        (Identity(f"999000000000{n}", "ticket_fare", "flight"), 100_00) for n in (1, 2)
    ]
    assert told.ended > "2026"
    assert str(told.place) == f"tickets.xlsx, Tickets, row 3 (run {book.run})"
    (told,) = settlements.contents(book.connection, [(other.request.request_id, 1)])
    assert (told.began, told.ended, told.first_asked) == ("now", "now", "")
    assert [of for of, _, _ in told.charges] == [Identity("9990000000003", "ticket_fare", "flight")]


def test_a_new_attempt_is_of_the_same_run_request_and_rows(book: Any, several: Any, fare: Any) -> None:
    _, first = book.plan(fare(3), several(1, 2))
    book.state(first.attempt_id, "sending")
    book.state(first.attempt_id, "not_sent")
    again, number = planning.plan_again(book.connection, first.attempt_id)
    assert (again, number) == (3, 2)
    assert rows(book, f"SELECT request_id, attempt, run, state FROM attempt WHERE attempt_id = {again}") == [
        (first.request.request_id, 2, book.run, "planned")
    ]
    of = "SELECT ticket_no, charge, product, wire, voucher, amount, file, sheet, row FROM charge WHERE attempt_id = "
    assert rows(book, f"{of}{again}") == rows(book, f"{of}{first.attempt_id}") != []


def test_what_is_recovered_is_recorded_whole(book: Any, fare: Any) -> None:
    """Five that an earlier run left: never sent, answered, ended, and two of which nothing is known."""
    unsent, answered, ended, *lost = (attempt.attempt_id for attempt in book.plan(*map(fare, range(1, 6))))
    for attempt_id in (unsent, answered, ended, *lost):
        book.state(attempt_id, "sending")
    with Spill(spill_path(book.path), opening.ledger_id(book.connection), 1) as spill:
        spill.never_sent(unsent)
        spill.answer(answered, Answered(503, b"busy", "7"))
        spill.ended(ended, Outcome("rejected", "carrier_rejected", "", "t-3", verbatim("too late")))
    asked: list[Answered] = []

    def meaning(_left: attempts.Interrupted, answer: Answered) -> Outcome:
        asked.append(answer)
        return Outcome("unknown", "answer_unexplained", "", "t-2", message("HTTP {status}", status=503))

    found = recover(book.connection, book.path, book.lock, meaning)
    assert found == Recovered(spilled=3, answered=1, unknown=2)
    assert asked == [Answered(503, b"busy", "7")]
    kept = "SELECT attempt_id, state, reason, trace_id, detail, http_status, answer, retry_after FROM attempt"
    assert rows(book, f"{kept} WHERE attempt_id <= {ended} ORDER BY 1") == [
        (
            unsent,
            "not_sent",
            "run_stopped",
            "",
            to_text(message("the ledger failed before it was sent")),
            None,
            None,
            None,
        ),
        (
            answered,
            "unknown",
            "answer_unexplained",
            "t-2",
            to_text(message("HTTP {status}", status=503)),
            503,
            b"busy",
            "7",
        ),
        (ended, "rejected", "carrier_rejected", "t-3", to_text(verbatim("too late")), None, None, None),
    ]
    for _, state, reason, _, detail, *answer in rows(book, f"{kept} WHERE attempt_id > {ended}"):
        assert (state, reason, answer) == ("unknown", "run_killed", [None, None, None])
        assert "killed" in detail


def test_after_recovery_nothing_is_open_and_all_is_in_the_one_file(book: Any, fare: Any) -> None:
    book.plan(fare(1))
    assert runs.begun_and_not_ended(book.connection)
    assert recover(book.connection, book.path, book.lock, never) == Recovered()
    assert book.states() == {}
    assert runs.begun_and_not_ended(book.connection) is None
    assert rows(book, "SELECT exit_code FROM run") == [(None,)]
    assert book.path.with_name(book.path.name + "-wal").stat().st_size == 0


def test_history_names_its_columns(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    (event,) = ticket_rows.attempts(book.connection, FARE.ticket_no)
    assert json.loads(json.dumps(event, default=str)) | {"planned_at": ""} == {
        **dict.fromkeys(("sending_at", "answered_at", "ended_at", "http_status")),
        "settled": 0,
        **dict.fromkeys(("number", "trace_id", "reason", "detail", "planned_at"), ""),
        "state": "planned",
        "request_id": attempt.request.request_id,
        "attempt": 1,
        "run": book.run,
        "voucher": "invoice",
        "charge": "ticket_fare",
        "product": "flight",
        "amount": 100_00,
        "file": "tickets.xlsx",
        "sheet": "Tickets",
        "row": 3,
        "header_name": "Example Trading Co.",
    }
