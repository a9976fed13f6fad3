"""Formulas that nobody has calculated: the stand-in for their result is no amount, and a calculated 0 is one."""

import io
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
import xlwt

from pipeline.reading.formats import xls_prescan, xlsx_prescan
from pipeline.reading.input_files import read_sheets
from pipeline.reading.tickets import read_table
from tests.crash.hostile_bases import xlsb, xlsb_text

pytestmark = pytest.mark.usefixtures("read_here")

HEADINGS = ["ticket_no", "fare", "airport_fee"]
SHEET = "xl/worksheets/sheet1.xml"


def rows_of(path: Path) -> list[list[Any]]:
    (sheet,) = read_sheets(path)
    return list(sheet.rows)


def by_xlsxwriter(path: Path, **more: Any) -> Path:
    """A fare of 1,000 and airport fees by formula, as a script makes them."""
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        for column, heading in enumerate(HEADINGS):
            sheet.write_string(0, column, heading)
        sheet.write_string(1, 0, "9991234567890")
        sheet.write_number(1, 1, 1000)
        sheet.write_formula(1, 2, "=ROUND(50,2)", **more)
    return path


def changed(path: Path, part: str, old: bytes, new: bytes) -> Path:
    """The workbook with something else in one of its parts."""
    made = io.BytesIO()
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as after:
        assert old in before.read(part)
        for name in before.namelist():
            after.writestr(name, before.read(name).replace(old, new) if name == part else before.read(name))
    path.write_bytes(made.getvalue())
    return path


def test_a_component_that_nobody_calculated_is_told_and_does_not_count_as_0(tmp_path: Path) -> None:
    table = read_table([by_xlsxwriter(tmp_path / "t.xlsx")])
    (finding,) = table.findings
    assert (finding.column, finding.facts["hint"]) == ("airport_fee", ["no_result"])


@pytest.mark.parametrize(("value", "read"), [(0, b"="), ("", b"="), (50, 50.0), ("x", "x"), (False, "FALSE")])
def test_a_result_that_the_maker_gave_is_taken_and_one_that_may_be_a_stand_in_is_not(
    tmp_path: Path, value: Any, read: Any
) -> None:
    assert rows_of(by_xlsxwriter(tmp_path / "t.xlsx", value=value))[1][2] == read


CALCULATION = b'<calcPr calcId="124519" fullCalcOnLoad="1"/>'


@pytest.mark.parametrize(
    "says",
    [b'<calcPr calcId="191029"/>', b'<calcPr calcId="191029" fullCalcOnLoad="0" calcCompleted="1"/>', b""],
)
def test_a_0_of_a_workbook_that_was_calculated_is_0(tmp_path: Path, says: bytes) -> None:
    path = changed(by_xlsxwriter(tmp_path / "t.xlsx"), "xl/workbook.xml", CALCULATION, says)
    assert rows_of(path)[1] == ["9991234567890", 1000.0, 0.0]


@pytest.mark.parametrize(
    "says", [b'<calcPr fullCalcOnLoad="true"/>', b'<calcPr calcId="191029" calcCompleted="0"/>']
)
def test_a_workbook_says_in_several_ways_that_it_is_still_to_be_calculated(
    tmp_path: Path, says: bytes
) -> None:
    path = changed(by_xlsxwriter(tmp_path / "t.xlsx"), "xl/workbook.xml", CALCULATION, says)
    assert rows_of(path)[1][2] == b"="


def test_a_program_that_never_calculates_need_not_say_so(tmp_path: Path) -> None:
    """Apache POI stores 0.0, and no wish to have it calculated."""
    path = changed(by_xlsxwriter(tmp_path / "t.xlsx"), "xl/workbook.xml", CALCULATION, b"")
    path = changed(path, SHEET, b"<v>0</v>", b"<v>0.0</v>")
    path = changed(path, "docProps/app.xml", b"Microsoft Excel", b"Apache POI")
    assert rows_of(path)[1][2] == b"="


#: A cell, and whether its result may be a stand-in.
FORMULAS = [
    ('<c r="A1"><f>A1</f><v>0</v></c>', True),
    ('<c r="A1"><f>A1</f><v>0.00</v></c>', True),
    ('<c r="A1" s="3" cm="1"><f ca="1">A1</f><v>0</v></c>', True),
    ('<c r="A1"><f t="shared" si="0"/><v>0</v></c>', True),
    ('<c r="A1" t="str"><f>A1</f><v></v></c>', True),
    ('<c r="A1" t="str"><f>A1</f><v xml:space="preserve"> </v></c>', True),
    ('<c r="A1"><f>A1</f><v>1</v></c>', False),
    ('<c r="A1" t="n"><f>A1</f><v>10.50</v></c>', False),
    ('<c r="A1" t="b"><f>A1</f><v>0</v></c>', False),
    ('<c r="A1" t="str"><f>A1</f><v>0</v></c>', False),
    ('<c r="A1"><v>0</v></c>', False),
]


@pytest.mark.parametrize("uncalculated", [True, False])
@pytest.mark.parametrize(("cell", "stand_in"), FORMULAS)
def test_the_quick_look_and_the_exact_one_agree(cell: str, *, stand_in: bool, uncalculated: bool) -> None:
    text = f'<worksheet><sheetData><row r="1">{cell}</row></sheetData></worksheet>'
    pieces: Callable[[], Iterator[bytes]] = lambda: iter([text.encode()])  # noqa: E731
    marks = [(0, 0, b"=")] if stand_in and uncalculated else []
    assert xlsx_prescan.look(pieces, uncalculated=uncalculated).marks == marks
    assert xlsx_prescan.look(pieces, exactly=True, uncalculated=uncalculated).marks == marks


# --- the other formats ---------------------------------------------------------------------------


def formula(number: float) -> bytes:
    """The content of a formula's record in an .xlsb: its number, and no tokens."""
    return struct.pack("<dHII", number, 0, 0, 0)


def an_xlsb(path: Path, calculation: bytes) -> Path:
    cells = [(0, at, 6, xlsb_text(heading)) for at, heading in enumerate(HEADINGS)]
    empty = struct.pack("<I", 0) + struct.pack("<HII", 0, 0, 0)
    row = [(1, 0, 9, formula(0)), (1, 1, 9, formula(5)), (1, 2, 8, empty), (1, 3, 5, struct.pack("<d", 0))]
    path.write_bytes(xlsb(*cells, *row, calculation=calculation))
    return path


def calculation(flags: int) -> bytes:
    return struct.pack("<IIIdIH", 191029, 1, 100, 0.001, 1, flags)


@pytest.mark.parametrize(
    ("record", "read"),
    [
        (calculation(0b0000_0001), [b"=", 5.0, b"=", 0.0]),  # in full on load
        (calculation(0b0001_0000), [b"=", 5.0, b"=", 0.0]),  # some were left
        (calculation(0b1110_1110), [0.0, 5.0, "", 0.0]),
        (b"", [0.0, 5.0, "", 0.0]),
    ],
)
def test_an_xlsb_that_is_still_to_be_calculated(tmp_path: Path, record: bytes, read: list[Any]) -> None:
    assert rows_of(an_xlsb(tmp_path / "t.xlsb", record))[1] == read


def by_xlwt(path: Path) -> Path:
    book = xlwt.Workbook()
    sheet = book.add_sheet("S")
    for column, heading in enumerate(HEADINGS):
        sheet.write(0, column, heading)
    sheet.write(1, 0, "9991234567890")
    sheet.write(1, 1, 1000)
    sheet.write(1, 2, xlwt.Formula("ROUND(50;2)"))
    book.save(str(path))
    return path


def test_an_xls_whose_maker_can_not_calculate(tmp_path: Path) -> None:
    assert rows_of(by_xlwt(tmp_path / "t.xls"))[1] == ["9991234567890", 1000.0, b"="]


def record(number: int, content: bytes = b"") -> bytes:
    return struct.pack("<HH", number, len(content)) + content


EMPTY = b"\x03\x00\x00\x00\x00\x00\xff\xff"
ZERO, FIVE, TEXT = struct.pack("<d", 0), struct.pack("<d", 5), b"\x00\x00\x00\x00\x00\x00\xff\xff"


@pytest.mark.parametrize(
    ("result", "flags", "engine", "left", "known"),
    [
        (ZERO, 2, 191029, False, False),  # Java's programs
        (ZERO, 0, 191029, True, False),  # the sheet has some left
        (EMPTY, 2, 191029, False, False),
        (EMPTY, 0, None, False, False),  # xlwt
        (EMPTY, 0, 0, False, False),
        (EMPTY, 0, 191029, False, True),  # ="" in Excel
        (ZERO, 0, None, False, True),
        (ZERO, 1, 191029, False, True),  # volatile, as TODAY() is
        (FIVE, 2, None, True, True),
        (TEXT, 2, None, True, True),
    ],
)
def test_when_a_stored_result_of_an_xls_is_none(
    result: bytes, flags: int, engine: int | None, *, left: bool, known: bool
) -> None:
    cell = record(0x06, struct.pack("<HHH", 1, 2, 0) + result + struct.pack("<HI", flags, 0))
    sheet = (
        record(0x809, b"\x00\x06\x10\x00") + (record(0x5E, b"\0\0") if left else b"") + cell + record(0x0A)
    )
    before = record(0x809, b"\x00\x06\x05\x00")
    if engine is not None:
        before += record(0x1C1, struct.pack("<HHI", 0x1C1, 0, engine))
    listed = struct.pack("<IBBBB", len(before) + 13 + 4, 0, 0, 1, 0) + b"S"
    stream = before + record(0x85, listed) + record(0x0A) + sheet
    (look,) = xls_prescan.Workbook(stream).looks.values()
    assert look.marks == ([] if known else [(1, 2, b"=")])


@pytest.mark.parametrize(
    ("attributes", "read"),
    [
        ('office:value-type="float"', b"="),
        ('office:value-type="currency" office:currency="CNY"', b"="),
        ('office:value-type="float" office:value="0"', 0.0),
        ('office:value-type="float" office:value="50"', 50.0),
        ('office:value-type="string" office:string-value=""', ""),
        ("", b"="),
    ],
)
def test_an_ods_whose_formula_has_a_type_and_no_value(tmp_path: Path, attributes: str, read: Any) -> None:
    path = tmp_path / "t.ods"
    text = '<table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell>'
    cells = f'<table:table-row>{text}<table:table-cell table:formula="of:=1" {attributes}/>{text}</table:table-row>'
    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content{spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="S">{cells}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    assert rows_of(path) == [["x", read, "x"]]


@pytest.mark.parametrize("suffix", ["xlsx", "xls", "ods"])
def test_what_a_spreadsheet_program_calculated_is_known_be_it_0_or_nothing(
    tmp_path: Path, converted: Callable[[Path, str], Path], suffix: str
) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append(["9991234567890", "=1-1", '=IF(1=1,"","x")', "=SUM(D8:D9)", "=TODAY()*0", "=2+3"])
    path = tmp_path / f"calculated-{suffix}.xlsx"
    book.save(path)
    assert rows_of(converted(path, suffix)) == [["9991234567890", 0.0, "", 0.0, 0.0, 5.0]]
