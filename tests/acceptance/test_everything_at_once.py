"""Everything at once: a reconciliation with every kind of evidence, and an issue of rows of every kind.

What the parts hand each other stands in the ledger, the report, the results and the log: seen to catch most of what can be left
out, emptied or turned round in the calls of `pipeline/reconciliation`, `submission/batch.py` and `run/` (tests/crash/MUTANTS.md).
"""

import csv
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import openpyxl
import pytest

from pipeline.model.message import from_text
from tests.conftest import needs_tool
from tests.crash import failpoint
from tests.crash.end_to_end_carrier import Carrier
from tests.crash.end_to_end_office import CHINA, Office, _rows
from tests.crash.forked import Forks

GOOD = {
    "passenger_name": "ZHANG/WEI MR", "charge": "ticket_fare", "product": "", "amount": "1000.00", "market": "domestic",
    "ticket_status": "used", "flight_date": "2027-02-01", "voucher": "itinerary", "header_type": "individual",
    "header_name": "Li Na", "email": "li.na@example.com",
}  # fmt: skip
STRANGER = "29999999999999999999"


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    needs_tool("a C compiler", shutil.which("cc"))
    with Forks(failpoint.compiled(tmp_path_factory.mktemp("library"))) as running:
        yield running


@pytest.fixture(scope="module")
def carrier() -> Iterator[Carrier]:
    with Carrier() as listening:
        yield listening


@pytest.fixture
def office(tmp_path: Path, forks: Forks, carrier: Carrier) -> Office:
    return Office(tmp_path / "life", forks, carrier, Random(1), 0)


def fares(*tickets: int, **changes: str) -> list[dict[str, str]]:
    return [{**GOOD, "ticket_no": f"999{at:010}", **changes} for at in tickets]


def numbers(office: Office) -> dict[int, str]:
    """The numbers of the vouchers that this ledger has issued, by the ticket's last digits."""
    said = _rows(
        office.ledger,
        "SELECT ticket_no, number FROM attempt JOIN charge USING (attempt_id) WHERE number <> ''",
    )
    return {int(ticket[3:]): number for ticket, number in said}


def listed(office: Office, ticket: int, number: str, **more: str) -> dict[str, str]:
    at = office.now().astimezone(CHINA).strftime("%Y-%m-%d %H:%M:%S")
    return {"voucher": "itinerary", "number": number, "ticket_no": f"999{ticket:010}", "charge": "ticket_fare",
            "amount": "1000.00", "issued_at": at, **more}  # fmt: skip


def write(path: Path, lines: Sequence[Mapping[str, str]]) -> Path:
    names = list(dict.fromkeys(name for line in lines for name in line))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, restval="")
        writer.writeheader()
        writer.writerows(lines)
    return path


def answer(result: Path, answers: Mapping[int, Mapping[str, str]], name: str = "answered") -> Path:
    """A result whose Unknown sheet is answered for these tickets."""
    book = openpyxl.load_workbook(result)
    page = book["Unknown"]
    at = {cell.value: cell.column for cell in page[1]}
    for row in range(2, page.max_row + 1):
        ticket = int(str(page.cell(row, at["tickets"]).value).split()[0][3:])
        for column, text in answers.get(ticket, {}).items():
            page.cell(row, at[column], text)
    path = result.with_name(f"{name}-{result.name}")
    book.save(path)
    return path


def requests(office: Office) -> dict[str, int]:
    """The ticket's last digits of each request, of which none has more than one."""
    said = _rows(office.ledger, "SELECT request_id, ticket_no FROM attempt JOIN charge USING (attempt_id)")
    return {request: int(ticket[3:]) for request, ticket in said}


def doubtful_between_others(office: Office) -> Path:
    """Six vouchers of ours, and between them in time and in number five outcomes in doubt (11 to 15); the result that asks about these."""
    office.voucher("issue", office.add_workbook(fares(1, 2, 3, 4)), "--new-ledger")
    office.wait(1)
    doubtful = office.add_workbook(fares(11, 12, 13, 14, 15))
    office.voucher("issue", doubtful, "-o", "doubtful.xlsx", faults={"closed": 1})
    office.wait(1)
    office.voucher("issue", office.add_workbook(fares(5, 16)))
    office.wait(30)
    return office.desk / "doubtful.xlsx"


def evidence(office: Office) -> tuple[Path, Path]:
    """(a statement that says something of everything, a result with answers of all kinds)."""
    result = doubtful_between_others(office)
    ours = numbers(office)
    lines = [listed(office, at, number, issued_at="2027-03-01 10:00:00") for at, number in ours.items()]
    lines += [
        listed(office, 11, "28888888888888888888", issued_at="2027-03-01 10:00:00"),
        listed(office, 77, STRANGER, issued_at="2027-03-01 11:00:00"),
        listed(office, 1, "", amount="-1000.00", original_number=ours[1]),
        listed(office, 14, "?"),
    ]
    statement = write(office.desk / "statement.csv", lines)
    office.touch(statement)
    answers = answer(result, {
        11: {"resolution": "issued", "number": "28888888888888888888", "resolved_by": "Li", "evidence": "fax"},
        12: {"resolution": "not issued", "resolved_by": "Wang", "evidence": "telephone"},
        15: {"resolution": "issued", "resolved_by": "Wang", "evidence": "telephone"},
    })  # fmt: skip
    office.touch(answers)
    return statement, answers


def said(office: Office, statement: Path, answers: Path) -> tuple[str | Path, ...]:
    """What a reconciliation is started with: each file named twice, as it happens with patterns of names."""
    made = office.now().astimezone(CHINA)
    return (
        "--statement", statement, "--resolved", answers, "--statement", statement, "--resolved", answers,
        "--statement-complete", f"2027-03-01..{made:%Y-%m-%d}", "--statement-made", f"{made:%Y-%m-%dT%H:%M}",
        "--by", "Night Shift",
    )  # fmt: skip


def unknown_sheet(path: Path) -> dict[int, dict[str, str]]:
    """What stands on a result's Unknown sheet, by the ticket's last digits."""
    heading, *rows = openpyxl.load_workbook(path)["Unknown"].iter_rows(values_only=True)
    named = [{str(name): str(cell or "") for name, cell in zip(heading, row, strict=True)} for row in rows]
    return {int(row["tickets"].split()[0][3:]): row for row in named}


def ledger_of(office: Office) -> tuple[str, str]:
    """The ledger's file and its ID."""
    ((identity,),) = _rows(office.ledger, "SELECT ledger_id FROM ledger")
    return str(office.ledger), identity


def ledger_on(path: Path) -> tuple[str, str]:
    """The ledger's file and its ID as the first sheet of a workbook tells them."""
    said = {str(row[0]): str(row[1]) for row in openpyxl.load_workbook(path).worksheets[0].values}
    return said["Ledger"], said["Ledger ID"]


@pytest.mark.slow
def test_every_kind_of_evidence_at_once_is_recorded_with_who_when_and_where(office: Office) -> None:
    statement, answers = evidence(office)
    of, ours = requests(office), numbers(office)
    made, given = office.now().astimezone(CHINA), said(office, statement, answers)
    book = office.add_workbook(fares(1, 14, 21, 77))
    ran = office.voucher(
        "reconcile", book, *given, "--month", "2027-03", "--report", "report.json", "--log-file", "log"
    )
    assert ran.code == 4
    told: dict[str, Any] = json.loads((office.desk / "report.json").read_text())
    place = "answered-doubtful.xlsx, Unknown, row"
    silent = f"not on the carrier's statement statement.csv ({_sha256(statement)}), which Night Shift says is complete for "
    silent += f"2027-03-01..{made:%Y-%m-%d}, and which lists 5 others of that kind"
    settled = [
        (
            11,
            "issued",
            "28888888888888888888",
            "Li",
            f"statement.csv, statement, row 8; {place} 2: fax",
            "fax",
        ),
        (12, "not_sent", "", "Wang", f"{place} 3: telephone", "telephone"),
        (13, "not_sent", "", "Night Shift", silent, ""),
    ]
    assert [
        (of[one["request"]], one["status"], one["number"] or "", one["settled_by"], one["evidence"])
        for one in told["settled"]
    ] == [one[:5] for one in settled]
    sql = "SELECT request_id, settlement.state, settlement.number, settled_by, evidence, answered FROM settlement"
    recorded = _rows(office.ledger, f"{sql} JOIN attempt USING (attempt_id) ORDER BY settlement")
    assert [(of[request], *rest) for request, *rest in map(in_words, recorded)] == settled
    elsewhere = _rows(
        office.ledger,
        "SELECT run, ticket_no, wire, voucher, number, amount, issued_at, evidence, found_by FROM elsewhere",
    )
    assert [*map(in_words, elsewhere)] == [
        (4, "9990000000077", "ticket_fare/flight", "itinerary", STRANGER, 100000, "2027-03-01T11:00:00",
         "statement.csv, statement, row 9", "Night Shift"),
    ]  # fmt: skip
    gone = _rows(
        office.ledger, "SELECT run, voucher, number, attempt_id, reversed_by, evidence FROM reversal"
    )
    assert [*map(in_words, gone)] == [
        (4, "itinerary", ours[1], 1, "Night Shift", "statement.csv, statement, row 10")
    ]
    assert [(problem["code"], problem["place"]) for problem in told["problems"]] == [
        ("incomplete", f"{place} 6"),
        ("misread", "statement.csv, statement, row 11"),
    ]
    assert "was reversed by the carrier" in told["warnings"][0]
    assert told["warnings"][1].startswith("1 unknown outcomes are not on the statements")
    assert "1 lines that may be about it can't be read" in told["warnings"][1]
    assert told["period"] == {"from": "2027-03-01", "to": "2027-03-31", "of": "issued"}
    assert [of[one["request"]] for one in told["unknown"]] == [14, 15]
    rows = {int(row["ticket_no"][3:]): row for row in told["rows"]}
    assert {at: row["status"] for at, row in rows.items()} == {1: "waiting", 14: "unknown", 21: "issued", 77: "already_issued"}  # fmt: skip
    assert f"has reversed its voucher {ours[1]}" in rows[1]["reasons"][0]["message"]
    kinds = {int(charge["ticket_no"][3:]): charge["kind"] for charge in told["charges"]}
    assert kinds.pop(21) in ("agreed", "not_covered")  # it was issued after the statement was made
    assert kinds == {
        **dict.fromkeys((2, 3, 4, 5, 16, 11), "agreed"), 77: "not_ours", **dict.fromkeys((14, 15), "unknown"),
        **dict.fromkeys((1, 12, 13), "to_issue"),
    }  # fmt: skip
    assert ledger_on(office.desk / f"{book.stem}.reconciliation.xlsx") == ledger_of(office)
    sheet = unknown_sheet(office.desk / f"{book.stem}.reconciliation.xlsx")
    assert sheet[15]["resolution"] == "issued", "what was typed and settled nothing stands there again"
    assert sheet[15]["resolved_by"] == "Wang"
    assert sheet[14]["resolution"] == ""
    events = [json.loads(line) for line in (office.desk / "log").read_text().splitlines()]
    assert [(event["event"], event["run"]) for event in events] == [
        ("run_begins", None), ("read", None), ("read", None), ("read", None), ("ledger_taken", 4), ("settled", 4),
        ("settled", 4), ("settled", 4), ("request_ended", 4), ("compared", 4), ("run_ends", 4),
    ]  # fmt: skip
    assert (
        events[0]["files"] == [book.name, "statement.csv", "answered-doubtful.xlsx"]
        or len(events[0]["files"]) == 5
    )
    assert [of[event["request"]] for event in events[5:8]] == [11, 12, 13]
    assert [event["attempt"] for event in events[5:8]] == [1, 1, 1]
    assert [event["state"] for event in events[5:8]] == ["issued", "not_sent", "not_sent"]
    (run,) = _rows(office.ledger, "SELECT command, as_of, files, exit_code FROM run WHERE run = 4")
    assert (*run[:2], json.loads(run[2]), run[3]) == ("reconcile", f"{made:%Y-%m-%d}", [str(book)], 4)


COUNTS = " UNION ALL ".join(
    f"SELECT count(*) FROM {table}" for table in ("settlement", "elsewhere", "reversal")
)


@pytest.mark.slow
def test_what_is_said_again_changes_nothing_and_what_was_withdrawn_settles_nothing(office: Office) -> None:
    statement, answers = evidence(office)
    of, given = requests(office), said(office, statement, answers)
    office.voucher("reconcile", *given, "-o", "alone.xlsx")
    assert ledger_on(office.desk / "alone.xlsx") == ledger_of(office)
    before = _rows(office.ledger, COUNTS)
    office.voucher("reconcile", *given, "--report", "report.json")
    assert _rows(office.ledger, COUNTS) == before
    again = json.loads((office.desk / "report.json").read_text())
    assert again["settled"] == []
    assert [problem["code"] for problem in again["problems"]] == ["incomplete", "misread"]
    # An answer that says something else than it was settled as is told.
    place = "answered-doubtful.xlsx, Unknown, row"
    other = answer(office.desk / "doubtful.xlsx", {12: {"resolution": "issued", "number": "2" * 20, "resolved_by": "Wang", "evidence": "letter"}}, "other")  # fmt: skip
    office.voucher("reconcile", "--resolved", other, "--report", "report.json")
    (stale,) = json.loads((office.desk / "report.json").read_text())["problems"]
    assert (stale["code"], stale["place"]) == ("stale", "other-doubtful.xlsx, Unknown, row 3")
    # Evidence that was withdrawn settles nothing any more, whoever brings it again.
    office.voucher("ledger", "withdraw", "S2", "--why", "wrong")
    office.voucher("reconcile", *given, "--report", "report.json")
    again = json.loads((office.desk / "report.json").read_text())
    assert ("withdrawn", f"{place} 3") in [(one["code"], one["place"]) for one in again["problems"]]
    assert [of[one["request"]] for one in again["unknown"]] == [12, 14, 15]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def ledger_of_every_kind(office: Office) -> None:
    """1 and 2 were issued, 3 and 4 refused as one invoice, 5 is in doubt, and 77 was issued elsewhere."""
    book = office.add_workbook([*fares(1), *fares(2, voucher="invoice")])
    office.voucher("issue", book, "--new-ledger")
    office.voucher("issue", office.add_workbook(fares(3, 4, voucher="invoice")), faults={"refused": 1})
    office.voucher("issue", office.add_workbook(fares(5)), faults={"closed": 1})
    elsewhere = write(office.desk / "elsewhere.csv", [listed(office, 77, STRANGER)])
    office.voucher("reconcile", "--statement", elsewhere)
    assert len(office.carrier.vouchers) == 2


def in_words(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row of the ledger's with its messages in words."""
    return tuple(str(from_text(value)) if isinstance(value, str) else value for value in row)


def rows_of_every_kind(office: Office) -> Path:
    seat = {"charge": "ancillary", "product": "seat", "purchased_on": "2027-02-01", "voucher": "invoice"}
    return office.add_workbook([
        *fares(1), *fares(3, 4, voucher="invoice"), *fares(5, 77), *fares(6, voucher="auto"),
        *fares(7, voucher="auto", flight_date="2026-08-20"), *fares(8, ticket_status="open"), *fares(9, 9),
        *fares(10, passenger_name=""), *fares(2, **seat, amount="50.00"), *fares(2, voucher="itinerary"),
    ])  # fmt: skip


@pytest.mark.slow
def test_rows_of_every_kind_are_judged_sent_and_accounted_for_by_what_the_ledger_holds(
    office: Office,
) -> None:
    ledger_of_every_kind(office)
    book, ours = rows_of_every_kind(office), numbers(office)
    options = ("--as-of", "2027-03-02", "--lang", "en")
    looked = office.voucher("check", book, *options, "--report", "check.json", "-o", "check.xlsx")
    ran = office.voucher(
        "issue", book, *options, "--report", "report.json", "-o", "all.xlsx", "--log-file", "log"
    )
    assert (looked.code, ran.code) == (4, 4)
    checked, told = (json.loads((office.desk / f"{name}.json").read_text()) for name in ("check", "report"))
    assert checked["ledger"] == told["ledger"] == str(office.ledger)
    assert (checked["command"], told["command"]) == ("check", "issue")
    sent = {"ready": "issued"}
    rows = [(int(row["ticket_no"][3:]), row["voucher"], row["status"], *(reason["code"] for reason in row["reasons"])) for row in checked["rows"]]  # fmt: skip
    assert rows == [
        (1, "itinerary", "already_issued", "issued_before"), (3, "invoice", "ready"), (4, "invoice", "ready"),
        (5, "itinerary", "unknown", "no_answer"), (77, "itinerary", "already_issued", "issued_elsewhere"),
        (6, "itinerary", "ready"), (7, "invoice", "ready"), (8, "itinerary", "waiting", "ticket_still_open"),
        (9, "itinerary", "ready"), (9, "itinerary", "repeated", "repeated_charge"),
        (10, "itinerary", "invalid", "missing_value"), (2, "invoice", "ready"),
        (2, "itinerary", "ineligible", "voucher_conflict"),
    ]  # fmt: skip
    assert [row["status"] for row in told["rows"]] == [sent.get(row[2], row[2]) for row in rows]
    assert [row["number"] for row in told["rows"]][:1] == [ours[1]]
    # What was refused together goes one by one; each attempt is claimed with the row that it comes from.
    assert [(len(one["rows"]), one["status"], one["attempt"]) for one in told["requests"]] == [
        (1, "issued", 1)
    ] * 6
    assert [(one["status"], one["request"]) for one in checked["requests"]] == [("ready", one["request"]) for one in told["requests"]]  # fmt: skip
    places = (
        "SELECT ticket_no, charge, file, sheet, row FROM charge JOIN attempt USING (attempt_id) WHERE run = 5"
    )
    assert sorted((int(ticket[3:]), *rest) for ticket, *rest in _rows(office.ledger, places)) == [
        (2, "ancillary", book.name, sheet_of(book), 13), *((ticket, "ticket_fare", book.name, sheet_of(book), row)
          for ticket, row in ((3, 3), (4, 4), (6, 7), (7, 8), (9, 10))),
    ]  # fmt: skip
    judged = _rows(office.ledger, "SELECT ticket_no, charge, voucher, status, reasons, file, row FROM judgement WHERE run = 5")  # fmt: skip
    assert [(int(ticket[3:]), voucher, status, *reasons.split()) for ticket, _, voucher, status, reasons, *_ in judged] == [
        row for row in rows if row[2] != "repeated"
    ]  # fmt: skip
    assert [charge for _, charge, *_ in judged] == [
        row["charge"] for row in checked["rows"] if row["status"] != "repeated"
    ]
    assert {(file, row) for *_, file, row in judged} == {
        (book.name, row) for row in (*range(2, 11), 12, 13, 14)
    }
    (run,) = _rows(office.ledger, "SELECT command, as_of, files, exit_code FROM run WHERE run = 5")
    assert (*run[:2], json.loads(run[2]), run[3]) == ("issue", "2027-03-02", [str(book)], 4)
    for name in ("check", "all"):
        asked = unknown_sheet(office.desk / f"{name}.xlsx")
        assert list(asked) == [5]
        assert asked[5]["ledger"]
        assert asked[5]["reason"].startswith("In doubt since 2027-03-01, month-2.")
        assert ledger_on(office.desk / f"{name}.xlsx") == ledger_of(office)
    events = [json.loads(line) for line in (office.desk / "log").read_text().splitlines()]
    assert events[2]["ledger_id"] == ledger_of(office)[1]
    assert [(event["event"], event["run"]) for event in events] == [
        ("run_begins", None), ("read", None), ("ledger_taken", 5), *[("request_ended", 5)] * 6, ("run_ends", 5),
    ]  # fmt: skip
    assert {(event["state"], event["trace_id"], event["attempt"]) for event in events[3:9]} == {
        ("issued", "t", 1)
    }
    assert sorted(event["request"] for event in events[3:9]) == sorted(
        one["request"] for one in told["requests"]
    )
    assert {event["voucher"] for event in events[3:9]} == {"invoice", "itinerary"}
    assert {"rows": 13, **events[-1]["rows"]} == told["totals"]
    assert (events[-1]["exit_code"], events[-1]["written"]) == (4, ["all.xlsx"])
    assert "Read 13 rows from 1 workbook" in looked.err
    assert f"Ledger: {office.ledger}" in ran.err


def sheet_of(book: Path) -> str:
    return "Sheet" if book.suffix == ".xlsx" else book.stem
