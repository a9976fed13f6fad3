"""The Failures sheet: only what failed, filled in, and read again as it is."""

import csv
import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.messages.translate import RESULT_HEADINGS, heading
from pipeline.model.columns import (
    COLUMNS,
    HEADER_FIELDS,
    LANGS,
    Lang,
)
from pipeline.model.profile import Carrier, Codes, Profile
from pipeline.model.result import RunResult
from pipeline.model.status import STATUS
from pipeline.reading.heading_meanings import HEADINGS, normal
from pipeline.reading.tickets import read_table
from pipeline.reporting import sheet_failures
from pipeline.reporting.input_cells import extra_heading
from pipeline.reporting.links import Places
from pipeline.reporting.result_workbook import write_workbook
from pipeline.reporting.summary_text import summary_lines

Made = Callable[..., RunResult]


DAY = datetime.date(2026, 10, 1)
#: Of a carrier that has told its codes but for two.
LACKING = Profile(
    carrier=Carrier(ticket_prefixes=("999",)),
    codes=Codes(
        fee_type={"ticket_fare": "FARE", "refund": "REFUND_FEE", "ancillary": "ANCILLARY"},
        product_type=Codes().product_type | {"seat": ""},
        header_type={"business": "BUSINESS", "individual": ""},
    ),
)


def notes_of(path: Path) -> dict[tuple[int, str], str]:
    """The notes on Failures, by line and heading."""
    sheet = openpyxl.load_workbook(path)["Failures"]
    return {
        (cell.row, str(sheet.cell(1, cell.column).value)): cell.comment.text
        for row in sheet
        for cell in row
        if cell.comment
    }


def failures(path: Path) -> list[dict[str, Any]]:
    rows = list(openpyxl.load_workbook(path)["Failures"].iter_rows(values_only=True))
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


@pytest.mark.parametrize("lang", LANGS)
def test_the_result_reads_back_as_just_the_rows_that_failed(
    lang: Lang, sample: Callable[[Lang], RunResult], tmp_path: Path
) -> None:
    result = sample(lang)
    again = read_table([write_workbook(result, tmp_path / "r.result.xlsx")])
    failed = Places(result).rows.failed
    assert sorted(failed) == [row.index for row in result.rows if STATUS[row.status].failure]
    assert 0 < len(failed) < len(result.rows)
    before = result.table.frame.iloc[failed].reset_index(drop=True)
    for column in COLUMNS:
        if column.name not in HEADER_FIELDS:
            assert again.frame[column.name].astype(str).tolist() == before[column.name].astype(str).tolist()
    for name in HEADER_FIELDS:
        assert again.frame[name].astype(object).fillna("").tolist() == result.header[name][failed].tolist()
    extras = [name for name in result.table.cells if name not in before]
    assert [name for name in again.cells if name not in again.frame] == extras
    for name in extras:
        assert again.cells[name].tolist() == result.table.cells[name].iloc[failed].tolist()
    codes = sorted((found.code, len(found.rows)) for found in again.findings)
    assert codes == sorted((found.code, len(found.rows)) for found in result.table.findings)


def test_cells_are_as_they_were_beside_what_is_wrong_and_where(made: Made, tmp_path: Path) -> None:
    result = made({"amount": "abc", "flight_date": "03/04/2026", "own": 7.0, "ticket_no": 991234567890}, {})
    (row,) = failures(write_workbook(result, tmp_path / "r.xlsx"))
    assert (row["status"], row["file"], row["sheet"], row["row"]) == ("invalid", "tickets.xlsx", "Tickets", 2)
    assert (row["amount"], row["flight_date"], row["own"], row["ticket_no"]) == (
        "abc",
        "03/04/2026",
        7,
        "991234567890",
    )
    codes = [line.rpartition(" ")[2] for line in row["reason"].split("\n")]
    assert set(codes) >= {"[bad_amount]", "[bad_date]", "[bad_ticket_no]"}
    assert len(set(row["what_to_do"].split("\n"))) == len(row["what_to_do"].split("\n"))


def test_a_date_that_lost_its_format_is_not_made_a_date_again(made: Made, tmp_path: Path) -> None:
    path = write_workbook(made({"flight_date": 46296}), tmp_path / "r.xlsx")
    (row,) = failures(path)
    assert row["flight_date"] == 46296
    assert [found.code for found in read_table([path]).findings] == ["bad_date"]


def test_buyer_columns_are_filled_in_only_where_they_are_blank(made: Made, tmp_path: Path) -> None:
    result = made({"passenger_name": None, "email": "own@example.com", "phone": "  "})
    (row,) = failures(write_workbook(result, tmp_path / "r.xlsx"))
    filled = {name: row[name] for name in ("buyer", *HEADER_FIELDS)}
    assert filled == {
        "buyer": "A",
        "header_type": "business",
        "header_name": "ACME Travel",
        "tax_no": "91110000600037341L",
        "phone": "13800138000",
        "email": "own@example.com",
    }


def test_what_a_buyer_cell_holds_is_not_replaced_even_where_it_can_not_be_read(
    made: Made, tmp_path: Path
) -> None:
    (row,) = failures(write_workbook(made({"header_type": "corp", "tax_no": "9111-x"}), tmp_path / "r.xlsx"))
    assert (row["header_type"], row["tax_no"], row["header_name"]) == ("corp", "9111-x", "ACME Travel")


def test_what_is_filled_in_is_in_the_workbooks_language(mixed_zh: RunResult, tmp_path: Path) -> None:
    rows = failures(write_workbook(mixed_zh, tmp_path / "r.xlsx"))
    assert [row["抬头类型"] for row in rows] == [
        "企业",
        "business",
        "business",
    ]  # the first from the Buyers sheet


def test_an_unknown_buyer_can_be_put_right_in_place(made: Made, tmp_path: Path) -> None:
    path = write_workbook(made({"buyer": "Nobody"}), tmp_path / "r.result.xlsx")
    book = openpyxl.load_workbook(path)
    sheet = book["Failures"]
    at = {cell.value: cell.column for cell in sheet[1]}
    for name, value in zip(
        HEADER_FIELDS, ("business", "ACME", "91110000600037341L", None, None), strict=True
    ):
        sheet.cell(2, at[name]).value = value
    book.save(path)
    assert read_table([path]).frame["header_name"].tolist() == ["ACME"]
    assert "Some rows name a buyer that is not known" in str(list(book["Summary"].values))


def test_texts_of_a_csv_that_are_dates_and_money_become_dates_and_money(
    tmp_path: Path, result_of_file: Made
) -> None:
    path = tmp_path / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(
            ["ticket_no", "charge", "amount", "fare", "flight_date", "used_on", "header_name", "phone"]
        )
        writer.writerow(
            ["0991234567890", "ticket_fare", "1,234.50", "0", "2026年3月5日", "5/3/2026", "X", "0123"]
        )
    result = result_of_file(path)
    (row,) = failures(write_workbook(result, tmp_path / "r.xlsx"))
    assert (row["amount"], row["fare"]) == (1234.5, "0")
    assert row["flight_date"] == datetime.datetime(2026, 3, 5)  # noqa: DTZ001 - a cell has no time zone
    assert row["used_on"] == "5/3/2026"
    assert (row["ticket_no"], row["phone"]) == ("0991234567890", "0123")


def test_an_inputs_own_column_never_passes_for_ours(made: Made, tmp_path: Path) -> None:
    result = made({"amount": "abc", "status": "mine", "状态": "我的", "Status": "left alone"})
    path = write_workbook(result, tmp_path / "r.result.xlsx")
    (row,) = failures(path)
    assert (row["status"], row["status (input)"], row["状态 (input)"]) == ("invalid", "mine", "我的")
    again = read_table([path]).cells
    assert again["status (input)"].tolist() == ["mine"]
    assert again["Status"].tolist() == ["left alone"]
    assert not {"status", "reason", "file"} & set(again)


def test_no_heading_of_ours_reads_as_a_column_of_the_vocabulary() -> None:
    for ours in RESULT_HEADINGS:
        assert normal(ours) not in HEADINGS
        assert normal(extra_heading(ours)) not in HEADINGS
    for column in COLUMNS:
        assert normal(extra_heading(heading(column.name, "zh"))) not in HEADINGS


@pytest.mark.slow
def test_the_cells_to_be_corrected_are_named_and_coloured(made: Made, tmp_path: Path) -> None:
    result = made({"passenger_name": None, "amount": "abc", "used_on": datetime.date(2020, 1, 1)})
    path = write_workbook(result, tmp_path / "r.xlsx")
    sheet = openpyxl.load_workbook(path)["Failures"]
    columns = {cell.value: cell for cell in sheet[2] for cell in [sheet.cell(1, cell.column)]}
    fills = {name: sheet.cell(2, head.column).fill.fgColor.rgb for name, head in columns.items()}
    coloured = {name for name, fill in fills.items() if fill == "FFFFC7CE"}
    assert coloured == {"passenger_name", "amount", "used_on"}  # a year may be mistyped
    (row,) = failures(path)
    of_failures = {name: head.column_letter for name, head in columns.items()}
    of_rows = {cell.value: cell.column_letter for cell in openpyxl.load_workbook(path)["Rows"][1]}
    rows = list(openpyxl.load_workbook(path)["Rows"].iter_rows(min_row=2, values_only=True))
    # Each sheet names its own cells: who reads it looks for them there.
    for said, letters in ((row["reason"], of_failures), (rows[0][5], of_rows)):
        lines = said.split("\n")
        assert any(
            line.startswith(f"{letters['passenger_name']}2: passenger_name is blank") for line in lines
        )
        assert any(line.startswith(f"{letters['amount']}2: “abc”") for line in lines)
        assert any(line.startswith(f"{letters['used_on']}2: An invoice for a fare") for line in lines)


@pytest.mark.slow
def test_a_reason_about_a_column_that_the_input_has_not_names_the_cell_to_fill_in(
    tmp_path: Path, result_of_file: Made
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("ticket_no,charge\n9991234567890,ticket_fare\n", encoding="utf-8")
    (row,) = failures(write_workbook(result_of_file(path), tmp_path / "r.xlsx"))
    told = "passenger_name is blank, but this row needs it. [missing_value]"
    letter = chr(ord("A") + list(row).index("passenger_name"))
    assert f"{letter}2: {told}" in row["reason"].split("\n")
    rows = openpyxl.load_workbook(tmp_path / "r.xlsx")["Rows"]
    assert told in rows["F2"].value.split("\n")  # there is no such column


def test_statuses_that_need_nobody_are_not_there(mixed: RunResult, tmp_path: Path) -> None:
    rows = failures(write_workbook(mixed, tmp_path / "r.xlsx"))
    assert [row["status"] for row in rows] == ["invalid", "rejected", "not_sent"]


def test_rows_stand_by_their_reasons_which_are_numbered_here_and_on_the_summary(
    made: Made, tmp_path: Path
) -> None:
    open_ticket = {"ticket_status": "open", "amount": 7}
    changes = [
        open_ticket,
        {"amount": "abc"},
        {"tax_no": "1"},
        {"passenger_name": None, "amount": 30},
        {"amount": "x"},
        {},
    ]
    result = made(*({"ticket_no": f"999123456789{n}", **row} for n, row in enumerate(changes)))
    path = write_workbook(result, tmp_path / "r.xlsx")
    rows = failures(path)
    assert next(iter(rows[0])) == "reason_no"
    assert [(row["reason_no"], row["ticket_no"][-1]) for row in rows] == [
        (1, "3"), (2, "1"), (2, "4"), (3, "2"), (4, "0"),
    ]  # fmt: skip
    summary = openpyxl.load_workbook(path)["Summary"]
    lines = [[cell.value for cell in line[:4]] for line in summary.iter_rows()]
    first = lines.index(["By reason (sheet Failures)", None, None, None]) + 2
    assert lines[first : first + 5] == [
        ["1 · invalid", 1, 30, "passenger_name: a value that it needs is blank [missing_value]"],
        ["2 · invalid", 2, 0, "amount: an amount is not above zero with two decimals at most [bad_amount]"],
        ["3 · invalid", 1, 1000.5, "tax_no: the tax number is wrong [bad_tax_no]"],
        ["4 · waiting", 1, 7, "ticket_status: the ticket is not used yet [ticket_still_open]"],
        ["Total", 5, 1037.5, None],
    ]
    places = [summary.cell(first + at, 1).hyperlink.location for at in range(1, 5)]
    assert places == ["'Failures'!A2", "'Failures'!A3", "'Failures'!A5", "'Failures'!A6"]


@pytest.mark.slow
def test_each_cell_to_be_corrected_has_a_note_that_says_what_is_wrong_and_what_to_do(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = [
        {"passenger_name": None},
        {"amount": "abc"},
        {"amount": "abc"},
        {"ticket_status": "open"},
    ]
    result = made(*({"ticket_no": f"999123456789{n}", **row} for n, row in enumerate(wrong)))
    found = notes_of(write_workbook(result, tmp_path / "all.xlsx"))
    assert set(found) == {(2, "passenger_name"), (3, "amount"), (4, "amount")}
    assert found[3, "amount"] == (
        "“abc” in amount is not an amount above zero with at most two decimals.\nCorrect the cell and run the row again."
    )
    # Where there are too many, each reason has its share.
    monkeypatch.setattr(sheet_failures, "_MOST_NOTES", 3)
    few = write_workbook(result, tmp_path / "few.xlsx")
    assert set(notes_of(few)) == {(2, "passenger_name"), (3, "amount")}


@pytest.mark.slow
def test_what_a_rule_forbids_is_marked_in_its_cell_but_not_what_time_or_the_profile_mends(
    made: Made, tmp_path: Path
) -> None:
    rows = [
        {"ticket_no": "9991234567890", "amount": 10000.01},
        {"ticket_no": "8881234567891"},
        {"ticket_no": "9991234567892", "charge": "refund", "ticket_status": "used"},
        {"ticket_no": "9991234567893"},
        {"ticket_no": "9991234567893", "amount": 7},
        {"ticket_no": "9991234567894", "charge": "ancillary", "product": "seat", "purchased_on": DAY, "voucher": "itinerary"},
        {"ticket_no": "9991234567895", "used_on": datetime.date(2025, 10, 1)},
        {"ticket_no": "9991234567896", "charge": "refund", "ticket_status": "refunded"},  # waits for its approval
        {"ticket_no": "9991234567897", "ticket_status": "open"},
        {"ticket_no": "9991234567898", "header_type": "individual", "header_name": "LI/NA", "buyer": None},
    ]  # fmt: skip
    path = write_workbook(made(*rows, profile=LACKING), tmp_path / "r.xlsx")
    notes = notes_of(path)
    sheet = openpyxl.load_workbook(path)["Failures"]
    heads = {cell.column: str(cell.value) for cell in sheet[1]}
    marked = {
        (cell.row, heads[cell.column]) for row in sheet for cell in row if cell.fill.fgColor.rgb == "FFFFC7CE"
    }
    assert marked == set(notes)
    numbers = [str(row["ticket_no"])[-1] for row in failures(path)]
    assert {(numbers[line - 2], column) for line, column in notes} == {
        ("0", "amount"), ("1", "ticket_no"), ("2", "ticket_status"), ("3", "ticket_no"), ("4", "voucher"), ("5", "used_on"),
    }  # fmt: skip


def test_what_the_profile_lacks_is_said_once_with_its_key_and_is_no_cell_s_fault(
    made: Made, tmp_path: Path
) -> None:
    person = {"header_type": "individual", "header_name": "LI/NA", "buyer": None}
    seat = {"charge": "ancillary", "product": "seat", "purchased_on": DAY}
    changes = [seat, person, {**person, "amount": 10000.01}, {**seat, "amount": 7}, {"amount": "abc"}, {}]
    rows = ({"ticket_no": f"999123456789{n}", **row} for n, row in enumerate(changes))
    result = made(*rows, profile=LACKING)
    path = write_workbook(result, tmp_path / "r.xlsx")
    assert {column for _, column in notes_of(path)} == {"amount"}
    found = failures(path)
    # A row with a cell to be changed stands by that: when the profile is complete it is still to be mended.
    assert [(row["reason_no"], row["ticket_no"][-1]) for row in found] == [
        (1, "4"), (2, "2"), (3, "0"), (3, "3"), (4, "1"),
    ]  # fmt: skip
    once = (
        "Ask the carrier for the code and put it into the profile, once for all rows; no cell has to change."
    )
    assert found[2]["what_to_do"] == once
    lines = [
        [cell.value for cell in line[:4]] for line in openpyxl.load_workbook(path)["Summary"].iter_rows()
    ]
    first = lines.index(["By reason (sheet Failures)", None, None, None]) + 4
    lacking = "the carrier's code for it is not in the profile [code_not_configured]"
    assert lines[first : first + 2] == [
        ["3 · ineligible", 2, 1007.5, f"[codes.product_type] seat: {lacking}"],
        ["4 · ineligible", 1, 1000.5, f"[codes.header_type] individual: {lacking}"],
    ]
    said = [str(line[0]) for line in lines]
    keys = "[codes.product_type] seat, [codes.header_type] individual"
    step = f"The carrier profile has no code at {keys}: ask the carrier for them, fill them in once,"
    assert [line for line in said if line.startswith(f"• 3 rows only lack codes of the carrier. {step}")]
    assert [line for line in said if line.startswith("• 1 row ineligible: a rule forbids the voucher.")]
    assert [line for line in summary_lines(result) if line.startswith(step)]


def test_where_nothing_failed_the_summary_has_no_table_of_reasons(made: Made, tmp_path: Path) -> None:
    summary = openpyxl.load_workbook(write_workbook(made({}), tmp_path / "r.xlsx"))["Summary"]
    assert not any(str(cell.value).startswith("By reason") for cell in summary["A"])


@pytest.mark.parametrize(
    ("lang", "status", "word"), [("en", "ticket_status", "used"), ("zh", "客票状态", "已使用")]
)
def test_choices_and_buyers_are_offered_and_what_only_the_program_needs_is_hidden(
    made: Made, tmp_path: Path, lang: Lang, status: str, word: str
) -> None:
    result = made({"amount": "abc"}, {"ticket_no": "9991234567891", "amount": "abc"}, lang=lang)
    sheet = openpyxl.load_workbook(write_workbook(result, tmp_path / "r.xlsx"))["Failures"]
    letters = {str(cell.value): cell.column_letter for cell in sheet[1]}
    offered = {str(check.sqref): check for check in sheet.data_validations.dataValidation}
    choices = offered[f"{letters[status]}2:{letters[status]}3"]
    assert word in choices.formula1.strip('"').split(",")
    assert word in choices.error
    buyers = letters[heading("buyer", lang)]
    assert "Buyers!$A$2" in offered[f"{buyers}2:{buyers}3"].formula1
    hidden = [name for name, letter in letters.items() if sheet.column_dimensions[letter].hidden]
    assert hidden == [heading("buyer_source", lang)]
    assert "\n" in sheet[f"{letters[hidden[0]]}2"].value
    assert sheet.row_dimensions[2].height < 4 * 14  # what nobody sees makes no row higher
