"""A mapping's certain lines, and what only the team can say."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.model.survey import Entry, HeadingUse, Lack, Question, SheetUse
from pipeline.reading.columns_file import NO_MAP, ColumnMap
from pipeline.reading.columns_file_questions import entries, questions
from pipeline.reading.sheet import Sheet
from pipeline.reading.sheet_survey import survey_file

TICKET = "9991234567890"


def uses(**sheets: list[list[Any]]) -> list[SheetUse]:
    laid = [Sheet.of_rows(name, rows) for name, rows in sheets.items()]
    return list(survey_file(Path("b.xlsx"), "b.xlsx", laid, NO_MAP, "CNY"))


def lines(found: list[Entry]) -> list[tuple[str, str, str | bool]]:
    return [(".".join(one.section), one.key, one.value) for one in found]


def choices(question: Question) -> list[list[tuple[str, str, str | bool]]]:
    return [lines(list(answer.entries)) for answer in question.answers]


def test_certain_headings_and_values_are_lines_each_once() -> None:
    head = ["票号", "客票状态", "部门"]
    found = uses(A=[head, [TICKET, "已使用", "x"]], B=[head, [TICKET, "已使用", "x"], [TICKET, "未使用", ""]])
    assert lines(entries(found, NO_MAP)) == [
        ("headings", "票号", "ticket_no"),
        ("headings", "客票状态", "ticket_status"),
        ("headings", "部门", ""),
        ("values.ticket_status", "已使用", "used"),
        ("values.ticket_status", "未使用", "open"),
    ]
    assert questions(found) == []


def test_what_would_end_a_doubt_is_no_line_and_neither_is_what_differs_from_sheet_to_sheet() -> None:
    head = ["票号", "票价（含税）", "成交价", "Amout"]
    found = uses(A=[head, [TICKET, 1.0, 1.0, 1.0]], B=[["票号", "金额", "Amout"], [TICKET, 1.0, "x"]])
    assert [key for _, key, _ in lines(entries(found, NO_MAP))] == ["票号", "金额"]


def test_a_mapping_that_is_given_is_kept_whole() -> None:
    given = ColumnMap(
        headings={"成交价": "fare"}, values={"market": {"境外": "international"}}, fixed={"voucher": "auto"},
        sheets={"港澳台": {"market": "境外"}}, skipped_sheets={"全部": True}, skipped_order_types={"代订": False},
    )  # fmt: skip
    assert lines(entries([], given)) == [
        ("headings", "成交价", "fare"),
        ("values.market", "境外", "international"),
        ("fixed", "voucher", "auto"),
        ("sheets.港澳台", "market", "境外"),
        ("sheets.全部", "skip", True),
        ("order_types.代订", "skip", False),
    ]


def test_a_heading_that_may_be_several_columns_is_asked_about_once() -> None:
    rows = [["票号", "姓名", "手续费"], [TICKET, "A", 1.0]]
    (question,) = questions(uses(A=rows, B=rows))
    assert str(question.asked) == "Which column is C1 “手续费”?"
    assert choices(question) == [
        [("headings", "手续费", "refund_fee")],
        [("headings", "手续费", "change_fee")],
        [("headings", "手续费", "")],
    ]


def test_two_headings_of_one_column_are_asked_about_by_what_is_left_unread() -> None:
    (question,) = questions(uses(A=[["票号", "金额", "合计金额"], [TICKET, 1.0, 2.0]]))
    assert str(question.asked) == "Several headings mean amount. Which of them is read?"
    assert [str(answer.said) for answer in question.answers] == ["B1 “金额”", "C1 “合计金额”"]
    assert choices(question) == [[("headings", "合计金额", "")], [("headings", "金额", "")]]


def test_a_value_that_is_not_known_is_asked_about_with_all_its_rows_and_the_close_choice_first() -> None:
    head = ["票号", "客票状态"]
    found = uses(A=[head, [TICKET, "已退票了"]], B=[head, [TICKET, "已退票了"], [TICKET, "已使用"]])
    (question,) = questions(found)
    assert str(question.asked) == "ticket_status is “已退票了” in 2 rows. What does that mean?"
    assert choices(question)[0] == [("values.ticket_status", "已退票了", "refunded")]
    assert len(question.answers) == 4


def test_a_choice_that_rows_lack_is_asked_about_by_sheet_and_nothing_else_that_they_lack_is() -> None:
    lacks = (
        Lack("market", 3, 2, "missing"),
        Lack("flight_date", 3, 2, "missing"),
        Lack("ticket_status", 1, 2, "unreadable"),
    )
    (question,) = questions([SheetUse("b.xlsx", "港澳台", "tickets", 1, 3, lacks=lacks)])
    assert str(question.asked) == "market is blank in 3 rows of sheet 港澳台. What is it there?"
    assert choices(question) == [
        [("sheets.港澳台", "market", "domestic")],
        [("sheets.港澳台", "market", "international")],
    ]


def test_a_sheet_that_is_left_out_is_not_asked_about() -> None:
    hotels = [["票号", "姓名", "客票状态", "手续费"], ["", "A", "已入住", 1.0]]
    found = uses(酒店=hotels, T=[["票号", "姓名"], [TICKET, "A"]])
    assert questions(found) == []
    assert [key for _, key, _ in lines(entries(found, NO_MAP))] == ["票号", "姓名"]


def test_of_equal_headings_nothing_is_asked_as_no_line_could_say_which() -> None:
    assert questions(uses(A=[["票号", "票 号", "客票状态"], [TICKET, TICKET, "已使用"]])) == []
    (asked,) = questions(uses(A=[["票号", "机票号码", "客票状态"], [TICKET, TICKET, "已使用"]]))
    assert choices(asked) == [[("headings", "机票号码", "")], [("headings", "票号", "")]]


def test_what_a_heading_may_hold_is_not_asked_for_before_it_is_known_whether_it_does() -> None:
    heading = HeadingUse("D1", "状态", may_mean=("ticket_status",))
    lacks = (Lack("ticket_status", 3, 2, "missing"), Lack("market", 3, 2, "missing"))
    sheet = SheetUse("b.xlsx", "A", "tickets", 1, 3, headings=(heading,), lacks=lacks)
    asked = [lines(list(question.answers[0].entries)) for question in questions([sheet])]
    assert asked == [[("headings", "状态", "ticket_status")], [("sheets.A", "market", "domestic")]]
    known = replace(sheet, headings=(replace(heading, may_mean=()),))
    assert [lines(list(question.answers[0].entries))[0][1] for question in questions([known])] == [
        "ticket_status",
        "market",
    ]
