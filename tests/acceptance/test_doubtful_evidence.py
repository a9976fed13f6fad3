"""Evidence that could be another voucher's: it settles nothing, lets nothing go, and is told."""

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.acceptance.conftest import Desk
from tests.acceptance.english import english
from tests.acceptance.office import ALL, LOST_AFTER, LOST_BEFORE, Office, answered
from tests.moved_clock import needs_compiler

Make = Callable[..., Any]
Line = dict[str, str]
FREE = "20999999999999999999"
SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-10-01", "voucher": "invoice"}


def red(line: Line, number: str, **changes: str) -> Line:
    """The line of a voucher `number` that reverses another."""
    return {
        **line,
        "number": number,
        "original_number": line["number"],
        "amount": f"-{line['amount']}",
        **changes,
    }


def problems(office: Office) -> list[tuple[str, str]]:
    return [(problem["code"], problem["message"]) for problem in office.report()["problems"]]


def in_chinese(office: Office, given: Any) -> bool:
    """Whether all is told in Chinese, but for the name of a sheet."""
    shown = office.reconcile("--statement", given, "--lang", "zh").err
    assert english(shown.replace("Not ours", "")) == [], shown
    return True


def reverse(office: Office, number: str, *more: str) -> Any:
    said = ("--by", "Li", "--evidence", "red invoice of 3 Dec", *more)
    return office.desk.voucher("ledger", "reverse", number, *office.common[2:], *said)


def held(office: Office, book: Any, name: str = "check.json") -> list[str]:
    office.desk.voucher("check", book, *office.common, "--as-of", "2026-11-20", "--report", name)
    return [row["status"] for row in office.desk.report(name)["rows"]]


# --- what reverses a voucher -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_voucher_of_ours_reverses_none(desk: Desk, sandbox: Make, workbook: Make, tickets: Make) -> None:
    book = workbook(tickets(2))
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 0
        first, second = carrier.issued()
        for number in (second["number"], first["number"]):
            for lang in ("en", "zh"):
                ran = reverse(office, first["number"], "--red-number", number, "--lang", lang)
                assert ran.code == 2, ran.err
                assert number in ran.err
                assert lang == "en" or english(ran.err) == []
            # A red line that says so is as wrong.
            given = office.statement("red.csv", [first, second, red(first, number)])
            ran = office.reconcile("--statement", given)
            assert ran.code == 1, ran.err
            ((code, message),) = problems(office)
            assert code == "reversal"
            assert number in message
            assert in_chinese(office, given)
        assert held(office, book) == ["already_issued"] * 2


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("lost", [LOST_AFTER, LOST_BEFORE])
def test_a_voucher_that_is_listed_under_the_number_of_a_red_one_is_told_and_settles_nothing(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make, lost: str
) -> None:
    book, other = workbook(tickets(6)), workbook([{"ticket_no": "9990000000009"}], name="other.xlsx")
    with sandbox(workbook([*tickets(6), {"ticket_no": "9990000000009"}], name="all.xlsx"), faults=f"{lost}requests = [3]\n") as carrier:  # fmt: skip
        office = Office(desk, carrier)
        assert office.issue(book, hours_ago=6).code == 4
        lines = carrier.issued()
        listed = {line["ticket_no"] for line in lines}
        if lost is LOST_AFTER:  # the number of the very voucher whose answer was lost
            number = lines[2]["number"]
        else:  # one that the carrier gave to a ticket of another office's
            number = FREE
            lines = [*lines, {**lines[0], "ticket_no": "9990000000009", "number": FREE}]
        assert len(listed) == (6 if lost is LOST_AFTER else 5)
        assert reverse(office, lines[0]["number"], "--red-number", number).code == 0
        given = office.statement("s.csv", lines)
        ran = office.reconcile("--statement", given, *ALL)
        assert ran.code == (4 if lost is LOST_AFTER else 1), ran.err
        told = [message for _, message in problems(office) if "R1" in message]
        assert len(told) == 1, problems(office)
        assert number in told[0]
        if lost is LOST_AFTER:
            assert office.report()["settled"] == []
            assert office.issue(book).code == 4
        assert in_chinese(office, given)
        assert held(office, other) == ["ready" if lost is LOST_AFTER else "already_issued"]
        assert carrier.twice() == []


@pytest.mark.slow
def test_a_reversed_voucher_under_a_number_of_the_statement_s_own_is_not_the_next_one(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    rows = [{**row, "buyer": ("ACME", "Li Na")[at % 2], "market": ("domestic", "international")[at // 2]} for at, row in enumerate(tickets(4, voucher="invoice"))]  # fmt: skip
    book = workbook(rows)
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 0
        port = int(carrier.base_url.rsplit(":", 1)[1])
        first = carrier.issued()[0]
        assert reverse(office, first["number"]).code == 0
    with sandbox(book, port=port, faults=f"{LOST_BEFORE}requests = [1]\n") as carrier:
        assert office.issue(book).code == 4
        own = [{**line, "number": f"26{line['number']}"} for line in carrier.issued()]
        assert len(own) == 4
        given = office.statement("s.csv", own)
        for _ in range(2):  # what it showed before counts no more the second time
            assert office.reconcile("--statement", given).code == 4
            assert office.report()["settled"] == []
            assert [code for code, message in problems(office) if first["number"] in message] == [
                "contradiction"
            ]
        assert in_chinese(office, given)
        (mine,) = [line for line in own if line["number"].endswith(first["number"])]
        # Said to be the old one, it is of no account.
        assert reverse(office, mine["number"]).code == 0
        office.reconcile("--statement", given)
        assert not [message for _, message in problems(office) if first["number"] in message]


@pytest.mark.slow
def test_a_gap_is_closed_by_a_statement_of_its_time_alone_that_was_read_whole(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    """What the ledger lacks stands on a line that can't be read, and is held by nothing."""
    first, second = workbook(tickets(1), name="first.xlsx"), workbook(tickets(2)[1:], name="second.xlsx")
    with sandbox(workbook(tickets(2))) as carrier:
        office = Office(desk, carrier)
        assert office.issue(first).code == 0
        assert desk.voucher("ledger", "backup", "kept.ledger", *office.common[2:]).code == 0
        assert office.issue(second).code == 0
        office.common = (*office.common[:3], desk.folder / "kept.ledger")
        lines = carrier.issued()
        close = ("ledger", "close-gap", *office.common[2:], "--by", "chen", "--evidence", "the statement")
        early = office.statement("early.csv", lines[:1])
        os.utime(early, (1_700_000_000, 1_700_000_000))
        office.reconcile("--statement", early)
        closed = desk.voucher(*close)
        assert (closed.code, "given no statement since the gap was found" in closed.err) == (2, True)
        office.reconcile(
            "--statement", office.statement("s.csv", [lines[0], {**lines[1], "ticket_no": "999"}])
        )
        closed = desk.voucher(*close)
        assert closed.code == 2
        assert "could not read all of s.csv, and what it did not read is not held" in closed.err
        office.reconcile("--statement", office.statement("s.csv", lines))
        closed = desk.voucher(*close)
        assert closed.code == 0, closed.err
        assert "charges held since as a statement showed them: 1" in closed.err
        assert held(office, second) == ["already_issued"]
        # One that was named is no file of the inbox that is done with.
        inbox, outbox = desk.folder / "in", desk.folder / "out"
        inbox.mkdir()
        outbox.mkdir()
        office.statement("in/s.csv", lines)
        os.utime(inbox / "s.csv", (time.time() - 600, time.time() - 600))
        office.reconcile("--inbox", inbox, "--outbox", outbox)
        assert list(outbox.iterdir()) != []


@pytest.mark.slow
def test_what_a_statement_with_mixed_up_numbers_shows_stays_held_when_one_of_them_is_reversed(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    first, second = workbook(tickets(1), name="first.xlsx"), workbook(tickets(2)[1:], name="second.xlsx")
    with sandbox(workbook(tickets(2))) as carrier:
        office = Office(desk, carrier)
        assert office.issue(first).code == 0
        assert desk.voucher("ledger", "backup", "kept.ledger", *office.common[2:]).code == 0
        assert office.issue(second).code == 0
        office.common = (*office.common[:3], desk.folder / "kept.ledger")
        lines = carrier.issued()
        lines[0]["number"], lines[1]["number"] = lines[1]["number"], lines[0]["number"]
        assert office.reconcile("--statement", office.statement("s.csv", lines)).code == 1
        said = ("--by", "chen", "--evidence", "the statement")
        assert desk.voucher("ledger", "close-gap", *office.common[2:], *said).code == 0
        assert held(office, second) == ["already_issued"]
        assert reverse(office, lines[1]["number"]).code == 0
        # By the statement the first ticket has another voucher, too.
        assert (held(office, first), held(office, second)) == (["already_issued"], ["already_issued"])
        office.issue(second)
        assert carrier.twice() == []


# --- whose line it is --------------------------------------------------------------------------------------


@pytest.mark.slow
@needs_compiler
def test_an_ancillary_charge_without_its_product_settles_nothing(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    rows = [{**row, **SEAT, "market": ("domestic", "international")[at % 2]} for at, row in enumerate(tickets(5))]  # fmt: skip
    book = workbook(rows)
    meal = workbook([{**tickets(1)[0], **SEAT, "product": "meal"}], name="meal.xlsx")
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [1]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book, hours_ago=6).code == 4
        (doubt,) = [one for one in desk.report("issue.json")["requests"] if one["status"] == "unknown"]
        listed = [{k: v for k, v in line.items() if k != "product"} for line in carrier.issued()]
        unsaid = {**listed[0], "ticket_no": "9990000000001", "number": "179525952880229398"}
        given = office.statement("s.csv", [*listed, unsaid])
        assert office.reconcile("--statement", given, *ALL).code == 4
        assert office.report()["settled"] == []
        assert doubt["rows"]
        ambiguous = [message for code, message in problems(office) if code == "ambiguous"]
        assert len(ambiguous) == 1
        assert "9990000000001" in ambiguous[0]
        assert in_chinese(office, given)
        # Whichever it is: none of that ticket's is sent.
        assert held(office, meal) == ["already_issued"]
        # Its number, known from a person, is enough, and then it stands for no other.
        newest = desk.folder / "tickets.result.xlsx"
        told = answered(newest, "issued", unsaid["number"])
        ran = office.reconcile("--resolved", told, "--statement", given)
        assert [one["number"] for one in office.report()["settled"]] == [unsaid["number"]], ran.err


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [True, False])
def test_a_number_that_a_statement_shows_for_another_ticket_is_not_taken_from_anybody(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make, *, at_once: bool
) -> None:
    book = workbook(tickets(1, voucher="invoice"))
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [1]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        number = "179525952880229398"
        stranger = {"票号": "9997777777777", "发票号码": number, "费用": "机票款"}
        shown: Sequence[Any] = ("--statement", office.statement("others.csv", [stranger]))
        if at_once:
            said = ("--resolved", answered(desk.folder / "tickets.result.xlsx", "issued", number))
        else:  # by another statement, that has the same number for ours
            assert office.reconcile(*shown).code == 4
            ours = {**stranger, "票号": "9990000000001"}
            said, shown = ("--statement", office.statement("ours.csv", [ours])), ()
        assert office.reconcile(*shown, *said).code == 4
        assert office.report()["settled"] == []
        assert [code for code, message in problems(office) if number in message] == ["contradiction"]


@pytest.mark.slow
def test_the_number_of_a_red_line_that_could_not_be_recorded_settles_nothing(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    book = workbook(tickets(2))
    with sandbox(book, faults=f"{LOST_AFTER}requests = [2]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        first, second = carrier.issued()
        stranger = red({**first, "number": FREE}, second["number"])
        given = office.statement("s.csv", [first, second, stranger])
        assert office.reconcile("--statement", given).code == 4
        assert office.report()["settled"] == []
        assert "contradiction" in [code for code, message in problems(office) if second["number"] in message]


# --- while a ledger may lack something ---------------------------------------------------------------------


@pytest.mark.slow
def test_numbers_of_an_odd_shape_hold_their_charges_while_a_gap_is_open(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    first, book = workbook(tickets(1), name="first.xlsx"), workbook(tickets(3))
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        assert office.issue(first).code == 0
        assert desk.voucher("ledger", "backup", "kept.ledger", *office.common[2:]).code == 0
        assert office.issue(book).code == 0
        office.common = (*office.common[:3], desk.folder / "kept.ledger")
        # A number of the service's for one of what was lost, and one in the carrier's own way for the other.
        lines = carrier.issued()
        lines[2]["number"] = f"E-{lines[2]['number'][-8:]}"
        given = office.statement("s.csv", lines)
        ran = office.reconcile("--statement", given)
        assert ran.code == 1, ran.err
        told = [message for code, message in problems(office) if code == "misread"]
        assert len(told) == 1
        assert "is held" in told[0]
        assert in_chinese(office, given)
        said = ("--by", "chen", "--evidence", "the statement")
        assert desk.voucher("ledger", "close-gap", *office.common[2:], *said).code == 0
        assert held(office, book) == ["already_issued"] * 3
        office.issue(book)
        assert carrier.twice() == []
        assert len(carrier.issued()) == 3
        # With nothing missing, a list of something else holds nothing.
        more = workbook([{"ticket_no": "9990000000007"}], name="more.xlsx")
        listed = {**lines[0], "ticket_no": "9990000000007", "number": "E-77777777"}
        office.reconcile("--statement", office.statement("list.csv", [listed]))
        assert held(office, more) == ["ready"]


# --- words -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_part_that_was_reversed_is_told_as_one(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    book = workbook(tickets(2))
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 0
        first, second = carrier.issued()
        lines = [
            {**first, "status": ""},
            {**second, "status": ""},
            red(first, FREE, status="部分红冲"),
            red(second, f"{FREE[:-1]}8", status="Fully reversed"),
        ]
        given = office.statement("s.csv", lines)
        office.reconcile("--statement", given)
        ((code, message),) = problems(office)
        assert code == "misread"
        assert "a part of a voucher" in message
        assert "voucher ledger reverse" in message
        assert "is not a voucher's number" not in message
        assert any(f"{second['number']} was reversed" in note for note in office.report()["warnings"])
        zh = office.reconcile("--statement", given, "--lang", "zh")
        assert english(zh.err) == []
        assert "部分" in zh.err
        assert sorted(held(office, book)) == ["already_issued", "ready"]
