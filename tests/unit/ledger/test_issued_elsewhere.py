"""What a statement shows beyond this ledger is recorded once, and told like what the ledger holds itself."""

import datetime
from dataclasses import replace
from typing import Any

import apsw
import pytest

from pipeline.ledger import attempt_changes, held_charges, issued_elsewhere, settlements, ticket_rows
from pipeline.ledger.settlements import Settlement
from pipeline.model.evidence import StatementLine
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import NOTHING, to_text, verbatim
from pipeline.model.outcome import Outcome
from pipeline.model.request import Identity

FARE = Identity("9990000000001", "ticket_fare", "flight")
LINE = StatementLine(
    "itinerary", "20179525833603931965", FARE.ticket_no, FARE.charge, FARE.product, 617_25,
    datetime.datetime(2026, 10, 5, 9, 30, tzinfo=datetime.UTC), "Acme", verbatim("october.csv, row 7"), "october.csv",
)  # fmt: skip


def record(book: Any, *lines: StatementLine, wire: str = "FARE/Flight") -> list[StatementLine]:
    return issued_elsewhere.record(book.connection, book.run, [(line, wire) for line in lines], "chen")


def test_a_line_is_held_with_all_that_it_says(book: Any) -> None:
    assert record(book, LINE) == [LINE]
    (row,) = ticket_rows.issued_elsewhere(book.connection, FARE.ticket_no)
    found_at = row.pop("found_at")
    assert row == {
        "elsewhere": 1, "run": book.run, "ticket_no": FARE.ticket_no, "charge": "ticket_fare", "product": "flight",
        "wire": "FARE/Flight", "voucher": "itinerary", "number": "20179525833603931965", "amount": 617_25,
        "buyer": "Acme", "issued_at": "2026-10-05T09:30:00+00:00", "evidence": verbatim("october.csv, row 7"), "found_by": "chen",
        "live": 1, "withdrawn": 0, "withdrawn_by": None, "why": None, "withdrawn_at": None,
    }  # fmt: skip
    assert held_charges.holdings(book.connection, [FARE.ticket_no]).held == {
        FARE: KnownCharge(
            FARE, "FARE/Flight", "itinerary", "issued", "20179525833603931965", 617_25, "", "Acme", "", "", 0, 0,
            found_at, "", NOTHING, to_text(verbatim("october.csv, row 7")), "", 0, elsewhere=True, issued_at="2026-10-05T09:30:00+00:00",
        )
    }  # fmt: skip


def test_a_line_that_says_little_is_held_too(book: Any) -> None:
    bare = replace(LINE, charge="ancillary", product="", amount=None, issued=None, buyer="")
    record(book, bare, wire="")
    (row,) = ticket_rows.issued_elsewhere(book.connection, FARE.ticket_no)
    assert (row["product"], row["wire"], row["amount"], row["issued_at"], row["buyer"]) == (
        "",
        "",
        None,
        "",
        "",
    )
    (holding,) = held_charges.holdings(book.connection, [FARE.ticket_no]).held.values()
    assert (holding.amount, holding.issued_at, holding.elsewhere) == (0, "", True)


def test_the_same_line_of_the_next_statement_is_no_second_one(book: Any) -> None:
    record(book, LINE)
    again = replace(
        LINE, place=verbatim("november.csv, row 1"), statement="november.csv", amount=1_00, issued=None
    )
    assert record(book, again) == []
    assert record(book, LINE, LINE) == []
    other = replace(LINE, number="another")
    assert record(book, other, other) == [other]
    assert [
        str(row["evidence"]) for row in ticket_rows.issued_elsewhere(book.connection, FARE.ticket_no)
    ] == ["october.csv, row 7"] * 2


def test_the_lines_after_one_that_is_held_already_are_held_too(book: Any) -> None:
    record(book, LINE)
    new = replace(LINE, number="new")
    assert record(book, LINE, new, LINE) == [new]
    found = ticket_rows.issued_elsewhere(book.connection, FARE.ticket_no)
    assert [row["number"] for row in found] == [LINE.number, "new"]


def test_what_the_ledger_has_itself_goes_before_what_a_statement_showed(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    book.state(attempt.attempt_id, "issued", "26001")
    record(book, LINE)
    held = held_charges.holdings(book.connection, [FARE.ticket_no]).held
    assert (held[FARE].number, held[FARE].elsewhere) == ("26001", False)


def test_of_two_vouchers_of_one_charge_the_one_that_was_found_last_is_told(book: Any) -> None:
    record(book, replace(LINE, number="2"), replace(LINE, number="1"))
    assert held_charges.holdings(book.connection, [FARE.ticket_no]).held[FARE].number == "1"


INVOICE = replace(LINE, voucher="invoice", number="I1")
REFUND = replace(LINE, charge="refund", number="R1")
SEAT = replace(LINE, charge="ancillary", product="seat", number="S1")


@pytest.mark.parametrize(
    ("lines", "both"),
    [
        ((LINE, INVOICE), True),  # one charge, so that one of them alone is told as held
        ((INVOICE, REFUND), True),
        ((LINE, replace(REFUND, voucher="invoice")), True),
        ((LINE, REFUND), False),
        ((INVOICE, replace(INVOICE, number="I2")), False),
        ((SEAT, INVOICE), False),
        ((SEAT, replace(SEAT, voucher="invoice", number="S2")), False),
        ((LINE, replace(INVOICE, ticket_no="9990000000002")), False),
        ((), False),
    ],
)
def test_a_ticket_whose_fare_and_refund_are_on_both_kinds_of_voucher_is_told(
    book: Any, lines: tuple[StatementLine, ...], both: bool
) -> None:
    record(book, *lines)
    told = held_charges.holdings(book.connection, [FARE.ticket_no, "9990000000002"]).both_kinds
    assert told == ({FARE.ticket_no} if both else set())


def test_what_the_ledger_issued_and_what_a_statement_shows_are_both_kinds_too(book: Any, fare: Any) -> None:
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    book.state(attempt.attempt_id, "issued", "26001")
    assert held_charges.holdings(book.connection, [FARE.ticket_no]).both_kinds == frozenset()
    record(book, REFUND)
    assert held_charges.holdings(book.connection, [FARE.ticket_no]).both_kinds == {FARE.ticket_no}


def test_lines_are_held_together_or_not_at_all(book: Any) -> None:
    with pytest.raises(apsw.ConstraintError, match="recorded whole"):
        record(book, LINE, replace(LINE, ticket_no="9990000000002", number=""))
    assert ticket_rows.issued_elsewhere(book.connection, FARE.ticket_no) == []


def test_only_the_tickets_that_are_asked_for_are_told_of(book: Any) -> None:
    other = replace(LINE, ticket_no="9990000000002", number="another")
    record(book, LINE, other)
    assert set(held_charges.holdings(book.connection, ["9990000000002"]).held) == {
        Identity("9990000000002", "ticket_fare", "flight")
    }
    assert held_charges.holdings(book.connection, ["9990000000003"]).held == {}
    assert ticket_rows.issued_elsewhere(book.connection, "9990000000003") == []


def test_what_earlier_statements_showed_is_given_as_the_lines_that_it_was(book: Any) -> None:
    undated = replace(LINE, charge="ancillary", product="", amount=None, issued=None, buyer="")
    dated = replace(LINE, voucher="invoice", number="77", issued=datetime.date(2026, 9, 30))
    other = replace(LINE, ticket_no="9990000000002", number="78")
    unasked = replace(LINE, ticket_no="9990000000003", number="79")
    record(book, other, unasked, undated, dated, LINE)
    # Of the day alone the ledger can be sure, and the file that it came from is named by the place.
    of_a_day = {"issued": datetime.date(2026, 10, 5), "statement": ""}
    found = issued_elsewhere.lines_of(book.connection, {"9990000000002", FARE.ticket_no, "9990000000004"})
    assert found[-1] == replace(other, **of_a_day)
    assert sorted(found[:-1], key=lambda line: (line.number, line.charge)) == [
        replace(undated, statement=""), replace(LINE, **of_a_day), replace(dated, statement=""),
    ]  # fmt: skip


def test_a_number_that_a_statement_showed_for_another_ticket_is_nobody_s_here(book: Any, fare: Any) -> None:
    record(book, replace(LINE, ticket_no="9990000000002", number="77"))
    attempts = [book.plan(fare(of))[0] for of in (1, 3)]
    for attempt in attempts:
        book.state(attempt.attempt_id, "sending")
    record(book, replace(LINE, number="78", voucher="invoice"))  # only now, or it would hold it
    with pytest.raises(apsw.ConstraintError):
        book.state(attempts[0].attempt_id, "issued", "77")
    # A group is written as a set, which asks the database alone.
    group = [
        attempt_changes.Ended(one.attempt_id, Outcome("issued", number=f"7{7 + at}"))
        for at, one in enumerate(attempts)
    ]
    done = book.write(*group)
    assert [(one.state, str(one.detail)) for one in done] == [
        ("unknown", "the answer brings number 77, which a statement showed for ticket 9990000000002"),
        ("unknown", f"the answer brings number 78, which a statement showed for ticket {FARE.ticket_no}"),
    ]
    with pytest.raises(apsw.ConstraintError):
        settlements.settle(
            book.connection, attempts[0].attempt_id, Settlement("issued", "77", "chen", "seen")
        )
    settlements.settle(book.connection, attempts[0].attempt_id, Settlement("issued", "78", "chen", "seen"))


def test_a_number_leads_to_every_ticket_that_statements_show_under_it(book: Any, fare: Any) -> None:
    second = replace(LINE, ticket_no="9990000000002")
    record(book, LINE, second, replace(LINE, ticket_no="9990000000003", number="another"))
    shown = issued_elsewhere.lines_of(book.connection, [LINE.number, LINE.number])
    assert [line.ticket_no for line in shown] == [FARE.ticket_no, second.ticket_no]
    assert issued_elsewhere.lines_of(book.connection, [FARE.ticket_no, LINE.number]) == shown
    assert issued_elsewhere.lines_of(book.connection, [LINE.number[:-1]]) == []
    (attempt,) = book.plan(fare(1))
    assert issued_elsewhere.other_ticket(book.connection, LINE.number, attempt.attempt_id) == second.ticket_no
    assert issued_elsewhere.other_ticket(book.connection, LINE.number[:-1], attempt.attempt_id) == ""
