"""`voucher reconcile`: evidence settles what is unknown, rows are tried again, everything is compared."""

import datetime
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.acceptance.conftest import Desk
from tests.acceptance.office import (
    ALL,
    COMPLETE,
    LOST_AFTER,
    LOST_BEFORE,
    MADE,
    TODAY,
    Office,
    answered,
    at_rest,
)
from tests.moved_clock import needs_compiler


@pytest.mark.slow
@needs_compiler
def test_a_statement_settles_what_it_lists_and_silence_alone_settles_nothing(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    book = workbook(tickets(6))
    faults = f"{LOST_AFTER}requests = [2, 5]\n{LOST_BEFORE}requests = [3]\n"
    with sandbox(book, faults=faults) as carrier:
        office = Office(desk, carrier)
        assert office.issue(book, hours_ago=6).code == 4
        statement = office.statement()
        ran = office.reconcile("--statement", statement)
        assert ran.code == 4, ran.err
        said = office.report()
        assert sorted(one["status"] for one in said["settled"]) == ["issued", "issued"]
        numbers = {line["number"] for line in carrier.issued()}
        assert {one["number"] for one in said["settled"]} <= numbers
        assert said["comparison"] == {
            "agreed": 5, "not_on_statement": 0, "not_ours": 0, "differing": 0, "not_covered": 0, "unknown": 1, "to_issue": 0
        }  # fmt: skip
        # The same again settles nothing more, and sends nothing.
        again = office.reconcile(book, "--statement", statement)
        assert (again.code, office.report()["settled"]) == (4, [])
        assert office.states() == {"already_issued": 5, "unknown": 1}
        assert len(carrier.issued()) == 5
        # Only where somebody says that it lists everything does its silence settle the third.
        ended = office.reconcile(book, "--statement", statement, *ALL)
        assert ended.code == 0, ended.err
        (silent,) = office.report()["settled"]
        assert (silent["status"], silent["number"]) == ("not_sent", None)
        assert "complete" in silent["evidence"]
        assert office.states() == {"already_issued": 5, "issued": 1}
        assert carrier.twice() == []


@pytest.mark.slow
@needs_compiler
def test_what_turns_out_as_not_issued_and_is_in_no_workbook_given_is_told(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    book = workbook(tickets(5))
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [3]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book, hours_ago=6).code == 4
        ran = office.reconcile("--statement", office.statement(), *ALL)
        assert ran.code == 0, ran.err
        assert "stand in no workbook given: 1" in ran.err
        assert [c["kind"] for c in office.report()["charges"]].count("to_issue") == 1
        written = next(desk.folder.glob("*.reconciliation.xlsx"))
        sheet = openpyxl.load_workbook(written)["To issue"]
        assert "last day is not known here" in str(
            [[cell.value for cell in row] for row in sheet.iter_rows()]
        )
        assert office.reconcile(book).code == 0
        assert len(carrier.issued()) == 5


SETTLED = "[reconcile]\nsettle_after_hours = 0\n"
YESTERDAY = f"{TODAY - datetime.timedelta(9)}..{TODAY - datetime.timedelta(2)}"  # and the day before, whatever the hour
CLAIM = "--statement-complete"


@needs_compiler
@pytest.mark.parametrize(
    ("more", "said", "hours_ago", "why"),
    [
        ("", ALL, 6, "settle_after_hours under [reconcile]"),  # the profile does not say how long it takes
        # It is not long enough ago.
        pytest.param("[reconcile]\nsettle_after_hours = 24\n", ALL, 6, "ended 25 hours before", marks=pytest.mark.slow),
        pytest.param(SETTLED, ALL, 0.5, "ended 1 hours before", marks=pytest.mark.slow),  # nor for two clocks
        pytest.param(
            SETTLED, (CLAIM, YESTERDAY, "--statement-made", MADE), 6, "must have begun", marks=pytest.mark.slow
        ),
        (SETTLED, ("--statement-made", MADE), 6, ""),  # nobody says that it is complete
        pytest.param(SETTLED, (CLAIM, COMPLETE), 6, "does not say when it was made", marks=pytest.mark.slow),
        pytest.param(
            SETTLED, (CLAIM, COMPLETE, "--statement-made", f"{YESTERDAY[:10]}T09:30"), 6, "statement was made",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            SETTLED, (CLAIM, f"发票:{COMPLETE}", "--statement-made", MADE), 6, "nobody says", marks=pytest.mark.slow
        ),
        pytest.param(SETTLED, ALL, 30 * 24, "must have begun", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_silence_is_no_evidence_unless_the_statement_is_complete_long_enough_afterwards(
    desk: Desk,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
    more: str,
    said: tuple[str, ...],
    hours_ago: float,
    why: str,
) -> None:
    book = workbook(tickets(5))
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [3]\n") as carrier:
        office = Office(desk, carrier, more)
        assert office.issue(book, hours_ago=hours_ago).code == 4
        assert office.reconcile(book, "--statement", office.statement(), *said).code == 4
        assert office.report()["settled"] == []
        assert why in " ".join(office.report()["warnings"])
        assert bool(why) == bool(office.report()["warnings"])
        assert len(carrier.issued()) == 4


@pytest.mark.slow
@needs_compiler
def test_a_statement_that_a_filter_a_copy_or_another_agency_has_made_small_proves_nothing(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    mixed = [*tickets(5), {"ticket_no": "9990000000006", "voucher": "invoice"}]
    book = workbook(mixed)
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [3, 6]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book, hours_ago=6).code == 4
        lines = carrier.issued()
        kinds = {line["voucher"] for line in lines}
        strangers = [
            {**line, "ticket_no": line["ticket_no"].replace("999", "998", 1), "number": line["number"][::-1]}
            for line in lines
        ]
        for name, listed, why in (
            ("others.csv", strangers, "they lack others of that kind (itinerary)"),
            ("filtered.csv", lines[:2], "they lack others"),
            ("more.csv", [*strangers, *lines[1:]], "they lack others"),
        ):
            ran = office.reconcile("--statement", office.statement(name, listed), *ALL)
            assert ran.code == 4
            assert office.report()["settled"] == []
            assert why in ran.err
        # A copy of an old statement is as old as it says of itself.
        stale = office.statement("stale.csv", lines)
        stale.write_text(f"导出时间：2026-01-05 08:00\n{stale.read_text(encoding='utf-8')}", encoding="utf-8")
        assert office.reconcile("--statement", stale, *ALL).code == 4
        assert office.report()["settled"] == []
        assert "2026-01-05 00:00 UTC" in " ".join(office.report()["warnings"])
        # And one that says itself that it is of now needs nobody to say so: of the kind of which it lists others.
        fresh = office.statement("fresh.csv", lines)
        fresh.write_text(f"Generated at: {MADE}\n{fresh.read_text(encoding='utf-8')}", encoding="utf-8")
        assert office.reconcile("--statement", fresh, "--statement-complete", COMPLETE).code == 4
        assert [one["status"] for one in office.report()["settled"]] == ["not_sent"]
        assert kinds == {"itinerary"}
        assert "(invoice)" in " ".join(office.report()["warnings"])


SEAT = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-10-01", "voucher": "invoice"}
COMPANY = ("business", "+86 10 8520 0000", "finance@example.com")


@needs_compiler
@pytest.mark.parametrize(
    ("row", "doubtful", "lacking"),
    [
        ({}, {"buyer": "Other"}, "(ticket_fare, flight, domestic, business, Yuanshan Co.)"),
        pytest.param(
            {},
            {"buyer": "Branch"},
            "(ticket_fare, flight, domestic, business, Acme Trading Co., 91110108MA1XXXX028)",
            marks=pytest.mark.slow,
        ),
        pytest.param(SEAT, {"product": "baggage"}, "(ancillary, baggage)", marks=pytest.mark.slow),
    ],
)
def test_a_statement_that_lists_no_other_of_its_buyer_or_product_proves_nothing(
    desk: Desk,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
    row: dict[str, str],
    doubtful: dict[str, str],
    lacking: str,
) -> None:
    """It may be filtered by them; the doubtful one was issued, and would be issued twice."""
    rows = [{**one, **row} for one in tickets(7)]
    rows[3] |= doubtful
    kind, phone, email = COMPANY
    buyers = [
        ("buyer", "header_type", "header_name", "tax_no", "phone", "email"),
        ("ACME", kind, "Acme Trading Co.", "91110000600037341L", phone, email),
        ("Branch", kind, "Acme Trading Co.", "91110108MA1XXXX028", phone, email),
        ("Other", kind, "Yuanshan Co.", "91110000600037341L", phone, email),
    ]
    book = workbook(rows, buyers=buyers)
    with sandbox(book, faults=f"{LOST_AFTER}requests = [4]\n") as carrier:
        office = Office(
            desk, carrier, "[reconcile]\nsettle_after_hours = 0\n[limits]\nmax_charges_per_invoice = 1\n"
        )
        assert office.issue(book, hours_ago=6).code == 4
        lines = carrier.issued()
        filtered = office.statement("filtered.csv", [*lines[:3], *lines[4:]])
        assert office.reconcile(book, "--statement", filtered, *ALL).code == 4
        assert office.report()["settled"] == []
        assert f"no other that is like it {lacking} and" in " ".join(office.report()["warnings"])
        assert len(carrier.issued()) == 7


@needs_compiler
@pytest.mark.parametrize(
    ("doubtful", "lacking"),
    [
        (
            {"ticket_no": "9990000000099"},
            "whose ticket number is higher",
        ),  # cut off after the page that ends with 7
        # Filtered: from 100 on.
        pytest.param({"amount": "90.00"}, "whose amount is lower", marks=pytest.mark.slow),
    ],
)
def test_a_statement_that_is_cut_off_or_filtered_by_amount_proves_nothing_of_what_is_beyond(
    desk: Desk,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
    doubtful: dict[str, str],
    lacking: str,
) -> None:
    """It lists all that this ledger knows to be issued; the doubtful one was issued too, and would be issued twice."""
    rows = [{**one, "amount": f"{500 + at}"} for at, one in enumerate(tickets(7))]
    rows[3] |= doubtful
    book = workbook(rows)
    with sandbox(book, faults=f"{LOST_AFTER}requests = [4]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book, hours_ago=6).code == 4
        lines = carrier.issued()
        page = office.statement("page.csv", [*lines[:3], *lines[4:]])
        ran = office.reconcile(book, "--statement", page, *ALL, "--lang", "zh")
        assert (ran.code, office.report()["settled"], len(carrier.issued())) == (4, [], 7)
        assert f"{lacking}, nor others of the same" in " ".join(office.report()["warnings"])
        assert "请询问承运人" in ran.err


@pytest.mark.slow
@needs_compiler
def test_a_statement_whose_file_is_older_than_the_request_proves_nothing_about_it(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    book = workbook(tickets(5))
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [3]\n") as carrier:
        office = Office(desk, carrier)
        office.issue(book, hours_ago=6)
        statement = office.statement()
        os.utime(statement, (1_700_000_000, 1_700_000_000))
        assert office.reconcile("--statement", statement, *ALL).code == 4
        assert office.report()["settled"] == []


@pytest.mark.parametrize("resolution", ["issued", pytest.param("not issued", marks=pytest.mark.slow)])
def test_a_persons_answer_settles_exactly_that_attempt(
    desk: Desk,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
    resolution: str,
) -> None:
    book = workbook(tickets(2))
    when = LOST_AFTER if resolution == "issued" else LOST_BEFORE
    with sandbox(book, faults=f"{when}requests = [1]\n{LOST_BEFORE}requests = [3]\n") as carrier:
        office = Office(desk, carrier)
        office.issue(book)
        number = carrier.issued()[0]["number"] if resolution == "issued" else ""
        result = answered(desk.folder / "tickets.result.xlsx", resolution, number)
        ran = office.reconcile("--resolved", result)
        assert ran.code == 0, ran.err
        (settled,) = office.report()["settled"]
        assert settled["status"] == ("issued" if resolution == "issued" else "not_sent")
        assert settled["settled_by"] == "Wang"
        assert "telephone" in settled["evidence"]
        # Said otherwise afterwards, it changes nothing, and is reported.
        late = answered(desk.folder / "tickets.result.xlsx", "issued", "20179525952873829000")
        assert office.reconcile("--resolved", late).code == 1
        assert [p["code"] for p in office.report()["problems"]] == ["stale"]
        # What was not issued is sent again; lost again, the old answer does not settle the new attempt.
        again = office.reconcile(book, "--resolved", result)
        assert len(carrier.issued()) == 2 - (resolution == "not issued")
        assert again.code == (0 if resolution == "issued" else 4), again.err
        if resolution == "not issued":
            stale = office.reconcile("--resolved", result)
            assert stale.code == 4
            assert office.report()["settled"] == []
        assert carrier.twice() == []


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"resolution": "perhaps"}, "is no answer"),
        *(
            pytest.param(answer, problem, marks=pytest.mark.slow)
            for answer, problem in (
                ({"resolution": "not issued", "by": ""}, "resolved_by missing"),
                ({"resolution": "issued"}, "number is missing"),
                ({"resolution": "not issued", "number": "20179525952873829059"}, "gives a number"),
                ({"resolution": "not issued", "why": ""}, "evidence missing"),
            )
        ),
    ],
)
def test_an_answer_that_says_too_little_settles_nothing(
    desk: Desk,
    sandbox: Callable[..., Any],
    workbook: Callable[..., Path],
    tickets: Callable[..., Any],
    answer: Any,
    problem: str,
) -> None:
    book = workbook(tickets(1))
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [1]\n") as carrier:
        office = Office(desk, carrier)
        office.issue(book)
        ran = office.reconcile("--resolved", answered(desk.folder / "tickets.result.xlsx", **answer))
        assert ran.code == 4
        assert office.report()["settled"] == []
        assert problem in office.report()["problems"][0]["message"]
        assert problem in ran.err


@pytest.mark.slow
def test_a_contradiction_settles_nothing_and_is_reported(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    book = workbook(tickets(1))
    with sandbox(book, faults=f"{LOST_AFTER}requests = [1]\n") as carrier:
        office = Office(desk, carrier)
        office.issue(book)
        line = carrier.issued()[0]
        denied = answered(desk.folder / "tickets.result.xlsx", "not issued")
        other = answered(desk.folder / "tickets.result.xlsx", "issued", "20179525952873829000")
        for evidence, seen in (
            (("--statement", office.statement(), "--resolved", denied), "says not issued"),
            (("--statement", office.statement(), "--resolved", other), "says issued as 20179525952873829000"),
            (
                (
                    "--statement",
                    office.statement("two.csv", lines=[line, {**line, "number": "20179525952873829000"}]),
                ),
                "several numbers",
            ),
        ):
            assert office.reconcile(*evidence).code == 4
            assert office.report()["settled"] == []
            (problem,) = [p for p in office.report()["problems"] if p["code"] == "contradiction"]
            assert seen in problem["message"]


@pytest.mark.slow
def test_what_the_carrier_issued_elsewhere_is_held_and_never_sent(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    first = workbook(tickets(3), name="first.xlsx")
    second = workbook(
        [
            *tickets(2),
            {
                "ticket_no": "9990000000003",
                "charge": "ancillary",
                "product": "seat",
                "purchased_on": "2026-10-01",
                "voucher": "invoice",
            },
        ],
        name="second.xlsx",
    )
    with sandbox(first) as carrier:
        assert Office(desk, carrier).issue(first).code == 0
        (desk.folder / "another office").mkdir()
        for name in ("o.ledger", "o.ledger.lock"):
            (desk.folder / name).rename(desk.folder / "another office" / name)
        (desk.folder / ".local/state").rename(desk.folder / "another office/state")  # of its machine
        office = Office(desk, carrier)
        ran = office.reconcile("--statement", office.statement())
        assert ran.code == 1, ran.err
        assert office.report()["comparison"]["not_ours"] == 3
        issued = office.issue(second)
        assert issued.code in (1, 3), (
            issued.err
        )  # the carrier of these tickets knows no ancillary of the third
        rows = desk.report("issue.json")["rows"]
        assert [row["status"] for row in rows[:2]] == ["already_issued", "already_issued"]
        assert {reason["code"] for row in rows[:2] for reason in row["reasons"]} == {"issued_elsewhere"}
        assert {row["number"] for row in rows[:2]} <= {line["number"] for line in carrier.issued()}
        assert carrier.twice() == []


@pytest.mark.slow
def test_the_comparison_names_every_kind_of_disagreement(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    book = workbook(
        [*tickets(5), {"ticket_no": "9990000000099", "ticket_status": "open", "flight_date": "2027-01-01"}]
    )
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 1
        lines = carrier.issued()
        lines[0]["amount"] = "999.00"
        lines[1]["buyer"] = "Somebody Else Ltd."
        lines[2]["number"] = "20179525952873829000"
        lines[3]["ticket_no"] = "9997777777777"
        ran = office.reconcile(
            book, "--statement", office.statement(lines=lines), "--month", f"{TODAY:%Y-%m}"
        )
        assert ran.code == 1, ran.err
        said = office.report()
        assert said["comparison"] == {
            "agreed": 1, "not_on_statement": 1, "not_ours": 1, "differing": 3, "not_covered": 0, "unknown": 0, "to_issue": 1
        }  # fmt: skip
        differing = {
            entry["ticket_no"]: entry["differing"]
            for entry in said["charges"]
            if entry["kind"] == "differing"
        }
        assert sorted(differing.values()) == [["amount"], ["buyer"], ["number"]]
        book_written = openpyxl.load_workbook(desk.folder / "tickets.reconciliation.xlsx")
        assert book_written.sheetnames == [
            "Summary", "Agreed", "Not on statement", "Not ours", "Differing", "Not covered", "Unknown", "To issue", "Failures",
            "Buyers",
        ]  # fmt: skip
        assert [book_written[name].max_row - 1 for name in book_written.sheetnames[1:]] == [
            1,
            1,
            1,
            3,
            0,
            0,
            1,
            1,
            2,
        ]
        # Another month: nothing of this one is compared, which is said; what is still open stays.
        ran = office.reconcile(book, "--statement", office.statement(lines=lines), "--month", "2026-01")
        assert sum(office.report()["comparison"].values()) == 1
        assert "Reconciled vouchers issued 2026-01-01..2026-01-31" in ran.err
        assert (
            "Nothing was compared: neither this ledger nor a statement has a voucher that was issued"
            in ran.err
        )


@pytest.mark.slow
def test_an_unchanged_refused_row_is_not_sent_again_and_a_changed_one_is(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    book = workbook(tickets(2))
    with sandbox(
        book, faults='[[fault]]\nkind = "refuse"\nmessage = "tax office closed"\nrequests = [1]\n'
    ) as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 1
        assert office.reconcile(book).code == 1
        assert office.states() == {"already_issued": 1, "rejected": 1}
        assert len(carrier.issued()) == 1
        refused = next(row for row in office.report()["rows"] if row["status"] == "rejected")
        assert refused["reasons"][0]["code"] == "carrier_rejected"
        other = workbook([{**row, "buyer": "Li Na"} for row in tickets(2)], name="changed.xlsx")
        assert office.reconcile(other).code in (0, 1)
        assert len(carrier.issued()) == 2
        assert carrier.twice() == []


@pytest.mark.slow
def test_evidence_of_another_ledger_or_that_is_none_stops_it_with_nothing_changed(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    book = workbook(tickets(1))
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [1]\n") as carrier:
        office = Office(desk, carrier)
        office.issue(book)
        result = answered(desk.folder / "tickets.result.xlsx", "not issued")
        other = openpyxl.load_workbook(result)
        at = next(cell.column for cell in other["Unknown"][1] if cell.value == "ledger")
        other["Unknown"].cell(2, at, "0123456789abcdef0123456789abcdef")
        other.save(desk.folder / "other.xlsx")
        (desk.folder / "cut.csv").write_text("voucher,number,tick")
        for arguments, seen in (
            (("--resolved", desk.folder / "other.xlsx"), "another ledger"),
            (("--resolved", book), "no sheet Unknown"),
            (("--statement", book), "no carrier's statement"),
            (("--statement", desk.folder / "cut.csv"), "no carrier's statement"),
            (("--statement", desk.folder / "none.csv"), "can't be read"),
            (("--statement-complete", COMPLETE), "goes with --statement"),
            (("--statement", office.statement(), "--statement-complete", "2026-10"), "FROM..TO"),
            (
                ("--statement", office.statement(), "--statement-complete", "2026-12-01..2026-11-01"),
                "its two days are swapped",
            ),
            (
                ("--statement", office.statement(), "--statement-complete", f"ticket:{COMPLETE}"),
                "no kind of voucher",
            ),
            (("--statement-made", MADE), "goes with --statement"),
            (("--statement", office.statement(), "--statement-made", "2026-11-01"), "is not a time"),
            (
                ("--statement", office.statement(), "--statement-made", "2099-01-01T09:30"),
                "01T09:30: is still to come",
            ),
            (
                ("--statement", office.statement(), "--statement-complete", f"{TODAY}..2099-01-01"),
                "days to come",
            ),
            (("--month", "2026-13"), "is not a month"),
            (("--inbox", desk.folder), "go together"),
        ):
            ran = office.reconcile(*arguments)
            assert ran.code == 2, (arguments, ran.err)
            assert seen in ran.err
        assert office.reconcile().code == 4
        assert office.report()["unknown"] != []


@pytest.mark.slow
def test_a_comparison_of_nothing_agrees_with_nothing(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    book = workbook(tickets(1))
    with sandbox(book) as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 0
        empty = office.statement("empty.csv", carrier.issued())
        empty.write_text(empty.read_text().splitlines()[0] + "\n")
        for given in (("--statement", empty), ("--month", "2026-01"), (book, "--month", "2026-01")):
            ran = office.reconcile(*given, "-o", "compared.xlsx")
            assert ran.code == 1, given
            assert "Nothing was compared" in ran.err
            written = max(desk.folder.glob("compared*.xlsx"), key=lambda path: path.stat().st_mtime_ns)
            said = [row[0] for row in openpyxl.load_workbook(written)["Summary"].iter_rows(values_only=True)]
            assert "Nothing was compared." in said
            assert not any("everything agrees" in str(text) for text in said)
        assert office.reconcile().code == 0, "where nobody asks for a comparison"
        assert office.reconcile(book).code == 0


@pytest.mark.slow
def test_one_wrong_answer_does_not_hold_the_others_back_and_nobody_types_it_again(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    book = workbook(tickets(4))
    with sandbox(book, faults=f"{LOST_BEFORE}requests = [1, 2, 3, 4]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        result = answered(desk.folder / "tickets.result.xlsx", "not issued")
        answers = openpyxl.load_workbook(result)
        at = {cell.value: cell.column for cell in answers["Unknown"][1]}
        answers["Unknown"].cell(2, at["resolution"]).value = None
        answers["Unknown"].cell(3, at["number"]).value = 20179525952873829000.0
        answers["Unknown"].cell(4, at["resolved_by"]).value = None
        answers.save(result)
        ran = office.reconcile("--resolved", result, "-o", "after.xlsx")
        assert ran.code == 4
        assert [one["status"] for one in office.report()["settled"]] == ["not_sent"]
        problems = {p["place"].rsplit(" ", 1)[1]: p["message"] for p in office.report()["problems"]}
        assert "no resolution" in problems["2"]
        assert "spoilt by the spreadsheet" in problems["3"]
        assert "resolved_by missing" in problems["4"]
        # What was typed stands in the next result; put right there, it settles.
        following = openpyxl.load_workbook(desk.folder / "after.xlsx")
        sheet = following["Unknown"]
        at = {cell.value: cell.column for cell in sheet[1]}
        typed = [
            [sheet.cell(row, at[name]).value for name in ("resolution", "number", "resolved_by", "evidence")]
            for row in range(2, 5)
        ]
        assert sorted(typed, key=str) == sorted(
            [[None, None, "Wang", "telephone"], ["not issued", None, "Wang", "telephone"], ["not issued", None, None, "telephone"]],
            key=str,
        )  # fmt: skip
        for row in range(2, 5):
            sheet.cell(row, at["resolution"]).value = "not issued"
            sheet.cell(row, at["resolved_by"]).value = "Wang"
        following.save(desk.folder / "right.xlsx")
        assert office.reconcile(book, "--resolved", desk.folder / "right.xlsx").code == 0
        assert len(carrier.issued()) == 4


# --- an inbox ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_sample_statement_holds_what_was_issued_at_the_counter(desk: Desk) -> None:
    samples = Path(__file__).parents[2] / "sample_data"
    ran = desk.voucher(
        "reconcile", samples / "tickets-2026-10.xlsx", "--statement", samples / "tickets-2026-10.statement.csv",
        "--sandbox", "--profile", samples / "sandbox.toml", "--as-of", "2026-11-20",
        "-o", "october.reconciliation.xlsx", "--report", "report.json",
    )  # fmt: skip
    assert ran.code == 1, ran.err
    report = desk.report()
    assert report["comparison"]["not_ours"] == 3
    assert [row["ticket_no"] for row in report["rows"] if row["status"] == "already_issued"] == [
        "9992412008816", "9992412021661",
    ]  # fmt: skip
    book = openpyxl.load_workbook(desk.folder / "october.reconciliation.xlsx", read_only=True)
    where = [row[-1] for row in book["Not ours"].iter_rows(min_row=2, values_only=True)]
    assert [place is not None for place in where] == [True, True, False]


@pytest.mark.slow
def test_a_statement_whose_kinds_are_those_of_its_headings_poisons_nothing(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    """The kind stands in each line; the number's heading is 发票号码 for itineraries, too."""
    book = workbook([*tickets(4), {"ticket_no": "9990000000005", "voucher": "invoice"}])
    with sandbox(book, faults=f"{LOST_AFTER}requests = [1, 3]\n") as carrier:
        office = Office(desk, carrier)
        assert office.issue(book).code == 4
        words = {"itinerary": "电子行程单", "invoice": "电子发票"}
        rows = [
            {"凭证类型": words[line["voucher"]], "发票号码": line["number"], "票号": line["ticket_no"], "费用项目": "机票款"}
            for line in carrier.issued()
        ]  # fmt: skip
        # Without the column that says it, every itinerary is an invoice: refused before anything is recorded.
        bare = [{name: row[name] for name in ("发票号码", "票号", "费用项目")} for row in rows]
        ran = office.reconcile(book, "--statement", office.statement("bare.csv", bare))
        assert ran.code == 2
        assert "has the 20 digits of an itinerary, as have 4 of 5 such lines" in ran.err
        ran = office.reconcile(book, "--statement", office.statement("said.csv", rows))
        assert ran.code == 0, ran.err
        said = office.report()
        assert (said["comparison"]["agreed"], len(said["settled"])) == (5, 2)


@pytest.mark.slow
def test_a_list_of_something_else_is_asked_about_and_holds_nothing(
    desk: Desk, sandbox: Callable[..., Any], workbook: Callable[..., Path], tickets: Callable[..., Any]
) -> None:
    first, second = workbook(tickets(1), name="first.xlsx"), workbook(tickets(3))
    inbox, outbox = desk.folder / "in", desk.folder / "out"
    inbox.mkdir()
    outbox.mkdir()
    with sandbox(second) as carrier:
        office = Office(desk, carrier)
        assert office.issue(first).code == 0
        paper = [
            {"票号": f"99900000000{at:02}", "发票号码": f"1234567{at}", "费用": "机票款"} for at in (2, 3)
        ]
        given = office.statement("paper.csv", paper)
        ran = office.reconcile("--statement", given)
        assert ran.code == 1
        assert "the number 12345672 is not one of an invoice" in ran.err
        os.utime(given, (1_700_000_000,) * 2)
        given.rename(inbox / "paper.csv")
        for _ in range(2):  # it is asked about until it is taken away
            ran = office.reconcile("--inbox", inbox, "--outbox", outbox)
            assert ran.code == 1
            assert [p["code"] for p in office.report()["problems"]] == ["misread", "misread"]
        # A list of wrong kinds by the inbox is left there, and settles and holds nothing.
        numbers = {2: "20179525952873829052", 3: "20179525952873829053", 9: "179525952873829054"}
        wrong = [
            {"票号": f"999000000000{at}", "发票号码": number, "费用": "机票款"}
            for at, number in numbers.items()
        ]
        at_rest(office.statement("in/wrong.csv", wrong))
        assert office.reconcile("--inbox", inbox, "--outbox", outbox).code == 1
        assert "wrong.csv" in "".join(p["place"] for p in office.report()["problems"])
        assert office.report()["comparison"]["not_ours"] == 0, "nothing of a file that is left is taken"
        assert office.issue(second).code == 0, "a person's issue is not held by it"
        assert len(carrier.issued()) == 3
