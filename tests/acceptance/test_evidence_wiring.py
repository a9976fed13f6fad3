"""What the parts of a reconciliation hand each other: each value is seen in what comes of it."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.acceptance.conftest import Desk
from tests.acceptance.office import ALL, COMPLETE, LOST_AFTER, LOST_BEFORE, MADE, TODAY, Office, answered
from tests.moved_clock import needs_compiler

Make = Callable[..., Any]
OTHER = "179525952880229398"


@pytest.mark.slow
@pytest.mark.parametrize("by_answer", [False, True])
def test_a_number_that_another_voucher_has_settles_nothing(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make, *, by_answer: bool
) -> None:
    book = workbook(tickets(3))
    with sandbox(book, faults=f"{LOST_AFTER}requests = [2]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        first, doubtful, _ = carrier.issued()
        # The number of a voucher of ours, which stands on no statement of this reconciliation.
        if by_answer:
            given: tuple[Any, ...] = (
                "--resolved",
                answered(desk.folder / "tickets.result.xlsx", "issued", first["number"]),
            )
        else:
            given = ("--statement", office.statement("s.csv", [{**doubtful, "number": first["number"]}]))
        assert office.reconcile(*given).code == 4
        assert office.report()["settled"] == []
        (problem,) = office.report()["problems"]
        assert (problem["code"], "another request" in problem["message"]) == ("contradiction", True)
        # A statement's line is remembered, and weighed again with nothing new.
        assert office.reconcile().code == 4
        assert [one["code"] for one in office.report()["problems"]] == [] if by_answer else ["contradiction"]


@pytest.mark.slow
def test_a_number_that_the_same_answers_give_to_a_request_that_is_settled_settles_no_other(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    with sandbox(book := workbook(tickets(3)), faults=f"{LOST_AFTER}requests = [2, 3]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        result, theirs = desk.folder / "tickets.result.xlsx", carrier.issued()
        one = answered(result, "issued", theirs[1]["number"])
        sheet = (half := openpyxl.load_workbook(one))["Unknown"]
        sheet.delete_rows(3)
        half.save(one)
        assert office.reconcile("--resolved", one).code == 4
        assert [done["number"] for done in office.report()["settled"]] == [theirs[1]["number"]]
        # All answers again, with a number that can be of one of the two.
        assert office.reconcile("--resolved", answered(result, "issued", OTHER)).code == 4
        assert office.report()["settled"] == []
        stale, problem = office.report()["problems"]
        assert [stale["code"], problem["code"]] == ["stale", "contradiction"]
        settled = desk.report("issue.json")["requests"][1]["request"]
        assert f"another request ({settled}) has that number" in problem["message"]


@pytest.mark.slow
def test_what_earlier_statements_showed_is_weighed_with_what_is_said_today(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    book = workbook([*tickets(2, voucher="invoice"), {"ticket_no": "9990000000003"}])
    with sandbox(book, faults=f"{LOST_AFTER}requests = [1, 2]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        lines = carrier.issued()
        of_invoice = next(line for line in lines if line["voucher"] == "invoice")
        # Half of an invoice is listed: the carrier is known to have issued it from then on.
        assert office.reconcile("--statement", office.statement("half.csv", [of_invoice])).code == 4
        assert office.report()["settled"] == []
        result = desk.folder / "tickets.result.xlsx"
        ran = office.reconcile("--resolved", answered(result, "not issued"))
        assert ran.code == 4
        assert [one["status"] for one in office.report()["settled"]] == ["not_sent"], "the itinerary's"
        assert "contradiction" in [p["code"] for p in office.report()["problems"]]
        # The number that was shown for its own ticket is no other request's.
        office.reconcile("--resolved", answered(result, "issued", of_invoice["number"]))
        assert [one["number"] for one in office.report()["settled"]] == [of_invoice["number"]]


@pytest.mark.slow
def test_a_number_that_an_earlier_statement_showed_for_another_ticket_settles_nothing(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    book = workbook(tickets(1, voucher="invoice"))
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [1]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        stranger = {"票号": "9997777777777", "发票号码": OTHER, "费用": "机票款"}
        assert office.reconcile("--statement", office.statement("others.csv", [stranger])).code == 4
        ran = office.reconcile("--resolved", answered(desk.folder / "tickets.result.xlsx", "issued", OTHER))
        assert ran.code == 4
        assert office.report()["settled"] == []
        assert "another request (ticket " in office.report()["problems"][0]["message"]


@pytest.mark.slow
@needs_compiler
def test_a_red_line_of_a_ticket_in_doubt_keeps_silence_from_proving_anything(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    book = workbook(tickets(5))
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [3]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book, hours_ago=6).code == 4
        lines = carrier.issued()
        (doubtful,) = {f"999{at:010}" for at in range(1, 6)} - {line["ticket_no"] for line in lines}
        red = {
            **lines[0],
            "ticket_no": doubtful,
            "amount": "-1000.00",
            "number": "",
            "original_number": "20111111111111111111",
        }
        given = office.statement("red.csv", [*lines, red])
        assert office.reconcile(book, "--statement", given, *ALL).code == 4
        assert office.report()["settled"] == []
        assert [p["code"] for p in office.report()["problems"]] == ["reversal"]
        assert "1 lines that may be about it" in " ".join(office.report()["warnings"])
        # What was issued and reversed by the same statement is settled, and reversed.
        both = {**red, "original_number": "20222222222222222222"}
        blue = {**lines[0], "ticket_no": doubtful, "number": "20222222222222222222", "original_number": ""}
        given = office.statement("both.csv", [*lines, blue, both])
        ran = office.reconcile(book, "--statement", given)
        assert [one["number"] for one in office.report()["settled"]] == ["20222222222222222222"]
        assert "20222222222222222222 was reversed by the carrier" in " ".join(office.report()["warnings"])
        assert ran.code == 1, "its row waits for a person"
        assert len(carrier.issued()) == 4


@pytest.mark.slow
@needs_compiler
def test_who_runs_it_is_on_record(desk: Desk, sandbox: Make, workbook: Make, tickets: Make) -> None:
    book = workbook(tickets(5))
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [3]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book, hours_ago=6).code == 4
        statement = office.statement()
        statement.write_text(
            "导出时间：2099-01-01 08:00\n" + statement.read_text(encoding="utf-8"), encoding="utf-8"
        )
        said = ("--statement", statement, "--statement-complete", COMPLETE, "--by", "Night Shift")
        ran = office.reconcile(*said)
        assert ran.code == 2
        assert "still to come" in ran.err, "the time that a named statement says of itself is looked at, too"
        ran = office.reconcile(
            "--statement", office.statement(), *said[2:], "--statement-made", "2020-01-01 08:00"
        )
        assert ran.code == 4
        assert (
            office.reconcile("--statement", office.statement(), *said[2:], "--statement-made", MADE).code == 0
        )
        (settled,) = office.report()["settled"]
        assert settled["settled_by"] == "Night Shift"
        assert f"which Night Shift says is complete for {COMPLETE}" in settled["evidence"]


@pytest.mark.slow
def test_a_kind_that_is_said_to_be_complete_is_compared_though_the_statement_has_no_column_for_it(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    book = workbook([*tickets(2), {"ticket_no": "9990000000003", "voucher": "invoice"}])
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 0
        (line,) = [line for line in carrier.issued() if line["voucher"] == "invoice"]
        listed = {
            "票号": line["ticket_no"],
            "发票号码": line["number"],
            "费用": "机票款",
            "开具日期": line["issued_at"],
        }
        statement = office.statement("invoices.csv", [listed])
        assert office.reconcile("--statement", statement).code == 0
        ran = office.reconcile("--statement", statement, "--statement-complete", f"itinerary:{COMPLETE}")
        assert ran.code == 1
        assert office.report()["comparison"]["not_on_statement"] == 2


@pytest.mark.slow
def test_a_carrier_that_numbers_its_invoices_otherwise_is_believed_by_our_own_numbers(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    book = workbook([{**row, "buyer": ("ACME", "Li Na")[at % 2], "market": ("domestic", "international")[at // 2]} for at, row in enumerate(tickets(4, voucher="invoice"))])  # fmt: skip
    with sandbox(book, faults=f"{LOST_AFTER}requests = [2]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        lines = [{**line, "number": f"26{line['number']}"} for line in carrier.issued()]
        assert len({line["number"] for line in lines}) == 4
        ran = office.reconcile("--statement", office.statement("s.csv", lines))
        assert ran.code == 0, ran.err
        assert [one["number"] for one in office.report()["settled"]] == [lines[1]["number"]]


@pytest.mark.slow
@needs_compiler
def test_what_was_issued_in_any_of_the_times_that_are_claimed_is_looked_at(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    book = workbook(tickets(5))
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [3]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book, hours_ago=30).code == 4
        claims = ("2026-01-01..2026-01-02", COMPLETE, f"invoice:{TODAY}..{TODAY}")
        said = [text for claim in claims for text in ("--statement-complete", claim)]
        desk.environment["TZ"] = "America/New_York"  # the machine's zone is nobody's
        office.reconcile("--statement", office.statement(), *said, "--statement-made", MADE)
        assert [one["status"] for one in office.report()["settled"]] == ["not_sent"], office.report()


@pytest.mark.slow
def test_what_was_issued_elsewhere_holds_what_goes_to_the_carrier_under_the_same_code(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    extra = {"charge": "ancillary", "purchased_on": "2026-10-01", "voucher": "invoice"}
    book = workbook([{**tickets(1)[0], **extra, "product": "upgrade"}])
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        shown = {"voucher": "invoice", "number": OTHER, "ticket_no": "9990000000001", "charge": "ancillary", "product": "seat"}  # fmt: skip
        office.reconcile("--statement", office.statement("s.csv", [shown]))
        profile = Path(office.common[1])
        profile.write_text(profile.read_text().replace('"Upgrade"', '"Seat"'))
        ran = desk.voucher("check", book, *office.common, "--as-of", "2026-11-20", "--report", "c.json")
        assert ran.code == 0, ran.err
        (row,) = desk.report("c.json")["rows"]
        assert (row["status"], [reason["code"] for reason in row["reasons"]]) == (
            "already_issued",
            ["issued_elsewhere"],
        )


@pytest.mark.slow
@needs_compiler
def test_a_month_is_the_carrier_s(desk: Desk, sandbox: Make, workbook: Make, tickets: Make) -> None:
    """Both are issued on the first of a month at four in the morning, where the carrier is: in UTC it is another month."""
    now = datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=8)))
    month = (now - datetime.timedelta(days=2)).replace(day=1, hour=4, minute=0)
    book = workbook(tickets(2))
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        assert office.issue(book, hours_ago=(now - month).total_seconds() / 3600).code == 0
        one = office.statement("one.csv", carrier.issued()[:1])
        office.reconcile("--statement", one, "--month", f"{month:%Y-%m}")
        assert office.report()["comparison"]["not_on_statement"] == 1
