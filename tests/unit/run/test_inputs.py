"""What every run reads first: by which words, with which buyers, and what is told of it."""

from pathlib import Path

import openpyxl
import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.table import Table
from pipeline.run.inputs import read
from tests.conftest import GOOD
from tests.unit.reconciliation.desk import workbook
from tests.unit.run.runs import Begun, Watched, at_address, fares, job

BUYERS = [
    ("buyer", "header_type", "header_name", "tax_no", "email"),
    ("ACME", "individual", "Acme", "", "a@example.com"),
]


def table(given: Job) -> Table:
    return read(given, Watched().watch)[1]


def codes(found: Table) -> list[str]:
    return [finding.code for finding in found.findings]


def test_all_files_are_read_and_told_of(desk: Path) -> None:
    watched = Watched()
    first = workbook(
        desk / "a.xlsx", *fares(1, 2), {**dict.fromkeys(GOOD, ""), "ticket_no": "Total", "amount": "2000"}
    )
    second = workbook(desk / "b.xlsx", *fares(4))
    files, found = read(job(first, second), watched.watch)
    assert files == [first, second]
    assert found.tickets() == [row["ticket_no"] for row in fares(1, 2, 4)]
    assert watched.logged == [
        ("read", {"file": "a.xlsx", "kind": "tickets", "rows": 2}),
        ("read", {"file": "b.xlsx", "kind": "tickets", "rows": 1}),
    ]
    assert watched.noted == [
        "a.xlsx, sheet Tickets: 1 total, heading or footer rows left out",
        "Read 3 rows from 2 workbooks",
    ]
    assert watched.warned == []
    assert "Read 1 rows from 1 workbook" in (read(job(second), (one := Watched()).watch), one.noted)[1]


def test_hidden_rows_are_warned_of(desk: Path) -> None:
    path = workbook(desk / "a.xlsx", *fares(1, 2))
    book = openpyxl.load_workbook(path)
    book["Tickets"].row_dimensions[3].hidden = True
    book.save(path)
    watched = Watched()
    read(job(path), watched.watch)
    assert watched.warned == [
        "a.xlsx, sheet Tickets: hidden or filtered out in the file, and read all the same: 1 of 2 rows"
    ]


def test_a_report_that_can_not_be_written_is_refused_before_anything_is_read(desk: Path) -> None:
    with pytest.raises(InputProblem, match="a report is JSON and would replace this workbook"):
        table(job(desk / "gone.xlsx", report=desk / "a.xlsx"))
    path = workbook(desk / "a.xlsx", *fares(1))
    assert len(table(job(path, report=desk / "a.json"))) == 1


def test_files_are_read_by_the_teams_own_words_and_the_carriers_currency(desk: Path) -> None:
    path = workbook(desk / "a.xlsx", *fares(1, ticket_status="done with", amount="JPY 1000"))
    words = desk / "map.toml"
    words.write_text('[values.ticket_status]\n"done with" = "used"\n')
    yen = at_address(currency="JPY")
    assert codes(table(job(path, columns=words, profile=yen))) == []
    assert table(job(path, columns=words)).frame["ticket_status"].tolist() == ["used"]
    assert "used" not in table(job(path)).frame["ticket_status"].tolist()
    assert codes(table(job(path, columns=words))) == ["bad_amount"]


def test_buyers_may_stand_in_a_file_of_their_own(desk: Path) -> None:
    path = workbook(desk / "a.xlsx", *fares(1))
    kept = workbook(desk / "buyers.xlsx", sheets={"Buyers": BUYERS})
    assert table(job(path)).buyers.empty
    assert table(job(path, buyers=kept)).buyers["header_name"].tolist() == ["Acme"]


def test_a_file_that_is_being_read_already_is_not_read_twice(desk: Path) -> None:
    path = workbook(desk / "a.xlsx", *fares(1))
    begun = Begun(path)
    assert len(read(job(path), Watched().watch, begun)[1]) == 1
    assert begun.asked == 1
