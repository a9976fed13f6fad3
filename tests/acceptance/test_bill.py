"""An agency's bill as finance teams have it: what of it is issued, what is no ticket, and what its totals have beyond the charges."""

from collections import Counter
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.acceptance.bill import write_bill, write_buyers


@pytest.fixture
def bill(desk: Any) -> Path:
    return write_bill(desk.folder / "bill.xlsx")


def _run(desk: Any, command: str, bill: Path, *more: str | Path) -> Any:
    return desk.voucher(
        command, bill, "--buyers", write_buyers(desk.folder / "buyers.xlsx"), "--sandbox", "--as-of", "2026-11-20", "--report",
        "report.json", *more
    )  # fmt: skip


def test_a_total_with_a_service_fee_in_it_says_so_and_how_to_map_it(desk: Any, bill: Path) -> None:
    ran = _run(desk, "check", bill)
    assert ran.code == 1, ran.err
    rows = desk.report()["rows"]
    told = {
        reason["message"] for row in rows for reason in row["reasons"] if reason["code"] == "amount_mismatch"
    }
    assert len(told) > 3
    assert all("stands in “服务费”" in text for text in told)
    assert any(text.startswith("amount is -540.00, but its components add up to -550.00") for text in told)


@pytest.mark.slow
def test_one_line_of_mapping_issues_it_with_its_refund_lines_waiting_for_their_dates(
    desk: Any, bill: Path
) -> None:
    (desk.folder / "map.toml").write_text('[headings]\n"结算金额" = ""\n', encoding="utf-8")
    ran = _run(desk, "issue", bill, "--columns", "map.toml")
    assert ran.code == 1, ran.err
    rows = desk.report()["rows"]
    first = [row for row in rows if row["sheet"] == "全部"]
    assert Counter(row["status"] for row in first) == {"issued": 8, "waiting": 3}
    refunds = [row for row in first if row["charge"] == "refund"]
    assert [(row["amount"], row["status"]) for row in refunds] == [("200.00", "waiting")] * 2
    assert {reason["code"] for row in refunds for reason in row["reasons"]} == {"refund_not_approved"}
    assert {row["status"] for row in rows if row["sheet"] != "全部"} == {"repeated"}


@pytest.mark.slow
@pytest.mark.parametrize(("lang", "told"), [("en", "2 rows read as refund lines"), ("zh", "2 行为退票行")])
def test_rows_read_as_refund_lines_are_counted_for_whoever_looks(
    desk: Any, bill: Path, lang: str, told: str
) -> None:
    place = {"en": "bill.xlsx, sheet 国内机票: ", "zh": "bill.xlsx，工作表“国内机票”："}[lang]
    ran = _run(desk, "check", bill, "--lang", lang, "-o", "r.xlsx")
    assert place + told in ran.err
    summary = openpyxl.load_workbook(desk.folder / "r.xlsx").worksheets[0]
    assert any(place + told in str(cell.value) for cell in summary["A"])
    lines = desk.voucher("columns", bill, "--lang", lang).out.splitlines()
    assert [line.strip()[:6] for line in lines if told in line] == [told[:6]] * 2
