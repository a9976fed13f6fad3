"""What the database refuses in what a run notes: elsewhere, judgement, handled, run_person, received_file; and in charge.content."""

from dataclasses import replace
from typing import Any

import apsw
import pytest

from pipeline.ledger import (
    inbox_files,
    issued_elsewhere,
    judgements,
    received_files,
    run_people,
    runs,
)
from pipeline.ledger.inbox_files import Handled
from pipeline.ledger.judgements import Judgement
from pipeline.ledger.run_people import RunPerson
from pipeline.model.evidence import StatementLine
from pipeline.model.itinerary_file import CheckedFile, CollectedFile, FileStatus, SealStatus

from .conftest import charge, invoice

TABLES = ("elsewhere", "judgement", "handled", "run_person", "received_file")
EITHER = ("", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ROLLBACK", "OR ABORT")
FARE_1 = StatementLine(
    "invoice",
    "N1",
    "9990000000001",
    "ticket_fare",
    "flight",
    100_00,
    None,
    "",
    "statement.csv, row 2",
    "statement.csv",
)


def listed(book: Any, *lines: StatementLine, wire: str = "") -> None:
    issued_elsewhere.record(book.connection, book.run, [(line, wire) for line in lines], "chen")


@pytest.fixture
def filled(book: Any) -> Any:
    """A ledger with one row in each of these tables, and a run that is on."""
    listed(book, FARE_1)
    judged = Judgement(
        "9990000000001", "ticket_fare", "flight", "invoice", 100_00, "waiting", "ticket_still_open",
        "tickets.xlsx", "Tickets", 2,
    )  # fmt: skip
    judgements.note(book.connection, book.run, [judged])
    inbox_files.record(book.connection, book.run, Handled("ab12", "tickets", "october.xlsx", "", "f1", True))
    run_people.note(book.connection, book.run, [RunPerson("sent", "li")])
    strange = CheckedFile(("a.ofd",), "ab" * 32, None, SealStatus.NONE)
    received_files.note(book.connection, book.run, [CollectedFile(strange, FileStatus.UNREADABLE)])
    return book


def contents(book: Any) -> list[list[tuple[Any, ...]]]:
    return [
        list(book.connection.execute(f"SELECT * FROM {table}"))
        for table in (*TABLES, "run", "attempt", "charge")
    ]


def refused(book: Any, statement: str) -> None:
    """The statement is refused, and nothing is changed."""
    before = contents(book)
    with pytest.raises(apsw.ConstraintError):
        book.connection.execute(statement)
    assert contents(book) == before


def columns(book: Any, table: str) -> list[str]:
    return [row[1] for row in book.connection.execute(f"PRAGMA table_info({table})")]


@pytest.mark.parametrize("either", EITHER)
@pytest.mark.parametrize("table", TABLES)
def test_no_column_of_a_row_changes_be_it_by_its_rowid(filled: Any, table: str, either: str) -> None:
    for column in columns(filled, table):
        refused(filled, f"UPDATE {either} {table} SET {column} = {column} || '1'")
    for name in ("rowid", "_rowid_", "oid"):
        refused(filled, f"UPDATE {either} {table} SET {name} = 4711")
    refused(filled, f"UPDATE {either} {table} SET {columns(filled, table)[3]} = {columns(filled, table)[3]}")


@pytest.mark.parametrize("switches", ["", "PRAGMA recursive_triggers = ON", "PRAGMA foreign_keys = OFF"])
@pytest.mark.parametrize("either", EITHER)
@pytest.mark.parametrize("table", TABLES)
def test_no_row_is_written_over(filled: Any, table: str, either: str, switches: str) -> None:
    filled.connection.execute(switches)
    names = columns(filled, table)
    for key in (names[0], f"{names[0]} AS rowid"):
        others = ", ".join(f"{name} || 'x'" if name in ("number", "evidence") else name for name in names[1:])
        refused(filled, f"INSERT {either} INTO {table} SELECT {key}, {others} FROM {table}")
    rest = ", ".join(names[1:])
    refused(filled, f"INSERT {either} INTO {table} (rowid, {rest}) SELECT rowid, {rest} FROM {table}")


@pytest.mark.parametrize("table", TABLES)
def test_no_row_is_changed_by_an_upsert(filled: Any, table: str) -> None:
    names = columns(filled, table)
    for target in ("", f"({names[0]})"):
        refused(
            filled,
            f"INSERT INTO {table} SELECT {', '.join(names)} FROM {table} WHERE true"
            f" ON CONFLICT {target} DO UPDATE SET {names[-1]} = 'x'",
        )


@pytest.mark.parametrize("table", TABLES)
def test_no_row_is_deleted(filled: Any, table: str) -> None:
    refused(filled, f"DELETE FROM {table}")
    refused(filled, f"DELETE FROM {table} WHERE rowid = 1")


@pytest.mark.parametrize("either", EITHER)
def test_what_a_statement_showed_is_held_once_also_under_another_key(filled: Any, either: str) -> None:
    rest = ", ".join(name if name != "evidence" else "'another'" for name in columns(filled, "elsewhere")[1:])
    refused(filled, f"INSERT {either} INTO elsewhere SELECT NULL, {rest} FROM elsewhere")
    refused(filled, f"INSERT {either} INTO elsewhere SELECT 4711, {rest} FROM elsewhere")


@pytest.mark.parametrize("checks", ["ON", "OFF"])
@pytest.mark.parametrize(
    "changed",
    [
        {"number": "''"},
        {"evidence": "''"},
        {"found_by": "''"},
        {"charge": "'fee'", "number": "'N9'"},
        {"voucher": "'receipt'", "number": "'N9'"},
        {"run": "4711", "number": "'N9'"},
    ],
)
def test_what_a_statement_showed_says_all_that_it_must(
    filled: Any, changed: dict[str, str], checks: str
) -> None:
    filled.connection.execute(f"PRAGMA ignore_check_constraints = {checks}; PRAGMA foreign_keys = OFF")
    values = ", ".join(changed.get(name, name) for name in columns(filled, "elsewhere")[1:])
    refused(filled, f"INSERT OR REPLACE INTO elsewhere SELECT NULL, {values} FROM elsewhere")


@pytest.mark.parametrize("table", TABLES)
def test_only_a_run_that_is_on_writes_to_them(filled: Any, table: str) -> None:
    runs._end_run(filled.connection, filled.run, 0)
    names = ", ".join("number || '2'" if name == "number" else name for name in columns(filled, table)[1:])
    refused(filled, f"INSERT INTO {table} SELECT NULL, {names} FROM {table}")
    filled.connection.execute("PRAGMA foreign_keys = OFF")
    unknown = names.replace("run,", "4711,", 1)
    refused(filled, f"INSERT INTO {table} SELECT NULL, {unknown} FROM {table}")


def test_a_file_is_of_a_known_kind(filled: Any) -> None:
    for wrong in ("kind = 'letter'", "unfinished = 2"):
        column, value = wrong.split(" = ")
        values = ", ".join(value if name == column else name for name in columns(filled, "handled")[1:])
        refused(filled, f"INSERT INTO handled SELECT NULL, {values} FROM handled")


@pytest.mark.parametrize("either", EITHER)
@pytest.mark.parametrize("wrong", [("role", "'watched'"), ("person", "''")])
def test_who_had_a_hand_has_a_name_and_a_known_role(filled: Any, wrong: tuple[str, str], either: str) -> None:
    filled.connection.execute("PRAGMA ignore_check_constraints = ON")
    values = ", ".join(dict([wrong]).get(name, name) for name in columns(filled, "run_person")[1:])
    refused(filled, f"INSERT {either} INTO run_person SELECT NULL, {values} FROM run_person")


@pytest.mark.parametrize("either", EITHER)
@pytest.mark.parametrize("state", ["planned", "sending", "issued", "rejected", "not_sent", "unknown"])
def test_what_was_asked_for_a_charge_stays_in_every_state(
    book: Any, fare: Any, state: str, either: str
) -> None:
    (attempt,) = book.plan(fare(1))
    for step in () if state == "planned" else ("sending", state):
        if step not in book.states().values():
            book.state(attempt.attempt_id, step, "1" if step == "issued" else "")
    for value in ("''", "content || 'x'", "NULL", "content"):
        refused(book, f"UPDATE {either} charge SET content = {value}")
    refused(
        book, "INSERT INTO charge SELECT * FROM charge WHERE true ON CONFLICT DO UPDATE SET content = 'x'"
    )
    changed = ", ".join(name if name != "content" else "'x'" for name in columns(book, "charge"))
    refused(book, f"INSERT {either} INTO charge SELECT {changed} FROM charge")


# --- what is issued elsewhere is held ---------------------------------------------------------------


@pytest.mark.parametrize("either", EITHER)
def test_a_charge_that_is_issued_elsewhere_is_not_sent(book: Any, fare: Any, either: str) -> None:
    (attempt,) = book.plan(fare(1))
    listed(book, FARE_1)
    with pytest.raises(apsw.ConstraintError, match="issued a charge of it elsewhere"):
        book.connection.execute(f"UPDATE {either} attempt SET state = 'sending', sending_at = 'now'")
    assert book.states() == {attempt.attempt_id: "planned"}


def sends(book: Any, request: Any) -> bool:
    """Whether the database lets a request be sent."""
    (attempt,) = book.plan(request)
    try:
        book.state(attempt.attempt_id, "sending")
    except apsw.ConstraintError:
        return False
    return True


def test_an_invoice_of_several_is_held_by_any_of_its_charges(book: Any, several: Any) -> None:
    listed(book, FARE_1)
    assert not sends(book, several(2, 1, 3))
    assert sends(book, several(2, 3))


def test_another_ticket_or_charge_is_free(book: Any, fare: Any, refund: Any) -> None:
    listed(book, FARE_1)
    assert sends(book, fare(2))
    assert sends(book, refund(1))  # the same kind of voucher


@pytest.mark.parametrize(("product", "held"), [("seat", True), ("baggage", False), ("", True)])
def test_a_line_without_a_product_holds_every_product(
    book: Any, ancillary: Any, product: str, held: bool
) -> None:
    listed(book, replace(FARE_1, charge="ancillary", product=product))
    assert sends(book, ancillary("seat", "Seat")) is not held


def test_a_line_without_a_product_holds_no_other_charge(book: Any, fare: Any) -> None:
    listed(book, replace(FARE_1, charge="ancillary", product=""))
    assert sends(book, fare(1))


@pytest.mark.parametrize(("wire", "held"), [("EXTRA/Other", True), ("EXTRA/Meal", False), ("", False)])
def test_charges_that_the_carrier_can_not_tell_apart_are_held_together(
    book: Any, ancillary: Any, wire: str, held: bool
) -> None:
    listed(book, replace(FARE_1, charge="ancillary", product="meal"), wire=wire)
    assert sends(book, ancillary("lounge", "Other")) is not held


def test_charges_without_a_code_are_not_one_for_that(book: Any) -> None:
    listed(book, replace(FARE_1, charge="ancillary", product="meal"), wire="")
    assert sends(book, invoice(replace(charge(1, "ancillary", "lounge"), wire=None)))


@pytest.mark.parametrize(
    ("elsewhere_charge", "elsewhere_voucher", "held"),
    [
        ("ticket_fare", "itinerary", True),
        ("ticket_fare", "invoice", False),
        ("ancillary", "itinerary", False),
    ],
)
def test_a_ticket_has_one_kind_of_voucher_also_with_what_was_issued_elsewhere(
    book: Any, refund: Any, elsewhere_charge: str, elsewhere_voucher: str, held: bool
) -> None:
    product = "meal" if elsewhere_charge == "ancillary" else "flight"
    listed(book, replace(FARE_1, charge=elsewhere_charge, product=product, voucher=elsewhere_voucher))
    assert sends(book, refund(1)) is not held


def test_an_ancillary_charge_is_free_of_the_kind_of_voucher(book: Any, ancillary: Any) -> None:
    listed(book, replace(FARE_1, voucher="itinerary"))
    assert sends(book, ancillary("seat", "Seat"))


def test_what_is_under_way_is_not_disturbed(book: Any, fare: Any) -> None:
    """The statement came while the answer was awaited: the outcome is recorded as it is."""
    (attempt,) = book.plan(fare(1))
    book.state(attempt.attempt_id, "sending")
    listed(book, FARE_1)
    book.state(attempt.attempt_id, "issued", "N2")
    assert book.states() == {attempt.attempt_id: "issued"}
