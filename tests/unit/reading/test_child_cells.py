"""What the child hands over: cells that hold no value, in every format, and no more than one of hidden sheets."""

import datetime
import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from pipeline.model.errors import InputProblem
from pipeline.reading.formats import xlsx_prescan
from pipeline.reading.input_files import read_sheets
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import read_table
from tests.crash.hostile_bases import xlsb, xlsb_text

pytestmark = pytest.mark.usefixtures("read_here")

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def workbook_of(tmp_path: Path, sheet_xml: str) -> Path:
    """An .xlsx whose only sheet is this XML, and whose formulas are calculated."""
    made, path = io.BytesIO(), tmp_path / "t.xlsx"
    openpyxl.Workbook().save(made)
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name).replace(b' fullCalcOnLoad="1"', b"")
            new.writestr(name, sheet_xml if name.endswith("sheet1.xml") else part)
    return path


def only_sheet(path: Path) -> Sheet:
    (sheet,) = read_sheets(path)
    return sheet


def with_errors(path: Path) -> Path:
    """Errors typed in and calculated, an empty text that a formula gave, and formulas that nobody calculated."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append(["ticket_no", "amount", "fare", "remarks"])
    sheet.append(["9991234567890", "=1/0", "=0.1+0.2", "=NA()"])
    sheet.append(["9991234567891", 5, '=""', "x"])
    sheet["B5"] = "#REF!"
    book.save(path)
    return path


def test_formulas_that_were_never_calculated_are_told_where_they_stand(tmp_path: Path) -> None:
    sheet = only_sheet(with_errors(tmp_path / "t.xlsx"))
    assert list(sheet.rows) == [
        ["ticket_no", "amount", "fare", "remarks"],
        ["9991234567890", b"=", b"=", b"="],
        ["9991234567891", 5.0, b"=", "x"],
        ["", "", "", ""],
        ["", b"#REF!", "", ""],
    ]


@pytest.mark.parametrize("suffix", ["xlsx", "xls", "ods"])
def test_errors_that_a_spreadsheet_program_calculated_are_told_where_they_stand(
    tmp_path: Path, converted: Any, suffix: str
) -> None:
    sheet = only_sheet(converted(with_errors(tmp_path / f"errors-{suffix}.xlsx"), suffix))
    assert sheet.rows[1][1] == b"#DIV/0!"
    assert sheet.rows[1][2] == pytest.approx(0.3)
    assert sheet.rows[1][3] == b"#N/A"
    assert sheet.rows[2] == ["9991234567891", 5.0, "", "x"]
    assert sheet.rows[4] == ["", b"#REF!", "", ""]


def test_results_that_are_stored_are_no_errors(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        sheet.write_formula(0, 0, "=A2&B2", None, "e")
        sheet.write_formula(0, 2, "=1+1", None, 2)
        sheet.write_formula(0, 3, "=1/0", None, "#DIV/0!")
        sheet.write_string(0, 4, "#N/A is what it said")
    assert list(only_sheet(path).rows) == [["e", "", 2.0, b"#DIV/0!", "#N/A is what it said"]]


@pytest.mark.parametrize("place", [' r="B1"', ""], ids=["quick", "exact"])
def test_an_empty_text_is_a_result_where_the_cell_holds_text(tmp_path: Path, place: str) -> None:
    cells = f'<c r="A1"><v>1</v></c><c{place} t="str"><f>""</f><v></v></c><c r="C1"><f>""</f><v></v></c>'
    text = f'<worksheet xmlns="{MAIN}"><sheetData><row r="1">{cells}</row></sheetData></worksheet>'
    assert list(only_sheet(workbook_of(tmp_path, text)).rows) == [[1.0, "", b"="]]


def test_an_error_beyond_all_values_widens_the_sheet(tmp_path: Path) -> None:
    rows = '<row r="2"><c r="B2"><f>1+1</f></c></row><row r="4"><c r="D4"><v>7</v></c></row><row r="6"><c r="F6" t="e"><v>#N/A</v></c></row>'
    sheet = only_sheet(
        workbook_of(tmp_path, f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>')
    )
    assert (sheet.first_row, sheet.first_column) == (1, 1)
    assert list(sheet.rows) == [
        [b"=", "", "", "", ""],
        ["", "", "", "", ""],
        ["", "", 7.0, "", ""],
        ["", "", "", "", ""],
        ["", "", "", "", b"#N/A"],
    ]


@pytest.mark.parametrize(
    "cells",
    [
        '<row><c><v>1</v></c><c/><c t="e"><v>#N/A</v></c></row>',
        '<row r="1"><c r="A1"><v>1</v></c><c t="e"  r="C1"><v>#N/A</v></c></row>',
        "<row r='1'><c r='A1'><v>1</v></c><c r='C1' t='e'><v>#N/A</v></c></row>",
        '<row r="1"><c r="A1"><v>1</v></c><c\tr="C1"\nt="e"><v>#N/A</v></c></row>',
        '<row r="1">\n  <c r="A1">\n    <v>1</v>\n  </c>\n  <c r="C1" t="e">\n    <v>#N/A</v>\n  </c>\n</row>',
    ],
    ids=["no places", "another order", "other quotes", "other spaces", "laid out"],
)
def test_an_error_is_found_however_the_xml_is_written(tmp_path: Path, cells: str) -> None:
    path = workbook_of(tmp_path, f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>')
    assert list(only_sheet(path).rows) == [[1.0, "", b"#N/A"]]


def test_an_error_is_found_where_tags_have_a_prefix(tmp_path: Path) -> None:
    cells = '<x:row r="1"><x:c r="A1"><x:v>1</x:v></x:c><x:c r="B1" t="e"><x:v>#N/A</x:v></x:c><x:c r="C1"><x:f>1</x:f></x:c></x:row>'
    path = workbook_of(
        tmp_path, f'<x:worksheet xmlns:x="{MAIN}"><x:sheetData>{cells}</x:sheetData></x:worksheet>'
    )
    assert list(only_sheet(path).rows) == [[1.0, b"#N/A", b"="]]


CELLS = [
    "",
    '<c r="{}"/>',
    '<c r="{}" s="1"><v>5</v></c>',
    '<c r="{}" s="1" t="n"><v>5</v></c>',
    '<c r="{}" s="1" t="s"><v>0</v></c>',
    '<c s="1" r="{}"><v>5</v></c>',
    '<c r="{}" cm="1" s="2"><v>5</v></c>',
    '<c r="{}" t="e"><v>#N/A</v></c>',
    '<c r="{}" s="2" t="e"><f>1/0</f><v>#DIV/0!</v></c>',
    '<c r="{}"><f>A1</f></c>',
    '<c r="{}"><f>A1</f><v></v></c>',
    '<c r="{}"><f>A1</f><v> </v></c>',
    '<c r="{}"><f>A1</f><v/></c>',
    '<c r="{}"><f t="shared" si="0"/></c>',
    '<c r="{}"><f t="shared" si="0"/><v>2</v></c>',
    '<c r="{}" t="str"><f>A1</f><v></v></c>',
    '<c r="{}" t="str"><f>A1&amp;"e"</f><v>e</v></c>',
    '<c r="{}" t="inlineStr"><is><t>"e"</t></is></c>',
    '<c r="{}" t="b"><v>1</v></c>',
]
ROWS = [' r="{}"', ' r="{}" hidden="1"', ' r="{}" s="1" customFormat="1"', "", ' hidden="1"']


@given(
    st.lists(st.tuples(st.sampled_from(ROWS), st.lists(st.sampled_from(CELLS), max_size=9)), max_size=8),
    st.sampled_from(["", "x:"]),
    st.sampled_from([7, 200, 4096]),
)
def test_the_quick_look_and_the_exact_one_find_the_same(
    rows: list[tuple[str, list[str]]], prefix: str, piece: int
) -> None:
    find_the_same(rows, prefix, piece)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("row", ROWS)
def test_they_find_the_same_in_every_kind_of_cell_and_row(row: str, cell: str) -> None:
    find_the_same([(ROWS[0], CELLS[2:3]), (row, [cell])])


def find_the_same(rows: list[tuple[str, list[str]]], prefix: str = "", piece: int = 4096) -> None:
    text = "".join(
        f"<row{attributes.format(at)}>"
        + "".join(cell.format(f"{'ABCDEFGHI'[column]}{at}") for column, cell in enumerate(row))
        + "</row>"
        for at, (attributes, row) in enumerate(rows, start=1)
    )
    text = f"<worksheet><sheetData>{text}</sheetData></worksheet>"
    content = (
        text.replace("</", f"</{prefix}").replace("<", f"<{prefix}").replace(f"<{prefix}/", "</").encode()
    )
    pieces = lambda: iter([content[at : at + piece] for at in range(0, len(content), piece)])  # noqa: E731
    formats = {b"1": "$", b"2": "€"}
    quick, exact = xlsx_prescan.look(pieces, False, formats), xlsx_prescan.look(pieces, True, formats)
    assert sorted(quick.marks) == sorted(exact.marks)
    assert sorted(quick.hidden) == sorted(exact.hidden)
    assert {signs: places_of(places) for signs, places in quick.currencies.items()} == {
        signs: places_of(places) for signs, places in exact.currencies.items()
    }
    assert quick.filled >= exact.filled


def places_of(numbers: list[int]) -> set[tuple[int, int]]:
    return set(zip(numbers[::2], numbers[1::2], strict=True))


def test_an_xlsb_is_read_and_its_errors_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsb"
    path.write_bytes(
        xlsb(
            (0, 0, 6, xlsb_text("票号")),
            (0, 1, 6, xlsb_text("金额")),
            (1, 0, 6, xlsb_text("9991234567890")),
            (1, 1, 2, struct.pack("<I", 7 << 2 | 2)),  # a whole number
            (2, 0, 6, xlsb_text("9991234567891")),
            (2, 1, 3, b"\x2a"),
            (3, 0, 6, xlsb_text("9991234567892")),
            (3, 1, 5, struct.pack("<d", 12.5)),
            (3, 3, 11, b"\x17" + struct.pack("<HII", 0, 0, 0)),
        )
    )
    sheet = only_sheet(path)
    assert list(sheet.rows) == [
        ["票号", "金额", "", ""],
        ["9991234567890", 7.0, "", ""],
        ["9991234567891", b"#N/A", "", ""],
        ["9991234567892", 12.5, "", b"#REF!"],
    ]
    assert type(sheet.rows[1][1]) is float


@pytest.mark.parametrize("suffix", ["xlsx", "xls", "ods"])
@pytest.mark.parametrize("date_1904", [False, True])
def test_dates_keep_their_day_in_both_calendars_and_every_format(
    tmp_path: Path, converted: Any, suffix: str, date_1904: bool
) -> None:
    path = tmp_path / f"dates-{suffix}-{date_1904}.xlsx"
    with xlsxwriter.Workbook(str(path), {"date_1904": date_1904}) as book:
        sheet = book.add_worksheet()
        for row, number_format in enumerate(["yyyy-mm-dd", 14, 31, 57, '[$-804]yyyy"年"m"月"d"日"']):
            day = book.add_format({"num_format": number_format})
            sheet.write_datetime(row, 0, datetime.datetime(2026, 3, 5), day)  # noqa: DTZ001 - a cell has no zone
    for made in (path, converted(path, suffix)):
        days = [row[0] for row in only_sheet(made).rows]
        assert [str(day)[:10] for day in days] == ["2026-03-05"] * 5


def test_a_number_shown_as_a_time_of_millions_of_years_is_no_crash(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(str(tmp_path / "t.xlsx")) as book:
        book.add_worksheet().write_number(0, 0, 1e15, book.add_format({"num_format": "[h]:mm"}))
    with pytest.raises(InputProblem, match="stumbled over it"):
        read_sheets(tmp_path / "t.xlsx")


def test_of_a_hidden_sheet_one_cell_is_handed_over_and_an_empty_one_is_not_named(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0].append(["ticket_no", "amount"])
    book.worksheets[0].append(["9991234567890", 5])
    for name in ("Old", "Empty"):
        book.create_sheet(name).sheet_state = "hidden"
    book["Old"].append(["secret"] * 50)
    book["Old"]["XFD1048576"] = "far away, and not read"
    path = tmp_path / "t.xlsx"
    book.save(path)
    assert [len(sheet.rows) for sheet in read_sheets(path)] == [2, 1, 0]
    assert tuple(map(str, read_table([path]).notes)) == ("t.xlsx: sheet Old is hidden and was not read",)


def test_what_stands_below_the_rows_does_not_keep_from_the_quick_look() -> None:
    below = '<mergeCells count="1"><mergeCell ref="A1:A2"/></mergeCells><conditionalFormatting sqref="A1"/><colBreaks/>'
    text = f'<worksheet><sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData>{below}</worksheet>'
    assert xlsx_prescan._quickly(iter([text.encode()]), {}).filled == 1


def test_a_formula_that_nobody_calculated_is_told_in_a_cell_that_does_not_say_its_place(
    tmp_path: Path,
) -> None:
    cells = '<row r="1"><c r="A1"><v>1</v></c><c><f>1+1</f></c></row>'
    path = workbook_of(tmp_path, f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>')
    assert list(only_sheet(path).rows) == [[1.0, b"="]]
