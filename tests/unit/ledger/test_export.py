"""What an auditor reads is what the ledger holds: every sheet under its own names, in the order in which it came."""

from typing import Any

from pipeline.ledger import (
    attempts as records,
)
from pipeline.ledger import (
    epochs,
    export,
    gaps,
    inbox_files,
    issued_elsewhere,
    judgements,
    opening,
    runs,
    schema,
    settlements,
)
from pipeline.ledger.inbox_files import Handled
from pipeline.ledger.judgements import Judgement
from pipeline.ledger.settlements import Settlement
from pipeline.model.evidence import StatementLine
from pipeline.model.message import Message, verbatim
from pipeline.model.outcome import Answered, Outcome

from .conftest import HEADER, OWNER, Book

Rows = list[dict[str, Any]]
SHEETS = (
    "requests", "charges", "elsewhere", "reversals", "withdrawals", "judgements", "runs", "files", "gaps_and_moves",
)  # fmt: skip


def told(book: Book, sheet: str) -> Rows:
    """A sheet's rows, of which the times are told by whether there is one."""
    rows = [
        {name: str(value) if isinstance(value, Message) else value for name, value in row.items()}
        for row in export.rows(book.connection, sheet)
    ]
    assert export.count(book.connection, sheet) == len(rows)
    return [
        {name: value is not None if name.endswith("_at") else value for name, value in row.items()}
        for row in rows
    ]


def unknown(book: Book, request: Any) -> int:
    """An attempt whose answer was not understood; its ID."""
    (attempt,) = book.plan(request)
    book.state(attempt.attempt_id, "sending")
    records.record_answer(book.connection, attempt.attempt_id, Answered(502, b"sealed", ""))
    outcome = Outcome(
        "unknown", "answer_unexplained", trace_id="t-1", detail=verbatim("a page instead of an answer")
    )
    records.record_outcome(book.connection, attempt.attempt_id, outcome)
    return attempt.attempt_id


def test_an_attempt_is_told_with_its_request_its_answer_and_what_settled_it(book: Book, several: Any) -> None:
    request = several(1, 2)
    settlements.settle(
        book.connection, unknown(book, request), Settlement("not_sent", "", "chen", "not on october.csv")
    )
    second = unknown(book, request)
    header = {
        "header_type": "business", "header_name": HEADER.header_name, "tax_no": HEADER.tax_no, "phone": HEADER.phone,
        "email": HEADER.email, "remarks": HEADER.remarks,
    }  # fmt: skip
    lost = header | {
        "request": request.request_id, "attempt": 1, "run": book.run, "voucher": "invoice", "market": "domestic",
        "amount": 200_00, "charges": 2, "state": "not_sent", "number": "", "reason_code": "answer_unexplained",
        "detail": "a page instead of an answer", "planned_at": True, "sending_at": True, "answered_at": True,
        "ended_at": True, "http_status": 502, "trace_id": "t-1", "entry": "S1", "settled_as": "not_sent", "settled_by": "chen",
        "evidence": "not on october.csv", "settled_at": True, "epoch_id": epochs.current(book.connection),
    }  # fmt: skip
    unsettled = {"entry": None, "settled_as": None, "settled_by": None, "evidence": None, "settled_at": False}
    assert told(book, "requests") == [lost, lost | {"attempt": 2, "state": "unknown"} | unsettled]
    settlements.settle(book.connection, second, Settlement("issued", "N1", "li", "november.csv, row 3"))
    assert [(row["state"], row["number"], row["settled_as"]) for row in told(book, "requests")] == [
        ("not_sent", "", "not_sent"),
        ("issued", "N1", "issued"),
    ]


def test_a_charge_is_told_with_its_row_and_whether_it_is_held(book: Book, several: Any) -> None:
    request = several(2, 1)
    settlements.settle(
        book.connection, unknown(book, request), Settlement("not_sent", "", "chen", "not on october.csv")
    )
    settlements.settle(
        book.connection, unknown(book, request), Settlement("issued", "N1", "chen", "october.csv, row 7")
    )
    first = {
        "ticket_no": "9990000000001", "charge": "ticket_fare", "product": "flight", "voucher": "invoice",
        "amount": 100_00, "state": "not_sent", "number": "", "held": 0, "wire": "FARE/Flight",
        "request": request.request_id, "attempt": 1, "run": book.run, "file": "tickets.xlsx", "sheet": "Tickets",
        "row": 3, "passenger_name": "ZHANG/WEI", "components": "{}", "carried": "{}",
    }  # fmt: skip
    second = first | {"ticket_no": "9990000000002", "row": 4}
    issued = {"state": "issued", "number": "N1", "held": 1, "attempt": 2}
    assert told(book, "charges") == [first, second, first | issued, second | issued]


def test_what_statements_showed_and_how_rows_were_judged_is_told(book: Book) -> None:
    lines = [
        StatementLine(
            "itinerary", number, "9990000000001", "refund", "flight", 5_00, None, "Acme", place, "o.csv"
        )
        for number, place in (("N2", "o.csv, row 7"), ("N1", "o.csv, row 8"))
    ]
    issued_elsewhere.record(
        book.connection, book.run, [(line, "REFUND_FEE/Flight") for line in lines], "chen"
    )
    shown = {
        "ticket_no": "9990000000001", "charge": "refund", "product": "flight", "voucher": "itinerary", "number": "N2",
        "amount": 5_00, "buyer": "Acme", "issued_text": "", "evidence": "o.csv, row 7", "found_by": "chen",
        "found_at": True, "run": book.run, "entry": "E1", "held": 1,
    }  # fmt: skip
    other = {"number": "N1", "evidence": "o.csv, row 8", "entry": "E2"}
    assert told(book, "elsewhere") == [shown, shown | other]
    waiting = Judgement(
        "9990000000002", "ticket_fare", "flight", "invoice", 100_00, "waiting", "ticket_still_open", "t.xlsx", "T", 2
    )  # fmt: skip
    judgements.note(book.connection, book.run, [waiting])
    assert told(book, "judgements") == [
        {
            "ticket_no": "9990000000002", "charge": "ticket_fare", "product": "flight", "voucher": "invoice",
            "amount": 100_00, "status": "waiting", "reason_code": "ticket_still_open", "judged_at": True,
            "run": book.run, "file": "t.xlsx", "sheet": "T", "row": 2,
        }
    ]  # fmt: skip


def test_runs_and_files_are_told_in_the_order_in_which_they_came(book: Book) -> None:
    inbox_files.record(
        book.connection, book.run, Handled("ff", "tickets", "b.xlsx", "b.result.xlsx", "f1", True)
    )
    inbox_files.record(book.connection, book.run, Handled("ab", "statement", "a.csv", "", "", False))
    runs._end_run(book.connection, book.run, 4)
    runs._begin_run(
        book.connection, runs.RunStart("reconcile", "2026-11-21", ["a.csv", "b.xlsx"], version="1")
    )
    issue = {
        "run": 1, "command": "issue", "version": "0", "as_of": "2026-11-20", "files": '["tickets.xlsx"]',
        "started_at": True, "ended_at": True, "exit_code": 4,
    }  # fmt: skip
    reconcile = {
        "run": 2, "command": "reconcile", "version": "1", "as_of": "2026-11-21", "files": '["a.csv", "b.xlsx"]',
        "started_at": True, "ended_at": False, "exit_code": None,
    }  # fmt: skip
    assert told(book, "runs") == [issue, reconcile]
    tickets = {
        "name": "b.xlsx", "kind": "tickets", "sha256": "ff", "handled_at": True, "run": 1, "result": "b.result.xlsx",
        "unfinished": 1,
    }  # fmt: skip
    statement = {"name": "a.csv", "kind": "statement", "sha256": "ab", "result": "", "unfinished": 0}
    assert told(book, "files") == [tickets, tickets | statement]


def test_gaps_and_moves_are_told_together_in_time_order(book: Book) -> None:
    for found_at in ("2026-11-23", "2026-11-21"):
        book.connection.execute(
            "INSERT INTO gap (since, why, found_at) VALUES ('2026-11-20', 'restored copy', ?)", (found_at,)
        )
    book.connection.execute(
        "INSERT INTO carrier_move (from_base_url, from_agency, to_base_url, to_agency, moved_by, why, moved_at)"
        " VALUES ('http://127.0.0.1:8080', 'DEMO', 'http://127.0.0.1:9090', 'OTHER', 'chen', 'new port', '2026-11-22')"
    )
    gap = {
        "noted_at": "2026-11-21", "what": "gap", "why": "restored copy", "noted_by": "", "since": "2026-11-20",
        "old": "", "new": "", "closed_at": None, "closed_by": None, "evidence": None,
    }  # fmt: skip
    move = {
        "noted_at": "2026-11-22", "what": "move", "why": "new port", "noted_by": "chen", "since": None,
        "old": "http://127.0.0.1:8080 DEMO", "new": "http://127.0.0.1:9090 OTHER", "closed_at": None, "closed_by": "",
        "evidence": "",
    }  # fmt: skip
    later = gap | {"noted_at": "2026-11-23"}
    noted = [row | {"why": str(row["why"])} for row in export.rows(book.connection, "gaps_and_moves")]
    assert noted == [gap, move, later]
    gaps.close_gaps(book.connection, "li", verbatim("nothing after the 20th"))
    closed = {"closed_at": True, "closed_by": "li", "evidence": "nothing after the 20th"}
    (begun,) = (row for row in told(book, "gaps_and_moves") if row["what"] == "epoch")
    *_, ended = (row for row in told(book, "gaps_and_moves") if row["what"] == "gap")
    assert ended == later | closed | {"noted_at": True}
    assert (begun["what"], begun["why"], begun["new"]) == (
        "epoch", "restored copy", epochs.current(book.connection),
    )  # fmt: skip


def test_the_ledger_says_whose_it_is_and_counts_its_attempts(book: Book, fare: Any) -> None:
    unknown(book, fare(1))
    unknown(book, fare(2))
    book.plan(fare(3))
    ((created,),) = book.connection.execute("SELECT created_at FROM ledger").fetchall()
    states = {"planned": 1, "unknown": 2}
    ledger_id = opening.ledger_id(book.connection)
    found = export.about(book.connection)
    assert found == export.About(
        ledger_id, OWNER.base_url, OWNER.agency, schema.VERSION, created, states, None
    )
    assert list(found.states) == ["planned", "unknown"]
    gaps.mark_gap(book.connection, "2026-11-20", verbatim("restored copy"))
    assert export.about(book.connection).gap == gaps.Gap("2026-11-20", verbatim("restored copy"))


def test_a_ledger_without_attempts_has_no_rows_of_them(book: Book) -> None:
    assert {sheet: told(book, sheet) for sheet in SHEETS if sheet != "runs"} == {
        sheet: [] for sheet in SHEETS if sheet != "runs"
    }
    assert export.about(book.connection).states == {}
