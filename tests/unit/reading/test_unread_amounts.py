"""Columns that are not read and hold what a total has beyond its components."""

from pathlib import Path
from typing import Any

import pytest

from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble

HEAD = ["序号", "票号", "乘机人", "费用类型", "票价", "机建", "退票手续费", "服务费", "结算金额", "客票状态"]


def line(**changes: Any) -> list[Any]:
    plain = dict(
        zip(HEAD, [1.0, "999-2420000001", "李娜", "", 980.0, 50.0, "", 20.0, 1050.0, "已使用"], strict=True)
    )
    return list({**plain, **changes}.values())


def unread(
    *rows: list[Any], head: list[Any] = HEAD, **more: list[list[Any]]
) -> list[tuple[str, str, list[int]]]:
    sheets = {"国内机票": [head, *rows], **more}
    table = assemble([(Path("bill.xlsx"), [Sheet.of_rows(name, cells) for name, cells in sheets.items()])])
    return [(one.heading, one.total, one.amounts.tolist()) for one in table.unread]


def test_a_column_is_told_with_its_amounts_where_totals_are_off() -> None:
    off, right = line(), line(序号=2.0, 结算金额=1030.0)
    refund = line(票价=-980.0, 机建=-50.0, 退票手续费=200.0, 服务费="-20", 结算金额=-850.0, 客票状态="已退票")
    assert unread(off, right, refund) == [("服务费", "结算金额", [2000, 0, -2000])]


@pytest.mark.parametrize(
    "row",
    [
        line(结算金额=1030.0),
        line(结算金额=1049.0, 序号=2.0),
        line(结算金额=""),
        line(票价="", 机建="", 结算金额=20.0),  # no components to compare it with
        line(服务费="二十"),
        line(服务费=b"#N/A"),
    ],
)
def test_without_a_column_that_fits_nothing_is_told(row: list[Any]) -> None:
    assert unread(row) == []


def test_a_row_that_names_its_charge_is_compared_with_that_charge_s_components() -> None:
    of_fare = line(费用类型="机票款", 退票手续费=200.0)
    assert unread(of_fare) == [("服务费", "结算金额", [2000])]
    of_refund = line(费用类型="退票费", 退票手续费=200.0, 结算金额=220.0)
    assert unread(of_refund) == [("服务费", "结算金额", [2000])]


def test_each_sheet_has_its_own() -> None:
    other = ["代订费" if name == "服务费" else name for name in HEAD]
    sheets = {"国际机票": [other, line(), line()], "港澳台": [HEAD, line()]}
    assert unread(line(), **sheets) == [
        ("服务费", "结算金额", [2000, 0, 0, 0]),
        ("代订费", "结算金额", [0, 2000, 2000, 0]),
        ("服务费", "结算金额", [0, 0, 0, 2000]),
    ]


def test_a_column_that_only_the_program_reads_is_looked_over() -> None:
    """An earlier result's source of the buyer is a heading of the sheet and no column of its rows."""
    head = [*HEAD, "buyer_source"]
    assert unread([*line(), "bill.xlsx"], head=head) == [("服务费", "结算金额", [2000])]


def test_a_column_without_a_heading_is_not_named_as_it_may_be_a_tax() -> None:
    head = ["" if name == "服务费" else name for name in HEAD]
    assert unread(line(), head=head) == []
