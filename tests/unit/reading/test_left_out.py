"""What of a bill is no ticket: hotels, trains and cars, and what a team's mapping leaves out; never a ticket by itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.table import Table
from pipeline.reading.columns_file import ColumnMap, load_map
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble

HEAD = ["订单类型名称", "票号", "乘机人", "销售价", "客票状态"]
FLIGHT = ["国内机票正常单", "999-2420000001", "李娜", 680.0, "已使用"]
HOTEL = ["酒店订单", "", "王芳", 1300.0, "已入住"]
TRAIN = ["火车票订单", "E123456781", "赵磊", 73.0, "已出票"]

Mapped = Callable[[str], ColumnMap]


def _table(mapping: ColumnMap, **sheets: list[list[Any]]) -> Table:
    return assemble(
        [(Path("bill.xlsx"), [Sheet.of_rows(name, rows) for name, rows in sheets.items()])], None, mapping
    )


@pytest.fixture
def mapped(tmp_path: Path) -> Mapped:
    def of(text: str) -> ColumnMap:
        path = tmp_path / "map.toml"
        path.write_text(text, encoding="utf-8")
        return load_map(path)

    return of


def _rows(table: Table) -> list[tuple[str, int]]:
    return list(zip(table.frame["sheet"], table.frame["row"], strict=True))


def test_sheets_and_rows_of_hotels_and_trains_are_left_out_and_counted() -> None:
    table = _table(
        ColumnMap(),
        全部=[HEAD, FLIGHT, HOTEL, TRAIN],
        国内机票=[HEAD, FLIGHT],
        酒店=[HEAD[1:], HOTEL[1:], HOTEL[1:]],
        火车票=[HEAD, TRAIN],
    )
    assert _rows(table) == [("全部", 2), ("国内机票", 2)]
    assert [str(note) for note in table.notes if "no ticket" in str(note)] == [
        "bill.xlsx, sheet 全部: 2 rows of hotels, trains, cars and the like left out; they hold no tickets",
        "bill.xlsx, sheet 酒店: 2 rows of hotels, trains, cars and the like left out; they hold no tickets",
        "bill.xlsx, sheet 火车票: 1 row of hotels, trains, cars and the like left out; it holds no ticket",
    ]


@pytest.mark.parametrize(
    "row",
    [
        ["酒店订单", "999-2420000002", "王芳", 1300.0, ""],  # a ticket's number is a ticket
        ["酒店订单", "９９９-2420000002", "王芳", 1300.0, ""],
        ["酒店订单", 9992420000002.0, "王芳", 1300.0, ""],
        ["酒店订单", 184567890123.0, "王芳", 1300.0, ""],  # its leading zeros were lost
        ["酒店订单", "2420000002", "王芳", 1300.0, ""],
        ["酒店订单", "999-2420000002/03", "王芳", 1300.0, ""],
        ["国内机票正常单", "", "王芳", 1300.0, ""],  # its number was forgotten
        ["机票+酒店", "", "王芳", 1300.0, ""],
        ["代订服务单", "", "王芳", 1300.0, ""],
        ["", "12345", "王芳", 1300.0, ""],
    ],
)
def test_nothing_is_left_out_that_may_be_a_ticket(row: list[Any]) -> None:
    assert len(_table(ColumnMap(), 国内机票=[HEAD, FLIGHT, row])) == 2


def test_a_row_on_a_sheet_of_cars_whose_ticket_lost_its_zeros_is_told_of() -> None:
    table = _table(
        ColumnMap(),
        酒店机场用车=[HEAD[1:], [184567890123.0, "李娜", 680.0, ""], ["E123456781", "A", 1.0, ""]],
    )
    (finding,) = (one for one in table.findings if one.code == "bad_ticket_no")
    assert (_rows(table), finding.rows.tolist()) == ([("酒店机场用车", 2)], [0])


def test_a_flight_on_a_sheet_of_trains_is_a_flight() -> None:
    nameless = ["国内机票正常单", "", "王芳", 1300.0, ""]
    table = _table(ColumnMap(), 火车票=[HEAD, TRAIN, FLIGHT, nameless])
    assert _rows(table) == [("火车票", 3), ("火车票", 4)]


@pytest.mark.parametrize("column", ["费用类型", "产品"])
def test_a_charge_or_a_product_may_say_it_too(column: str) -> None:
    head = ["票号", "姓名", column, "金额"]
    known = {"费用类型": "退票费", "产品": "选座"}[column]
    rows = [["", "A", "酒店", 1.0], ["", "B", known, 1.0], ["9991234567890", "C", "酒店", 1.0]]
    assert _rows(_table(ColumnMap(), S=[head, *rows])) == [("S", 3), ("S", 4)]


def test_a_sheet_of_hotels_with_headings_of_its_own_stops_nothing() -> None:
    """Three headings that are known besides would be taken for a slip in the ticket's."""
    hotels = [["酒店名称", "姓名", "合计", "备注"], ["万豪", "王芳", 1300.0, ""]]
    cars = [["客户", "电话", "车型"], ["云帆", "021-55550142", "SUV"]]  # two headings of buyers
    table = _table(ColumnMap(), 国内机票=[HEAD, FLIGHT], 酒店=hotels, 用车=cars)
    assert (len(table), len(table.buyers)) == (1, 0)
    assert "bill.xlsx: sheet 用车 is left out: it holds no tickets" in map(str, table.notes)
    with pytest.raises(InputProblem, match="no sheet has the headings of tickets"):
        _table(ColumnMap(), 国内机票=[HEAD, FLIGHT], 其他=hotels)


def test_a_workbook_of_hotels_is_left_out_beside_one_of_tickets_and_refused_alone() -> None:
    hotels = (Path("hotels.xlsx"), [Sheet.of_rows("酒店", [HEAD, HOTEL])])
    tickets = (Path("tickets.xlsx"), [Sheet.of_rows("S", [HEAD, FLIGHT])])
    assert len(assemble([hotels, tickets])) == 1
    with pytest.raises(InputProblem, match=r"hotels\.xlsx: holds no tickets; all that is in it is left out"):
        assemble([hotels])


def test_a_team_leaves_out_sheets_and_order_types_whatever_they_hold(mapped: Mapped) -> None:
    mapping = mapped('[sheets."全部"]\nskip = true\n[order_types."国内机票退票单"]\nskip = true')
    refund = ["国内机票退票单", *FLIGHT[1:]]
    table = _table(mapping, 全部=[["票号", "金额", "合计"]], 国内机票=[HEAD, FLIGHT, refund])
    assert _rows(table) == [("国内机票", 2)]
    assert [str(note) for note in table.notes if "columns" in str(note)] == [
        "bill.xlsx: sheet 全部 is left out: as --columns says",
        "bill.xlsx, sheet 国内机票: 1 row left out, as --columns says of its order type",
    ]


def test_what_a_team_says_of_an_order_type_or_a_sheet_keeps_it(mapped: Mapped) -> None:
    kept = mapped('[order_types."酒店订单"]\nskip = false\n[order_types."火车票订单"]\nmarket = "国内"')
    assert len(_table(kept, S=[HEAD, HOTEL, TRAIN])) == 2
    of_sheet = mapped('[sheets."酒店"]\nskip = false')
    assert len(_table(of_sheet, 酒店=[HEAD[1:], HOTEL[1:]])) == 1
    assert len(_table(of_sheet, 酒店=[HEAD, HOTEL, FLIGHT])) == 1  # its order type says so still


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[sheets.S]\nskip = "yes"', "sheets.S.skip must be true or false, without quotes"),
        ('[order_types.O]\nskip = true\nmarket = "国内"', "order_types.O is left out by skip = true"),
        ("[fixed]\nskip = true", "fixed.skip: “skip” is not a column"),
    ],
)
def test_what_can_t_be_left_out_is_refused(mapped: Mapped, text: str, said: str) -> None:
    with pytest.raises(InputProblem, match=said):
        mapped(text)


def test_an_order_type_that_is_left_out_tells_a_file_s_encoding(mapped: Mapped) -> None:
    assert mapped('[order_types."代订服务单"]\nskip = true').knows("代订服务单")


@pytest.mark.parametrize("order", ["酒店订单", "保险订单", "行李额订单", "Baggage order"])
def test_what_is_charged_for_another_service_is_no_fare_though_a_ticket_s_number_stands_there(
    order: str,
) -> None:
    table = _table(ColumnMap(), Bill=[HEAD, FLIGHT, [order, "999-2420000002", "王芳", 130.0, "已使用"]])
    assert [finding.code for finding in table.findings if finding.column == "charge"] == ["bad_choice"]


def test_nor_is_it_on_a_sheet_of_another_service_unless_a_mapping_says_so(mapped: Mapped) -> None:
    rows = [HEAD[1:], FLIGHT[1:]]
    (finding,) = (one for one in _table(ColumnMap(), 保险=rows).findings if one.column == "charge")
    assert finding.code == "bad_choice"
    kept = mapped('[order_types."保险订单"]\nmarket = "domestic"\n')
    table = _table(kept, Bill=[HEAD, ["保险订单", "999-2420000002", "王芳", 130.0, "已使用"]])
    assert [one.code for one in table.findings if one.column == "charge"] == []
