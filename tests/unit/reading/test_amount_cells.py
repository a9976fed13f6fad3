"""Amounts as people type them."""

import datetime
from typing import Any

import pytest

from pipeline.reading import amount_cells
from pipeline.reading.unreadable import Unreadable


@pytest.mark.parametrize(
    ("value", "minor"),
    [
        ("1234.5", 123_450),
        ("1,234.50", 123_450),
        ("1,234,567", 123_456_700),
        ("¥1,234.50", 123_450),
        ("￥1,234.50", 123_450),
        ("CNY 1234.50", 123_450),
        ("1234.50元", 123_450),
        ("1234.5元", 123_450),
        ("1,234.50 元整", 123_450),
        ("人民币1234.50元", 123_450),
        ("RMB 1,234.50", 123_450),
        ("1234.50 CNY", 123_450),
        ("¥\u00a01，234.50", 123_450),
        ("１２３４．５０", 123_450),
        (" 12 ", 1200),
        (".5", 50),
        (12.0, 1200),
        (0.1 + 0.2, 30),
        (1234.5, 123_450),
        (19.99, 1999),
        (1.15, 115),
        (0.29, 29),
        (4.35, 435),
        (100000.01, 10_000_001),
        (999999999.99, 99_999_999_999),
    ],
)
def test_money_is_exact_minor_units(value: Any, minor: int) -> None:
    assert amount_cells.money(value) == minor
    assert amount_cells.amount(value) == minor


@pytest.mark.parametrize(
    "value",
    [
        "50 20",
        "1000\n50",
        "50\r\n20",
        "1 000\n50",
        "1000 50",
        "12 345 67",
        "1 070 .50",
        "10 .5",
        "1,070.00 50",
        "50\t200",
        "1\n000",
    ],
)
def test_two_numbers_in_one_cell_are_no_amount(value: str) -> None:
    with pytest.raises(Unreadable, match="several_amounts"):
        amount_cells.money(value)


@pytest.mark.parametrize(
    ("value", "minor"),
    [
        ("1 234 567.50", 123_456_750),
        ("1\u00a0234", 123_400),
        ("1\u202f234.5", 123_450),
        ("¥ 1 234", 123_400),
        ("12 345 元", 1_234_500),
        ("\n1234\n", 123_400),
        ("1234\n元", 123_400),
        ("- 0", 0),
    ],
)
def test_spaces_that_group_thousands_or_stand_beside_an_amount_do_no_harm(value: str, minor: int) -> None:
    assert amount_cells.money(value) == minor


@pytest.mark.parametrize(
    "value",
    [
        "12.345",
        12.345,
        0.001,
        "-5",
        -5.0,
        "(5)",
        "(¥12.00)",
        "-¥5",
        "1,23",
        "12,34.5",
        "元5元6",
        "()",
        "5--",
        b"#N/A",
        "1.234,50",
        "1e3",
        "$5",
        "5 USD",
        "0x10",
        "1_000",
        "元",
        ".",
        "-",
        "½",
        "TRUE",
        "ten",
        "5%",
        1e15,
        "9" * 30,
        float("inf"),
        float("nan"),
        datetime.date(2026, 3, 5),
        datetime.time(12),
    ],
)
def test_what_is_no_amount_of_two_decimals_is_refused(value: Any) -> None:
    with pytest.raises(Unreadable):
        amount_cells.money(value)


@pytest.mark.parametrize("value", ["1.500", "1.000", "1.00000000000000000000000000001"])
def test_a_text_of_three_decimals_is_refused_though_they_are_zeros(value: str) -> None:
    with pytest.raises(Unreadable):
        amount_cells.money(value)


@pytest.mark.parametrize("value", [0.0, "0", "0.00", "¥0", -0.0])
def test_nothing_is_a_component_but_no_amount(value: Any) -> None:
    assert amount_cells.money(value) == 0
    with pytest.raises(Unreadable):
        amount_cells.amount(value)


@pytest.mark.parametrize(
    ("value", "slip"),
    [
        ("(12.00)", "negative"),
        ("（12.00）", "negative"),
        ("-5", "negative"),
        ("¥-5", "negative"),
        (-5.0, "negative"),
        ("1.500", "decimals"),
        (12.345, "decimals"),
        ("1.234,50", "comma"),
        ("12,5", "comma"),
        ("USD 5", "currency"),
        ("5 USD", "currency"),
        ("€5", "currency"),
        ("5港币", "currency"),
        ("100美元", "currency"),
        ("100.50港元", "currency"),
        ("欧元100", "currency"),
        ("１００日元", "currency"),
        ("five", ""),
        ("", ""),
        ("-", ""),
    ],
)
def test_a_refused_amount_names_its_likely_slip(value: Any, slip: str) -> None:
    with pytest.raises(Unreadable) as refused:
        amount_cells.money(value)
    assert str(refused.value) == slip
