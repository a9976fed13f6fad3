"""A team's own mapping: read whole or refused with the key, and used before what is built in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.table import Table
from pipeline.reading.columns_file import NO_MAP, ColumnMap, load_map
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble

HEAD = ["票号", "姓名", "费用类型", "国内/国际", "客票状态", "订单类型名称"]
TICKET = ["9991234567890", "A", "机票款"]

WHOLE = """
[headings]
"机票款合计" = "金额"
"票面价" = ""
[values.ticket_status]
"已成行" = "used"
[values."国内/国际"]
"境外" = "国际"
[fixed]
voucher = "invoice"
remarks = "Q4"
[sheets."港澳台"]
market = "境外"
[order_types."国内机票正常单"]
ticket_status = "已使用"
"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "map.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def _table(mapping: ColumnMap, *rows: list[Any], sheet: str = "S", head: list[str] = HEAD) -> Table:
    return assemble([(Path("book.xlsx"), [Sheet.of_rows(sheet, [head, *rows])])], None, mapping)


def _values(table: Table, *columns: str) -> list[list[Any]]:
    return [list(row) for row in table.frame[list(columns)].astype(object).fillna("").itertuples(index=False)]


def test_every_part_of_a_mapping_is_read(written: Any) -> None:
    found = load_map(written(WHOLE))
    assert found.headings == {"机票款合计": "amount", "票面价": ""}
    assert found.values == {"ticket_status": {"已成行": "used"}, "market": {"境外": "international"}}
    assert found.fixed == {"voucher": "invoice", "remarks": "Q4"}
    assert found.sheets == {"港澳台": {"market": "international"}}
    assert found.order_types == {"国内机票正常单": {"ticket_status": "已使用"}}


def test_without_a_file_there_is_nothing_of_a_team_s_own() -> None:
    assert load_map(None) is NO_MAP


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", "x is not a known section"),
        ("headings = 1", "headings must be a section"),
        ('[headings]\n"a" = "fares"', "headings.a: “fares” is not a column; did you mean “fare”?"),
        ('[headings]\n"a" = 1', "headings.a must be a text in quotes"),
        ('[headings]\na = "fare"\nA = "amount"', "headings.A says something else than the same word above"),
        ('[values]\nmarket = "x"', "values.market must be a section of its own"),
        ('[values.fare]\nx = "y"', "values.fare: fare can't stand here"),
        ('[values.market]\nx = "moon"', "values.market.x: “moon” is not a value that market can have"),
        ('[fixed]\nfare = "1"', "fixed.fare: fare can't stand here"),
        ('[fixed]\ntax_no = "1"', "fixed.tax_no: tax_no can't stand here"),
        ('[fixed]\nmarket = ""', "fixed.market must not be empty"),
        ('[fixed]\nmarket = "moon"', "fixed.market: “moon” is not a value"),
        ('[sheets]\nx = "y"', "sheets.x must be a section of its own"),
        ('[sheets.x]\nmarkt = "国内"', "sheets.x.markt: “markt” is not a column; did you mean “market”?"),
        ('[order_types.x]\nmarket = "?"', "order_types.x.market: “?” is not a value"),
        ("票价 = 1", "is not valid TOML"),
    ],
)
def test_a_wrong_mapping_is_refused_with_the_file_and_the_key(written: Any, text: str, said: str) -> None:
    with pytest.raises(InputProblem) as problem:
        load_map(written(text))
    assert "map.toml" in str(problem.value)
    assert said in str(problem.value)


def test_a_missing_mapping_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match=r"nowhere\.toml: can't be read"):
        load_map(tmp_path / "nowhere.toml")


# --- used ----------------------------------------------------------------------------------------


def test_a_team_s_own_words_for_values_are_understood_beside_the_known_ones(written: Any) -> None:
    table = _table(load_map(written(WHOLE)), [*TICKET, "境外", "已成行", ""], [*TICKET, "国内", "已使用", ""])
    assert _values(table, "market", "ticket_status") == [["international", "used"], ["domestic", "used"]]
    assert table.cells["ticket_status"].tolist() == ["已成行", "已使用"]
    assert table.findings == ()


def test_a_team_s_own_words_are_understood_in_the_buyers_sheet_too(written: Any) -> None:
    mapping = load_map(
        written('[values.header_type]\n"国企" = "business"\n[headings]\n"户名" = "header_name"')
    )
    sheets = [Sheet.of_rows("S", [HEAD, [*TICKET, "", "", ""]])]
    sheets.append(Sheet.of_rows("B", [["购买方", "抬头类型", "户名"], ["A", "国企", "A 公司"]]))
    (buyer,) = assemble([(Path("book.xlsx"), sheets)], None, mapping).buyers.to_dict("records")
    assert (buyer["header_type"], buyer["header_name"]) == ("business", "A 公司")


def test_a_filled_cell_wins_over_everything_that_a_mapping_says(written: Any) -> None:
    text = '[fixed]\nmarket="international"\n[sheets.S]\nmarket="international"\n[order_types.x]\nmarket="international"'
    assert _values(_table(load_map(written(text)), [*TICKET, "国内", "", "x"]), "market") == [["domestic"]]


def test_the_order_type_goes_before_fixed_and_so_does_the_sheet_s_name(written: Any) -> None:
    text = '[fixed]\nmarket="international"\nticket_status="open"\n[order_types.x]\nticket_status="used"'
    table = _table(load_map(written(text)), [*TICKET, "", "", "x"], [*TICKET, "", "", "y"], sheet="国内机票")
    assert _values(table, "market", "ticket_status") == [["domestic", "used"], ["domestic", "open"]]


def test_where_order_type_and_sheet_disagree_nothing_is_taken_and_it_is_told() -> None:
    table = _table(NO_MAP, [*TICKET, "", "", "国内机票正常单"], sheet="国际机票")
    assert _values(table, "market") == [[""]]
    assert any("market stays blank in 1 rows" in str(note) for note in table.notes)


@pytest.mark.parametrize(
    ("sheet", "order_type", "market", "status"),
    [
        ("国内机票", "", "domestic", ""),
        ("國際機票", "", "international", ""),
        ("International", "", "international", ""),
        ("S", "国内机票正常单", "domestic", ""),
        ("S", "国际机票改签单", "international", ""),
        ("S", "国内机票退票单", "domestic", "refunded"),
        ("国内机票", "国内机票退票单", "domestic", "refunded"),
        ("国内机票 10月", "", "", ""),
        ("S", "国内酒店退订单", "", ""),
        ("S", "退票", "", ""),
    ],
)
def test_what_is_built_in_is_only_what_the_words_say(
    sheet: str, order_type: str, market: str, status: str
) -> None:
    table = _table(NO_MAP, [*TICKET, "", "", order_type], sheet=sheet)
    assert _values(table, "market", "ticket_status") == [[market, status]]


def test_what_is_taken_from_a_sheet_s_name_stands_in_the_cells_and_is_told() -> None:
    table = _table(NO_MAP, TICKET, [*TICKET[:1], "B", "机票款", "国际"], sheet="国内机票")
    assert table.cells["market"].tolist() == ["国内", "国际"]
    assert tuple(map(str, table.notes)) == (
        "book.xlsx, sheet 国内机票: market is 国内 by the sheet's name where its cell is blank (1 rows)",
    )


def test_a_fixed_buyer_is_not_taken_by_a_row_that_says_itself_who_it_is(written: Any) -> None:
    mapping = load_map(written('[fixed]\nbuyer = "ACME"\nheader_type = "business"'))
    head = ["票号", "姓名", "发票抬头", "购买方", "抬头类型", "手机号"]
    rows = [
        ["9991234567890", "A", "B 公司", "", "", ""],
        ["9991234567891", "A", "", "", "", ""],
        ["9991234567892", "A", "", "Li", "", ""],
        ["9991234567893", "A", "", "", "", "13800138000"],  # where a voucher goes is not whose it is
    ]
    table = _table(mapping, *rows, head=head)
    assert _values(table, "buyer", "header_type") == [
        ["", "business"],
        ["ACME", ""],
        ["Li", ""],
        ["ACME", ""],
    ]


def test_an_order_type_that_shows_an_error_says_nothing() -> None:
    table = _table(NO_MAP, [*TICKET, "国内", "已使用", b"#N/A"])
    assert table.findings == ()
    assert _values(table, "order_type") == [[""]]


def test_a_column_that_is_not_to_be_read_is_not_though_it_is_called_like_ours(written: Any) -> None:
    text = '[headings]\nticket_no = ""\n"new ticket" = "ticket_no"\nbuyer = ""\n"billed to" = "buyer"\nremarks = ""'
    head = ["ticket_no", "new ticket", "amount", "buyer", "billed to", "remarks"]
    table = _table(
        load_map(written(text)), ["9991111111111", "9992222222222", 5.0, "A", "B", "own"], head=head
    )
    assert _values(table, "ticket_no", "buyer", "remarks") == [["9992222222222", "B", ""]]
    carried = [name for name in table.cells if name.startswith("input: ")]
    assert table.cells[carried].iloc[0].tolist() == ["9991111111111", "A", "own"]
