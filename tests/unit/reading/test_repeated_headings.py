"""Headings that stand again below the first ones: left out, and never taken for those of other columns."""

from collections.abc import Callable

import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.table import Table

Make = Callable[..., Table]
HEAD = ["ticket_no", "passenger_name", "charge", "amount"]
ROW = ["9991234567890", "A", "refund", 1.0]


def test_headings_in_two_rows_are_left_out_again_where_a_page_repeats_them(sheets_table: Make) -> None:
    heads = [["票号", "姓名", "费用", "", ""], ["", "", "票价", "机建", "燃油"]]
    rows = [*heads, ["9991234567890", "A", 1.0, 2.0, 3.0], *heads, ["9991234567891", "B", 4.0, 5.0, 6.0]]
    table = sheets_table(("S", rows))
    assert table.frame["row"].tolist() == [3, 6]
    assert table.frame["fuel_surcharge"].tolist() == [300, 600]


def test_a_second_table_of_other_columns_on_the_sheet_is_refused_not_misread(sheets_table: Make) -> None:
    rows = [
        HEAD,
        ROW,
        ["passenger_name", "ticket_no", "charge", "amount"],
        ["B", "9991234567891", "refund", 1.0],
    ]
    with pytest.raises(InputProblem, match="A3"):
        sheets_table(("S", rows))


def test_headings_that_the_buyers_sheet_repeats_are_no_buyer(sheets_table: Make) -> None:
    head = ["购买方", "抬头名称"]
    table = sheets_table(("S", [HEAD, ROW]), ("B", [head, ["A", "A 公司"], head, ["B", "B 公司"]]))
    assert table.buyers["buyer"].tolist() == ["A", "B"]
