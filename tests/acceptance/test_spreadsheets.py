"""Spreadsheets as agencies export them, from the file to the issued voucher."""

import datetime
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.styles import Font
from openpyxl.worksheet.worksheet import Worksheet

from tests.acceptance.office import at_rest

HEADINGS = [
    "序号", "承运人-票号", "乘机人\n(Passenger)", "订单类型名称", "客票状态", "起飞日期", "票面价（元）", "民航发展基金", "燃油附加费",
    "改签手续费", "退票手续费", "行李费", "选座费", "贵宾室费", "购买日期", "退票审核日期", "结算金额", "成本中心",
]  # fmt: skip
BUYERS = [
    ["购买方名称", "抬头类型", "统一社会信用代码", "联系电话", "电子邮箱"],
    ["示例贸易有限公司", "企业", "91110000600037341L", "010-85200000", "finance@example.com"],
]
DOMESTIC: list[list[Any]] = [
    [
        1,
        "999-1000000001",
        "张三",
        "国内机票正常单",
        "已使用",
        datetime.date(2026, 9, 1),
        800,
        50,
        30,
        "",
        "",
        120,
        "",
        "",
        "2026/8/20",
        "",
        "1,000.00",
        "CC-1",
    ],
    [
        2,
        9991000000002,
        "ZHANG/SAN",
        "国内机票改签单",
        "已使用",
        "2026年9月2日",
        "¥900.00",
        "50",
        "30.0元",
        "100",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "CC-1",
    ],
    [
        3,
        "999 1000000003",
        "李四",
        "国内机票退票单",
        "",
        "03SEP26",
        700,
        50,
        30,
        "",
        "70.00",
        "",
        35,
        "",
        "20260820",
        "2026-09-10",
        "",
        "0123",
    ],
    ["合计", "", "", "", "", "", 2400, 150, 90, 100, 70, 120, 35, "", "", "", "", ""],
]
ABROAD: list[list[Any]] = [
    [
        1,
        "999-1000000004",
        "王五",
        "国际机票正常单",
        "已使用",
        "25/09/2026",
        12000,
        90,
        1500.5,
        "",
        "",
        "",
        "",
        300,
        "2026-08-01",
        "",
        13890.5,
        "",
    ],
]
#: What those four rows are: (ticket, charge, product, amount), by carrier-interface.md, Terms.
CHARGES = {
    ("9991000000001", "ticket_fare", "flight", "880.00"),
    ("9991000000001", "ancillary", "baggage", "120.00"),
    ("9991000000002", "ticket_fare", "flight", "1080.00"),
    ("9991000000003", "refund", "flight", "70.00"),
    ("9991000000003", "ancillary", "seat", "35.00"),
    ("9991000000004", "ticket_fare", "flight", "13590.50"),
    ("9991000000004", "ancillary", "lounge", "300.00"),
}
AS_OF = ["--as-of", "2026-11-20", "--report", "report.json"]


def _sheet(sheet: Worksheet, rows: Sequence[Sequence[Any]]) -> None:
    """Title rows in merged cells, the headings in bold below them, and the headings again below the rows."""
    sheet.append(["2026 年第三季度机票结算单"])
    sheet.merge_cells(start_row=1, start_column=1, end_row=1, end_column=len(HEADINGS))
    sheet.append(["制表日期：", "2026-10-08"])
    sheet.append(HEADINGS)
    for cell in sheet[3]:
        cell.font = Font(bold=True)
    for row in rows:
        sheet.append(list(row))
    sheet.append(HEADINGS)


def _export(path: Path, sheets: Mapping[str, Sequence[Sequence[Any]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        _sheet(book.create_sheet(name), rows)
    buyers = book.create_sheet("购买方信息")
    for line in BUYERS:
        buyers.append(line)
    book.save(path)
    return path


def _charges(report: dict[str, Any]) -> set[tuple[str, str, str, str]]:
    return {
        (row["ticket_no"], charge["charge"], charge["product"], charge["amount"])
        for row in report["rows"]
        for charge in row["charges"]
    }


@pytest.mark.slow
def test_an_agency_s_export_in_chinese_is_issued_as_it_is(desk: Any, sandbox: Any) -> None:
    export = _export(desk.folder / "结算单.xlsx", {"国内机票": DOMESTIC, "国际机票": ABROAD})
    with sandbox(export) as carrier:
        profile = desk.profile(carrier.base_url)
        ran = desk.voucher("issue", export, "--profile", profile, *AS_OF)
        assert ran.code == 0, ran.err
        issued = {(line["ticket_no"], line["charge"], line["product"]) for line in carrier.issued()}
        assert carrier.twice() == []
    report = desk.report()
    assert report["totals"] == {"rows": 4, "issued": 4}
    assert _charges(report) == CHARGES
    assert issued == {(ticket, charge, product) for ticket, charge, product, _ in CHARGES}
    assert "2 total, heading or footer rows left out" in ran.err
    assert "成本中心" not in ran.err
    assert {request["buyer"] for request in report["requests"]} == {"示例贸易有限公司"}
    sheet = openpyxl.load_workbook(desk.folder / "结算单.result.xlsx")["Rows"]
    assert [row["row"] for row in report["rows"]] == [4, 5, 6, 4]
    assert "0123" in {cell.value for row in sheet for cell in row}  # an extra column, as text


@pytest.mark.parametrize("suffix", ["xls", "ods"])
def test_the_same_export_saved_by_libreoffice_is_the_same(desk: Any, converted: Any, suffix: str) -> None:
    export = _export(desk.folder / "export.xlsx", {"国内机票": DOMESTIC, "国际机票": ABROAD})
    shutil.copy(converted(export, suffix), desk.folder)
    profile = desk.profile("http://127.0.0.1:1")
    ran = desk.voucher("issue", desk.folder / f"export.{suffix}", "--sandbox", "--profile", profile, *AS_OF)
    assert ran.code == 0, ran.err
    assert _charges(desk.report()) == CHARGES


MAP = """
[headings]
"实收机票款" = "票价"
"票面价（元）" = ""
[values."客票状态"]
"已成行" = "已使用"
[sheets."港澳台"]
market = "international"
[order_types."标准单"]
ticket_status = "used"
"""


@pytest.fixture
def mapped(desk: Any) -> Callable[[], tuple[Path, Path]]:
    """A workbook in a team's own words, and the mapping that explains them."""

    def write() -> tuple[Path, Path]:
        book = openpyxl.Workbook()
        sheet = book.worksheets[0]
        sheet.title = "港澳台"
        sheet.append(
            [
                "票号",
                "乘机人",
                "订单类型名称",
                "客票状态",
                "起飞日期",
                "票面价（元）",
                "实收机票款",
                "国内/国际",
            ]
        )
        sheet.append(["999-1000000011", "张三", "标准单", "", "2026-10-01", 900, 800, ""])
        sheet.append(["999-1000000012", "李四", "", "已成行", "2026-10-01", 900, 850, "国内"])
        buyers = book.create_sheet("购买方信息")
        for line in BUYERS:
            buyers.append(line)
        book.save(desk.folder / "own.xlsx")
        (desk.folder / "map.toml").write_text(MAP, encoding="utf-8")
        return desk.folder / "own.xlsx", desk.folder / "map.toml"

    return write


@pytest.mark.slow
def test_a_team_s_own_words_are_issued_by_its_mapping_on_both_sides(
    desk: Any, sandbox: Any, mapped: Callable[[], tuple[Path, Path]]
) -> None:
    book, columns = mapped()
    with sandbox(book, more=["--columns", columns]) as carrier:
        profile = desk.profile(carrier.base_url)
        arguments = ["--profile", profile, "--columns", columns, *AS_OF]
        assert desk.voucher("check", book, *arguments).code == 0
        ran = desk.voucher("issue", book, *arguments)
        assert ran.code == 0, ran.err
        assert len(carrier.issued()) == 2
    rows = desk.report()["rows"]
    assert [row["amount"] for row in rows] == ["800.00", "850.00"]
    assert sorted(request["market"] for request in desk.report()["requests"]) == ["domestic", "international"]


@pytest.mark.slow
def test_a_team_s_own_words_are_known_in_an_inbox_too(
    desk: Any, sandbox: Any, mapped: Callable[[], tuple[Path, Path]]
) -> None:
    book, columns = mapped()
    (desk.folder / "out").mkdir()
    (inbox := desk.folder / "in").mkdir()
    with sandbox(book, more=["--columns", columns]) as carrier:
        at_rest(book.rename(inbox / book.name))
        arguments = [
            "--profile",
            desk.profile(carrier.base_url),
            "--ledger",
            "L",
            "--columns",
            columns,
            *AS_OF,
        ]
        ran = desk.voucher("reconcile", "--inbox", inbox, "--outbox", "out", *arguments)
        assert ran.code == 0, ran.err
        assert len(carrier.issued()) == 2


def test_without_its_mapping_the_same_workbook_is_refused_row_by_row(
    desk: Any, mapped: Callable[[], tuple[Path, Path]]
) -> None:
    book, _ = mapped()
    ran = desk.voucher("check", book, "--sandbox", "--profile", desk.profile("http://127.0.0.1:1"), *AS_OF)
    assert ran.code == 1
    found = [
        {(reason["code"], reason["column"]) for reason in row["reasons"]} for row in desk.report()["rows"]
    ]
    assert found == [
        {("missing_value", "market"), ("missing_value", "ticket_status")},
        {("bad_choice", "ticket_status")},
    ]


def test_a_wrong_mapping_sends_nothing_and_names_its_key(
    desk: Any, mapped: Callable[[], tuple[Path, Path]]
) -> None:
    book, columns = mapped()
    columns.write_text(MAP.replace("[order_types", "[ordertypes"), encoding="utf-8")
    ran = desk.voucher(
        "issue", book, "--sandbox", "--profile", desk.profile("http://127.0.0.1:1"), "--columns", columns
    )
    assert ran.code == 2
    assert "map.toml: ordertypes is not a known section" in ran.err
    assert not (desk.folder / "own.result.xlsx").exists()


@pytest.mark.slow
def test_an_ancillary_charge_may_stand_in_its_own_fee_s_column_on_both_sides(
    desk: Any, workbook: Any
) -> None:
    seat = {
        "charge": "ancillary",
        "product": "seat",
        "amount": "",
        "seat_fee": 20,
        "purchased_on": "2026-09-01",
    }
    book = workbook([{**seat, "voucher": "auto"}])
    ran = desk.voucher("issue", book, "--sandbox", "--profile", desk.profile("http://127.0.0.1:1"), *AS_OF)
    assert ran.code == 0, ran.err
    assert _charges(desk.report()) == {("9991234567890", "ancillary", "seat", "20.00")}


@pytest.mark.slow
def test_corrected_failures_of_an_export_are_issued_as_they_are(desk: Any) -> None:
    """What the sheet's name and the order type said stands in the Failures' cells, and so is not lost."""
    bad = [list(row) for row in DOMESTIC]
    bad[2][5], bad[2][10] = "03/09/2026", "(70.00)"
    export = _export(desk.folder / "export.xlsx", {"国内机票": bad})
    arguments = ["--sandbox", "--profile", desk.profile("http://127.0.0.1:1"), "--ledger", "L", *AS_OF]
    assert desk.voucher("issue", export, *arguments).code == 1
    row = desk.report()["rows"][2]
    assert row["status"] == "invalid"
    messages = {reason["column"]: reason["message"] for reason in row["reasons"]}
    assert "two days" in messages["flight_date"]
    assert "less than zero" in messages["refund_fee"]
    result = desk.folder / "export.result.xlsx"
    book = openpyxl.load_workbook(result)
    sheet = book["Failures"]
    at = {cell.value: cell.column for cell in sheet[1]}
    assert [sheet.cell(2, at[name]).value for name in ("market", "ticket_status")] == ["国内", "已退票"]
    sheet.cell(2, at["flight_date"]).value = "2026-09-03"
    sheet.cell(2, at["refund_fee"]).value = 70
    book.save(result)
    ran = desk.voucher("issue", result, *arguments)
    assert ran.code == 0, ran.err
    assert _charges(desk.report()) == {charge for charge in CHARGES if charge[0] == "9991000000003"}


BILL = ["票号", "乘机人", "客票状态", "乘机日期", "票价", "机建", "燃油"]
USED = ["9991000000001", "张三", "已使用", "2026-09-01"]


def _bill(path: Path, head: list[str], *rows: list[Any], above: str = "", merged: str = "") -> Path:
    """A bill without any total, as it is written on one sheet; `merged` are cells of it."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "国内机票"
    for row in ([above], head, *rows):
        sheet.append(row)
    if merged:
        sheet.merge_cells(merged)
    buyers = book.create_sheet("购买方信息")
    for line in BUYERS:
        buyers.append(line)
    book.save(path)
    return path


@pytest.mark.parametrize(
    ("head", "amounts", "more", "said"),
    [
        ([*BILL[:4], "成交价", *BILL[5:]], [1000, 50, 20], {}, "E2“成交价”不是已知表头"),
        ([*BILL, "税费"], [1000, 50, 20, 70], {}, "H2“税费”可能已包含第 3 行的机建和燃油"),
        ([*BILL[:4], "票价（含税）", *BILL[5:]], [1070, 50, 20], {}, "E2“票价（含税）”表明已含税费"),
        ([*BILL, "手续费"], [1000, 50, 20, 30], {}, "H2“手续费”在第 3 行填有 30.00，未读取"),
        (BILL, [0.1, 0.005, 0.002], {"above": "单位：万元"}, "A1“单位：万元”表明金额不是以元为单位"),
        (BILL, [1000, 50, 20], {"merged": "E3:E4"}, "E3:E4 是一个合并单元格"),
    ],
)
def test_a_bill_whose_sum_can_be_read_in_two_ways_sends_nothing_and_names_the_cell(
    desk: Any, head: list[str], amounts: list[Any], more: dict[str, str], said: str
) -> None:
    second = ["9991000000002", *USED[1:], "" if more.get("merged") else amounts[0], *amounts[1:]]
    book = _bill(desk.folder / "bill.xlsx", head, [*USED, *amounts], second, **more)
    ran = desk.voucher(
        "issue", book, "--sandbox", "--profile", desk.profile("http://127.0.0.1:1"), "--lang", "zh", *AS_OF
    )
    assert ran.code == 2, ran.err
    assert said in ran.err
    assert not (desk.folder / "bill.result.xlsx").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("head", "amounts"),
    [
        (["票价", "机建+燃油"], [1000, 70]),
        (["票价", "机建燃油", "合计"], [1000, 70, 1070]),
        (["票价", "机建", "税费", "合计"], [1000, 50, 20, 1070]),
        (["票价（含税）"], [1070]),
    ],
)
def test_a_bill_whose_sum_can_only_be_one_is_issued(desk: Any, head: list[str], amounts: list[Any]) -> None:
    book = _bill(desk.folder / "bill.xlsx", [*BILL[:4], *head], [*USED, *amounts])
    ran = desk.voucher("issue", book, "--sandbox", "--profile", desk.profile("http://127.0.0.1:1"), *AS_OF)
    assert ran.code == 0, ran.err
    assert _charges(desk.report()) == {("9991000000001", "ticket_fare", "flight", "1070.00")}


def test_tickets_on_a_second_page_without_headings_are_not_left_out_in_silence(desk: Any) -> None:
    path = _bill(desk.folder / "bill.xlsx", BILL, [*USED, 1000, 50, 20])
    book = openpyxl.load_workbook(path)
    book.create_sheet("第2页").append(["9991000000002", *USED[1:], 900, 50, 20])
    book.save(path)
    ran = desk.voucher("check", path, "--profile", desk.profile("http://127.0.0.1:1"), *AS_OF)
    assert ran.code == 2, ran.err
    assert "sheet 第2页 has no headings, but A1 holds the ticket number 9991000000002" in ran.err


def _shown_in(path: Path, formats: Mapping[str, str], column: str = "amount") -> Path:
    """A workbook whose amounts are shown in a currency: a number format by the ticket's number."""
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    at = {cell.value: cell.column for cell in sheet[1]}
    for row in range(2, sheet.max_row + 1):
        sheet.cell(row, at[column]).number_format = formats.get(
            sheet.cell(row, at["ticket_no"]).value, "General"
        )
    book.save(path)
    return path


@pytest.mark.slow
def test_the_carrier_s_currency_is_that_of_the_profile_wherever_amounts_are_read(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any
) -> None:
    formats = {"9990000000001": "[$$-409]0.00", "9990000000002": "[$¥-804]0.00", "9990000000003": "General"}
    rows = [*tickets(2), {"ticket_no": "9990000000003", "amount": "US$1,000.00"}]
    months = _shown_in(workbook(rows), formats)
    profile = desk.profile("http://127.0.0.1:1", name="dollars.toml")
    profile.write_text(profile.read_text().replace("[carrier]", '[carrier]\ncurrency = "USD"'))
    day, ledger = ("--as-of", "2026-11-20"), desk.folder / "d.ledger"

    def statuses() -> list[str]:
        return [row["status"] for row in desk.report()["rows"]]

    # The registry that the sandbox makes of the tickets knows only amounts that it could read.
    with sandbox(months, more=("--profile", profile)) as carrier:
        profile.write_text(profile.read_text().replace("http://127.0.0.1:1", carrier.base_url))
        common = ("--profile", profile, "--ledger", ledger, *day, "--report", "report.json")
        desk.voucher("issue", months, *common)
        assert statuses() == ["issued", "invalid", "issued"]
        numbers = [row["number"] for row in desk.report()["rows"]]

        statement = openpyxl.Workbook()
        sheet = statement.worksheets[0]
        sheet.append(["voucher", "number", "ticket_no", "charge", "amount", "issued_at"])
        for ticket, number in (("9990000000001", numbers[0]), ("9990000000003", numbers[2])):
            sheet.append(["itinerary", number, ticket, "ticket_fare", 1000, "2026-11-20"])
            sheet.cell(sheet.max_row, 5).number_format = "[$$-409]0.00"
        inbox = desk.folder / "in"
        inbox.mkdir()
        (desk.folder / "out").mkdir()
        statement.save(inbox / "statement.xlsx")
        more = workbook([{"ticket_no": "9990000000004"}], name="more.xlsx")
        shutil.copy(_shown_in(more, {"9990000000004": "[$$-409]0.00"}), inbox)
        ran = desk.voucher("reconcile", "--inbox", inbox, "--outbox", desk.folder / "out", *common)
        assert desk.report().get("problems") == [], ran.err
        assert statuses() == ["rejected"], (
            ran.err
        )  # asked for: the sandbox knows the first month's tickets alone
        ran = desk.voucher("reconcile", months, "--statement", inbox / "statement.xlsx", *common)
        assert (desk.report()["comparison"]["agreed"], desk.report()["problems"]) == (2, []), ran.err
    # In the sandbox inside a run, and with the profile's own default, it is the yuan.
    desk.voucher(
        "check", months, "--profile", desk.profile("http://127.0.0.1:1"), *day, "--report", "report.json"
    )
    assert statuses() == ["invalid", "ready", "invalid"]


@pytest.mark.slow
@pytest.mark.parametrize("apart_first", [True, False])
def test_a_ticket_whose_number_stands_in_two_columns_is_the_same_ticket(
    desk: Any, sandbox: Any, workbook: Any, tickets: Any, apart_first: bool
) -> None:
    """Whichever way it was written first, it is issued once; and a failure is corrected in the cells that it came in."""
    whole = tickets(3)
    apart = [
        {**row, "ticket_prefix": row["ticket_no"][:3], "ticket_no": row["ticket_no"][3:]} for row in whole
    ]
    apart[2]["ticket_prefix"] = 99
    paths = [workbook(apart, name="apart.xlsx"), workbook(whole[:2], name="whole.xlsx")]
    with sandbox(paths[1]) as carrier:
        given = ["--profile", desk.profile(carrier.base_url), "--ledger", "L", "--as-of", "2026-11-20"]
        for path, status in zip(
            paths if apart_first else paths[::-1], ("issued", "already_issued"), strict=True
        ):
            desk.voucher("issue", path, *given, "--report", "r.json")
            rows = desk.report("r.json")["rows"][:2]
            assert [(row["ticket_no"], row["status"]) for row in rows] == [
                (row["ticket_no"], status) for row in whole[:2]
            ]
        assert sorted(line["ticket_no"] for line in carrier.issued()) == [
            row["ticket_no"] for row in whole[:2]
        ]
    book = openpyxl.load_workbook(desk.folder / "apart.result.xlsx")
    headings, row = book["Failures"].iter_rows(max_row=2)
    at = {cell.value: cell.column for cell in headings}
    assert (row[at["ticket_prefix"] - 1].value, row[at["ticket_no"] - 1].value) == (
        99,
        whole[2]["ticket_no"][3:],
    )
    book["Failures"].cell(2, at["ticket_prefix"]).value = 999
    book.save(desk.folder / "corrected.xlsx")
    desk.voucher("check", desk.folder / "corrected.xlsx", *given, "--report", "r.json")
    (again,) = desk.report("r.json")["rows"]
    assert (again["ticket_no"], again["status"]) == (whole[2]["ticket_no"], "ready")
