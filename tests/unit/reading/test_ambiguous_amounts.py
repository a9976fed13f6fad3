"""Amounts that are the sum of their parts: refused where a part is not read, or may be there twice."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.table import Table
from pipeline.reading.cell_words import folded
from pipeline.reading.columns_file import ColumnMap
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble

HEAD = ["票号", "姓名", "客票状态"]
USED = ["9991234567890", "A", "已使用"]


def _table(head: list[str], *rows: list[Any], own: dict[str, str] | None = None) -> Table:
    sheet = Sheet.of_rows("S", [[*HEAD, *head], *rows])
    mapping = ColumnMap(headings={folded(word): name for word, name in (own or {}).items()})
    return assemble([(Path("book.xlsx"), [sheet])], None, mapping)


def _refusal(make: Callable[[], Any]) -> str:
    with pytest.raises(InputProblem) as problem:
        make()
    text = str(problem.value)
    assert text.startswith("book.xlsx, sheet S: ")
    return text


@pytest.mark.parametrize("heading", ["单价", "成交价", "票面价(不含税)", "实付金额", "Cost"])
def test_taxes_without_a_fare_are_refused_naming_the_column_that_may_be_it(heading: str) -> None:
    said = _refusal(lambda: _table([heading, "机建", "部门"], [*USED, 12000.0, 50.0, 7.0]))
    assert f"row 2 has E1 “机建” but no fare: D1 “{heading}”" in said


def test_two_taxes_in_one_column_are_no_fare_either() -> None:
    said = _refusal(lambda: _table(["单价", "机建+燃油"], [*USED, 12000.0, 70.0]))
    assert "row 2 has E1 “机建+燃油” but no fare: D1 “单价”" in said


def test_the_tax_that_is_filled_is_the_one_that_is_named() -> None:
    said = _refusal(lambda: _table(["单价", "机建", "燃油"], [*USED, 12000.0, "", 20.0]))
    assert "row 2 has F1 “燃油” but no fare" in said


def test_taxes_without_any_fare_are_refused_too() -> None:
    said = _refusal(lambda: _table(["机建", "部门"], [*USED, "", ""], [*USED, 50.0, 7.0]))
    assert "row 3 has D1 “机建” but no fare, and no column is known to hold it" in said


@pytest.mark.parametrize(
    ("head", "row"),
    [
        (["票价", "机建", "单价"], [*USED, "", 50.0, 1.0]),  # a ticket may have cost nothing but its taxes
        (["金额", "机建", "单价"], [*USED, 1070.0, 50.0, 1.0]),  # the rules say that these do not add up
        (["金额", "机建", "单价"], [*USED, "a", 50.0, 1.0]),
        (["退票手续费", "机建", "单价"], ["9991234567890", "A", "已退票", 50.0, 50.0, 1.0]),
        (["改签费", "机建", "部门"], [*USED, 200.0, 50.0, 1.0]),
        (["机建", "单价"], [*USED, "", 1.0]),
        (["机建", "单价", "费用类型", "产品"], [*USED, 50.0, 1.0, "附加服务", "行李"]),
    ],
)
def test_a_fare_that_is_not_calculated_from_taxes_alone_is_not_missed(
    head: list[str], row: list[Any]
) -> None:
    assert len(_table(head, row)) == 1


@pytest.mark.parametrize("heading", ["手续费", "税", "改签费+其他税费", "价格", "发票金额"])
def test_a_column_that_may_be_part_of_a_charge_without_a_total_is_refused_with_its_amount(
    heading: str,
) -> None:
    said = _refusal(lambda: _table(["票价", "机建", heading], [*USED, 1000.0, 50.0, "20.00"]))
    assert f"F1 “{heading}” holds 20.00 in row 2 and was not read: it may mean " in said


@pytest.mark.parametrize(
    ("head", "row"),
    [
        (["票价", "机建", "手续费", "金额"], [*USED, 1000.0, 50.0, 20.0, 1050.0]),
        (["票价", "机建", "手续费"], [*USED, 1000.0, 50.0, 0.0]),
        (["票价", "机建", "手续费"], [*USED, 1000.0, 50.0, "-"]),
        (["票价", "机建", "价格"], [*USED, 1000.0, 50.0, 1050.0]),
        (["票价", "机建", "价格"], [*USED, 1000.0, 50.0, 1000.0]),
        (["票价", "机建", "燃油", "机建+燃油"], [*USED, 1000.0, 50.0, 20.0, 70.0]),
        (["票价", "机建", "类型", "日期"], [*USED, 1000.0, 50.0, 20.0, 70.0]),
        (["退票手续费", "机建", "税"], ["9991234567890", "A", "已退票", 50.0, 50.0, 20.0]),
    ],
)
def test_a_column_that_is_seen_to_be_no_further_part_is_carried_through(
    head: list[str], row: list[Any]
) -> None:
    assert row[-1] in _table(head, row).cells.iloc[0].tolist()


@pytest.mark.parametrize("heading", ["机建+燃油", "机建＋燃油", "机建燃油（元）", "机建和燃油费"])
def test_the_two_taxes_in_one_column_are_read(heading: str) -> None:
    frame = _table(["票价", heading], [*USED, 1000.0, 70.0]).frame
    assert frame[["fare", "other_taxes"]].iloc[0].tolist() == [100000, 7000]


def test_the_two_taxes_in_one_column_are_not_read_twice() -> None:
    said = _refusal(lambda: _table(["票价", "其他税费", "机建+燃油"], [*USED, 1000.0, 5.0, 70.0]))
    assert "F1 “机建+燃油” holds 70.00" in said


@pytest.mark.parametrize("heading", ["税费", "Taxes", "税费（元）"])
def test_taxes_that_may_hold_the_others_are_refused(heading: str) -> None:
    said = _refusal(lambda: _table(["票价", "机建", heading], [*USED, 1000.0, 50.0, 70.0]))
    assert f"F1 “{heading}” may hold the airport fee" in said
    assert f'"{heading}" = "" in --columns' in said


@pytest.mark.parametrize("heading", ["票价（含税）", "Fare (incl. tax)"])
def test_a_fare_that_says_that_it_holds_the_taxes_beside_it_is_refused(heading: str) -> None:
    said = _refusal(lambda: _table([heading, "机建"], [*USED, 1070.0, 50.0]))
    assert f"D1 “{heading}” says that it holds the taxes, and row 2" in said


@pytest.mark.parametrize(
    ("head", "row"),
    [
        (["票价", "机建", "税费", "合计"], [*USED, 1000.0, 50.0, 70.0, 1120.0]),
        (["票价", "税费"], [*USED, 1000.0, 70.0]),
        (["票价", "机建", "税费"], [*USED, 1000.0, "", 70.0]),
        (["票价", "机建", "其他税费"], [*USED, 1000.0, 50.0, 70.0]),
        (["票价（含税）", "机建"], [*USED, 1070.0, ""]),
    ],
)
def test_taxes_that_can_only_be_taken_once_are_read(head: list[str], row: list[Any]) -> None:
    assert len(_table(head, row)) == 1


def test_what_the_team_s_mapping_says_of_a_heading_is_in_no_doubt() -> None:
    head, row = ["票价（含税）", "机建", "税费", "手续费"], [*USED, 1000.0, 50.0, 70.0, 9.0]
    own = {"票价（含税）": "fare", "税费": "other_taxes", "手续费": ""}
    assert _table(head, row, own=own).frame["other_taxes"].tolist() == [7000]
