"""Rows that repeat others: named wherever rows are, in no total, and nothing that anybody has to do."""

import json
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from pipeline.model.columns import Lang
from pipeline.model.outcome import Outcome
from pipeline.model.result import RunResult
from pipeline.reporting.json_report import report, write_report
from pipeline.reporting.result_workbook import write_workbook
from pipeline.reporting.sheet_summary_last_days import due
from pipeline.reporting.summary_text import summary_lines

Made = Callable[..., RunResult]
ISSUED = [Outcome("issued", number="100000000000000001")]
#: Its last day is near, so that it would press if it counted.
ROW = {"flight_date": "2025-11-25"}


def lines_of(path: Path, sheet: str) -> list[str]:
    rows = openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True)
    return [" | ".join(str(cell) for cell in row if cell is not None) for row in rows]


@pytest.fixture
def thrice(made: Made) -> Callable[..., RunResult]:
    other = {"ticket_no": "9991234567891", "amount": 10}
    return lambda **about: made(ROW, other, ROW, ROW, **about)


def test_they_need_nobody(thrice: Made) -> None:
    result = thrice(answers=ISSUED)
    assert result.totals == {"issued": 2, "repeated": 2}
    assert result.exit_code == 0
    assert thrice(command="check").exit_code == 0
    assert len(result.columns.failed) == 0
    assert len(due(thrice(command="check"))) == 1


def test_they_count_in_no_total_of_the_summary(thrice: Made, tmp_path: Path) -> None:
    lines = lines_of(write_workbook(thrice(answers=ISSUED), tmp_path / "r.xlsx"), "Summary")
    assert lines[1] == "2 of 2 charges have their voucher: CNY 1,010.50 of CNY 1,010.50."
    assert "• Nothing: every row is issued." in lines
    assert "issued | 2 | 1010.5 | the carrier accepted it in this run" in lines
    assert lines[lines.index("Total | 2 | 1010.5") + 1] == (
        "repeated | 2 | repeats an earlier row: counted there, in no total"
    )
    assert "invoice | 2 | 1010.5 | 2 | 1010.5 | 0 | 0" in lines
    assert any(line.startswith("ACME Travel | 2 | 1010.5 | 2 | 1010.5 | 0 | 0") for line in lines)
    assert "Rows | 4" in lines
    assert "Charges | 2" in lines
    assert "Amount (CNY) | 1010.5" in lines


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", "repeated             2"),
        ("zh", "重复                 2"),
    ],
)
def test_the_last_lines_count_them_without_money(thrice: Made, lang: Lang, said: str) -> None:
    lines = summary_lines(thrice(lang=lang))
    assert lines[0].startswith(("4 rows, judged", "4 行，判定日"))
    (line,) = [line for line in lines if line.split()[:1] == said.split()[:1]]
    assert line.split() == said.split()
    assert not any("×" in line for line in lines)  # it is no problem to be looked into


def test_on_rows_each_leads_to_the_row_that_it_repeats_and_names_it(thrice: Made, tmp_path: Path) -> None:
    sheet = openpyxl.load_workbook(write_workbook(thrice(), tmp_path / "r.xlsx"))["Rows"]
    at = {cell.value: cell.column for cell in sheet[1]}
    status = [sheet.cell(row, at["status"]) for row in range(2, 6)]
    assert [cell.value for cell in status] == ["ready", "ready", "repeated", "repeated"]
    assert [cell.hyperlink and cell.hyperlink.location for cell in status] == [
        None, None, "'Rows'!A2", "'Rows'!A2",
    ]  # fmt: skip
    assert "tickets.xlsx, Tickets, row 2" in sheet.cell(4, at["reason"]).value
    assert len(lines_of(tmp_path / "r.xlsx", "Failures")) == 1


def test_the_report_names_the_row_that_each_repeats(thrice: Made, tmp_path: Path) -> None:
    write_report(report(thrice(), 0), tmp_path / "r.json")
    found = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert found["totals"] == {"rows": 4, "ready": 2, "repeated": 2}
    assert [row.get("repeats") for row in found["rows"]] == [None, None, 0, 0]
    assert [row["status"] for row in found["rows"]] == ["ready", "ready", "repeated", "repeated"]
    assert found["rows"][3]["reasons"][0]["code"] == "repeated_charge"
    assert found["requests"][0]["rows"] == [0, 1]


def test_what_it_says_of_its_ticket_s_status_is_corrected_with_the_row_that_it_repeats(
    made: Made, tmp_path: Path
) -> None:
    refund = {
        "charge": "refund", "amount": 50, "ticket_status": "refunded", "refund_approved_on": "2026-11-01", "voucher": "invoice",
    }  # fmt: skip
    result = made({}, {}, refund)
    assert result.totals == {"repeated": 1, "ineligible": 2}
    headings, *lines = lines_of(write_workbook(result, tmp_path / "r.xlsx"), "Failures")
    assert len(lines) == 2
    assert "status_of_other_rows" not in headings
