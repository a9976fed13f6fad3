"""Which lines of a statement reverse a voucher, and which only seem to."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.model.evidence import Statement
from tests.unit.reading.test_statement import HEADINGS, INVOICE, LINE, read

pytestmark = pytest.mark.usefixtures("read_here")


@pytest.mark.parametrize(
    ("headings", "cells"),
    [
        ((), ("-1,234.50",)),
        ((), (-1234.5,)),
        ((), ("(1,234.50)",)),
        (("状态",), ("1,234.50", "红字")),
        (("发票状态",), ("1,234.50", "已红冲")),
        (("status",), ("1,234.50", "Void")),
        (("status",), (-1234.5, "reversed")),
        (("红蓝标识",), ("", "红票")),
    ],
)
@pytest.mark.parametrize("original", ["原发票号码", "original number", "对应蓝字发票号码"])
def test_a_red_line_is_a_reversal_of_the_voucher_that_it_names(
    tmp_path: Path, headings: Any, cells: Any, original: str
) -> None:
    names = ("凭证类型", "号码", original, "票号", "费用项目", "金额", *headings)
    found = read(
        tmp_path / "s.xlsx",
        names,
        ("发票", "179534103497928499", INVOICE, "999-1234567890", "机票款", *cells),
    )
    assert (found.lines, found.misread) == ((), ())
    (red,) = found.reversals
    assert (red.original, red.number, red.voucher) == (INVOICE, "179534103497928499", "invoice")
    assert (red.ticket_no, red.charge, red.product) == ("9991234567890", "ticket_fare", "flight")
    assert red.amount == (123450 if cells[0] else None)
    assert str(red.place).endswith("row 2")


NOT_RED = (
    "正常", "未作废", "未红冲", "否", "not reversed", "有效", "", "正常（未红冲）", "已开具(未作废)", "已开具，未红冲", "尚未红冲",
    "Issued (not reversed)", "valid / not void", "never reversed", "No reversal", "not yet reversed", "非红字发票", "已开具", "开票成功",
    "issued", "Normal", "蓝字", "蓝票", "正数", "—", "N/A",
)  # fmt: skip


def test_what_denies_a_reversal_or_says_something_else_is_an_ordinary_line(tmp_path: Path) -> None:
    found = read(
        tmp_path / "s.xlsx",
        (*HEADINGS, "状态", "原发票号码"),
        *((*LINE, status, "") for status in NOT_RED),
    )
    assert (len(found.lines), found.misread, found.reversals) == (len(NOT_RED), (), ())


@pytest.mark.parametrize("kind", ["红字发票", "作废", "负数发票"])
def test_a_red_line_that_names_no_original_is_asked_about(tmp_path: Path, kind: str) -> None:
    rows = ((*HEADINGS, "原发票号码"), (kind, *LINE[1:], ""))
    found = read(tmp_path / "s.xlsx", *rows)
    assert (found.lines, found.reversals) == ((), ())
    (misread,) = found.misread
    assert str(misread.problem).startswith("H2: ")
    assert "voucher ledger reverse" in str(misread.problem)
    assert misread.ticket_no == "9991234567890"


ORIGINAL = "179534103497928111"


def with_cells(path: Path, heading: str, cells: Sequence[Any], original: str = ORIGINAL) -> Statement:
    """A line for each of these cells under that heading; every line but those of the voucher's kind is an invoice's."""
    names = (*HEADINGS, "原发票号码", heading)
    lines = [(*LINE, original, cell) for cell in cells]
    if heading == "voucher":
        names, lines = names[:-1], [(cell, *LINE[1:], original) for cell in cells]
    return read(path, names, *lines)


def counts(found: Statement) -> tuple[int, int, int]:
    """How many lines are ordinary, red and asked about."""
    return len(found.lines), len(found.reversals), len(found.misread)


FINISHED = (
    "红冲", "已红冲", "全额红冲", "已红冲（全额）", "已红冲-全额", "红字", "红票", "红字发票", "负数发票", "作废", "已作废", "红冲成功",
    "发票已红冲", "Reversed", "Fully reversed", "has been reversed", "Void", "VOIDED", "Credit note", "Red invoice", "红",
)  # fmt: skip


def test_a_cell_that_says_only_that_a_reversal_was_made_is_red(tmp_path: Path) -> None:
    assert counts(with_cells(tmp_path / "s.xlsx", "状态", FINISHED)) == (0, len(FINISHED), 0)
    kinds = ("红冲行程单", "红字增值税电子普通发票", "电子发票（航空运输电子客票行程单）红字")
    assert counts(with_cells(tmp_path / "t.xlsx", "voucher", kinds)) == (0, 3, 0)


UNFINISHED = (
    "红冲失败", "红冲申请中", "可红冲", "待红冲", "取消红冲", "红冲中", "红冲待确认", "作废失败", "取消作废", "可作废", "拟作废",
    "红字信息表已上传", "未全额红冲", "红冲未成功", "已红冲，未通过", "Reversal rejected", "reversal requested", "to be reversed",
    "devoid", "avoid", "reversed by department", "not fully reversed", "红蓝",
)  # fmt: skip


@pytest.mark.parametrize("original", ["", ORIGINAL])
@pytest.mark.parametrize(("heading", "column"), [("状态", "I"), ("voucher", "A")])
def test_what_says_something_else_about_a_reversal_is_asked_about(
    tmp_path: Path, original: str, heading: str, column: str
) -> None:
    found = with_cells(tmp_path / "s.xlsx", heading, UNFINISHED, original)
    assert counts(found) == (0, 0, len(UNFINISHED))
    for row, misread in enumerate(found.misread, start=2):
        assert str(misread.problem).startswith(f"{column}{row}: says something about a reversal")


def test_a_status_that_is_not_known_is_asked_about(tmp_path: Path) -> None:
    words = (
        "已撤销",
        "cancelled",
        "已冲销",
        "锁定",
        "invalid",
        "Refunded",
        "未开票",
        "开票失败",
        "是",
        "并非未红冲",
        "#N/A",
    )
    found = with_cells(tmp_path / "s.xlsx", "发票状态", words, "")
    assert counts(found) == (0, 0, len(words))
    assert all("voucher ledger reverse" in str(misread.problem) for misread in found.misread)


ASKING = ("是否红冲", "是否作废", "红冲标志", "作废标志", "reversed")


@pytest.mark.parametrize("heading", ASKING)
def test_yes_and_no_under_a_heading_that_asks_for_a_reversal(tmp_path: Path, heading: str) -> None:
    yes = ("是", "Y", "yes", "1", 1, True, "true", "√", "已红冲")
    assert counts(with_cells(tmp_path / "s.xlsx", heading, yes)) == (0, len(yes), 0)
    no = ("否", "N", "no", "0", 0, False, "false", "", "正常", "未红冲", "-")
    assert counts(with_cells(tmp_path / "t.xlsx", heading, no, "")) == (len(no), 0, 0)


def test_the_colour_of_a_line(tmp_path: Path) -> None:
    for sign in ("红蓝标志", "红蓝字", "正负标识"):
        assert counts(with_cells(tmp_path / "s.xlsx", sign, ("红", "负数"))) == (0, 2, 0)
        assert counts(with_cells(tmp_path / "s.xlsx", sign, ("蓝", "正数", "1"), "")) == (2, 0, 1)


def test_success_under_the_status_of_a_reversal_may_be_the_reversals(tmp_path: Path) -> None:
    words = ("成功", "已完成", "有效", "1", "0", "已开具")
    assert counts(with_cells(tmp_path / "s.xlsx", "红冲状态", words, "")) == (0, 0, len(words))


def test_a_status_beside_a_flag_is_no_second_column_of_one_meaning(tmp_path: Path) -> None:
    found = read(
        tmp_path / "s.xlsx",
        (*HEADINGS, "原发票号码", "发票状态", "是否红冲", "是否作废"),
        (*LINE, "", "正常", "否", "否"),
        (*LINE, ORIGINAL, "正常", "是", "否"),
    )
    assert (len(found.lines), len(found.reversals), found.misread) == (1, 1, ())


def test_a_line_that_names_another_voucher_and_is_not_said_to_be_red_is_asked_about(tmp_path: Path) -> None:
    found = with_cells(tmp_path / "s.xlsx", "状态", ("", "正常", "未红冲"))
    assert counts(found) == (0, 0, 3)
    assert str(found.misread[0].problem).startswith("H2: names another voucher")
    for original in ("", "-", "无", "N/A", "0", LINE[1]):  # names no other one
        assert counts(with_cells(tmp_path / "s.xlsx", "状态", ["正常"], original)) == (1, 0, 0)
