"""The Failures sheet corrected in place and issued again as it is: only those rows, and nothing of them lost."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pytest

Sheet = Any
OPTIONS = ("--sandbox", "--ledger", "L", "--as-of", "2026-11-20")


def corrected(path: Path, to: Path, change: Callable[[Sheet, Mapping[str, int]], None]) -> Path:
    """A result workbook as a person leaves it: its Failures changed, and saved again."""
    book = openpyxl.load_workbook(path)
    sheet = book["Failures"]
    change(sheet, {str(cell.value): cell.column for cell in sheet[1]})
    book.save(to)
    return to


def reversed_without(sheet: Sheet, gone: int) -> None:
    """The rows below the headings in the opposite order, one of them deleted."""
    sheet.delete_rows(gone)
    rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
    for number, row in enumerate(reversed(rows), start=2):
        for column, value in enumerate(row, start=1):
            sheet.cell(number, column).value = value


def reversed_order(sheet: Sheet, _: Mapping[str, int]) -> None:
    reversed_without(sheet, sheet.max_row + 1)


def issued(report: Mapping[str, Any]) -> dict[str, str]:
    return {row["ticket_no"]: row["status"] for row in report["rows"]}


@pytest.mark.slow
def test_only_corrected_rows_are_taken_in_any_order_with_their_own_columns(
    desk: Any, workbook: Any, tickets: Any
) -> None:
    rows = tickets(6)
    rows[1] |= {"passenger_name": "", "cost_centre": "CC-2"}
    rows[2] |= {"amount": "12.345", "cost_centre": "CC-3", "原因": "出差"}
    rows[3] |= {"flight_date": "03/04/2026", "cost_centre": 4}
    rows[4] |= {"buyer": "Nobody"}
    first = desk.voucher("issue", workbook(rows), *OPTIONS, "--report", "1.json")
    assert first.code == 1, first.err
    assert [row["status"] for row in desk.report("1.json")["rows"]] == ["issued", *["invalid"] * 4, "issued"]

    def put_right(sheet: Sheet, at: Mapping[str, int]) -> None:
        by_row = {sheet.cell(number, at["row"]).value: number for number in range(2, sheet.max_row + 1)}
        sheet.cell(by_row[3], at["passenger_name"]).value = "LI/NA MS"
        sheet.cell(by_row[4], at["amount"]).value = 12.34
        sheet.cell(by_row[6], at["header_type"]).value = "business"
        sheet.cell(by_row[6], at["header_name"]).value = "Late Buyer Ltd."
        sheet.cell(by_row[6], at["tax_no"]).value = "91110000600037341L"
        sheet.cell(by_row[6], at["email"]).value = "late@example.com"
        reversed_without(sheet, by_row[5])  # the row with the date nobody can read is dropped

    again = corrected(desk.folder / "tickets.result.xlsx", desk.folder / "tickets.result.xlsx", put_right)
    second = desk.voucher("issue", again, *OPTIONS, "--report", "2.json")
    assert second.code == 0, second.err
    report = desk.report("2.json")
    assert issued(report) == {f"999{number:010}": "issued" for number in (5, 3, 2)}
    assert [row["amount"] for row in report["rows"]] == ["1000.00", "12.34", "1000.00"]
    assert (desk.folder / "tickets.2.result.xlsx").exists()  # the one with the answers is still there
    sheet = openpyxl.load_workbook(desk.folder / "tickets.2.result.xlsx")["Rows"]
    lines = [
        dict(zip([c.value for c in sheet[1]], line, strict=True))
        for line in sheet.iter_rows(min_row=2, values_only=True)
    ]
    assert [line["cost_centre"] for line in lines] == ["CC-1", "CC-3", "CC-2"]
    assert [line["原因 (input)"] for line in lines] == [None, "出差", None]


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_cells_that_the_reasons_name_and_the_notes_stand_on_are_those_to_correct(
    desk: Any, workbook: Any, tickets: Any, lang: str
) -> None:
    rows = tickets(4)
    rows[0] |= {"amount": "abc"}
    rows[1] |= {"passenger_name": ""}
    rows[3] |= {"amount": "x"}
    options = (*OPTIONS, "--lang", lang)
    assert desk.voucher("issue", workbook(rows), *options, "--report", "1.json").code == 1

    def put_right(sheet: Sheet, _: Mapping[str, int]) -> None:
        for line, right in ((2, "LI/NA MS"), (3, 12.34), (4, 56.78)):
            cell = re.match("[A-Z]+[0-9]+", sheet.cell(line, 4).value)
            assert cell
            assert [noted.coordinate for noted in sheet[line] if noted.comment] == [cell[0]]
            sheet[cell[0]].value = right
        assert [sheet.cell(line, 1).value for line in (2, 3, 4)] == [1, 2, 2]

    again = corrected(desk.folder / "tickets.result.xlsx", desk.folder / "tickets.result.xlsx", put_right)
    second = desk.voucher("issue", again, *options, "--report", "2.json")
    assert second.code == 0, second.err
    report = desk.report("2.json")
    assert {row["ticket_no"][-1]: (row["status"], row["amount"]) for row in report["rows"]} == {
        "2": ("issued", "1000.00"),
        "1": ("issued", "12.34"),
        "4": ("issued", "56.78"),
    }


def lines_of(path: Path, name: str) -> list[dict[str, Any]]:
    head, *lines = openpyxl.load_workbook(path)[name].iter_rows(values_only=True)
    return [dict(zip(map(str, head), line, strict=True)) for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lang", "file", "sheet", "row"),
    [
        ("en", "file", "sheet", "row"),
        ("zh", "来源文件", "来源工作表", "来源行"),
    ],
)
def test_where_a_row_stood_at_first_stays_beside_it_through_three_rounds(
    desk: Any, workbook: Any, tickets: Any, lang: str, file: str, sheet: str, row: str
) -> None:
    rows = tickets(5)
    for bad in rows[1:]:
        bad |= {"amount": "abc", "passenger_name": ""}
    options = (*OPTIONS, "--lang", lang, "--report", "r.json")
    assert desk.voucher("issue", workbook(rows), *options).code == 1

    def places(number: str) -> dict[str, tuple[Any, Any, Any]]:
        lines = lines_of(desk.folder / f"tickets.{number}result.xlsx", "Failures")
        ticket = "ticket_no" if lang == "en" else "票号"
        return {line[ticket][-1]: (line[file], line[sheet], line[row]) for line in lines}

    first = {f"{number}": ("tickets.xlsx", "Tickets", number + 1) for number in (2, 3, 4, 5)}
    assert places("") == first

    def one_right_one_added(failures: Sheet, at: Mapping[str, int]) -> None:
        ticket, amount = (
            at[name] for name in (("ticket_no", "amount") if lang == "en" else ("票号", "金额"))
        )
        failures.cell(2, amount).value = 12.34
        for column in range(1, failures.max_column + 1):  # a line of a bill that was forgotten
            failures.cell(6, column).value = failures.cell(5, column).value
        for column in (at[file], at[sheet], at[row]):
            failures.cell(6, column).value = None
        failures.cell(6, ticket).value = "9990000000009"
        failures.delete_rows(3)

    result = desk.folder / "tickets.result.xlsx"
    assert desk.voucher("issue", corrected(result, result, one_right_one_added), *options).code == 1
    second = {"2": first["2"], "4": first["4"], "5": first["5"], "9": (None, None, None)}
    assert places("2.") == second
    again = desk.report("r.json")["rows"]
    assert {(row["file"], row["sheet"]) for row in again} == {("tickets.result.xlsx", "Failures")}
    assert [row["row"] for row in again] == [2, 3, 4, 5]  # a report speaks of what its run was given
    on_rows = [
        (line[file], line[sheet], line[row])
        for line in lines_of(desk.folder / "tickets.2.result.xlsx", "Rows")
    ]
    assert on_rows == [*second.values()]

    result = desk.folder / "tickets.2.result.xlsx"
    assert desk.voucher("issue", corrected(result, result, reversed_order), *options).code == 1
    assert places("3.") == second
    for line, told in enumerate(lines_of(desk.folder / "tickets.3.result.xlsx", "Failures"), start=2):
        named = re.findall("^([A-Z]+)([0-9]+)[:：]", told["reason" if lang == "en" else "原因"], re.MULTILINE)
        assert named
        assert {int(number) for _, number in named} == {line}  # on the sheet that one is on


@pytest.mark.slow
@pytest.mark.parametrize(("lang", "heading"), [("en", "status_of_other_rows"), ("zh", "其他行的客票状态")])
@pytest.mark.parametrize("column", ["own", "other"])
def test_what_a_row_that_was_issued_says_of_its_ticket_s_status_counts_until_somebody_corrects_it(
    desk: Any, workbook: Any, tickets: Any, lang: str, heading: str, column: str
) -> None:
    """The row that contradicts it is not on Failures: it was sent."""
    refund = {
        "charge": "refund", "amount": 200, "ticket_status": "refunded", "refund_approved_on": "2026-11-01",
        "voucher": "invoice",
    }  # fmt: skip
    seat = {"charge": "ancillary", "product": "seat", "purchased_on": "2026-11-01", "voucher": "invoice"}
    rows = [{**tickets(1)[0], **cells} for cells in (refund, seat)]
    options = (*OPTIONS, "--lang", lang, "--profile", desk.profile("http://127.0.0.1:1"))
    results = [desk.folder / f"{number}.xlsx" for number in range(4)]

    def issued_again(number: int, change: Callable[[Sheet, Mapping[str, int]], None]) -> Any:
        given = corrected(results[number - 1], desk.folder / f"corrected-{number}.xlsx", change)
        ran = desk.voucher("issue", given, *options, "-o", results[number], "--report", "r.json")
        (row,) = desk.report("r.json")["rows"]
        return ran.code, row["status"], [reason["message"] for reason in row["reasons"]]

    first = desk.voucher("issue", workbook(rows), *options, "-o", results[0], "--report", "r.json")
    assert first.code == 1, first.err
    assert [row["status"] for row in desk.report("r.json")["rows"]] == ["ineligible", "issued"]
    used = {"en": "used", "zh": "已使用"}[lang]
    for number in (1, 2):
        assert [line[heading] for line in lines_of(results[number - 1], "Failures")] == [used]
        code, status, (said,) = issued_again(number, lambda *_: None)
        assert (code, status) == (1, "ineligible")
        assert heading in said
    right = {"own": ("ticket_status", "客票状态"), "other": (heading, heading)}[column][lang == "zh"]

    def put_right(sheet: Sheet, at: Mapping[str, int]) -> None:
        sheet.cell(2, at[right]).value = "partly_used" if column == "own" else None

    assert issued_again(3, put_right) == (0, "issued", [])
    assert heading not in [cell.value for cell in openpyxl.load_workbook(results[3])["Failures"][1]]


@pytest.mark.slow
def test_what_is_not_corrected_fails_again_and_nothing_is_issued_twice(
    desk: Any, workbook: Any, tickets: Any
) -> None:
    rows = tickets(3)
    rows[1] |= {"market": "moon"}
    assert desk.voucher("issue", workbook(rows), *OPTIONS, "--report", "1.json").code == 1
    again = desk.voucher("issue", desk.folder / "tickets.result.xlsx", *OPTIONS, "--report", "2.json")
    assert again.code == 1
    (row,) = desk.report("2.json")["rows"]
    assert (row["ticket_no"], row["status"], row["sheet"]) == ("9990000000002", "invalid", "Failures")
    whole = desk.voucher("issue", desk.folder / "tickets.xlsx", *OPTIONS, "--report", "3.json")
    assert whole.code == 1
    assert [row["status"] for row in desk.report("3.json")["rows"]] == [
        "already_issued",
        "invalid",
        "already_issued",
    ]


@pytest.mark.slow
def test_a_row_of_a_wide_bill_comes_back_as_one_row_with_all_its_columns(
    desk: Any, workbook: Any, tickets: Any
) -> None:
    bill = {
        "charge": "",
        "amount": "",
        "fare": 800,
        "airport_fee": 50,
        "baggage_fee": 120,
        "purchased_on": "2026-10-01",
    }
    rows = [{**row, **bill, "voucher": ""} for row in tickets(2)]
    rows[1] |= {"airport_fee": "fifty"}
    options = (*OPTIONS, "--profile", desk.profile("http://127.0.0.1:1"))
    first = desk.voucher("issue", workbook(rows), *options, "--report", "1.json")
    assert first.code == 1, first.err

    def put_right(sheet: Sheet, at: Mapping[str, int]) -> None:
        assert sheet.max_row == 2
        assert (sheet.cell(2, at["fare"]).value, sheet.cell(2, at["baggage_fee"]).value) == (800, 120)
        sheet.cell(2, at["airport_fee"]).value = 50

    again = corrected(desk.folder / "tickets.result.xlsx", desk.folder / "tickets.result.xlsx", put_right)
    second = desk.voucher("issue", again, *options, "--report", "2.json")
    assert second.code == 0, second.err
    (row,) = desk.report("2.json")["rows"]
    assert [(charge["charge"], charge["amount"], charge["status"]) for charge in row["charges"]] == [
        ("ticket_fare", "850.00", "issued"), ("ancillary", "120.00", "issued"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_chinese_result_is_corrected_and_issued_just_so(desk: Any, workbook: Any, tickets: Any) -> None:
    rows = tickets(2)
    rows[1] |= {"ticket_status": "也许", "项目": "研发"}
    first = desk.voucher("issue", workbook(rows), *OPTIONS, "--lang", "zh", "--report", "1.json")
    assert first.code == 1, first.err

    def put_right(sheet: Sheet, at: Mapping[str, int]) -> None:
        sheet.cell(2, at["客票状态"]).value = "已使用"

    again = corrected(desk.folder / "tickets.result.xlsx", desk.folder / "tickets.result.xlsx", put_right)
    second = desk.voucher("issue", again, *OPTIONS, "--lang", "zh", "--report", "2.json")
    assert second.code == 0, second.err
    assert issued(desk.report("2.json")) == {"9990000000002": "issued"}
    sheet = openpyxl.load_workbook(desk.folder / "tickets.2.result.xlsx")["Rows"]
    assert "研发" in [cell.value for cell in sheet[2]]


@pytest.mark.slow
def test_a_result_made_with_a_mapping_is_corrected_and_issued_with_it_again(
    desk: Any, workbook: Any, tickets: Any
) -> None:
    (row,) = tickets(1)
    own = {
        "charge": "",
        "amount": "",
        "票价": 1200,
        "实收票价": 1000,
        "机建": 50,
        "燃油": 20,
        "姓名": "已换票",
    }
    path = workbook([{**row, **own, "passenger_name": ""}])
    (desk.folder / "map.toml").write_text(
        '[headings]\n"票价" = ""\n"实收票价" = "fare"\n"姓名" = ""', encoding="utf-8"
    )
    options = (*OPTIONS, "--lang", "zh", "--columns", "map.toml")
    first = desk.voucher("issue", path, *options, "--report", "1.json")
    assert first.code == 1, first.err

    def put_right(sheet: Sheet, at: Mapping[str, int]) -> None:
        assert (sheet.cell(2, at["票价"]).value, sheet.cell(2, at["input: 票价"]).value) == (1000, 1200)
        sheet.cell(2, at["旅客姓名"]).value = "张三"

    again = corrected(desk.folder / "tickets.result.xlsx", desk.folder / "tickets.result.xlsx", put_right)
    second = desk.voucher("issue", again, *options, "--report", "2.json")
    assert second.code == 0, second.err
    (issued_row,) = desk.report("2.json")["rows"]
    assert (issued_row["status"], issued_row["amount"]) == ("issued", "1070.00")


@pytest.mark.slow
def test_a_second_column_for_the_same_thing_added_to_failures_is_refused(
    desk: Any, workbook: Any, tickets: Any
) -> None:
    rows = tickets(1)
    rows[0] |= {"passenger_name": ""}
    assert desk.voucher("issue", workbook(rows), *OPTIONS, "--report", "1.json").code == 1

    def put_right(sheet: Sheet, at: Mapping[str, int]) -> None:
        sheet.cell(2, at["passenger_name"]).value = "LI/LEI"
        sheet.cell(1, sheet.max_column + 1).value = "金额"
        sheet.cell(2, sheet.max_column).value = 1070

    again = corrected(desk.folder / "tickets.result.xlsx", desk.folder / "tickets.result.xlsx", put_right)
    second = desk.voucher("issue", again, *OPTIONS)
    assert second.code == 2, second.err
    assert "“amount” and " in second.err
    assert "“金额” both mean amount" in second.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "column",
    [
        "passenger_name",
        "amount",
        "remarks",
        "header_name",
    ],
)
def test_an_error_cell_that_is_left_as_it_is_passes_for_no_value(
    desk: Any, workbook: Any, tickets: Any, column: str
) -> None:
    path = workbook([{**row, "header_name": "", "header_type": ""} for row in tickets(1)])
    book = openpyxl.load_workbook(path)
    sheet = book["Tickets"]
    cell = sheet.cell(2, [cell.value for cell in sheet[1]].index(column) + 1)
    cell.value, cell.data_type = "#REF!", "e"
    book.save(path)
    first = desk.voucher("issue", path, *OPTIONS, "--report", "1.json")
    assert first.code == 1, first.err
    again = desk.voucher("issue", desk.folder / "tickets.result.xlsx", *OPTIONS, "--report", "2.json")
    assert again.code == 1, again.err
    (row,) = desk.report("2.json")["rows"]
    assert row["status"] == "invalid"


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_filled_example_is_issued_as_it_is_by_a_sandbox(desk: Any, lang: str) -> None:
    assert desk.voucher("template", "example.xlsx", "--example", "--lang", lang).code == 0
    options = ("--sandbox", "--as-of", "2026-11-20", "--profile", desk.profile("http://127.0.0.1:1"))
    ran = desk.voucher("issue", "example.xlsx", *options, "--lang", lang, "--report", "r.json")
    assert ran.code == 0, ran.err
    rows = desk.report("r.json")["rows"]
    assert [row["status"] for row in rows] == ["issued"] * 6
    assert {row["voucher"] for row in rows} == {"invoice", "itinerary"}


MAP = """
[headings]
"票价" = "amount"
"金额" = ""
"票号" = ""
"完整票号" = "ticket_no"
[values.charge]
"大票" = "ticket_fare"
[values.ticket_status]
"已成行" = "used"
[fixed]
market = "国内"
"""


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "again",
    [
        pytest.param((), id="without"),
        pytest.param(("--columns", "map.toml"), id="with"),
    ],
)
def test_failures_of_a_team_s_own_headings_and_words_are_issued_with_its_mapping_or_without(
    desk: Any, lang: str, again: tuple[str, ...]
) -> None:
    head = [
        "完整票号",
        "票号",
        "姓名",
        "费用类型",
        "票价",
        "金额",
        "客票状态",
        "航班日期",
        "抬头类型",
        "抬头名称",
        "税号",
        "邮箱",
    ]
    buyer = ["企业", "甲公司", "91110000600037341L", "a@example.com"]
    book = openpyxl.Workbook()
    book.worksheets[0].append(head)
    for number, day in ((1, "2026-10-01"), (2, "03/04/2026"), (3, "03/04/2026")):
        book.worksheets[0].append(
            [
                f"999000000000{number}",
                "short",
                "ZHANG/WEI",
                "大票",
                number * 100,
                f"x{number}",
                "已成行",
                day,
                *buyer,
            ]
        )
    book.save(desk.folder / "t.xlsx")
    (desk.folder / "map.toml").write_text(MAP, encoding="utf-8")
    options = (*OPTIONS, "--lang", lang, "--report", "r.json")
    assert desk.voucher("issue", "t.xlsx", "--columns", "map.toml", *options).code == 1
    assert [row["status"] for row in desk.report("r.json")["rows"]] == ["issued", "invalid", "invalid"]

    def put_right(sheet: Sheet, at: Mapping[str, int]) -> None:
        for number in (2, 3):
            sheet.cell(number, at["航班日期" if lang == "zh" else "flight_date"]).value = "2026-10-01"
            sheet.cell(number, at["客票状态" if lang == "zh" else "ticket_status"]).value = (
                "已成行" if again and number == 2 else "used"
            )

    fixed = corrected(desk.folder / "t.result.xlsx", desk.folder / "fixed.xlsx", put_right)
    ran = desk.voucher("issue", fixed, *again, *options)
    assert ran.code == 0, ran.err
    rows = desk.report("r.json")["rows"]
    assert [(row["ticket_no"], row["amount"], row["status"]) for row in rows] == [
        ("9990000000002", "200.00", "issued"),
        ("9990000000003", "300.00", "issued"),
    ]
    kept = openpyxl.load_workbook(desk.folder / "t.result.xlsx")["Rows"]
    assert "已成行" in [cell.value for cell in kept[3]]  # the rows as they were read keep the team's words


@pytest.mark.slow
@pytest.mark.parametrize("heading", ["currency", "币种", "币别"])
def test_a_row_in_another_currency_stays_so_until_its_currency_is_corrected_too(
    desk: Any, workbook: Any, tickets: Any, heading: str
) -> None:
    rows = [row | {heading: said} for row, said in zip(tickets(2), ("CNY", "USD"), strict=True)]
    assert desk.voucher("issue", workbook(rows), *OPTIONS, "--report", "1.json").code == 1
    assert [row["status"] for row in desk.report("1.json")["rows"]] == ["issued", "invalid"]
    first = desk.folder / "tickets.result.xlsx"

    def amount_alone(sheet: Sheet, at: Mapping[str, int]) -> None:
        sheet.cell(2, at["amount"]).value = 700

    def both(sheet: Sheet, at: Mapping[str, int]) -> None:
        amount_alone(sheet, at)
        sheet.cell(2, at.get(f"{heading} (input)") or at[heading]).value = "CNY"

    ends = {}
    for number, change in enumerate((lambda *_: None, amount_alone, both), start=2):
        book = corrected(first, desk.folder / f"{number}.xlsx", change)
        ends[number] = desk.voucher("issue", book, *OPTIONS, "--report", f"{number}.json").code
    assert ends == {2: 1, 3: 1, 4: 0}
    assert [row["status"] for row in desk.report("4.json")["rows"]] == ["issued"]
