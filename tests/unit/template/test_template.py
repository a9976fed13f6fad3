"""The blank workbook says what the vocabulary says, and never takes a file's place."""

import errno
import os
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.utils import column_index_from_string, get_column_letter
from openpyxl.workbook import Workbook
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.dimensions import ColumnDimension
from openpyxl.worksheet.worksheet import Worksheet

from pipeline.messages.translate import choice_word, heading, rendered, status_word, translated
from pipeline.model.columns import (
    BUYER_COLUMNS,
    BUYERS_SHEET,
    LANGS,
    TICKET_COLUMNS,
    TICKETS_SHEET,
    Column,
    Kind,
    Lang,
)
from pipeline.model.errors import InputProblem
from pipeline.model.known_charges import KnownCharges
from pipeline.model.profile import Terms
from pipeline.model.status import STATUS
from pipeline.model.template_version import PROPERTY, VERSION
from pipeline.profile_file import load_profile
from pipeline.reading.template_stamp import version_of
from pipeline.reading.tickets import read_table
from pipeline.rules.judge import judge
from pipeline.template.example import BUYERS, EXAMPLE_DAY, TICKETS
from pipeline.template.input_sheets import ROWS
from pipeline.template.input_workbook import write_template

pytestmark = pytest.mark.usefixtures("read_here")

TEMPLATES = Path(__file__).parents[3] / "templates"
SAMPLES = TEMPLATES.parent / "sample_data"
FORMATS = {
    Kind.TEXT: "@",
    Kind.TICKET: "@",
    Kind.MONEY: "#,##0.00",
    Kind.DATE: "yyyy-mm-dd",
    Kind.CHOICE: "General",
}


@pytest.fixture(params=LANGS)
def lang(request: pytest.FixtureRequest) -> Lang:
    chosen: Lang = request.param
    return chosen


@pytest.fixture
def book(lang: Lang, tmp_path: Path) -> Workbook:
    path = tmp_path / "blank.xlsx"
    write_template(path, lang)
    return openpyxl.load_workbook(path)


def input_sheets(book: Workbook, lang: Lang) -> tuple[tuple[Worksheet, tuple[Column, ...]], ...]:
    return (book[translated(TICKETS_SHEET, lang, "sheet")], TICKET_COLUMNS), (
        book[translated(BUYERS_SHEET, lang, "sheet")],
        BUYER_COLUMNS,
    )


def every_column(book: Workbook, lang: Lang) -> list[tuple[Worksheet, str, Column]]:
    return [
        (sheet, get_column_letter(number), column)
        for sheet, columns in input_sheets(book, lang)
        for number, column in enumerate(columns, start=1)
    ]


def check_of(sheet: Worksheet, letter: str) -> DataValidation | None:
    return next((dv for dv in sheet.data_validations.dataValidation if f"{letter}2" in dv.sqref), None)


def dimension_of(sheet: Worksheet, letter: str) -> ColumnDimension:
    """A column's width and format; equal neighbours stand in the file as one range."""
    number = column_index_from_string(letter)
    return next(found for found in sheet.column_dimensions.values() if found.min <= number <= found.max)


def contents(path: Path) -> dict[str, Any]:
    """Everything of a workbook that a person could notice."""
    book = openpyxl.load_workbook(path)
    found: dict[str, Any] = {"properties": [(prop.name, prop.value) for prop in book.custom_doc_props.props]}
    for sheet in book:
        found[sheet.title] = {
            "cells": {
                cell.coordinate: (
                    cell.value,
                    cell.comment.text if cell.comment else None,
                    cell.number_format,
                    cell.font.b,
                    cell.fill.fgColor.rgb,
                )
                for row in sheet.iter_rows()
                for cell in row
            },
            "columns": {
                letter: (dimension.min, dimension.max, dimension.width, dimension.number_format)
                for letter, dimension in sheet.column_dimensions.items()
            },
            "checks": sorted(
                (
                    str(dv.sqref),
                    dv.type,
                    dv.operator,
                    dv.formula1,
                    dv.formula2,
                    dv.errorStyle,
                    dv.errorTitle,
                    dv.error,
                )
                for dv in sheet.data_validations.dataValidation
            ),
            "merged": sorted(str(area) for area in sheet.merged_cells.ranges),
            "view": (sheet.freeze_panes, sheet.auto_filter.ref, sheet.print_title_rows),
        }
    return found


def test_sheets_in_their_order(book: Workbook, lang: Lang) -> None:
    instructions = {"en": "Instructions", "zh": "填写说明"}[lang]
    assert book.sheetnames == [
        translated(TICKETS_SHEET, lang, "sheet"),
        translated(BUYERS_SHEET, lang, "sheet"),
        instructions,
    ]
    assert book.active is not None
    assert book.active.title == translated(TICKETS_SHEET, lang, "sheet")


def test_headings_are_the_vocabulary_and_nothing_stands_below(book: Workbook, lang: Lang) -> None:
    for sheet, columns in input_sheets(book, lang):
        assert list(sheet.values) == [tuple(heading(column.name, lang) for column in columns)]


def test_every_heading_is_bold_coloured_and_has_a_note(book: Workbook, lang: Lang) -> None:
    for sheet, letter, column in every_column(book, lang):
        heading = sheet[f"{letter}1"]
        assert heading.font.b
        assert heading.fill.fill_type == "solid"
        assert heading.comment is not None
        assert rendered(column.meaning, lang) in heading.comment.text
        for choice in column.choices:
            assert choice_word(choice.name, lang) in heading.comment.text


def test_every_column_has_its_format_and_room_for_its_heading(book: Workbook, lang: Lang) -> None:
    for sheet, letter, column in every_column(book, lang):
        dimension = dimension_of(sheet, letter)
        assert dimension.number_format == FORMATS[column.kind], column.name
        assert dimension.width >= max(column.width, len(heading(column.name, lang)) + 3)


def test_drop_downs_offer_the_choices(book: Workbook, lang: Lang) -> None:
    for sheet, letter, column in every_column(book, lang):
        if column.choices:
            check = check_of(sheet, letter)
            assert check is not None
            assert check.type == "list"
            assert (
                check.formula1
                == '"' + ",".join(choice_word(choice.name, lang) for choice in column.choices) + '"'
            )
            assert str(check.sqref) == f"{letter}2:{letter}{ROWS + 1}"


@pytest.mark.parametrize(
    ("kind", "check_type"), [(Kind.MONEY, "decimal"), (Kind.DATE, "date"), (Kind.TICKET, "custom")]
)
def test_cells_check_what_is_typed(book: Workbook, lang: Lang, kind: Kind, check_type: str) -> None:
    for sheet, letter, column in every_column(book, lang):
        if column.kind is kind:
            check = check_of(sheet, letter)
            assert check is not None
            assert check.type == check_type
            assert check.error
            assert str(check.sqref) == f"{letter}2:{letter}{ROWS + 1}"


def test_the_buyer_comes_from_the_buyers_sheet_and_another_name_is_only_warned_of(
    book: Workbook, lang: Lang
) -> None:
    letter = get_column_letter([column.name for column in TICKET_COLUMNS].index("buyer") + 1)
    check = check_of(book[translated(TICKETS_SHEET, lang, "sheet")], letter)
    assert check is not None
    assert check.type == "list"
    assert f"{translated(BUYERS_SHEET, lang, 'sheet')}!$A$2:$A${ROWS + 1}" in check.formula1
    assert check.errorStyle == "warning"
    assert check_of(book[translated(BUYERS_SHEET, lang, "sheet")], "A") is None


def test_the_heading_row_stays_in_view_and_on_every_printed_page(book: Workbook, lang: Lang) -> None:
    for sheet, columns in input_sheets(book, lang):
        assert sheet.freeze_panes == "B2"
        assert sheet.auto_filter.ref == f"A1:{get_column_letter(len(columns))}{ROWS + 1}"
        assert (sheet.print_title_rows, sheet.print_title_cols) == ("$1:$1", "$A:$A")
        assert sheet.page_setup.orientation == "landscape"
        assert sheet.page_setup.fitToHeight == 0
        assert sheet.sheet_properties.pageSetUpPr.fitToPage


def test_the_instructions_explain_every_column_and_status(book: Workbook, lang: Lang) -> None:
    rows = [[value for value in row if value] for row in book.worksheets[-1].values]
    for name, columns in (
        (translated(TICKETS_SHEET, lang, "sheet"), TICKET_COLUMNS),
        (translated(BUYERS_SHEET, lang, "sheet"), BUYER_COLUMNS),
    ):
        for column in columns:
            row = next(
                row
                for row in rows
                if row[:3] == [heading(column.name, lang), name, rendered(column.meaning, lang)]
            )
            assert all(choice_word(choice.name, lang) in row[3] for choice in column.choices)
    explained = [row[0] for row in rows if len(row) == 2]
    assert [word for word in explained if word in {status_word(name, lang) for name in STATUS}] == [
        status_word(name, lang) for name in STATUS
    ]


def test_no_placeholder_is_left_in_a_text(book: Workbook) -> None:
    texts = [str(value) for sheet in book for row in sheet.values for value in row if value]
    texts += [str(dv.error) for sheet in book for dv in sheet.data_validations.dataValidation]
    assert not [text for text in texts if "{" in text or "}" in text]


def test_the_version_can_be_recognised_by_programs_and_people(book: Workbook) -> None:
    assert book.custom_doc_props[PROPERTY].value == VERSION
    assert any(VERSION in str(row[0]) for row in book.worksheets[-1].iter_rows(max_row=3, values_only=True))


def test_an_existing_file_is_left_as_it_is(tmp_path: Path, lang: Lang) -> None:
    path = tmp_path / "mine.xlsx"
    path.write_bytes(b"a month of work")
    with pytest.raises(InputProblem, match=r"mine\.xlsx.*another name"):
        write_template(path, lang)
    assert path.read_bytes() == b"a month of work"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_to_nowhere_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "link.xlsx"
    path.symlink_to(tmp_path / "gone.xlsx")
    with pytest.raises(InputProblem, match=r"link\.xlsx"):
        write_template(path, "en")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["blank.xls", "blank", "blank.xlsx.bak"])
def test_only_a_workbook_name_is_taken(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputProblem, match=r"\.xlsx"):
        write_template(tmp_path / name, "en")
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match=r"nowhere.*folder"):
        write_template(tmp_path / "nowhere" / "blank.xlsx", "en")


def test_colleagues_may_read_it_and_nothing_else_is_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "blank.xlsx"
    write_template(path, "en")
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [path]


def without_hard_links(source: object, target: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted", source, None, target)


def test_a_memory_stick_without_hard_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", without_hard_links)
    path = tmp_path / "blank.xlsx"
    write_template(path, "zh")
    before = path.read_bytes()
    with pytest.raises(InputProblem, match="exists already"):
        write_template(path, "en")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, mode: int) -> None:
        raise OSError(errno.ENOSPC, f"No space left for {mode:o}", str(path))

    monkeypatch.setattr(Path, "chmod", full)
    with pytest.raises(InputProblem, match="No space left"):
        write_template(tmp_path / "blank.xlsx", "en")
    assert not list(tmp_path.iterdir())


def test_the_same_version_writes_the_same_bytes(tmp_path: Path, lang: Lang) -> None:
    first, second = tmp_path / "one.xlsx", tmp_path / "two.xlsx"
    write_template(first, lang)
    write_template(second, lang)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.slow
def test_the_templates_folder_is_up_to_date(tmp_path: Path, lang: Lang) -> None:
    fresh = tmp_path / "fresh.xlsx"
    write_template(fresh, lang)
    assert contents(TEMPLATES / f"tickets-{lang}.xlsx") == contents(fresh)


@pytest.fixture
def example(lang: Lang, tmp_path: Path) -> Path:
    path = tmp_path / "example.xlsx"
    write_template(path, lang, example=True)
    return path


def test_every_row_of_the_example_is_read_and_ready(example: Path) -> None:
    table = read_table([example])
    assert (len(table), table.notes, table.findings) == (len(TICKETS), (), ())
    profile = load_profile(SAMPLES / "sandbox.toml")
    verdicts = judge(table, KnownCharges(), Terms(EXAMPLE_DAY, profile))
    assert verdicts.status.tolist() == ["ready"] * len(TICKETS)
    assert set(verdicts.rows.charge) == {"ticket_fare", "refund", "ancillary"}
    assert set(verdicts.rows.voucher) == {"invoice", "itinerary"}


def test_the_example_is_the_template_with_its_rows_in_its_own_formats(
    example: Path, book: Workbook, lang: Lang
) -> None:
    filled = openpyxl.load_workbook(example)
    assert filled.sheetnames == book.sheetnames
    for sheet, rows in zip(filled.worksheets, (TICKETS, BUYERS), strict=False):
        assert sheet.max_row == 1 + len(rows)
        assert len(sheet.data_validations.dataValidation) == len(
            book[sheet.title].data_validations.dataValidation
        )
    sheet = filled[translated(TICKETS_SHEET, lang, "sheet")]
    names = [column.name for column in TICKET_COLUMNS]
    shown = {name: sheet.cell(2, names.index(name) + 1) for name in ("ticket_no", "fare", "flight_date")}
    assert [cell.number_format for cell in shown.values()] == ["@", "#,##0.00", "yyyy-mm-dd"]
    assert [sheet.cell(1, names.index(name) + 1).alignment.horizontal for name in ("amount", "fare")] == [
        "right"
    ] * 2
    assert sheet.cell(2, names.index("charge") + 1).value == {"en": "ticket_fare", "zh": "机票款"}[lang]


def test_the_example_speaks_one_language(example: Path, lang: Lang) -> None:
    table = read_table([example])
    names = {*table.frame["buyer"], *table.frame["remarks"], *table.buyers["header_name"]} - {""}
    assert len(names) == 4
    assert {name.isascii() for name in names} == {lang == "en"}


def test_the_examples_in_the_templates_folder_are_up_to_date(example: Path, lang: Lang) -> None:
    assert contents(TEMPLATES / f"example-{lang}.xlsx") == contents(example)


def test_the_reader_knows_a_template_and_tells_only_of_a_newer_one(example: Path, tmp_path: Path) -> None:
    assert read_table([example]).notes == ()
    filled = openpyxl.load_workbook(example)
    cell = filled.worksheets[-1]["A2"]
    assert version_of(cell.value) == VERSION == filled.custom_doc_props[PROPERTY].value
    cell.value = str(cell.value).replace(VERSION, "99")
    filled.save(tmp_path / "newer.xlsx")
    (note,) = read_table([tmp_path / "newer.xlsx"]).notes
    assert "newer.xlsx: was made from template version 99" in str(note)
    cell.value = "Template version two"
    filled.save(tmp_path / "other.xlsx")
    (note,) = read_table([tmp_path / "other.xlsx"]).notes
    assert "was not read" in str(note)
