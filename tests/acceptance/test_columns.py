"""`voucher columns`: from the first look at an agency's bill, by way of the mapping that it writes, to the check."""

import tomllib
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.acceptance.bill import write_bill, write_buyers
from tests.acceptance.english import english


@pytest.fixture
def bill(desk: Any) -> Path:
    return write_bill(desk.folder / "bill.xlsx")


def _checked(desk: Any, bill: Path, *more: str | Path) -> Any:
    buyers = write_buyers(desk.folder / "buyers.xlsx")
    return desk.voucher(
        "check", bill, "--buyers", buyers, "--sandbox", "--as-of", "2026-11-20", "--report", "report.json", *more
    )  # fmt: skip


def test_every_heading_is_told_with_what_it_is_taken_for_and_samples(desk: Any, bill: Path) -> None:
    ran = desk.voucher("columns", bill)
    assert ran.code == 0, ran.err
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert "bill.xlsx, sheet 国内机票: tickets, 10 rows, headings in row 4" in lines
    assert "D4 承运人-票号 = ticket_no 999-2420000001 | 999-2420000002 | 999-2420000003" in lines
    assert "O4 服务费 carried along 20 | 10" in lines
    assert "bill.xlsx, sheet 酒店: left out" in lines
    assert any(line.startswith("P4 结算金额 left out 1310") for line in lines)
    assert "! refund_approved_on is missing in 2 rows, the first of them row 13" in lines
    told = [line for line in lines if "“结算金额” has “服务费” in it in" in line]
    assert ["in 11 rows" in told[0], "in 10 rows" in told[1], "in 1 row," in told[2], len(told)] == [
        True,
        True,
        True,
        3,
    ]
    assert not list(desk.folder.glob("*.toml"))


@pytest.mark.slow
def test_the_mapping_that_is_written_is_taken_back_and_changes_nothing(desk: Any, bill: Path) -> None:
    ran = desk.voucher("columns", bill, "-o", "map.toml")
    assert ran.code == 0, ran.err
    written = tomllib.loads((desk.folder / "map.toml").read_text(encoding="utf-8"))
    assert written["headings"]["承运人-票号"] == "ticket_no"
    assert written["values"]["ticket_status"] == {"已使用": "used", "已退票": "refunded", "未使用": "open"}
    _checked(desk, bill)
    without = desk.report()["rows"]
    _checked(desk, bill, "--columns", "map.toml")
    assert desk.report()["rows"] == without
    again = desk.voucher("columns", bill, "--columns", "map.toml")
    assert again.out == desk.voucher("columns", bill).out


@pytest.mark.slow
def test_the_mapping_has_the_line_that_leaves_totals_unread_ready_to_be_moved(desk: Any, bill: Path) -> None:
    ran = desk.voucher("columns", bill, "-o", "map.toml")
    assert "Mapping: map.toml (1 thing is not certain)" in ran.err
    text = (desk.folder / "map.toml").read_text(encoding="utf-8")
    (offered,) = [line for line in text.splitlines() if line.startswith("#   [headings]")]
    line, said = offered.removeprefix("#   [headings] ").split("  # ")
    assert (line, "without “服务费”" in said) == ('"结算金额" = ""', True)
    (there,) = [one for one in text.splitlines() if one.startswith('"结算金额" = ')]
    (desk.folder / "map.toml").write_text(text.replace(there, line), encoding="utf-8")
    _checked(desk, bill)
    off = [
        row
        for row in desk.report()["rows"]
        if any(reason["code"] == "amount_mismatch" for reason in row["reasons"])
    ]
    assert len(off) == 22
    _checked(desk, bill, "--columns", "map.toml")
    assert "amount_mismatch" not in (desk.folder / "report.json").read_text(encoding="utf-8")
    again = desk.voucher("columns", bill, "--columns", "map.toml")
    assert "服务费” in it" not in again.out
    assert "not certain" not in again.err


def test_a_mapping_is_never_written_over_another(desk: Any, bill: Path) -> None:
    (desk.folder / "map.toml").write_text("[headings]\n", encoding="utf-8")
    ran = desk.voucher("columns", bill, "-o", "map.toml")
    assert ran.code == 2
    assert "map.toml: is there already" in ran.err
    assert (desk.folder / "map.toml").read_text() == "[headings]\n"
    ran = desk.voucher("columns", bill, "-o", "nowhere/map.toml")
    assert ran.code == 2
    assert "nowhere" in ran.err


def test_it_speaks_chinese(desk: Any, bill: Path) -> None:
    ran = desk.voucher("columns", bill, "-o", "map.toml", "--lang", "zh")
    assert ran.code == 0
    assert "承运人-票号" in ran.out
    assert english(ran.err) == []
    assert [
        word for word in english(ran.out) if not word.isupper()
    ] == []  # cells of the bill are as they are
    comments = [line.partition("#")[2] for line in (desk.folder / "map.toml").read_text().splitlines()]
    assert (
        english("\n".join(comments).replace("voucher check WORKBOOK --columns", "").replace("[headings]", ""))
        == []
    )


def test_a_workbook_of_which_no_heading_is_known_gives_a_mapping_that_has_only_to_be_filled_in(
    desk: Any,
) -> None:
    book = openpyxl.Workbook()
    for line in (["单据", "客人", "钱", "情况"], ["9992412000001", "李娜", 100, "已使用"]):
        book.active.append(line)
    book.save(desk.folder / "t.xlsx")
    assert desk.voucher("columns", "t.xlsx", "-o", "map.toml").code == 0
    path = desk.folder / "map.toml"
    text = path.read_text(encoding="utf-8")
    assert tomllib.loads(text) == {"headings": {}}
    meant = {"单据": "ticket_no", "客人": "passenger_name", "钱": "fare", "情况": "ticket_status"}
    for heading, column in meant.items():
        assert f'# "{heading}" = ""' in text
        text = text.replace(f'# "{heading}" = ""', f'"{heading}" = "{column}"')
    path.write_text(text, encoding="utf-8")
    ran = desk.voucher("columns", "t.xlsx", "--columns", "map.toml")
    assert "t.xlsx, sheet Sheet: tickets, 1 row" in ran.out
