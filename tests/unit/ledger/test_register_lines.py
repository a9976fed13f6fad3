"""The register's lines: exact at the carrier's midnight, each charge once, with all that the ledger keeps of it."""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pipeline.ledger import issued_elsewhere, planning, reversals
from pipeline.ledger.register_lines import register_lines
from pipeline.model.evidence import StatementLine
from pipeline.model.register_line import RegisterLine
from pipeline.model.request import Request
from tests.unit.ledger.conftest import HEADER, Book, charge, invoice

OCTOBER = (datetime.date(2026, 10, 1), datetime.date(2026, 10, 31))
LINE = StatementLine(
    "itinerary", "20179525833603931965", "9990000000009", "ticket_fare", "flight", 700, None, "Acme", "s.csv, row 7", "s.csv"
)  # fmt: skip


def issued(book: Book, request: Request, at: str, state: str = "issued") -> str:
    """An attempt that ended at that time; its number."""
    (attempt,) = book.plan(request)
    number = f"N{attempt.attempt_id}" if state == "issued" else ""
    book.state(attempt.attempt_id, "sending")
    if state != "sending":
        book.connection.execute(
            "UPDATE attempt SET state = ?, number = ?, ended_at = ? WHERE attempt_id = ?",
            (state, number, at, attempt.attempt_id),
        )
    return number


def lines(book: Book, days: Any = OCTOBER, zone: str = "Asia/Shanghai") -> Sequence[RegisterLine]:
    return register_lines(book.connection, zone, days)[0]


@pytest.mark.parametrize(
    ("at", "zone", "shown"),
    [
        ("2026-09-30T15:59:59.999+00:00", "Asia/Shanghai", None),
        ("2026-09-30T16:00:00.000+00:00", "Asia/Shanghai", "2026-10-01 00:00:00"),
        ("2026-10-31T15:59:59.999+00:00", "Asia/Shanghai", "2026-10-31 23:59:59"),
        ("2026-10-31T16:00:00.000+00:00", "Asia/Shanghai", None),
        ("2026-10-31T16:00:00.000+00:00", "UTC", "2026-10-31 16:00:00"),
        # The clock is put back in October: the month ends an hour later than it began.
        ("2026-09-30T21:59:59.999+00:00", "Europe/Berlin", None),
        ("2026-09-30T22:00:00.000+00:00", "Europe/Berlin", "2026-10-01 00:00:00"),
        ("2026-10-31T22:59:59.999+00:00", "Europe/Berlin", "2026-10-31 23:59:59"),
        ("2026-10-31T23:00:00.000+00:00", "Europe/Berlin", None),
    ],
)
@pytest.mark.parametrize("state", ["issued", "unknown"])
def test_a_month_ends_at_the_carriers_midnight(
    book: Book, at: str, zone: str, shown: str | None, state: str
) -> None:
    issued(book, invoice(charge(1)), at, state)
    found = [str(line.issued) for line in lines(book, zone=zone)]
    assert found == ([shown] if shown else [])
    assert len(lines(book, None)) == 1


def test_a_statements_day_and_time_are_the_carriers(book: Book) -> None:
    times = ["2026-10-31", "2026-10-31T23:59:59", "2026-10-31T16:30:00+00:00", "2026-11-01", None]
    for at, text in enumerate(times):
        day = text and (datetime.date if len(text) == 10 else datetime.datetime).fromisoformat(text)
        issued_elsewhere.record(
            book.connection,
            book.run,
            [(replace(LINE, ticket_no=f"99900000000{at:02}", number=f"77{at}", issued=day), "")],
            "chen",
        )
    assert [(line.number, str(line.issued)) for line in lines(book)] == [
        ("770", "2026-10-31"),
        ("771", "2026-10-31 23:59:59"),
    ]
    assert [line.number for line in lines(book, None)] == ["770", "771", "773", "772", "774"]
    assert register_lines(book.connection, "Asia/Shanghai", OCTOBER)[1] == 1
    (line,) = [line for line in lines(book) if line.number == "770"]
    assert (line.elsewhere, line.state, line.buyer, line.amount, line.row) == (True, "issued", "Acme", 700, 0)


def test_states_are_issued_unknown_and_reversed_and_nothing_else_is_listed(book: Book) -> None:
    at = "2026-10-15T00:00:00.000+00:00"
    issued(book, invoice(charge(1), charge(2)), at)
    issued(book, invoice(charge(3)), at, "unknown")
    issued(book, invoice(charge(4)), at, "rejected")
    issued(book, invoice(charge(5)), at, "not_sent")
    gone = issued(book, invoice(charge(6)), at)
    reversals.reverse(book.connection, reversals.SaidReversed(gone, "li", "red", red_number="R7"))
    book.plan(invoice(charge(7)))
    found = {line.ticket_no[-1]: (line.state, line.number != "", line.red_number) for line in lines(book)}
    assert found == {
        "1": ("issued", True, ""), "2": ("issued", True, ""), "3": ("unknown", False, ""), "6": ("reversed", True, "R7"),
    }  # fmt: skip


def test_what_is_being_sent_is_unknown(book: Book) -> None:
    issued(book, invoice(charge(1)), "", "sending")
    assert [line.state for line in lines(book, None)] == ["unknown"]


def test_what_a_statement_showed_first_and_an_attempt_issued_is_listed_once(book: Book) -> None:
    number = issued(book, invoice(charge(1)), "2026-10-15T00:00:00.000+00:00")
    line = replace(LINE, voucher="invoice", number=number, ticket_no="9990000000001", issued=OCTOBER[0])
    issued_elsewhere.record(book.connection, book.run, [(line, "")], "chen")
    other = replace(line, charge="refund")
    issued_elsewhere.record(book.connection, book.run, [(other, "")], "chen")
    assert [(line.charge, line.elsewhere) for line in lines(book)] == [
        ("refund", True),
        ("ticket_fare", False),
    ]


def test_a_charge_has_what_its_row_said_and_keeps_it_when_it_is_tried_again(book: Book) -> None:
    kept = ('{"fare": 10000}', '{"成本中心": "C1"}')
    request = invoice(charge(1))
    (attempt,) = planning.plan(
        book.connection, book.run, [request], {1: ("a.xlsx", "Tickets", 3)}, {1: kept}.__getitem__
    )
    book.state(attempt.attempt_id, "sending")
    book.state(attempt.attempt_id, "not_sent")
    again, _ = planning.plan_again(book.connection, attempt.attempt_id)
    book.state(again, "sending")
    (line,) = lines(book, None)
    assert (line.components, line.carried) == kept
    assert (line.passenger_name, line.buyer, line.tax_no) == ("ZHANG/WEI", HEADER.header_name, HEADER.tax_no)
    assert (line.file, line.sheet, line.row, line.run, line.request) == (
        "a.xlsx",
        "Tickets",
        3,
        book.run,
        request.request_id,
    )
    for column in ("passenger_name", "components", "carried"):
        with pytest.raises(Exception, match="a charge stays the one it is"):
            book.connection.execute(f"UPDATE charge SET {column} = 'x'")
