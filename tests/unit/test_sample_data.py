"""The sample month is what its generator makes, and fails only where it says."""

import importlib.util
import sys
import tomllib
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import openpyxl
import phonenumbers
import pytest
from email_validator import validate_email
from stdnum.cn import uscc

from pipeline.messages.translate import choice_word, heading, in_every_language, translated
from pipeline.model.columns import (
    BUYER_COLUMNS,
    BUYERS_SHEET,
    COLUMN,
    COMPONENTS,
    LANGS,
    TICKET_COLUMNS,
    TICKETS_SHEET,
    Kind,
    Lang,
)
from pipeline.model.status import STATUS_OF

SAMPLES = Path(__file__).parents[2] / "sample_data"
FILES: dict[Lang, str] = {"en": "tickets-2026-10.xlsx", "zh": "tickets-2026-10-zh.xlsx"}
EXTRAS: dict[Lang, list[str]] = {"en": ["cost_centre", "booking_ref"], "zh": ["成本中心", "订单号"]}
SIZES: dict[Lang, tuple[int, int]] = {"en": (120, 4), "zh": (80, 3)}

Row = dict[str, Any]


def loaded_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sample_data_generate", SAMPLES / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up by name
    spec.loader.exec_module(module)
    return module


generate = loaded_generator()
AS_OF: date = generate.AS_OF
EXPECTED = {(failure.file, failure.row): failure for failure in generate.expected_failures()}


@pytest.fixture(params=LANGS)
def lang(request: pytest.FixtureRequest) -> Lang:
    chosen: Lang = request.param
    return chosen


def grid(path: Path, sheet: str) -> list[list[tuple[Any, str]]]:
    """Every cell's value and number format."""
    book = openpyxl.load_workbook(path)
    return [[(cell.value, cell.number_format) for cell in row] for row in book[sheet].iter_rows()]


def read(path: Path, sheet: str) -> dict[int, Row]:
    """The sheet's rows by their number, under the vocabulary's names and with the choices' names."""
    names = {
        heading: column.name
        for column in COLUMN.values()
        for heading in in_every_language(column.name, "column")
    }
    headings, *rows = openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True)
    found = {}
    for number, values in enumerate(rows, start=2):
        row = {names.get(str(head), str(head)): value for head, value in zip(headings, values, strict=True)}
        for name, column in COLUMN.items():
            for choice in column.choices:
                if row.get(name) == choice_word(choice.name, "zh"):
                    row[name] = choice.name
        found[number] = row
    return found


def tickets(lang: Lang) -> dict[int, Row]:
    return read(SAMPLES / FILES[lang], translated(TICKETS_SHEET, lang, "sheet"))


def ready(lang: Lang) -> list[Row]:
    return [row for number, row in tickets(lang).items() if (FILES[lang], number) not in EXPECTED]


def buyers(lang: Lang) -> list[Row]:
    return list(read(SAMPLES / FILES[lang], translated(BUYERS_SHEET, lang, "sheet")).values())


def money(row: Row, name: str) -> Decimal:
    return Decimal(str(row[name] or 0))


def total(row: Row) -> Decimal:
    return money(row, "amount") or sum((money(row, name) for name in COMPONENTS[row["charge"]]), Decimal(0))


def day(row: Row, name: str) -> date:
    assert isinstance(row[name], datetime), name
    return row[name].date()


@pytest.fixture(scope="module")
def regenerated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    generate.main(folder)
    return folder


def test_what_is_checked_in_is_what_the_generator_makes(regenerated: Path, lang: Lang) -> None:
    for sheet in (translated(TICKETS_SHEET, lang, "sheet"), translated(BUYERS_SHEET, lang, "sheet")):
        assert grid(SAMPLES / FILES[lang], sheet) == grid(regenerated / FILES[lang], sheet)


@pytest.mark.parametrize("name", ["README.md", "sandbox.toml"])
def test_the_texts_are_what_the_generator_makes(regenerated: Path, name: str) -> None:
    assert (SAMPLES / name).read_text(encoding="utf-8") == (regenerated / name).read_text(encoding="utf-8")


def test_the_same_seed_makes_the_same_bytes(regenerated: Path, tmp_path: Path, lang: Lang) -> None:
    generate.main(tmp_path)
    assert (tmp_path / FILES[lang]).read_bytes() == (regenerated / FILES[lang]).read_bytes()


def test_headings_and_numbers_of_rows(lang: Lang) -> None:
    book = openpyxl.load_workbook(SAMPLES / FILES[lang])
    assert book.sheetnames == [
        translated(TICKETS_SHEET, lang, "sheet"),
        translated(BUYERS_SHEET, lang, "sheet"),
    ]
    headings = [cell.value for cell in book[translated(TICKETS_SHEET, lang, "sheet")][1]]
    assert headings == [heading(column.name, lang) for column in TICKET_COLUMNS] + EXTRAS[lang]
    assert [cell.value for cell in book[translated(BUYERS_SHEET, lang, "sheet")][1]] == [
        heading(column.name, lang) for column in BUYER_COLUMNS
    ]
    assert (len(tickets(lang)), len(buyers(lang))) == SIZES[lang]


@pytest.mark.slow
def test_every_listed_failure_is_a_row_with_a_known_reason() -> None:
    assert len(EXPECTED) == 18
    for (file, number), failure in EXPECTED.items():
        lang = next(lang for lang in LANGS if FILES[lang] == file)
        assert str(tickets(lang)[number]["ticket_no"]) == failure.ticket_no
        assert STATUS_OF[failure.code] == failure.status
        assert f"| {file} | {number} | {failure.ticket_no} |" in generate.readme()


def test_values_have_their_kinds(lang: Lang) -> None:
    kinds = {Kind.TEXT: str, Kind.TICKET: str, Kind.CHOICE: str, Kind.MONEY: int | float, Kind.DATE: datetime}
    for row in ready(lang):
        for column in TICKET_COLUMNS:
            if row[column.name] is not None:
                assert isinstance(row[column.name], kinds[column.kind]), (column.name, row)
            if column.choices and row[column.name]:
                assert row[column.name] in {choice.name for choice in column.choices}


def test_buyers_are_complete_and_well_formed(lang: Lang) -> None:
    for buyer in buyers(lang):
        assert buyer["header_name"]
        assert bool(buyer["tax_no"]) == (buyer["header_type"] == "business")
        assert not buyer["tax_no"] or uscc.is_valid(buyer["tax_no"])
        assert phonenumbers.is_valid_number(phonenumbers.parse(buyer["phone"], "CN"))
        domain = validate_email(buyer["email"], check_deliverability=False).domain
        assert domain == "example.com" or domain.endswith(".example.com")


def test_every_amount_adds_up_where_both_are_given(lang: Lang) -> None:
    seen: Counter[str] = Counter()
    for row in ready(lang):
        parts = sum((money(row, name) for name in COMPONENTS.get(row["charge"], ())), Decimal(0))
        seen["both" if parts and row["amount"] else "parts" if parts else "amount"] += 1
        assert not (parts and row["amount"]) or parts == money(row, "amount"), row
    assert min(seen["both"], seen["parts"], seen["amount"]) >= 5


def test_ready_rows_are_complete(lang: Lang) -> None:
    names = {buyer["buyer"] for buyer in buyers(lang)}
    for row in ready(lang):
        digits = row["ticket_no"].replace("-", "")
        assert digits.isdecimal()
        assert len(digits) == 13
        assert digits.startswith("999")
        assert row["passenger_name"]
        assert row["buyer"] in names
        assert row["product"] in (
            {"flight", None} if row["charge"] != "ancillary" else set(generate._PRODUCTS)
        )
        assert 0 < total(row) <= (10_000 if row["market"] == "domestic" else 100_000)
        assert day(row, "flight_date") <= AS_OF


def test_ready_rows_keep_their_charges_rules(lang: Lang) -> None:
    year_ago = AS_OF.replace(year=AS_OF.year - 1)
    for row in ready(lang):
        if row["charge"] == "ticket_fare":
            assert row["ticket_status"] == "used"
            used = day(row, "used_on" if row["used_on"] else "flight_date")
            assert year_ago <= used <= AS_OF
            assert row["voucher"] != "itinerary" or (AS_OF - day(row, "flight_date")).days <= 180
        elif row["charge"] == "refund":
            assert row["ticket_status"] == "refunded"
            assert row["voucher"] != "itinerary"
            assert day(row, "refund_approved_on") <= AS_OF
        else:
            assert row["ticket_status"] in {"used", "refunded"}
            assert row["voucher"] != "itinerary"
            assert year_ago <= day(row, "purchased_on") <= AS_OF


def test_a_charge_stands_once_and_a_ticket_in_one_file_only() -> None:
    numbers = {
        lang: {str(row["ticket_no"]).replace("-", "") for row in tickets(lang).values()} for lang in LANGS
    }
    assert not numbers["en"] & numbers["zh"]
    for lang in LANGS:
        charges = Counter(
            (row["ticket_no"], row["charge"], row["product"] or "flight") for row in ready(lang)
        )
        assert max(charges.values()) == 1
        market_and_status = {(row["ticket_no"], row["market"], row["ticket_status"]) for row in ready(lang)}
        assert len(market_and_status) == len({row["ticket_no"] for row in ready(lang)})


def test_the_month_has_some_of_everything(lang: Lang) -> None:
    rows = ready(lang)
    assert {row["product"] for row in rows if row["charge"] == "ancillary"} == set(generate._PRODUCTS)
    fares = [row for row in rows if row["charge"] == "ticket_fare"]
    assert {row["voucher"] for row in fares} == {"invoice", "itinerary", "auto", None}
    assert {row["market"] for row in fares} == {"domestic", "international"}
    assert sum(row["charge"] == "refund" for row in rows) >= 5


def test_the_profile_has_every_code_filled_and_no_two_alike() -> None:
    profile = tomllib.loads((SAMPLES / "sandbox.toml").read_text(encoding="utf-8"))
    codes = profile["codes"]
    for section, column in (
        ("fee_type", "charge"),
        ("product_type", "product"),
        ("header_type", "header_type"),
    ):
        assert list(codes[section]) == [choice.name for choice in COLUMN[column].choices]
        assert len({code for code in codes[section].values() if code}) == len(codes[section])
    assert profile["carrier"]["ticket_prefixes"] == ["999"]
    assert profile["reconcile"] == {"settle_after_hours": 24}


def test_nothing_else_stands_in_the_folder() -> None:
    results = {
        "__pycache__",
        *(path.name for path in SAMPLES.glob("*.result.xlsx")),
    }  # the README's first command leaves one
    found = {path.name for path in SAMPLES.iterdir()} - results
    assert found == {*FILES.values(), "README.md", "generate.py", "sandbox.toml", generate.STATEMENT}


@pytest.mark.slow
def test_the_statement_is_what_the_generator_makes(tmp_path: Path) -> None:
    generate.write_statement(tmp_path)
    assert (SAMPLES / generate.STATEMENT).read_bytes() == (tmp_path / generate.STATEMENT).read_bytes()
