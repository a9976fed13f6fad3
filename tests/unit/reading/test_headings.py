"""Headings: recognised in both languages, wherever they stand; refused where they are unclear."""

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.columns import COLUMNS, TICKET_COLUMNS
from pipeline.errors import InputProblem
from pipeline.reading.headings import HEADINGS, cell_name, column_letters, find_layout, nearest, normal
from pipeline.reading.inputs import Sheet

WORDS = [(c.name, word) for c in COLUMNS for word in (c.name, c.zh, *c.variants)]


def _sheet(*rows: list[Any], first: tuple[int, int] = (0, 0)) -> Sheet:
    return Sheet("S", True, first[0], first[1], [list(row) for row in rows])


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
        ("客票号码", "客票号"),
        ("weather", ""),
        ("", ""),
    ],
)
def test_the_nearest_heading_is_offered_where_one_is_near(typed: str, close: str) -> None:
    assert nearest(typed) == close


@pytest.mark.parametrize(
    ("position", "letters"),
    [(0, "A"), (25, "Z"), (26, "AA"), (51, "AZ"), (52, "BA"), (701, "ZZ"), (702, "AAA"), (16383, "XFD")],
)
def test_columns_are_lettered_as_the_spreadsheet_does(position: int, letters: str) -> None:
    assert column_letters(position) == letters


def test_a_cell_is_named_from_where_the_sheet_starts() -> None:
    assert cell_name(_sheet([], first=(4, 2)), 1, 1) == "D6"


def test_every_ticket_column_is_taken_from_a_sheet_with_all_headings_in_either_language(
    sheets_table: Callable[..., Any],
) -> None:
    for lang in ("en", "zh"):
        headings = [column.heading(lang) for column in TICKET_COLUMNS]
        table = sheets_table(("S", [headings, [f"v{n}" for n in range(len(headings))]]))
        assert table.cells.columns.tolist() == [column.name for column in TICKET_COLUMNS]
        assert table.cells.iloc[0].tolist() == [f"v{n}" for n in range(len(headings))]
