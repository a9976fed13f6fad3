"""What a sheet is read as is what the reader itself makes of it: headings, samples and values, whether it can be read or not."""

from pathlib import Path
from typing import Any

import pytest

from pipeline.model.survey import SheetUse
from pipeline.reading.columns_file import NO_MAP, ColumnMap
from pipeline.reading.sheet import Sheet
from pipeline.reading.sheet_survey import survey_file

ROW = ["9991234567890", "ZHANG/WEI", "已使用", 100.0, "x"]


def survey(*rows: list[Any], name: str = "S", mapping: ColumnMap = NO_MAP, **more: Any) -> SheetUse:
    sheet = Sheet.of_rows(name, rows, **more)
    return next(survey_file(Path("book.xlsx"), "book.xlsx", [sheet], mapping, "CNY"))


def told(use: SheetUse) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    return {one.heading: (one.cell, one.column, one.may_mean) for one in use.headings}


def test_headings_are_what_the_reader_takes_them_for_below_titles_and_beside_other_cells() -> None:
    head = ["票号", "姓名", "客票状态", "金额", "部门"]
    use = survey(["Bill of October"], head, ROW, first_row=2, first_column=1)
    assert (use.use, use.heading_row, use.rows) == ("tickets", 4, 1)
    assert told(use) == {
        "票号": ("B4", "ticket_no", ()),
        "姓名": ("C4", "passenger_name", ()),
        "客票状态": ("D4", "ticket_status", ()),
        "金额": ("E4", "amount", ()),
        "部门": ("F4", "", ()),
    }


def test_samples_are_different_values_of_input_rows_alone() -> None:
    rows = [["9991234567890", value] for value in ("A", " ", "A", "B", "C", "D")]
    use = survey(["票号", "姓名"], *rows, ["合计", "total"], ["制表人：王会计", ""])
    assert [one.samples for one in use.headings] == [("9991234567890",), ("A", "B", "C")]


def test_headings_that_are_not_certain_have_the_columns_that_they_may_mean() -> None:
    use = survey(["票号", "Passenger Nam", "手续费", "票价"], ["9991234567890", "A", 1.0, 2.0])
    assert told(use)["Passenger Nam"][1:] == ("", ("passenger_name",))
    assert told(use)["手续费"][1:] == ("", ("refund_fee", "change_fee"))


def test_a_sheet_that_can_t_be_read_says_why_and_what_its_headings_mean_all_the_same() -> None:
    use = survey(["票号", "金额", "合计金额", "Ticket numbr", "票价/机建"], ["9991234567890", 1.0, 1.0])
    assert (use.use, use.rows) == ("unreadable", 0)
    assert len(use.notes) == 1
    assert told(use)["金额"] == ("B1", "amount", ())
    assert told(use)["合计金额"] == ("C1", "amount", ())
    assert told(use)["票价/机建"] == ("E1", "", ("airport_fee", "fare"))
    nameless = survey(["客票号码*", "姓名", "金额", "备注"], ROW)
    assert nameless.use == "tickets"  # a star changes nothing
    nameless = survey(["票务号", "姓名", "金额", "备注"], ROW)
    assert (nameless.use, told(nameless)["姓名"][1]) == ("unreadable", "passenger_name")


@pytest.mark.parametrize("name", ["酒店", "S"])
def test_a_sheet_without_tickets_has_its_headings_and_none_is_taken_for_anything(name: str) -> None:
    beside = Sheet.of_rows("T", [["票号", "姓名"], ["9991234567890", "A"]])
    hotels = Sheet.of_rows(name, [["酒店名称", "入住人", "合计"], ["万豪", "王芳", 1300.0]])
    _, use = survey_file(Path("b.xlsx"), "b.xlsx", [beside, hotels], NO_MAP, "CNY")
    assert use.use in ("left_out", "unheaded")
    assert {one.column for one in use.headings} == {""}
    assert use.headings[0].samples == ("万豪",)


def test_values_are_known_or_have_the_choices_that_come_close() -> None:
    head = ["票号", "客票状态", "国内/国际"]
    rows = [["9991234567890", status, "国内"] for status in ("已使用", "已使用 ", "已使用过", "已入住", "")]
    use = survey(head, *rows)
    assert [(one.text, one.rows, one.choice) for one in use.values] == [
        ("已使用", 2, "used"),
        ("已使用过", 1, ""),
        ("已入住", 1, ""),
        ("国内", 5, "domestic"),
    ]
    assert use.values[1].close[0] == "used"
    mapped = survey(head, *rows, mapping=ColumnMap(values={"ticket_status": {"已入住": "used"}}))
    assert [one.text for one in mapped.values if not one.choice] == ["已使用过"]


@pytest.mark.parametrize(
    ("heading", "plain"),
    [
        ("票价", True),
        ("票价（含税）", False),
        ("税费", False),
        ("部门", True),
        ("成交价", False),
        ("机票款", False),
    ],
)
def test_a_word_of_the_team_s_is_not_put_into_its_mouth_where_it_would_end_a_doubt(
    heading: str, plain: bool
) -> None:
    use = survey(["票号", "姓名", heading], ["9991234567890", "A", 1.0])
    assert [one.plain for one in use.headings if one.heading == heading] == [plain]


def test_what_is_hidden_is_told_of_the_file() -> None:
    shown = Sheet.of_rows("T", [["票号", "姓名"], ["9991234567890", "A"]], hidden_rows=[(1, 1)])
    hidden = Sheet.of_rows("H", [["x"]], visible=False, hidden_tickets=2)
    first, of_file = survey_file(Path("b.xlsx"), "b.xlsx", [shown, hidden], NO_MAP, "CNY")
    assert "hidden or filtered out" in str(first.notes[0])
    assert (of_file.sheet, "sheet H is hidden" in str(of_file.notes[0])) == ("", True)
