"""Sheets to the Table: which rows are input, where they stood, and what their cells hold."""

# ruff: noqa: DTZ001 - a spreadsheet's dates have no time zone

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipeline.model.columns import COLUMNS, RESULT_SHEETS
from pipeline.model.errors import InputProblem
from pipeline.model.message import terms
from pipeline.model.table import Table
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble

Make = Callable[..., Table]

HEAD = ["ticket_no", "passenger_name", "charge", "amount"]
ROW = ["9991234567890", "A", "refund", 1.0]


def assert_problem(make: Callable[[], Any]) -> str:
    with pytest.raises(InputProblem) as problem:
        make()
    text = str(problem.value)
    assert "book.xlsx" in text
    assert "\n" not in text
    return text


# --- which rows ----------------------------------------------------------------------------------


def test_blank_total_and_repeated_heading_rows_are_no_input_and_the_rest_keep_their_places(
    sheets_table: Make,
) -> None:
    rows = [
        ["Tickets of October"],
        HEAD,
        ROW,
        [],
        ["", " ", "\u3000", ""],
        ["9991234567891", "B", "refund", 1.0],
        HEAD,
        ["9991234567892", "C", "refund", 1.0],
        ["合计：", "", "", 3.0],
        ["", "Total", "", 3.0],
    ]
    table = sheets_table(("Tickets", rows))
    assert table.frame[["file", "sheet", "row"]].to_numpy().tolist() == [
        ["book.xlsx", "Tickets", 3],
        ["book.xlsx", "Tickets", 6],
        ["book.xlsx", "Tickets", 8],
    ]
    assert tuple(map(str, table.notes)) == (
        "book.xlsx, sheet Tickets: 3 total, heading or footer rows left out",
    )


def test_rows_shorter_and_longer_than_the_headings_lose_nothing(sheets_table: Make) -> None:
    table = sheets_table(("S", [HEAD, ["9991234567890"], [*ROW, "", "why"]]))
    assert table.frame["passenger_name"].tolist() == ["", "A"]
    assert table.cells["column F"].tolist() == ["", "why"]


def test_rows_are_in_the_order_of_files_sheets_and_rows(sheets_table: Make) -> None:
    first = ("Jan", [HEAD, ROW, ["9991234567891", *ROW[1:]]])
    second = ("Feb", [["amount", "ticket_no"], [2.0, "9991234567892"]])
    table = sheets_table(first, second)
    assert table.frame["ticket_no"].tolist() == ["9991234567890", "9991234567891", "9991234567892"]
    assert table.frame["sheet"].tolist() == ["Jan", "Jan", "Feb"]
    assert table.frame["amount"].tolist() == [100, 100, 200]
    assert table.frame.index.tolist() == [0, 1, 2]


def test_a_sheet_that_starts_elsewhere_counts_rows_as_the_spreadsheet_does(sheets_table: Make) -> None:
    sheet = Sheet.of_rows("S", [["title"], HEAD, ROW], first_row=4, first_column=2)
    assert sheets_table(sheet).frame["row"].tolist() == [7]


def test_a_result_s_failures_keep_the_columns_that_were_not_read_beside_ours(sheets_table: Make) -> None:
    table = sheets_table(*_result([[*HEAD, "input: 价税合计"], [*ROW, 7.0]]))
    assert table.frame["amount"].tolist() == [100]
    assert table.cells["input: 价税合计"].tolist() == [7.0]


def test_an_unknown_heading_is_told_and_its_column_carried_through(sheets_table: Make) -> None:
    table = sheets_table(("S", [[*HEAD, "flight dat"], [*ROW, "2026-01-01"]]))
    (note,) = map(str, table.notes)
    assert note == (
        "book.xlsx, sheet S: E1 “flight dat” is not a known heading and was not read; did you mean “flight_date”?"
    )
    assert table.cells["flight dat"].tolist() == ["2026-01-01"]


# --- cells ---------------------------------------------------------------------------------------


def test_the_frame_is_typed_and_whole_even_where_most_columns_are_not_in_the_sheet(
    sheets_table: Make,
) -> None:
    table = sheets_table(("S", [["ticket_no", "amount"], ["9991234567890", 12.5]]))
    frame = table.frame
    places = [
        "file",
        "sheet",
        "row",
        "first_file",
        "first_sheet",
        "first_row",
        "book",
        "remembered",
        "elsewhere",
    ]
    assert frame.columns.tolist() == [*places, *(column.name for column in COLUMNS)]
    assert frame["row"].dtype == np.int64
    assert frame["amount"].dtype == np.int64
    assert frame["fare"].tolist() == [0]
    assert frame["flight_date"].dtype == np.dtype("datetime64[s]")
    assert frame["flight_date"].isna().all()
    assert isinstance(frame["charge"].dtype, pd.CategoricalDtype)
    assert frame["charge"].isna().all()
    assert frame["passenger_name"].tolist() == [""]
    assert table.findings == ()


def test_texts_stay_what_they_are(sheets_table: Make) -> None:
    names = ["NA", "None", "NULL", "nan", "0123", "TRUE", "1e5", "=A1", "O'BRIEN/PAT", 7.0]
    rows = [[f"99912345678{n:02}", name] for n, name in enumerate(names)]
    table = sheets_table(("S", [["ticket_no", "passenger_name"], *rows]))
    assert table.frame["passenger_name"].tolist() == [*names[:-1], "7"]
    assert table.findings == ()


def test_cells_keep_what_was_read_and_extra_columns_come_after(sheets_table: Make) -> None:
    extra = [datetime.date(2026, 1, 2), " 0123 ", 5.0]
    rows = [["po", *HEAD, "when", "x"], [extra[1], *ROW, extra[0], extra[2]]]
    table = sheets_table(("S", rows))
    assert table.cells.columns.tolist() == [*HEAD, "po", "when", "x"]
    assert table.cells.iloc[0].tolist() == [*ROW, " 0123 ", datetime.date(2026, 1, 2), 5.0]


def test_extra_columns_of_several_sheets_stay_apart_and_blank_where_a_sheet_has_none(
    sheets_table: Make,
) -> None:
    table = sheets_table(("A", [[*HEAD, "po"], [*ROW, "1"]]), ("B", [[*HEAD, "cost"], [*ROW, "2"]]))
    assert table.cells["po"].tolist() == ["1", ""]
    assert table.cells["cost"].tolist() == ["", "2"]


def test_unreadable_cells_are_findings_with_what_was_seen(sheets_table: Make) -> None:
    head = ["ticket_no", "charge", "amount", "flight_date"]
    rows = [head, ["9991234567890", "refund", 1.0, "2026-01-01"], [991234567890.0, "gift", "x", "03/04/2026"]]
    table = sheets_table(("S", [*rows, ["1", "refund", -2.0, 46082.0]]))
    found = {(f.code, f.column): (f.rows.tolist(), f.facts) for f in table.findings}
    assert found == {
        ("bad_ticket_no", "ticket_no"): ([1, 2], {"seen": ["991234567890", "1"], "hint": ["lost_zero", ""]}),
        ("bad_choice", "charge"): (
            [1],
            {
                "seen": ["gift"],
                "hint": [""],
                "choices": terms(["ticket_fare", "refund", "ancillary"], "choice"),
            },
        ),
        ("bad_amount", "amount"): ([1, 2], {"seen": ["x", "-2"], "hint": ["", "negative"]}),
        ("bad_date", "flight_date"): (
            [1, 2],
            {"seen": ["03/04/2026", "46082"], "hint": ["two_days", "serial_day"]},
        ),
    }
    assert table.frame["amount"].tolist() == [100, 0, 0]
    assert table.frame["ticket_no"].tolist() == ["9991234567890", "", ""]


def test_error_cells_and_formulas_without_a_result_are_findings_in_every_column(sheets_table: Make) -> None:
    names = [column.name for column in COLUMNS if column.name not in ("order_type", "ticket_prefix")]
    table = sheets_table(("S", [names, [b"#N/A"] * len(names), [b"="] * len(names), ["#REF!"] * len(names)]))
    assert {finding.column for finding in table.findings} == set(names)
    for finding in table.findings:
        assert finding.rows.tolist() == [0, 1, 2]
        assert finding.facts["seen"] == ["#N/A", "=", "#REF!"]
        assert finding.facts["hint"] == ["error_cell", "no_result", "error_cell"]
    assert table.frame[["passenger_name", "amount", "buyer"]].to_numpy().tolist() == [["", 0, ""]] * 3
    assert table.cells["remarks"].tolist() == [b"#N/A", b"=", "#REF!"]


def test_equal_cells_of_different_types_are_each_read_for_themselves(sheets_table: Make) -> None:
    day = datetime.date(2026, 3, 5)
    rows = [
        [f"99912345678{n:02}", value]
        for n, value in enumerate([day, "2026-03-05", datetime.datetime(2026, 3, 5), 46086.0, "46086"])
    ]
    table = sheets_table(("S", [["ticket_no", "flight_date"], *rows]))
    assert table.frame["flight_date"].isna().tolist() == [False, False, False, True, True]


def test_a_component_of_zero_is_read_and_an_amount_of_zero_is_not(sheets_table: Make) -> None:
    rows = [["ticket_no", "amount", "fare"], ["9991234567890", 0.0, 0.0]]
    (finding,) = sheets_table(("S", rows)).findings
    assert (finding.code, finding.column) == ("bad_amount", "amount")


def test_fees_that_a_row_of_one_charge_carries_for_others_are_told_and_not_taken(sheets_table: Make) -> None:
    head = [*HEAD, "product", "fare", "change_fee", "refund_fee", "行李费", "seat_fee"]
    rows = [
        ["9991234567890", "A", "refund", "", "", "", 10.0, 20.0, "", ""],
        ["9991234567891", "A", "ticket_fare", "", "", 100.0, "", 20.0, 5.0, ""],
        ["9991234567892", "A", "ancillary", "", "seat", "", "", "", 7.0, 3.0],
        ["9991234567893", "A", "", "", "", 100.0, "", "", 5.0, 3.0],
    ]
    table = sheets_table(("S", [head, *rows]), ("T", [head, rows[0]]))
    (note,) = map(str, table.notes)
    assert note.startswith(
        "book.xlsx, sheet S: refund_fee, baggage_fee not taken in 2 rows, the first of them row 3:"
    )


# --- sheets --------------------------------------------------------------------------------------


def test_a_hidden_sheet_is_not_read_and_told(sheets_table: Make) -> None:
    hidden = Sheet.of_rows("Old", [HEAD, ["9990000000000", *ROW[1:]]], visible=False)
    table = sheets_table(("S", [HEAD, ROW]), hidden)
    assert table.frame["ticket_no"].tolist() == ["9991234567890"]
    assert tuple(map(str, table.notes)) == ("book.xlsx: sheet Old is hidden and was not read",)


def test_a_sheet_of_something_else_is_not_read_and_told(sheets_table: Make) -> None:
    table = sheets_table(("Notes", [["Dear all"], ["please"]]), ("S", [HEAD, ROW]), ("Blank", []))
    assert len(table) == 1
    assert tuple(map(str, table.notes)) == (
        "book.xlsx: sheet Notes has no headings of tickets or buyers and was not read",
    )


def test_a_buyers_sheet_may_stand_before_or_after_the_tickets_in_either_language(sheets_table: Make) -> None:
    buyers = (
        "购买方信息",
        [["x"], ["购买方", "抬头类型", "抬头名称"], ["A", "企业", "A 公司"], [], ["B", "个人", "B"]],
    )
    for sheets in ((buyers, ("S", [HEAD, ROW])), (("S", [HEAD, ROW]), buyers)):
        table = sheets_table(*sheets)
        assert table.buyers[
            ["file", "buyer", "header_type", "header_name", "tax_no"]
        ].to_numpy().tolist() == [
            ["book.xlsx", "A", "business", "A 公司", ""],
            ["book.xlsx", "B", "individual", "B", ""],
        ]


def test_a_buyers_file_s_buyers_belong_to_no_workbook(
    sheets_table: Make, write_csv: Any, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "buyers.csv", [["buyer", "header_name"], ["NULL", "0123"]])
    table = sheets_table(("S", [HEAD, ROW]), buyers=path)
    assert table.buyers[["file", "buyer", "header_name"]].to_numpy().tolist() == [["", "NULL", "0123"]]


@pytest.mark.parametrize("rows", [[], [["buyer", "header_name"]], [["name"], ["A"]], [["buyer"], ["A"]]])
def test_a_buyers_file_without_buyers_is_refused(
    sheets_table: Make, write_csv: Any, tmp_path: Path, rows: list[list[str]]
) -> None:
    path = write_csv(tmp_path / "buyers.csv", rows)
    with pytest.raises(InputProblem, match=r"buyers\.csv"):
        sheets_table(("S", [HEAD, ROW]), buyers=path)


def test_a_missing_buyers_file_is_named(sheets_table: Make, tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match=r"nowhere\.csv: there is no such buyers file"):
        sheets_table(("S", [HEAD, ROW]), buyers=tmp_path / "nowhere.csv")


def test_workbooks_of_one_name_are_told_apart_by_their_folders() -> None:
    sheet = Sheet.of_rows("S", [HEAD, ROW])
    table = assemble(
        [(Path("jan/t.xlsx"), [sheet]), (Path("feb/t.xlsx"), [sheet]), (Path("feb/u.xlsx"), [sheet])]
    )
    assert table.frame["file"].tolist() == [str(Path("jan/t.xlsx")), str(Path("feb/t.xlsx")), "u.xlsx"]


# --- earlier results -----------------------------------------------------------------------------


def _result(failures: list[list[Any]], **sheets: list[list[Any]]) -> list[tuple[str, list[list[Any]]]]:
    other = [HEAD, ["9990000000000", "Z", "refund", 1.0]]
    return [(name, failures if name == "Failures" else sheets.get(name, other)) for name in RESULT_SHEETS]


def test_of_a_result_workbook_only_the_failures_are_taken_without_its_own_columns(sheets_table: Make) -> None:
    failures = [
        [*HEAD, "po", "status", "reason", "what_to_do", "file", "row"],
        [*ROW, "7", "invalid", "r", "w", "a", 3.0],
    ]
    table = sheets_table(*_result(failures), ("Mine", [HEAD, ["9990000000001", *ROW[1:]]]))
    assert table.frame["ticket_no"].tolist() == ["9991234567890"]
    assert table.frame["sheet"].tolist() == ["Failures"]
    assert table.cells.columns.tolist() == [*HEAD, "po"]


def test_a_chinese_result_s_own_columns_are_left_out_too(sheets_table: Make) -> None:
    failures = [
        ["票号", "旅客姓名", "费用类型", "金额", "成本", "状态", "原因", "处理办法"],
        [*ROW, "7", "x", "y", "z"],
    ]
    assert sheets_table(*_result(failures)).cells.columns.tolist() == [*HEAD, "成本"]


def test_a_workbook_that_lacks_one_sheet_of_a_result_is_an_ordinary_one(sheets_table: Make) -> None:
    sheets = [sheet for sheet in _result([HEAD, ROW]) if sheet[0] != "Summary"]
    assert len(sheets_table(*sheets)) == 5


def test_an_ordinary_workbook_keeps_its_own_status_and_reason_columns(sheets_table: Make) -> None:
    table = sheets_table(("Failures", [[*HEAD, "status", "reason"], [*ROW, "mine", "too"]]))
    assert table.cells[["status", "reason"]].iloc[0].tolist() == ["mine", "too"]


def test_a_result_without_failures_has_nothing_to_issue(sheets_table: Make) -> None:
    assert "Failures" in assert_problem(lambda: sheets_table(*_result([[*HEAD, "status"]])))


# --- sheets without headings -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "cell", ["9991234567899", 9991234567899.0, "999-1234567899", " ９９９ １２３４５６７８９９"]
)
def test_a_sheet_that_goes_on_with_the_tickets_without_headings_is_refused(
    sheets_table: Make, cell: Any
) -> None:
    page = ("第2页", [["", ""], [cell, "B", "refund", 1.0]])
    text = assert_problem(lambda: sheets_table(("第1页", [HEAD, ROW]), page))
    assert "sheet 第2页 has no headings, but A2 holds the ticket number 9991234567899" in text


def test_a_ticket_of_another_airline_is_seen_in_the_tickets_column_and_one_of_ours_anywhere(
    sheets_table: Make,
) -> None:
    assert_problem(lambda: sheets_table(("1", [HEAD, ROW]), ("2", [["7811234567899", "B"]])))
    assert_problem(lambda: sheets_table(("1", [HEAD, ROW]), ("2", [["B", "9991234567899"]])))


@pytest.mark.parametrize(
    "rows",
    [
        [["B", "1696118400000"]],  # an order's number
        [["说明", ""], ["9991234567890", "1.00"]],  # of a ticket that is read
        [["合计", 9991234567.0]],
    ],
)
def test_a_sheet_without_headings_and_without_further_tickets_is_left_out_with_a_note(
    sheets_table: Make, rows: list[list[Any]]
) -> None:
    table = sheets_table(("1", [HEAD, ROW]), ("2", rows))
    assert len(table) == 1
    assert tuple(map(str, table.notes)) == (
        "book.xlsx: sheet 2 has no headings of tickets or buyers and was not read",
    )


# --- refusals ------------------------------------------------------------------------------------


def test_headings_without_rows_are_refused(sheets_table: Make) -> None:
    text = assert_problem(lambda: sheets_table(("S", [["title"], HEAD, [], ["合计", "", "", 0.0]])))
    assert "no rows" in text
    assert "S" in text


@pytest.mark.parametrize("sheets", [[("S", [])], [("S", [["", " "]]), ("T", [])]])
def test_empty_sheets_are_an_empty_workbook(sheets_table: Make, sheets: list[Any]) -> None:
    assert "empty" in assert_problem(lambda: sheets_table(*sheets))


def test_a_workbook_of_hidden_sheets_is_not_called_empty(sheets_table: Make) -> None:
    assert "hidden" in assert_problem(lambda: sheets_table(Sheet.of_rows("S", [HEAD, ROW], visible=False)))


def test_an_unknown_heading_is_refused_with_the_cell_and_the_nearest_one(sheets_table: Make) -> None:
    rows = [["title"], ["Ticket Numbr", "amount"], ["9991234567890", 1.0]]
    text = assert_problem(lambda: sheets_table(Sheet.of_rows("S", rows, first_row=4, first_column=2)))
    for part in ("sheet S", "C6", "“Ticket Numbr”", "“ticket number”"):
        assert part in text


def test_the_message_about_an_unknown_heading_is_one_line(sheets_table: Make) -> None:
    assert_problem(lambda: sheets_table(("S", [["Ticket\nNumbr", "amount"], ["9991234567890", 1.0]])))


def test_a_workbook_with_nothing_known_shows_none_of_its_cells_and_where_headings_are_to_be_had(
    sheets_table: Make,
) -> None:
    text = assert_problem(lambda: sheets_table(("S", [["weather", "wind"], ["sunny", "calm"]])))
    assert "weather" not in text  # it might be a name
    assert "voucher template" in text


def test_a_workbook_of_buyers_alone_is_told_how_to_be_given(sheets_table: Make) -> None:
    text = assert_problem(lambda: sheets_table(("Buyers", [["buyer", "header_name"], ["A", "A Ltd"]])))
    assert "--buyers" in text


def test_a_workbook_without_tickets_whose_buyers_sheet_is_empty_is_not_called_one_of_buyers(
    sheets_table: Make,
) -> None:
    text = assert_problem(lambda: sheets_table(("Buyers", [["buyer", "header_name"]]), ("S", [["weather"]])))
    assert "--buyers" not in text
    assert "no sheet has the headings of tickets" in text


@pytest.mark.parametrize(
    "beside", [[], [("Buyers", [["buyer", "header_name"], ["A", "A Ltd"]])], [("T", [HEAD, ROW])]]
)
def test_headings_that_stand_too_low_are_named_with_their_row(sheets_table: Make, beside: list[Any]) -> None:
    titles = [[f"title {number}"] for number in range(30)]
    assert len(sheets_table(("Low", [*titles[1:], HEAD, ROW]))) == 1
    low = Sheet.of_rows("Low", [*titles, HEAD, ROW], first_row=4)
    text = assert_problem(lambda: sheets_table(low, *beside))
    assert text == (
        "book.xlsx, sheet Low: row 35 has the headings of tickets, and headings are looked for in the first 30 rows alone;"
        " delete what stands above them, or hide the sheet if it is not to be read"
    )


def test_one_workbook_without_tickets_refuses_the_run_though_the_other_has_some() -> None:
    good, bad = Sheet.of_rows("S", [HEAD, ROW]), Sheet.of_rows("S", [["weather", "wind"]])
    assert "book.xlsx" in assert_problem(
        lambda: assemble([(Path("a.xlsx"), [good]), (Path("book.xlsx"), [bad])])
    )


def test_a_heading_that_shows_an_error_is_an_extra_column(sheets_table: Make) -> None:
    table = sheets_table(("S", [[*HEAD, b"#REF!"], [*ROW, "x"]]))
    assert table.cells["#REF!"].tolist() == ["x"]
