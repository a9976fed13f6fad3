"""Ticket numbers in two columns: the airline's digits apart from the other ten."""

from pathlib import Path
from typing import Any

import pytest

from pipeline.model.table import Table
from pipeline.reading.columns_file import ColumnMap, load_map
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble

HEAD = ["结算代码", "票号", "乘机人", "票价", "客票状态"]


def table(
    *rows: list[Any], head: list[Any] = HEAD, sheet: str = "客票", mapping: ColumnMap | None = None
) -> Table:
    sheets = [Sheet.of_rows(sheet, [head, *rows])]
    return assemble([(Path("bill.xlsx"), sheets)], None, mapping or ColumnMap())


def row(prefix: Any, number: Any, passenger: str = "李娜") -> list[Any]:
    return [prefix, number, passenger, 980.0, "已使用"]


@pytest.mark.parametrize("prefix", ["999", 999.0, "９９９", " 999 "])
@pytest.mark.parametrize(
    "number", ["2420000001", 2420000001.0, "２４２０００００01", "2420000001\u3000", "242 0000001"]
)
def test_both_are_put_together_to_13_digits(prefix: Any, number: Any) -> None:
    made = table(row(prefix, number))
    assert made.frame["ticket_no"].tolist() == ["9992420000001"]
    assert made.findings == ()
    assert [made.cells[name].tolist() for name in ("ticket_prefix", "ticket_no")] == [[prefix], [number]]


@pytest.mark.parametrize("prefix", ["999", "", "CA", "A1", 999.0])
def test_a_number_that_is_whole_needs_no_digits_beside_it(prefix: Any) -> None:
    assert table(row(prefix, "999-2420000001")).frame["ticket_no"].tolist() == ["9992420000001"]


@pytest.mark.parametrize(
    ("prefix", "number", "seen", "hint"),
    [
        ("784", "999-2420000001", "784-999-2420000001", "two_airline_codes"),
        ("784", 9992420000001.0, "784-9992420000001", "two_airline_codes"),
        (18.0, "2420000001", "18-2420000001", "lost_zero"),
        ("", "2420000001", "2420000001", "no_airline_code"),
        ("999", "420000001", "420000001", ""),
        ("9999", "2420000001", "9999-2420000001", ""),
        ("CA", "2420000001", "CA-2420000001", ""),
        (b"#N/A", "2420000001", "#N/A-2420000001", ""),
        ("999", b"#N/A", "#N/A", "error_cell"),
    ],
)
def test_what_does_not_come_to_13_digits_is_told_and_never_repaired(
    prefix: Any, number: Any, seen: str, hint: str
) -> None:
    (found,) = table(row(prefix, number)).findings
    assert (found.code, found.column) == ("bad_ticket_no", "ticket_no")
    assert (found.facts["seen"], found.facts["hint"]) == ([seen], [hint])


def test_rows_of_several_sheets_each_have_their_own() -> None:
    sheets = [
        Sheet.of_rows("A", [HEAD, row("999", "2420000001"), row("784", "2420000001")]),
        Sheet.of_rows("B", [HEAD[1:], row("", "999-2420000002")[1:], row("", "2420000003")[1:]]),
    ]
    made = assemble([(Path("bill.xlsx"), sheets)])
    assert made.frame["ticket_no"].tolist() == ["9992420000001", "7842420000001", "9992420000002", ""]


def test_a_ticket_in_two_columns_is_no_total_and_no_hotel() -> None:
    rows = [["999", "2420000001", "合计", 980.0, ""], ["", "", "合计", 980.0, ""]]
    assert table(*rows).frame["row"].tolist() == [2]
    hotels = [
        [*row("999", "2420000002"), "酒店"],
        [*row("", "2420000003"), "酒店"],
        [*row("", "242000004"), "酒店"],
    ]
    # Ten digits alone may be a ticket whose airline was forgotten.
    assert table(*hotels, head=[*HEAD, "订单类型"]).frame["row"].tolist() == [2, 3]


def test_a_mapping_names_the_column(tmp_path: Path) -> None:
    path = tmp_path / "map.toml"
    path.write_text('[headings]\n"前缀" = "ticket_prefix"\n', encoding="utf-8")
    made = table(row("999", "2420000001"), head=["前缀", *HEAD[1:]], mapping=load_map(path))
    assert made.frame["ticket_no"].tolist() == ["9992420000001"]
