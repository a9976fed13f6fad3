"""Headings: recognised in both languages, wherever they stand; refused where they are unclear."""

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.messages.translate import heading, in_every_language, rendered
from pipeline.model.columns import COLUMN, COLUMNS, TICKET_COLUMNS
from pipeline.model.errors import InputProblem
from pipeline.model.places import on_sheet
from pipeline.reading.cell_words import folded
from pipeline.reading.heading_meanings import HEADINGS, meanings, nearest, normal
from pipeline.reading.heading_rows import (
    beside_ours,
    find_layout,
    nothing_known,
    slips,
)
from pipeline.reading.sheet import Cells, Sheet

WORDS = [(c.name, word) for c in COLUMNS for word in (*in_every_language(c.name, "column"), *c.variants)]


def _sheet(*rows: list[Any], first: tuple[int, int] = (0, 0)) -> Sheet:
    return Sheet.of_rows("S", [list(row) for row in rows], first_row=first[0], first_column=first[1])


@pytest.mark.parametrize(("column", "word"), WORDS)
def test_every_heading_means_its_column_however_it_is_typed(column: str, word: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in word)
    for typed in (
        word,
        word.upper(),
        f" {word}：",
        f"{word}*",
        word.replace(" ", "\n"),
        wide,
        f"{word}（元）",
    ):
        assert HEADINGS[normal(typed)] == column


@pytest.mark.parametrize(
    ("typed", "means"),
    [
        ("Ticket No.", "ticketno"),
        ("TICKET-NO", "ticketno"),
        ("金额 (CNY)", "金额"),
        ("金额[元]", "金额"),
        ("(note)", "(note)"),
        ("国内/国际", unicodedata.normalize("NFKC", "国内/国际")),
        (12.0, "120"),
    ],
)
def test_normal_takes_away_only_case_width_separators_and_a_unit(typed: Any, means: str) -> None:
    assert normal(typed) == means


@pytest.mark.parametrize(
    "heading_row",
    [
        ["ticket_no", "amount"],
        ["票号", "金额"],
        ["Ticket Number", "Total Amount (CNY)"],
        ["票号", "amount"],
        ["机票号", "", "价税合计（元）"],
    ],
)
def test_a_sheet_of_tickets_is_known_by_its_number_and_one_other_column(heading_row: list[str]) -> None:
    layout = find_layout("f", _sheet(heading_row, ["9991234567890", 1.0, 1.0]))
    assert layout is not None
    assert layout.columns == {"ticket_no": 0, "amount": len(heading_row) - 1}


def test_headings_may_stand_below_title_rows() -> None:
    titles = [["Report of October"], ["", "total", 5.0], [], ["票号"]]
    layout = find_layout("f", _sheet(*titles, ["票号", "姓名"], ["9991234567890", "A"]))
    assert layout is not None
    assert layout.heading_row == 4


def test_headings_in_the_30th_row_are_found_and_in_the_31st_not() -> None:
    rows = [["票号", "姓名"], ["9991234567890", "A"]]
    assert find_layout("f", _sheet(*[["title"]] * 29, *rows)) is not None
    assert find_layout("f", _sheet(*[["title"]] * 30, *rows)) is None


@pytest.mark.parametrize(
    "row",
    [
        ["ticket_no"],
        ["amount", "fare"],
        ["buyer"],
        ["passenger_name", "market", "buyer"],
        ["ticket", "no"],
        [],
    ],
)
def test_one_known_word_or_none_of_the_ticket_s_is_no_heading_row(row: list[str]) -> None:
    assert find_layout("f", _sheet(row, ["x", "y", "z"])) is None


def test_a_sheet_of_buyers_is_known_by_two_buyer_columns() -> None:
    layout = find_layout("f", _sheet(["购买方", "抬头名称", "税号"], ["a", "b", "c"]))
    assert layout is not None
    assert layout.columns == {"buyer": 0, "header_name": 1, "tax_no": 2}


def test_unknown_headings_are_extra_columns_by_their_own_words() -> None:
    rows = [
        ["票号", "amount", "Cost Centre", "", "PO", "PO", "", 2026.0],
        ["1", "2", "3", "x", "5", "6", "", "8"],
    ]
    layout = find_layout("f", _sheet(*rows))
    assert layout is not None
    assert layout.extra == {"Cost Centre": 2, "column D": 3, "PO": 4, "PO (2)": 5, "2026.0": 7}


def test_cells_to_the_right_of_the_last_heading_are_an_extra_column() -> None:
    layout = find_layout("f", _sheet(["票号", "amount"], ["1", "2", "", "note"], first=(4, 2)))
    assert layout is not None
    assert layout.extra == {"column F": 3}


def test_two_headings_for_one_column_are_refused_naming_both_cells() -> None:
    with pytest.raises(InputProblem) as problem:
        find_layout("book.xlsx, sheet S", _sheet(["title"], ["票号", "金额", "x", "amount"], first=(4, 2)))
    text = str(problem.value)
    for part in ("book.xlsx, sheet S", "D6", "“金额”", "F6", "“amount”", "both mean amount"):
        assert part in text


def test_the_message_about_two_headings_is_one_line_though_a_heading_has_two() -> None:
    with pytest.raises(InputProblem) as problem:
        find_layout("book.xlsx, sheet S", _sheet(["票号", "金额\n(元)", "amount"]))
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("typed", "close"),
    [
        ("Ticket Numbr", "ticket number"),
        ("tiket_no", "ticket_no"),
        ("客票使用曰期", "客票使用日期"),
        ("订单号", ""),
        ("成本中心", ""),
        ("不含税金额", ""),  # the opposite of 含税金额
        ("发票号", ""),
        ("航班日期/时间", "航班日期"),
        ("weather", ""),
        ("number", ""),  # of what is not said
        ("", ""),
    ],
)
def test_the_nearest_heading_is_offered_where_one_is_near(typed: str, close: str) -> None:
    assert nearest(typed) == close


def test_every_ticket_column_is_taken_from_a_sheet_with_all_headings_in_either_language(
    sheets_table: Callable[..., Any],
) -> None:
    for lang in ("en", "zh"):
        headings = [heading(column.name, lang) for column in TICKET_COLUMNS]
        table = sheets_table(("S", [headings, [f"v{n}" for n in range(len(headings))]]))
        assert table.cells.columns.tolist() == [column.name for column in TICKET_COLUMNS]
        assert table.cells.iloc[0].tolist() == [f"v{n}" for n in range(len(headings))]


# --- how a heading may be written ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("heading", "column"),
    [
        ("电子客票号码", "ticket_no"), ("承运人-票号", "ticket_no"), ("乘机人", "passenger_name"), ("旅客", "passenger_name"),
        ("起飞日期", "flight_date"), ("乘机日期", "flight_date"), ("票面价", "fare"), ("销售价", "fare"),
        ("机建", "airport_fee"), ("基建", "airport_fee"), ("民航发展基金", "airport_fee"), ("燃油附加费", "fuel_surcharge"),
        ("其他税费", "other_taxes"), ("改签手续费", "change_fee"), ("退票手续费", "refund_fee"), ("结算金额", "amount"),
        ("价税合计", "amount"), ("订单类型名称", "order_type"), ("国内国际标签", "market"), ("发票抬头", "header_name"),
        ("购买方名称", "header_name"), ("购买方邮箱", "email"), ("电子邮箱", "email"), ("纳税人识别号", "tax_no"),
        ("统一社会信用代码", "tax_no"), ("行李费", "baggage_fee"), ("选座费", "seat_fee"), ("升舱费", "upgrade_fee"),
        ("餐食费", "meal_fee"), ("贵宾室费", "lounge_fee"),
    ],
)  # fmt: skip
def test_the_words_of_agencies_exports_are_known(heading: str, column: str) -> None:
    assert meanings(heading) == {column}


@pytest.mark.parametrize(
    ("heading", "column"),
    [
        ("票号 Ticket No.", "ticket_no"),
        ("Ticket No.\n票号", "ticket_no"),
        ("票号/Ticket No", "ticket_no"),
        ("Ticket No（票号）", "ticket_no"),
        ("票号（Ticket No）", "ticket_no"),
        ("【票号】", "ticket_no"),
        ("（必填）票号", "ticket_no"),
        ("票\u200b号", "ticket_no"),
        ("電子客票號碼", "ticket_no"),
        ("國內／國際 Market", "market"),
        ("Domestic/International 国内/国际", "market"),
        ("金额(元) Amount (CNY)", "amount"),
        ("Amount 金额（元）", "amount"),
        ("金额/元", "amount"),
        ("金额：元", "amount"),
        ("Ａｍｏｕｎｔ（ＣＮＹ）", "amount"),
        ("航班日期 Flight Date (yyyy-mm-dd)", "flight_date"),
        ("邮箱/E-mail/电子邮箱", "email"),
        ("邮箱（购买方）", "email"),
        ("纳税人识别号／统一社会信用代码", "tax_no"),
        ("退票费（refund）", "refund_fee"),
        ("退票费（退票）", "refund_fee"),
        ("税号（Tax）", "tax_no"),
        ("金额（必填）", "amount"),
        ("金额（含税，元）", "amount"),
        ("票价（元/张）", "fare"),
        ("Amount (RMB, required)", "amount"),
        ("票号（13位数字）", "ticket_no"),
        ("Ticket No. (13 digits)", "ticket_no"),
        ("备注（原因）", "remarks"),
        ("抬头（选填）", "header_name"),
        ("Tax No. (optional)", "tax_no"),
        ("客票状态（已使用/已退票）", "ticket_status"),
        ("退票审核日期（YYYY-MM-DD）", "refund_approved_on"),
    ],
)
def test_a_heading_may_be_in_both_languages_with_units_brackets_and_traditional_characters(
    heading: str, column: str
) -> None:
    assert meanings(heading) == {column}


@pytest.mark.parametrize(
    "heading",
    [
        "金额（不含税）",
        "Amount (excl. tax)",
        "PO 金额",
        "电话（旅客）",
        "",
        "weather",
        12.0,
        b"#N/A",
        "Total (incl. service fee)",
        "合计(含服务费)",
        "金额（含保险）",
        "金额（定金）",
        "金额 (退)",
        *("金额（退款）", "金额（退票）", "金额（积分）", "金额（预估）", "Amount (original)"),
        *(
            "税号（销售方）",
            "抬头（销售方）",
            "Tax No. (seller)",
            "票号（原）",
            "（原）票号",
            "Ticket No. (old)",
            "票号（原票号）",
        ),
        *("退票审核日期（申请）", "退票费（积分）", "Refund Date (applied)", "票号（张数）"),
    ],
)
def test_what_turns_a_heading_into_another_one_is_not_passed_over(heading: Any) -> None:
    assert meanings(heading) == frozenset()


@pytest.mark.parametrize("heading", ["票价/机建", "Fare 机建", "票价（机建）", "税号、电话"])
def test_a_heading_that_mixes_two_columns_is_refused_naming_both(heading: str) -> None:
    with pytest.raises(InputProblem) as problem:
        find_layout("f", _sheet(["票号", "姓名", heading]))
    first, second = sorted(meanings(heading))
    assert f"C1 “{heading}” may mean {first} or {second}" in str(problem.value)


@pytest.mark.parametrize(
    "heading",
    [
        "金额（万元）",
        "金额(千元)",
        "金额（单位：万元）",
        "票价/万元",
        "Amount (thousands)",
        "Amount (kRMB)",
        "金额（万美元）",
        *(
            "Amount (in thousands)",
            "Amount ('000)",
            "Amount (RMB’000)",
            "Amount (cents)",
            "Amount (in cents)",
            "Amount (CNY, in thousands)",
        ),
        *(
            "金额（以万元计）",
            "金额（按万元计）",
            "金额（含税万元）",
            "Amount (in thousands of CNY)",
            "Amount (CNY millions)",
        ),
    ],
)
def test_amounts_in_thousands_are_refused(heading: str) -> None:
    with pytest.raises(InputProblem, match=r"C1 .* main unit"):
        find_layout("f", _sheet(["票号", "姓名", heading]))


@pytest.mark.parametrize(
    "title",
    [
        "In thousands of CNY",
        "(in thousands)",
        "Amounts in thousands",
        "以下金额以万元计",
        "单位：万元",
        "2026年10月机票明细（单位：千元）",
        "金额单位: 人民币万元",
        "万元",
    ],
)
def test_a_unit_said_above_the_headings_holds_for_the_amounts_below(title: str) -> None:
    with pytest.raises(InputProblem, match=r"C1 .* main unit"):
        find_layout("f", _sheet(["10月", "", title], ["票号", "姓名", "金额"]))
    assert find_layout("f", _sheet(["10月", "", title], ["票号", "姓名", "备注"])) is not None
    assert find_layout("f", _sheet(["10月", "", "单位：元"], ["票号", "姓名", "金额"])) is not None


def test_a_unit_said_of_a_group_of_headings_holds_for_those_below_it_alone() -> None:
    with pytest.raises(InputProblem, match=r"C1 .* main unit"):
        find_layout("f", _sheet(["票号", "姓名", "费用（万元）", ""], ["", "", "票价", "机建"]))
    beside = _sheet(["票号", "姓名", "费用", "", "注册资本（万元）"], ["", "", "票价", "机建", ""])
    assert find_layout("f", beside) is not None


@pytest.mark.parametrize("heading", [
        "金额（美元）", "Amount (USD)", "Fare (US$)", "Amount (SGD)", "Amount (CAD)", "金额（泰铢）", "金额（卢布）", "金额（新加坡元）", "金额（外币）",
        "金额(原币)", "Amount (foreign currency)", "Amount (US dollars)", "金额（单位：港元）", "票价（USD/张）", "Amount (MAD)",
        "Amount (in USD)", "Amount (in US dollars)", "Amount (USD equivalent)", "金额（以美元计）", "金额（折合美元）", "金额（含税美元）",
    ],
)  # fmt: skip
def test_amounts_in_another_currency_are_refused(heading: str) -> None:
    with pytest.raises(InputProblem, match=r"C1 .* another currency"):
        find_layout("f", _sheet(["票号", "姓名", heading]))


@pytest.mark.parametrize(
    "heading",
    [
        "金额（折合人民币）",
        "金额（外币折合人民币）",
        "Amount (in RMB)",
        "金额（以元计）",
        "金额（含税人民币）",
        "金额（元，含税）",
        "Amount (in Yuan, 2000)",
    ],
)
def test_our_own_currency_in_brackets_is_taken_with_other_words(heading: str) -> None:
    layout = find_layout("f", _sheet(["票号", "姓名", heading]))
    assert layout is not None
    assert layout.columns["amount"] == 2


def test_another_currency_said_above_the_headings_is_refused_and_our_own_is_not() -> None:
    with pytest.raises(InputProblem, match=r"A1 “币种：USD” says .* another currency"):
        find_layout("f", _sheet(["币种：USD"], ["票号", "姓名", "金额"]))
    for said in (
        "币种：CNY", "单位：元", "Currency: RMB", "Made in USD terms", "币种均为人民币", "货币单位：人民币元", "币种：人民币（1 USD=7.1）",
        "Currency: Chinese Yuan", "Prepared by: Smith, Bob", "制表人：CHEN/RON", "booked in all",
    ):  # fmt: skip
        assert find_layout("f", _sheet([said], ["票号", "姓名", "金额（人民币）"])) is not None


@pytest.mark.parametrize(
    "title",
    [
        "以下金额以美元计",
        "Amounts in USD",
        "币种：新加坡元",
        "Currency: SGD",
        "结算货币：卢布  日期：2026-10",
        "单位：美元",
        "Amounts in HKD",
    ],
)
def test_every_other_currency_said_above_the_headings_is_refused(title: str) -> None:
    with pytest.raises(InputProblem, match=r"A1 .* another currency"):
        find_layout("f", _sheet([title], ["票号", "姓名", "金额"]))


@pytest.mark.parametrize("name", ["USD", "美元账单", "Tickets (USD)", "机票（美元）", "HKD 2"])
def test_another_currency_that_a_sheet_is_named_by_is_refused(name: str) -> None:
    rows = [["票号", "姓名", "金额"], ["9991234567890", "A", 1.0]]
    with pytest.raises(InputProblem, match="the sheet's name says that its amounts are in another currency"):
        find_layout("f", Sheet.of_rows(name, rows))
    assert find_layout("f", Sheet.of_rows(name, [["票号", "姓名"]])) is not None
    for other in ("人民币账单", "CNY", "美元资本", "Tickets", "RON", "明细", "国内机票"):
        assert find_layout("f", Sheet.of_rows(other, rows)) is not None


def test_a_currency_beside_its_label_is_seen() -> None:
    for label in ("币种", "Currency:", "结算货币", "单位"):
        with pytest.raises(InputProblem, match=r"C1 “USD” says .* another currency"):
            find_layout("f", _sheet([label, "", "USD"], ["票号", "姓名", "金额"]))
        assert find_layout("f", _sheet([label, "", "人民币"], ["票号", "姓名", "金额"])) is not None
    assert find_layout("f", _sheet(["部门", "USD"], ["票号", "姓名", "金额"])) is not None


def test_the_currency_of_headings_is_the_carrier_s() -> None:
    for said in ("Amount (SGD)", "金额（新加坡元）"):
        assert find_layout("f", _sheet(["票号", "姓名", said]), currency="SGD") is not None
        assert find_layout("f", _sheet(["票号", "姓名", said]), currency="") is not None
    with pytest.raises(InputProblem, match=r"C1 .* another currency"):
        find_layout("f", _sheet(["票号", "姓名", "金额（人民币）"]), currency="SGD")


# --- headings in two rows ------------------------------------------------------------------------

GROUPS = ["票号", "姓名", "费用明细", "", "", "备注"]
UNDER = ["", "", "票价", "机建", "燃油", ""]


def test_headings_under_a_merged_group_are_found_with_those_beside_it() -> None:
    layout = find_layout("f", _sheet(["title"], GROUPS, UNDER, ["9991234567890", "A", 1.0, 2.0, 3.0, "r"]))
    assert layout is not None
    assert layout.heading_row == 2
    assert layout.extra == {}
    assert layout.columns == {
        "ticket_no": 0, "passenger_name": 1, "fare": 2, "airport_fee": 3, "fuel_surcharge": 4, "remarks": 5,
    }  # fmt: skip


def test_a_heading_merged_down_beside_groups_is_found_in_the_row_above() -> None:
    rows = [
        ["旅客信息", "", "费用", "", "金额"],
        ["票号", "姓名", "票价", "机建", ""],
        ["9991234567890", "A", 1.0, 2.0, 3.0],
    ]
    layout = find_layout("f", _sheet(*rows))
    assert layout is not None
    assert layout.columns == {"ticket_no": 0, "passenger_name": 1, "fare": 2, "airport_fee": 3, "amount": 4}


def test_a_word_above_the_headings_with_nothing_below_it_is_no_heading() -> None:
    layout = find_layout("f", _sheet(["", "", "", "备注"], ["票号", "姓名"], ["9991234567890", "A"]))
    assert layout is not None
    assert layout.columns == {"ticket_no": 0, "passenger_name": 1}


@pytest.mark.parametrize(
    "row",
    [["", "", "退票费"], ["", "LI/LEI", "refund"], ["", "姓名", 5.0], ["9991234567890", "fare", "refund"]],
)
def test_a_row_of_data_below_the_headings_is_no_second_row_of_them(row: list[Any]) -> None:
    layout = find_layout("f", _sheet(["票号", "姓名", "费用类型"], row))
    assert layout is not None
    assert layout.heading_row == 0


TAXED = ["票号", "旅客姓名", "票价", "", "", "税费", "", "合计", ""]


@pytest.mark.parametrize(
    "row",
    [
        ["", "", "含税", "不含税", "税率", "机建", "燃油", "含税", "不含税"],
        ["", "", "含税价", "未含税", "税额", "机建", "燃油", "含税价", "税前"],
    ],
)
def test_groups_divided_by_how_they_are_taxed_are_read_by_both_rows(row: list[Any]) -> None:
    layout = find_layout("f", _sheet(TAXED, row, ["9991234567890", "A", *[1.0] * 7]))
    assert layout is not None
    assert layout.heading_row == 1
    assert layout.columns == {
        "ticket_no": 0, "passenger_name": 1, "fare": 2, "airport_fee": 5, "fuel_surcharge": 6, "amount": 7,
    }  # fmt: skip
    assert list(layout.extra) == [f"票价({row[3]})", row[4], f"合计({row[8]})"]


@pytest.mark.parametrize(
    "row",
    [
        ["9991234567890", "", "", "", "", "机建", "燃油", "含税", ""],
        ["", "张伟", "", "", "", "机建", "燃油", "含税", ""],
        ["", "", "含税", "weather", "", "机建", "燃油", "", ""],
        ["票 号", "", "含税", "不含税", "", "机建", "燃油", "", ""],
        ["", "", "", "", "税率", "", "税额", "", ""],
    ],
)
def test_a_row_that_may_be_data_divides_no_group(row: list[Any]) -> None:
    layout = find_layout("f", _sheet(TAXED, row))
    assert layout is not None
    assert layout.heading_row == 0


# --- headings that are not known -----------------------------------------------------------------


def _slips(*headings: Any) -> list[str]:
    sheet = _sheet(list(headings), ["x"] * len(headings))
    layout = find_layout("f", sheet)
    assert layout is not None
    return list(map(str, slips(sheet, layout)))


def test_an_unknown_heading_is_told_with_the_nearest_known_one() -> None:
    (slip,) = _slips("票号", "姓名", "Amout")
    assert slip == "C1 “Amout” is not a known heading and was not read; did you mean “amount”?"


def test_a_vague_heading_is_told_with_all_that_it_may_mean() -> None:
    (slip,) = _slips("票号", "姓名", "手续费", "改签费")
    assert slip == "C1 “手续费” may mean refund_fee and was not read; name it more exactly"


def test_a_heading_of_which_one_half_is_known_is_told_and_not_read() -> None:
    assert _slips("票号", "姓名", "改签费/差价", "成本中心/项目", "票号/订单号") == [
        "C1 “改签费/差价” may mean change_fee and was not read; name it more exactly"
    ]


def test_a_workbook_without_a_known_ticket_number_is_told_the_heading_that_may_be_it() -> None:
    sheet = _sheet(["姓名", "Amout", "票号/订单号", "票价"], ["A", 1.0, "9991234567890", 1.0])
    told = str(nothing_known("book.xlsx", [sheet]))
    assert told == (
        "book.xlsx, sheet S, cell C1: “票号/订单号” is not a known heading; did you mean “ticket_no”?"
    )
    assert "B1: “Amout”" in str(nothing_known("book.xlsx", [_sheet(["姓名", "Amout", "weather"])]))


def test_nothing_is_told_of_columns_that_exports_have_nor_of_words_like_one_that_is_there() -> None:
    assert _slips("票号", "姓名", "成本中心", "发票号", "票号码2", "Cost Centre", "weather") == []


@pytest.mark.parametrize("added", ["金额", "Total amount", "金额（元）"])
def test_a_column_added_to_a_result_beside_the_one_that_is_there_is_refused_not_passed_over(
    added: str,
) -> None:
    sheet = _sheet(["ticket_no", "amount", added], ["9991234567890", 1.0, 2.0])
    with pytest.raises(InputProblem) as problem:
        find_layout("f", sheet, ours=True)
    said = f"B1 “amount” and C1 “{added}” both mean amount; rename or delete one of them"
    assert str(problem.value).endswith(said)


def test_a_mapping_says_nothing_of_the_headings_that_a_result_has_from_us() -> None:
    sheet = _sheet(["票号", "旅客姓名", "票价", "input: 票价", "实收"])
    own = beside_ours(
        {
            "票价": "",
            "旅客姓名": "",
            "ticketno": "",
            "实收": "amount",
            "状态": "ticket_status",
            "status": "voucher",
        }
    )
    assert own == {"实收": "amount"}
    layout = find_layout("f", sheet, own, ours=True)
    assert layout is not None
    assert layout.columns == {"ticket_no": 0, "passenger_name": 1, "fare": 2, "amount": 4}
    assert layout.extra == {"input: 票价": 3}


@pytest.mark.parametrize("heading", ["ticket_no", "amount", "remarks", "Amount", "票面价（元）", "票价/机建"])
def test_what_a_team_does_not_want_read_is_never_called_like_a_column(heading: str) -> None:
    sheet = _sheet(["票号", "姓名", heading, heading], ["9991234567890", "A", 1.0, 2.0])
    layout = find_layout("f", sheet, {folded(heading): ""})
    assert layout is not None
    assert layout.extra == {f"input: {heading}": 2, f"input: {heading} (2)": 3}
    assert not set(layout.extra) & set(COLUMN)
    assert all(not meanings(name) for name in layout.extra)
    assert list(slips(sheet, layout)) == []


def test_a_team_s_own_headings_go_before_the_known_ones() -> None:
    sheet = _sheet(["票号", "姓名", "票面价", "销售价", "总收"])
    layout = find_layout("f", sheet, {"票面价": "", "总收": "amount"})
    assert layout is not None
    assert layout.columns == {"ticket_no": 0, "passenger_name": 1, "fare": 3, "amount": 4}
    assert layout.extra == {"input: 票面价": 2}
    assert list(slips(sheet, layout, {"票面价": ""})) == []


@pytest.mark.parametrize("headings", [["?"], [""], ["a", "b"]])
def test_a_sheet_of_very_many_columns_is_gone_through_once_and_not_once_for_each(
    headings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spoilt .xls had 51,201 columns; each row of it was made anew for each of them, for hours."""
    width, cells = 3_000, 0
    real = Cells.__getitem__

    def counted(column: Cells, row: int) -> Any:
        nonlocal cells
        cells += 1
        return real(column, row)

    monkeypatch.setattr(Cells, "__getitem__", counted)
    wide = [headings[at % len(headings)] for at in range(width)]
    top = ["", "", "价格", "价格", *wide]
    sheet = _sheet(
        top, ["票号", "姓名", "票价", "机建", *wide], ["9991234567890", "A", 1.0, 2.0, *["x"] * width]
    )
    layout = find_layout("book.xlsx", sheet)
    assert layout is not None
    assert len(layout.extra) == width
    assert cells < 50 * width


def test_columns_of_one_heading_are_numbered_in_their_order() -> None:
    row = ["票号", "姓名", "注", "注 (2)", "注", "注"]
    layout = find_layout("book.xlsx", _sheet(row, ["9991234567890", *"ABCDE"]))
    assert layout is not None
    assert layout.extra == {"注": 2, "注 (2)": 3, "注 (3)": 4, "注 (4)": 5}


def test_headings_of_one_column_are_told_in_chinese_and_without_names() -> None:
    with pytest.raises(InputProblem) as refused:
        find_layout(on_sheet("a.xlsx", "王小明"), _sheet(["票号", "金额", "amount"]), ours=True)
    said = refused.value.message
    assert (
        rendered(said, "zh")
        == "a.xlsx，工作表“王小明”：B1“金额”与 C1“amount”都表示金额；请改名或删除其中一列"
    )
    assert rendered(said, "en", names=False) == (
        "a.xlsx, sheet …: B1 “…” and C1 “…” both mean amount; rename or delete one of them"
    )
