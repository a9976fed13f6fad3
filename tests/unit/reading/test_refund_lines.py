"""A bill's refund lines: the fee is the refund charge, what is less than zero was paid back, and nothing else is taken so."""

from pathlib import Path
from typing import Any

import pytest

from pipeline.model.table import Table
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble

HEAD = ["票号", "乘机人", "费用类型", "票价", "机建", "改签费", "选座费", "退票手续费", "金额", "客票状态"]
SALE = ["999-2420000001", "李娜", "", 980.0, 50.0, "", "", "", 1030.0, "已使用"]


def refund(**changes: Any) -> list[Any]:
    line = dict(
        zip(HEAD, ["999-2420000031", "赵磊", "", -680.0, -50.0, "", "", 200.0, -530.0, "已退票"], strict=True)
    )
    return list({**line, **changes}.values())


def table_of(*rows: list[Any]) -> Table:
    return assemble([(Path("bill.xlsx"), [Sheet.of_rows("国内机票", [HEAD, *rows])])])


def paid_back(table: Table) -> list[int]:
    assert table.paid_back is not None
    return table.paid_back.tolist()


@pytest.mark.parametrize(
    ("changes", "back", "amount"),
    [
        ({}, -73_000, 20_000),  # the total of the line in all
        ({"金额": 200.0}, -73_000, 20_000),  # the fee alone
        ({"金额": ""}, -73_000, 0),
        ({"金额": -520.0}, -73_000, 21_000),  # a service fee is in it: for the rules to say
        ({"票价": "-680.00"}, -73_000, 20_000),
        ({"票价": "", "金额": 150.0}, -5_000, 20_000),
        ({"改签费": -30.0, "金额": -560.0}, -76_000, 20_000),
        ({"选座费": -30.0, "金额": -560.0}, -76_000, 20_000),
        ({"改签费": 30.0, "金额": -500.0}, -73_000, 23_000),
        ({"费用类型": "退票费"}, -73_000, 20_000),
    ],
)  # fmt: skip
def test_a_refund_line_is_the_fee_that_is_kept(changes: dict[str, Any], back: int, amount: int) -> None:
    table = table_of(SALE, refund(**changes))
    assert [finding.code for finding in table.findings] == []
    assert paid_back(table) == [0, back]
    assert table.frame["amount"].tolist() == [103_000, amount]
    assert table.frame["refund_fee"].tolist() == [0, 20_000]
    assert table.cells["票价" if "票价" in table.cells else "fare"].tolist()[1] == refund(**changes)[3]


@pytest.mark.parametrize(
    ("changes", "columns"),
    [
        ({"退票手续费": ""}, {"fare", "airport_fee", "amount"}),  # no fee
        ({"退票手续费": -200.0}, {"fare", "airport_fee", "refund_fee", "amount"}),
        ({"票价": 680.0}, {"airport_fee", "amount"}),  # a fare above zero
        ({"票价": "", "机建": ""}, {"amount"}),  # nothing that was paid back
        ({"费用类型": "机票款"}, {"fare", "airport_fee", "amount"}),
        ({"费用类型": "不明"}, {"charge", "fare", "airport_fee", "amount"}),
        ({"金额": -830.0}, {"amount"}),  # less than was paid back
    ],
)
def test_what_is_less_than_zero_elsewhere_stays_refused(changes: dict[str, Any], columns: set[str]) -> None:
    table = table_of(SALE, refund(**changes))
    assert {finding.column for finding in table.findings} == columns
    assert all(finding.rows.tolist() == [1] for finding in table.findings)


def test_findings_of_other_rows_and_kinds_stay() -> None:
    table = table_of(refund(), [*SALE[:3], -1.0, *SALE[4:]], refund(机建="abc"), refund(金额="abc"))
    found = {(finding.column, row) for finding in table.findings for row in finding.rows.tolist()}
    assert found == {("fare", 1), ("airport_fee", 2), ("amount", 3)}
    (fare,) = [finding for finding in table.findings if finding.column == "fare"]
    assert fare.fact("hint", 0) == "negative"
    assert fare.fact("seen", 0) == "-1"


def test_how_many_rows_are_read_as_refund_lines_is_told_sheet_by_sheet() -> None:
    sheets = {"A": [SALE, refund(), refund()], "B": [SALE, refund()], "C": [SALE]}
    table = assemble(
        [(Path("bill.xlsx"), [Sheet.of_rows(name, [HEAD, *rows]) for name, rows in sheets.items()])]
    )
    two, one = map(str, table.notes)
    assert two.startswith("bill.xlsx, sheet A: 2 rows read as refund lines (")
    assert two.endswith("those fees, the first of them row 3")
    assert one.startswith("bill.xlsx, sheet B: 1 row read as a refund line (")
    assert not any("refund line" in str(note) for note in table_of(SALE, refund(退票手续费="")).notes)
