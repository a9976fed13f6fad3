"""Single cells: what is understood, what is refused rather than guessed, and with which hint."""

# ruff: noqa: DTZ001 - a spreadsheet's dates have no time zone

import datetime
import re
from pathlib import Path
from typing import Any

import pytest

from pipeline.messages.likely_mistakes import HINTS
from pipeline.messages.translate import in_every_language
from pipeline.model.columns import COLUMNS
from pipeline.reading import amount_cells, cells, date_cells, ticket_number
from pipeline.reading.cell_words import CHOICE_WORDS
from pipeline.reading.heading_meanings import normal
from pipeline.rules import buyer_formats


@pytest.mark.parametrize(
    "value",
    [
        "9991234567890",
        "999-1234567890",
        " 9991234567890 ",
        "999 1234567890",
        "９９９１２３４５６７８９０",
        "999－1234567890",
        "999\u20111234567890",
        "999-12345\u200b67890",
        "999 123 456 7890",
        "\u00a09991234567890",
        9991234567890.0,
    ],
)
def test_a_ticket_number_is_13_digits_however_they_are_typed(value: Any) -> None:
    assert ticket_number.ticket_no(value) == "9991234567890"


def test_a_ticket_number_that_starts_with_zeros_keeps_them() -> None:
    assert ticket_number.ticket_no("001-2345678901") == "0012345678901"


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (991234567890.0, "lost_zero"),
        (12345678901.0, "lost_zero"),  # an airline's code such as 001
        (1234567890.0, "no_airline_code"),
        ("1234567890", "no_airline_code"),
        ('="9991234567890"', "marked_as_text"),
        ("'9991234567890", "marked_as_text"),
        ("`999-1234567890", "marked_as_text"),
        (99912345678901.0, "spoilt_number"),
        (9991234567890123.0, "spoilt_number"),
        ("9.99123456789e12", "spoilt_number"),
        (9991234567890.5, ""),
        (123.0, ""),
        ("99912345678901", ""),
        ("9991-234567890", ""),
        ("99-91234567890", ""),
        ("999-123-4567890", ""),
        ("999123456789O", "letters_in_number"),
        ("999-l23456789O", "letters_in_number"),
        ("9991234567890/91", "several_tickets"),
        ("9991234567890、9991234567891", "several_tickets"),
        ("991234567890", "lost_zero"),  # a CSV that the spreadsheet program saved
        ("99-1234567890", "lost_zero"),
        ("9.99123E+12", "spoilt_number"),
        ("ABCDEFGHIJKLM", ""),
        ("TRUE", ""),
        (datetime.date(2026, 3, 5), ""),
        (-9991234567890.0, ""),
    ],
)
def test_any_other_ticket_number_is_refused_with_the_likely_cause(value: Any, hint: str) -> None:
    with pytest.raises(cells.Unreadable) as refused:
        ticket_number.ticket_no(value)
    assert str(refused.value) == hint


@pytest.mark.parametrize(
    "value",
    [
        datetime.date(2026, 3, 5),
        datetime.datetime(2026, 3, 5),
        datetime.datetime(2026, 3, 5, 23, 59, 59),
        "2026-03-05",
        "2026-3-5",
        "2026/3/5",
        "2026.03.05",
        "2026年3月5日",
        "2026年03月05号",
        "20260305",
        20260305.0,
        " 2026-03-05 ",
        "２０２６-０３-０５",
        "2026-03-05 00:00:00",
        "2026-03-05 14:30",
        "2026/3/5 8:05",
        "2026-03-05（周四）",
        "2026 年 3 月 5 日",
        "05MAR26",
        "5mar2026",
        "05-Mar-26",
        "5 Mar 2026",
        "5 March, 2026",
        "March 5, 2026",
        "Mar. 5 2026",
        "０５ＭＡＲ２６",
        "2026-03-05T00:00",
        "2026-03-05 00:00:00.000",
        "2026-03-05T00:00:00Z",
        "2026-03-05T00:00:00.000Z",
    ],
)
def test_a_day_is_read_where_it_can_only_mean_one(value: Any) -> None:
    day = cells.day(value)
    assert day == datetime.date(2026, 3, 5)
    assert type(day) is datetime.date


@pytest.mark.parametrize(
    "value",
    [
        "03/04/2026",
        "3-4-2026",
        "05.03.2026",
        "04/03/2026",
        "26-03-05",
        "05/03/26",
        "05 MAR",
        "31FEB26",
        "32JAN26",
        "13/13/2026",
        "2026-03-05 25:00",
        "2026-03-05T14:30Z",
        "2026-03-04T16:00:00.000Z",
        "2026-03-05T00:00:00+08:00",
        "2026-03-05 14:30+08:00",
        "2026-03",
        "2026-02-30",
        "2026-13-01",
        "2026-00-10",
        "2026/03-05",
        "20260230",
        "0026-03-05",
        "1949-12-31",
        "2201-01-01",
        46082.0,
        "46082",
        46082.5,
        datetime.time(0),
        datetime.timedelta(days=3),
        "TRUE",
        "today",
    ],
)
def test_a_day_that_would_be_a_guess_is_refused(value: Any) -> None:
    with pytest.raises(cells.Unreadable):
        cells.day(value)


def test_a_date_cell_s_day_is_bounded_like_a_text_s() -> None:
    with pytest.raises(cells.Unreadable):
        cells.day(datetime.datetime(1900, 1, 1))


@pytest.mark.parametrize(
    "column", [column for column in COLUMNS if column.choices], ids=lambda column: column.name
)
def test_every_word_of_a_choice_means_it_in_any_case_and_width(column: Any) -> None:
    for choice in column.choices:
        for word in (*in_every_language(choice.name, "choice"), *choice.variants):
            wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in word)
            for typed in (word, word.upper(), f" {word} ", word.replace("_", " "), wide):
                assert cells.choice(column.name, typed) == choice.name


def test_no_word_means_two_values_of_one_column() -> None:
    for column in COLUMNS:
        words = [
            normal(word)
            for choice in column.choices
            for word in {normal(w) for w in (*in_every_language(choice.name, "choice"), *choice.variants)}
        ]
        assert len(words) == len(set(words)), column.name
        assert len(words) == len(CHOICE_WORDS.get(column.name, {}))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("charge", "flight"),
        ("market", "x"),
        ("voucher", 1.0),
        ("ticket_status", "unusedd"),
        ("header_type", "TRUE"),
        ("market", "?"),
    ],
)
def test_a_word_of_another_column_or_of_none_is_refused(column: str, value: Any) -> None:
    with pytest.raises(cells.Unreadable):
        cells.choice(column, value)


@pytest.mark.parametrize("value", ["refunded (no)", "已退票（未审核）", "used (void)"])
def test_a_value_s_remark_in_brackets_is_not_passed_over(value: str) -> None:
    with pytest.raises(cells.Unreadable):
        cells.choice("ticket_status", value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0123", "0123"),
        ("NA", "NA"),
        ("None", "None"),
        ("  ZHANG/WEI  MR ", "ZHANG/WEI  MR"),
        ("\u3000张伟\u00a0", "张伟"),
        (123.0, "123"),
        (13800138000.0, "13800138000"),
        (12.5, "12.5"),
        (0.1 + 0.2, "0.3"),
        (datetime.datetime(2026, 3, 5), "2026-03-05"),
        (datetime.datetime(2026, 3, 5, 14, 30), "2026-03-05 14:30:00"),
        (datetime.date(2026, 3, 5), "2026-03-05"),
    ],
)
def test_text_is_what_the_spreadsheet_shows_without_spaces_around(value: Any, text: str) -> None:
    assert cells.text(value) == text


def test_a_number_beyond_15_digits_is_not_shown_as_if_it_were_exact() -> None:
    assert cells.shown(911100006000373410.0) == "9.11100006000373e+17"


@pytest.mark.parametrize(
    ("value", "slip"),
    [
        ("03/04/2026", "two_days"),
        ("3-4-2026", "two_days"),
        ("12.11.2026", "two_days"),
        ("26-03-05", "short_year"),
        ("05/03/26", "short_year"),
        (46082.0, "serial_day"),
        ("46082", "serial_day"),
        ("2026-02-30", "no_such_day"),
        ("31APR26", "no_such_day"),
        ("13/13/2026", "no_such_day"),
        ("today", ""),
        ("2026-03", ""),
    ],
)
def test_a_refused_day_names_its_likely_slip(value: Any, slip: str) -> None:
    with pytest.raises(cells.Unreadable) as refused:
        cells.day(value)
    assert str(refused.value) == slip


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("25/04/2026", datetime.date(2026, 4, 25)),
        ("04/25/2026", datetime.date(2026, 4, 25)),
        ("13.1.2026", datetime.date(2026, 1, 13)),
        ("3/3/2026", datetime.date(2026, 3, 3)),
        ("01JAN00", datetime.date(2000, 1, 1)),
        ("31DEC99", datetime.date(2099, 12, 31)),
        ("29FEB24", datetime.date(2024, 2, 29)),
    ],
)
def test_a_day_with_the_year_last_is_read_where_only_one_day_is_possible(
    value: str, day: datetime.date
) -> None:
    assert cells.day(value) == day


@pytest.mark.parametrize(
    ("cell", "slip"),
    [
        (b"#N/A", "error_cell"),
        (b"#REF!", "error_cell"),
        (b"=", "no_result"),
        ("=", "no_result"),  # as a sheet of ours shows it
        ("#DIV/0!", "error_cell"),
        (" #value! ", "error_cell"),
        ("Err:502", "error_cell"),
    ],
)
def test_an_error_or_a_formula_without_its_result_is_no_value(cell: Any, slip: str) -> None:
    with pytest.raises(cells.Unreadable) as refused:
        cells.value(cell)
    assert str(refused.value) == slip


@pytest.mark.parametrize("cell", ["", "#1", "#N/A B", "Error", "=A1", 1.0, datetime.date(2026, 3, 5)])
def test_any_other_cell_holds_what_it_holds(cell: Any) -> None:
    assert cells.value(cell) is cell


def test_every_hint_and_slip_that_a_cell_can_raise_has_its_words() -> None:
    sources = [
        Path(module.__file__ or "").read_text(encoding="utf-8")
        for module in (cells, amount_cells, date_cells, ticket_number, buyer_formats)
    ]
    raised = set(re.findall(r'(?:Unreadable\(|return )"([a-z_]+)"', "".join(sources)))
    assert raised
    assert raised <= {"", *HINTS}


@pytest.mark.parametrize(
    ("read", "cell"),
    [
        (amount_cells.money, "1070²"), (amount_cells.money, "1070.5①"), (amount_cells.money, "1,070⑴"), (amount_cells.money, "⒈50"), (amount_cells.money, "½"), (amount_cells.money, "1070㎡"),
        (ticket_number.ticket_no, "999123456789①"), (cells.day, "2026-10-0⁵"), (cells.day, "2026年㋉5日"),
    ],
)  # fmt: skip
def test_the_number_of_a_footnote_is_no_digit_of_what_it_stands_beside(read: Any, cell: str) -> None:
    with pytest.raises(cells.Unreadable):
        read(cell)
