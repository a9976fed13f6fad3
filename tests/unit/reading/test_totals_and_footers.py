"""Rows below the data that are totals, or say who made the sheet and when: left out and counted, and never a ticket with them."""

import datetime
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.table import Table
from pipeline.reading.totals_and_footers import is_footer

Make = Callable[..., Table]
HEAD = ["票号", "旅客姓名", "费用类型", "金额", "备注"]
ROW = ["9991234567890", "张伟", "退票费", 12.5, ""]
PLAIN_HEAD = ["ticket_no", "passenger_name", "charge", "amount"]
PLAIN_ROW = ["9991234567890", "A", "refund", 1.0]

FOOTERS: list[list[Any]] = [
    ["制表人：张三", "", "", "", ""],
    ["制 表 人：张三", "", "审核人：李四", "", "打印日期：2026-11-20 10:31:22"],
    ["制表人：", "张三", "", "审核人：", "李四"],
    ["製表人：張三", "審核人：", "", "", "覆核人："],
    ["制表人 张三", "", "", "", ""],
    ["制表：张三    审核：李四    日期：2026年11月20日", "", "", "", ""],
    ["", "打印日期", datetime.datetime(2026, 11, 20), "", ""],  # noqa: DTZ001 - a spreadsheet's date has no time zone
    ["", "", "导出时间", "2026-11-20 10:31", ""],
    ["备注：以上 3 张客票均已核对", "", "", "", ""],
    ["", "", "", "", "说明：金额单位为元"],
    ["财务负责人签字：", "", "", "", ""],
    ["制单：王", "", "审核：李", "", "客户盖章："],
    ["客户确认（签章）：", "", "", "乙方（公章）：", ""],
    ["大写：伍仟叁佰壹拾元整", "", "", "", ""],
    ["合计金额（大写）：", "伍仟叁佰壹拾元整", "", "", ""],
    ["开户行：示例银行上海分行", "", "账号：6222 0210 0111 2345", "", ""],
    ["联系人：王芳", "", "联系电话：021-55550142", "", ""],
    ["第 1 页，共 3 页", "", "", "", ""],
    ["Page 1 of 3", "", "", "", ""],
    ["（以下空白）", "", "", "", ""],
    ["Prepared by: Anna Li", "", "Approved by", "Ben", ""],
    ["Prepared by Anna Li", "", "", "", ""],
    ["Printed on 2026/11/20 10:31", "", "", "", ""],
    ["Note: checked against the carrier's list", "", "", "", ""],
]

#: What may be a ticket, however little of it is there or however spoilt it is.
INPUT: list[list[Any]] = [
    ["制表人：张三", "", "", 120.0, ""],
    ["制表人：张三", "", "", "120", ""],
    ["制表人：", "120", "", "", ""],
    ["制表人：", 120.0, "", "", ""],
    ["备注：", "9991234567890", "", "", ""],
    ["备注：999-1234567890 已退票", "", "", "", ""],
    ["备注：1234567890", "", "", "", ""],
    ["备注：9.99E+12", "", "", "", ""],
    ["备注：代收 200 元", "", "", "", ""],
    ["备注：手续费 12.50", "", "", "", ""],
    ["备注：200", "", "", "", ""],
    ["", "张三", "", "", "备注：已核对"],
    ["", "张三", "退票费", "", "制表人：李四"],
    ["制表人：李四", "张三", "", "", ""],
    ["9991234567891", "", "", "", "备注：补开"],
    [9991234567891.0, "", "", "", "制表人：李四"],
    ["制表人：", "USD 120", "", "", ""],
    ["账号：6222021001112345", "", "", 120.0, ""],
    ["账号", "6222021001112345", "", "", ""],
    ["大写：5310.00", "", "", "", ""],
    ["备注", "", "", "", ""],
    ["日期", "", "", "", ""],
    ["", "DATE", "", "", ""],
    ["", "注", "", "", ""],
    ["", "NOTE/ANNA", "", "", ""],
    ["", "SIGNE/DATE MR", "", "", ""],
    ["", "BY/ON", "", "", ""],
    ["", "制表", "", "", ""],
    ["待补", "", "", "", ""],
    ["制表人：张三", b"#N/A", "", "", ""],
]


@pytest.mark.parametrize("row", FOOTERS)
def test_a_row_of_signatures_dates_and_notes_is_left_out_and_counted(
    sheets_table: Make, row: list[Any]
) -> None:
    table = sheets_table(("S", [HEAD, ROW, row]))
    assert table.frame["row"].tolist() == [2]
    assert tuple(map(str, table.notes)) == ("book.xlsx, sheet S: 1 total, heading or footer rows left out",)


@pytest.mark.parametrize("row", INPUT)
def test_a_row_that_may_be_a_ticket_is_never_taken_for_a_footer(sheets_table: Make, row: list[Any]) -> None:
    table = sheets_table(("S", [HEAD, ROW, row]))
    assert table.frame["row"].tolist() == [2, 3]
    assert tuple(map(str, table.notes)) == ()


def test_no_part_of_a_ticket_number_is_a_footer_wherever_it_stands() -> None:
    for digits in (
        "9991234567890",
        "999-1234567890",
        "999 1234567890",
        "991234567890",
        "1234567890",
        "1234567",
    ):
        for at in range(3):
            row = ["制表人：", "张三", "备注："]
            assert is_footer(row)
            assert not is_footer([*row[:at], digits, *row[at:]]), (digits, at)
            assert not is_footer([*row[:at], row[at] + digits, *row[at + 1 :]]), (digits, at)


def test_a_total_beside_a_signature_is_a_total(sheets_table: Make) -> None:
    assert len(sheets_table(("S", [HEAD, ROW, ["制表人：张三", "", "合计", 12.5, ""]]))) == 1
    assert len(sheets_table(("S", [HEAD, ROW, ["制表人：张三", "王五", "合计", 12.5, ""]]))) == 2


def test_a_footer_below_the_buyers_is_no_buyer(sheets_table: Make) -> None:
    buyers = [["购买方", "抬头名称"], ["甲", "甲公司"], ["制表人：张三", ""], ["备注", "备注公司"]]
    table = sheets_table(("客票", [HEAD, ROW]), ("购买方信息", buyers))
    assert table.buyers["buyer"].tolist() == ["甲", "备注"]


def test_a_failure_of_an_earlier_result_is_input_whatever_it_says(sheets_table: Make) -> None:
    names = ("Summary", "Invoices", "Itineraries", "Unknown", "Rows")
    failures = [["status", "reason", *HEAD], ["invalid", "…", "制表人：张三", "", "", "", ""]]
    table = sheets_table(*((name, [["x"]]) for name in names), ("Failures", failures))
    assert table.frame["row"].tolist() == [2]


def test_an_empty_row_is_no_footer() -> None:
    assert not is_footer([])
    assert not is_footer(["", " "])


# --- totals ---


@pytest.mark.parametrize(
    "word", ["total", "Totals", "GRAND TOTAL", "合计", "总计：", "小计", "Sum", "sub-total"]
)
def test_the_words_of_a_total_row_are_known(sheets_table: Make, word: str) -> None:
    assert len(sheets_table(("S", [PLAIN_HEAD, PLAIN_ROW, [word, "", "", 5.0]]))) == 1


@pytest.mark.parametrize(
    "row",
    [
        ["9991234567890", "TOTAL", "refund", 1.0],
        ["", "TOTAL/ANNE", "", 1.0],
        ["", "B", "refund", "total"],
        ["x", "total", "", ""],
        ["", "ZHANG/WEI", "", "合计"],
        ["合计9991234567890", "", "", 1.0],
        ["票号", "ZHANG/WEI", "refund", 1.0],  # a heading typed in the ticket's cell
        ["票号", "姓名", "refund", 1.0],
    ],
)
def test_a_row_with_a_ticket_or_a_charge_is_input_though_it_says_total(
    sheets_table: Make, row: list[Any]
) -> None:
    assert len(sheets_table(("S", [PLAIN_HEAD, PLAIN_ROW, row]))) == 2


@pytest.mark.parametrize(
    "row",
    [
        ["合计（3张）", "", "", 5.0],
        ["本页合计：2,234.80", "", "", ""],
        ["", "Grand Total:", "", 5.0],
        [3.0, "合计", "", 5.0],
        ["3 张", "", "合计", 5.0],
        ["總計", "", "", 5.0],
        ["合计 Total", "", "", 5.0],
        ["共计3条", "", "", ""],
        ["", "", "小计", b"#REF!"],
    ],
)
def test_a_total_row_is_left_out_and_counted_however_it_says_so(sheets_table: Make, row: list[Any]) -> None:
    table = sheets_table(("S", [PLAIN_HEAD, PLAIN_ROW, row]))
    assert len(table) == 1
    assert tuple(map(str, table.notes)) == ("book.xlsx, sheet S: 1 total, heading or footer rows left out",)


def test_no_row_that_holds_a_ticket_is_ever_taken_for_a_total(sheets_table: Make) -> None:
    rows = [
        [*PLAIN_HEAD, "po"],
        ["", "", "", "合计", "999-1234567891"],
        ["9991234567892", "合计", "合计", "合计", "合计"],
    ]
    assert sheets_table(("S", rows)).frame["row"].tolist() == [2, 3]


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("注：以上金额单位为美元", "another currency"),
        ("Note: all amounts in USD", "another currency"),
        ("说明：金额单位为万元", "main unit"),
        ("Note: amounts in thousands", "main unit"),
    ],
)
def test_a_note_that_the_amounts_are_in_another_currency_or_unit_is_refused(
    sheets_table: Make, note: str, said: str
) -> None:
    with pytest.raises(InputProblem, match=f"A3 .* {said}"):
        sheets_table(("S", [HEAD, ROW, [note, "", "", "", ""]]))


@pytest.mark.parametrize(
    "note",
    [
        "说明：金额单位为人民币元",
        "Note: all amounts in CNY",
        "收款账户：示例银行（美元）",
        "备注：以美元计的另附",
    ],
)
def test_a_note_of_our_own_currency_or_of_something_else_is_left_out(sheets_table: Make, note: str) -> None:
    assert len(sheets_table(("S", [HEAD, ROW, [note, "", "", "", ""]]))) == 1
