"""The result workbook's sheets: names, headings, values and looks."""

import dataclasses
import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.utils import get_column_letter

from pipeline.messages.reason_rendering import reason_text
from pipeline.messages.translate import heading, status_word
from pipeline.model.columns import (
    COLUMN,
    FEES,
    LANGS,
    RESULT_COLUMNS,
    RESULT_SHEETS,
    Lang,
)
from pipeline.model.message import Term, message
from pipeline.model.profile import sandbox_owner
from pipeline.model.result import RunResult
from pipeline.model.result_values import RunOrigin
from pipeline.reporting import links
from pipeline.reporting.result_workbook import write_workbook

DIFFERS = {
    "issued_on": "2026-10-01",
    "place": "t.xlsx, row 2 (run 1)",
    "number": "1",
    "differences": message("{column} was issued as “{issued}”", column=Term("amount"), issued="1"),
}
Made = Callable[..., RunResult]


def records(path: Path, sheet: str) -> list[dict[str, Any]]:
    rows = list(openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True))
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def leads(path: Path, name: str, heading: str) -> dict[int, str]:
    """By row, where the cells below a heading lead."""
    sheet = openpyxl.load_workbook(path)[name]
    column = [cell.value for cell in sheet[1]].index(heading) + 1
    cells = [sheet.cell(row, column) for row in range(2, sheet.max_row + 1)]
    return {cell.row: cell.hyperlink.location for cell in cells if cell.hyperlink}


@pytest.mark.slow
def test_sheets_and_their_order_are_the_contracts(
    mixed: RunResult, mixed_zh: RunResult, tmp_path: Path
) -> None:
    for result in (mixed, mixed_zh):
        path = write_workbook(result, tmp_path / f"{result.lang}.xlsx")
        assert tuple(openpyxl.load_workbook(path).sheetnames) == (*RESULT_SHEETS, "Buyers")


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGS)
def test_headings_are_in_the_workbooks_language(
    lang: Lang, sample: Callable[[Lang], RunResult], tmp_path: Path
) -> None:
    path = write_workbook(sample(lang), tmp_path / "r.xlsx")
    words = {name: heading(name, lang) for name in RESULT_COLUMNS}
    words |= {name: heading(column.name, lang) for name, column in COLUMN.items()}
    failures = [
        words[name]
        for name in ("reason_no", "status", "row", "reason", "what_to_do", "last_day", *COLUMN)
        if name not in (*FEES.values(), "order_type", "ticket_prefix")
    ]
    extras = ["cost_centre", "booking_ref"] if lang == "en" else ["成本中心", "订单号"]
    origin = [words[name] for name in ("file", "sheet", "buyer_source")]
    book = openpyxl.load_workbook(path)
    assert [cell.value for cell in book["Failures"][1]] == [*failures, *extras, *origin]
    assert [cell.value for cell in book["Rows"][1]][:8] == [
        words[name] for name in ("file", "sheet", "row", "status", "number", "reason", "request", "last_day")
    ]
    unknown = [cell.value for cell in book["Unknown"][1]]
    assert unknown[:3] == [words[name] for name in ("ledger", "request", "attempt")]
    assert unknown[-4:] == [words[name] for name in ("resolution", "number", "resolved_by", "evidence")]


def test_itineraries_have_one_row_a_ticket(mixed: RunResult, tmp_path: Path) -> None:
    (row,) = records(write_workbook(mixed, tmp_path / "r.xlsx"), "Itineraries")
    assert row == {
        "ticket_no": "9991234567890", "status": "issued", "number": "00012345678901234567",
        "passenger_name": "ITIN/ONE", "header_name": "Buyer 0", "email": "a@example.com", "amount": 1000.5,
        "currency": "CNY", "market": "domestic", "request": mixed.requests[0].request.request_id, "attempt": 1, "run": None,
        "trace_id": "t-0", "reason": None,
    }  # fmt: skip


def test_invoices_have_one_row_a_request_whatever_became_of_it(mixed: RunResult, tmp_path: Path) -> None:
    rows = records(write_workbook(mixed, tmp_path / "r.xlsx"), "Invoices")
    assert [row["status"] for row in rows] == ["rejected", "unknown", "not_sent"]
    assert rows[0]["reason"] == "The carrier refused it: tax number [carrier_rejected]"
    assert (rows[0]["tickets"], rows[0]["charges"], rows[0]["tax_no"]) == (
        "9991234567891",
        1,
        "91110000600037341L",
    )


@pytest.mark.slow
def test_a_long_ticket_list_is_bounded_and_says_so(made: Made, tmp_path: Path) -> None:
    result = made(*({"ticket_no": f"99912345678{n:02d}", "amount": 1} for n in range(40)))
    (row,) = records(write_workbook(result, tmp_path / "r.xlsx"), "Invoices")
    assert row["charges"] == 40
    assert row["attempt"] is None
    assert row["status"] == "ready"
    assert row["tickets"].endswith(" … and 10 more")
    assert len(row["tickets"].split(", ")) == 30


@pytest.mark.slow
def test_unknown_has_one_line_a_request_and_asks_the_same_in_both_languages(
    mixed: RunResult, mixed_zh: RunResult, tmp_path: Path
) -> None:
    for result in (mixed, mixed_zh):
        path = write_workbook(result, tmp_path / f"{result.lang}.xlsx")
        sheet = openpyxl.load_workbook(path)["Unknown"]
        assert sheet.max_row == 2
        (check,) = sheet.data_validations.dataValidation
        at = [cell.value for cell in sheet[1]].index("resolution" if result.lang == "en" else "处理结果") + 1
        assert check.formula1 == '"issued,not issued"'
        assert str(check.sqref) == sheet.cell(2, at).coordinate
        assert [sheet.cell(2, at + step).value for step in range(4)] == [None] * 4
    row = records(tmp_path / "en.xlsx", "Unknown")[0]
    assert (row["ledger"], row["request"], row["attempt"]) == ("L-1", mixed.doubts[0].request_id, 1)
    assert row["tickets"] == "9991234567892 ticket_fare 1,000.50"
    assert row["amount"] == 1000.5


def test_rows_holds_every_input_row_in_its_order_as_it_was_read(mixed: RunResult, tmp_path: Path) -> None:
    rows = records(write_workbook(mixed, tmp_path / "r.xlsx"), "Rows")
    assert [row["row"] for row in rows] == [2, 3, 4, 5, 6]
    assert [row["status"] for row in rows] == ["issued", "rejected", "unknown", "not_sent", "invalid"]
    assert [row["amount"] for row in rows] == [1000.5] * 4 + ["abc"]
    assert rows[0]["flight_date"] == datetime.datetime(2026, 10, 1)  # noqa: DTZ001 - a cell has no time zone
    assert rows[0]["file"] == "tickets.xlsx"
    assert rows[4]["header_name"] is None
    assert "[bad_amount]" in rows[4]["reason"]


def test_dates_and_money_are_formatted_as_such_and_identifiers_are_text(made: Made, tmp_path: Path) -> None:
    result = made({"ticket_no": 9991234567890, "tax_no": 12345.0, "header_name": "X"}, {"amount": 12.345})
    sheet = openpyxl.load_workbook(write_workbook(result, tmp_path / "r.xlsx"))["Rows"]
    at = {cell.value: cell.column for cell in sheet[1]}
    assert sheet.cell(2, at["flight_date"]).number_format == "yyyy-mm-dd"
    assert sheet.cell(2, at["amount"]).number_format == "#,##0.00"
    assert sheet.cell(3, at["amount"]).number_format == "General"  # so that 12.345 does not pass for 12.35
    assert sheet.cell(2, at["ticket_no"]).value == "9991234567890"
    assert sheet.cell(2, at["tax_no"]).value == "12345"
    assert sheet.cell(2, at["ticket_no"]).number_format == "@"


def test_empty_sheets_have_their_headings(made: Made, tmp_path: Path) -> None:
    result = made({}, command="check")
    book = openpyxl.load_workbook(write_workbook(result, tmp_path / "r.xlsx"))
    for name in ("Itineraries", "Failures", "Unknown"):
        assert book[name].max_row == 1
        assert book[name].max_column > 10
        printed = book[name].oddHeader.left
        assert (printed.text, printed.size) == ("&A: no rows", 12)
    assert book["Rows"].oddHeader.left.text is None


def test_an_empty_sheet_of_a_sandbox_says_both(made: Made, tmp_path: Path) -> None:
    book = openpyxl.load_workbook(
        write_workbook(made({}, origin=RunOrigin(sandbox_owner("A"))), tmp_path / "r.xlsx")
    )
    header = book["Unknown"].oddHeader
    assert (header.left.text, header.center.text) == ("&A: no rows", "SANDBOX 沙箱")


def test_every_sheet_of_rows_can_be_filtered_scrolled_and_printed(mixed: RunResult, tmp_path: Path) -> None:
    book = openpyxl.load_workbook(write_workbook(mixed, tmp_path / "r.xlsx"))
    for name in RESULT_SHEETS[1:]:
        sheet = book[name]
        # What names a row stays in sight.
        assert sheet.freeze_panes == {"Failures": "D2", "Unknown": "C2", "Rows": "D2"}.get(name, "B2")
        assert sheet.auto_filter.ref == sheet.dimensions
        assert sheet.print_title_rows == "$1:$1"
        (lines,) = sheet.conditional_formatting
        last = (
            "L2" if name == "Unknown" else sheet.dimensions.partition(":")[2]
        )  # beside it: boxes to fill in
        assert str(lines.sqref) == f"A2:{last}"
        page = sheet.page_setup
        assert (page.orientation, page.fitToHeight) == ("landscape", 0)
        if (
            name == "Unknown"
        ):  # what is to be asked, and where the answer goes: two pages side by side, each with whose it is
            assert (page.fitToWidth, page.pageOrder, sheet.print_title_cols) == (2, "overThenDown", "$A:$B")
            assert sheet.print_area.partition("!")[2].replace("$", "") == sheet.dimensions
            assert sheet.oddFooter.left.text == "&A"
            continue
        assert page.fitToWidth is None
        widths = [sheet.column_dimensions[get_column_letter(at + 1)].width for at in range(sheet.max_column)]
        printed = sheet[sheet.print_area.partition("!")[2]] if sheet.print_area else sheet[sheet.dimensions]
        across = len(printed[0])
        assert 200 < sum(widths[:across]) < 275  # more could not be read
        assert sum(widths[: across + 1]) > 270
        assert (
            f"columns A to {get_column_letter(across)}; the others are in the file"
            in sheet.oddFooter.left.text
        )


def width_of(sheet: Any, heading: str) -> float:
    at = [cell.value for cell in sheet[1]].index(heading) + 1
    return next(
        float(found.width) for found in sheet.column_dimensions.values() if found.min <= at <= found.max
    )


@pytest.mark.slow
def test_a_long_text_is_read_whole_in_a_row_that_is_high_enough(made: Made, tmp_path: Path) -> None:
    name = "上海云帆示例国际货物运输代理及供应链综合管理服务（集团）股份有限公司第二分公司"
    long = {"amount": "abc", "remarks": "line\n" * 3 + "end", "header_name": name, "own": "word " * 20}
    book = openpyxl.load_workbook(
        write_workbook(made(long, {"ticket_no": "9991234567891"}), tmp_path / "r.xlsx")
    )
    for sheet in (book["Failures"], book["Rows"]):
        cells = {sheet.cell(1, cell.column).value: cell for cell in sheet[2]}
        assert [cells[key].alignment.wrap_text for key in ("remarks", "header_name", "own")] == [True] * 3
        assert sheet.row_dimensions[2].height > 4 * 13
        assert width_of(sheet, "header_name") == pytest.approx(40, abs=1)
    assert book["Rows"].row_dimensions[3].height is None
    very_long = made({"remarks": "word " * 5000})
    rows = openpyxl.load_workbook(write_workbook(very_long, tmp_path / "s.xlsx"))["Rows"]
    assert rows.row_dimensions[2].height < 7 * 14  # it must not hide the rows around it


@pytest.mark.slow
def test_no_number_and_no_day_is_wider_than_its_column(made: Made, tmp_path: Path) -> None:
    moment = datetime.datetime(2026, 10, 1, 8, 30)  # noqa: DTZ001 - a cell has no time zone
    rows = [{"ticket_no": f"99912345{n:05d}"} for n in range(300)]
    last = {"amount": 123456789.25, "fare": 123456789.25, "flight_date": moment, "voucher": "itinerary",
            "day": datetime.date(2026, 10, 1)}  # fmt: skip
    other = {**last, "ticket_no": "9990000000001", "amount": "abc", "change_fee": 1e300}
    result = made(*rows, last, other)
    book = openpyxl.load_workbook(write_workbook(result, tmp_path / "r.xlsx"))
    for sheet in (book["Failures"], book["Rows"]):
        assert width_of(sheet, "fare") > len("123,456,789.25") + 1
        assert width_of(sheet, "change_fee") < 50  # a program takes 255 at most
        assert width_of(sheet, "flight_date") > len("2026-10-01 08:30:00")
        assert width_of(sheet, "day") > len("2026-10-01") + 1
    assert width_of(book["Itineraries"], "amount") > len("123,456,789.25") + 1
    assert width_of(book["Invoices"], "amount") < len("123,456,789.25") + 1


def test_an_issued_row_that_differs_is_not_green(mixed: RunResult, tmp_path: Path) -> None:
    differs = reason_text("differs_from_issued", "", "en", DIFFERS)
    first, *rest = mixed.rows
    charge = dataclasses.replace(first.charges[0], status="already_issued", reasons=(differs,))
    first = dataclasses.replace(first, charges=(charge,), reasons=(differs,))
    path = write_workbook(dataclasses.replace(mixed, rows=(first, *rest)), tmp_path / "r.xlsx")
    cells = [openpyxl.load_workbook(path)["Rows"].cell(row, 4) for row in (2, 5)]
    assert [cell.value for cell in cells] == ["already_issued", "not_sent"]
    assert cells[0].fill.fgColor.rgb == cells[1].fill.fgColor.rgb
    steps = openpyxl.load_workbook(path)["Summary"]
    assert {cell.value: cell.hyperlink.location for cell in steps["G"] if cell.hyperlink}[
        "→ Rows"
    ] == "'Rows'!A2"


@pytest.mark.parametrize("lang", LANGS)
def test_a_status_has_its_word_and_its_colour(
    lang: Lang, mixed: RunResult, mixed_zh: RunResult, tmp_path: Path
) -> None:
    sheet = openpyxl.load_workbook(write_workbook(mixed if lang == "en" else mixed_zh, tmp_path / "r.xlsx"))[
        "Rows"
    ]
    cells = [sheet.cell(row, 4) for row in range(2, 7)]
    names = ["issued", "rejected", "unknown", "not_sent", "invalid"]
    assert [cell.value for cell in cells] == [status_word(name, lang) for name in names]
    colours = [cell.fill.fgColor.rgb for cell in cells]
    assert colours[1] == colours[2] == colours[4]
    assert len(set(colours)) == 3


@pytest.mark.slow
def test_a_full_sheet_goes_on_in_another(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "ROOM", 2)
    rows = [{"ticket_no": f"999123456789{n}", "passenger_name": None if n < 4 else "X"} for n in range(5)]
    path = write_workbook(made(*rows), tmp_path / "r.xlsx")
    names = openpyxl.load_workbook(path).sheetnames
    assert names == [
        "Summary",
        "Invoices",
        "Itineraries",
        "Failures",
        "Failures 2",
        "Unknown",
        "Rows",
        "Rows 2",
        "Rows 3",
        "Buyers",
    ]
    assert [row["row"] for name in names[6:-1] for row in records(path, name)] == [2, 3, 4, 5, 6]
    assert [leads(path, name, "row") for name in ("Failures", "Failures 2")] == [
        {2: "'Rows'!A2", 3: "'Rows'!A3"},
        {2: "'Rows 2'!A2", 3: "'Rows 2'!A3"},
    ]
    assert leads(path, "Rows 2", "status") == {2: "'Failures 2'!A2", 3: "'Failures 2'!A3"}


@pytest.mark.slow
def test_a_row_leads_to_its_failure_and_its_request_and_they_lead_back(
    mixed: RunResult, tmp_path: Path
) -> None:
    path = write_workbook(mixed, tmp_path / "r.xlsx")
    assert leads(path, "Rows", "status") == {
        3: "'Failures'!A3", 4: "'Unknown'!A2", 5: "'Failures'!A4", 6: "'Failures'!A2",
    }  # fmt: skip
    assert leads(path, "Rows", "request") == {
        2: "'Itineraries'!A2", 3: "'Invoices'!A2", 4: "'Invoices'!A3", 5: "'Invoices'!A4",
    }  # fmt: skip
    assert leads(path, "Failures", "row") == {2: "'Rows'!A6", 3: "'Rows'!A3", 4: "'Rows'!A5"}
    assert leads(path, "Invoices", "request") == {2: "'Rows'!A3", 3: "'Rows'!A4", 4: "'Rows'!A5"}
    assert leads(path, "Invoices", "status") == {2: "'Failures'!A3", 3: "'Unknown'!A2", 4: "'Failures'!A4"}
    assert leads(path, "Itineraries", "ticket_no") == {2: "'Rows'!A2"}
    assert leads(path, "Itineraries", "status") == {}
    assert leads(path, "Unknown", "request") == {2: "'Invoices'!A3"}
    failure = records(path, "Failures")[1]
    assert (failure["row"], failure["ticket_no"]) == (3, "9991234567891")  # the values are what they were


def test_beyond_what_a_sheet_holds_of_links_there_are_none_and_nothing_else_is_lost(
    mixed: RunResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert links.MOST_LINKS < 65_530  # what a spreadsheet program takes
    monkeypatch.setattr(links, "MOST_LINKS", 2)
    path = write_workbook(mixed, tmp_path / "r.xlsx")
    assert leads(path, "Rows", "status") == {3: "'Failures'!A3"}
    assert leads(path, "Rows", "request") == {2: "'Itineraries'!A2"}
    assert [row["status"] for row in records(path, "Rows")][1:3] == ["rejected", "unknown"]
    assert all(row["request"] for row in records(path, "Rows")[:4])


@pytest.mark.slow
@pytest.mark.parametrize("text", ["<r>x</r>", "_x0041_", "=1+1", "http://example.com", "internal:'Rows'!A1"])
def test_a_link_never_changes_its_text(text: str, mixed: RunResult, tmp_path: Path) -> None:
    request = mixed.requests[0].request
    (charge,) = request.charges
    charge = dataclasses.replace(charge, identity=dataclasses.replace(charge.identity, ticket_no=text))
    asked = dataclasses.replace(mixed.requests[0], request=dataclasses.replace(request, charges=(charge,)))
    path = write_workbook(dataclasses.replace(mixed, requests=(asked,)), tmp_path / "r.xlsx")
    assert records(path, "Itineraries")[0]["ticket_no"] == text
    assert leads(path, "Itineraries", "ticket_no") == {2: "'Rows'!A2"}


def test_an_error_cell_shows_as_the_text_that_the_spreadsheet_shows(
    made: Made, with_cells: Callable[[RunResult, str, Any], RunResult], tmp_path: Path
) -> None:
    result = with_cells(made({"amount": "abc"}), "amount", b"#REF!")
    result = with_cells(result, "ticket_no", b"#N/A")
    path = write_workbook(result, tmp_path / "r.xlsx")
    for name in ("Failures", "Rows"):
        (row,) = records(path, name)
        assert (row["amount"], row["ticket_no"]) == ("#REF!", "#N/A")
        sheet = openpyxl.load_workbook(path)[name]
        assert {cell.data_type for cell in sheet[2] if cell.value in ("#REF!", "#N/A")} == {"s"}
