"""What counts as a correction: another meaning, in whatever words; and what is written for it."""

import datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble
from pipeline.run.result_corrections import Cell, Held

HEAD = ["票号", "乘机人", "票价", "机建", "退票手续费", "金额", "客票状态", "航班日期", "电话", "成本中心"]
LINE = ["999-2420000031", "赵磊", 980.0, 50.0, "", 1030.0, "已使用", "2026-10-02", "13800138000", "CC-1"]
REFUND = {"票价": -680.0, "机建": -50.0, "退票手续费": 200.0, "金额": -530.0, "客票状态": "已退票"}
NAMES = {"票号": "ticket_no", "票价": "fare", "金额": "amount", "客票状态": "ticket_status", "航班日期": "flight_date",
         "电话": "phone", "乘机人": "passenger_name"}  # fmt: skip


def cell(heading: str, **changes: Any) -> Cell:
    """That column's cell of a line with these changes."""
    row = list({**dict(zip(HEAD, LINE, strict=True)), **changes}.values())
    table = assemble([(Path("bill.xlsx"), [Sheet.of_rows("国内机票", [HEAD, row])])])
    return Cell(Held(table), 0, NAMES.get(heading, heading))


@pytest.mark.parametrize(
    ("heading", "before", "after"),
    [
        ("客票状态", "已使用", "used"), ("航班日期", "2026-10-02", datetime.datetime(2026, 10, 2)),  # noqa: DTZ001 - a cell's
        ("票价", "1,150.00", 1150.0), ("票号", "999-2420000031", "9992420000031"), ("乘机人", "李 娜", " 李\n娜"),
        ("成本中心", 12.0, "12"), ("电话", 13800138000.0, "13800138000"),
    ],
)  # fmt: skip
def test_the_same_in_other_words_is_no_correction(heading: str, before: Any, after: Any) -> None:
    assert cell(heading, **{heading: before}).says(cell(heading, **{heading: after}))


@pytest.mark.parametrize(
    ("heading", "before", "after"),
    [
        ("客票状态", "已使用", "未使用"), ("票价", "abc", 1150.0), ("票价", 0.0, ""), ("票号", "999-2420000031", "999-2420000032"),
        ("航班日期", "2026-10-02", ""), ("成本中心", "CC-1", "cc-1"), ("客票状态", "也许", "或许"),
    ],
)  # fmt: skip
def test_another_meaning_is_one(heading: str, before: Any, after: Any) -> None:
    assert not cell(heading, **{heading: before}).says(cell(heading, **{heading: after}))


@pytest.mark.parametrize(("heading", "after"), [("金额", -520.0), ("金额", "-520"), ("票价", -690.0)])
def test_an_amount_of_a_refund_line_is_what_its_cell_says(heading: str, after: Any) -> None:
    before, typed = cell(heading, **REFUND), cell(heading, **{**REFUND, heading: after})
    assert typed.value == float(after)
    assert not before.says(typed)
    assert before.says(cell(heading, **{**REFUND, heading: str(int(before.seen))}))


@pytest.mark.parametrize(
    ("heading", "typed", "written"),
    [
        ("票价", "1,150.50", 1150.5), ("票价", -690.0, -690.0), ("票价", 0.0, 0.0), ("票价", "abc", "abc"),
        ("航班日期", "2026年10月2日", datetime.date(2026, 10, 2)), ("航班日期", 46297.0, 46297.0),
        ("票号", 9992420000031.0, "9992420000031"), ("电话", 13800138000.0, "13800138000"), ("成本中心", 12.0, 12.0),
        ("乘机人", "李\x07娜", "李娜"),
    ],
)  # fmt: skip
def test_what_is_written_is_a_number_or_a_day_where_it_is_one(heading: str, typed: Any, written: Any) -> None:
    value = cell(heading, **{heading: typed}).value
    assert (value, type(value)) == (written, type(written))
