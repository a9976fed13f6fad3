"""Workbooks as programs other than Excel, LibreOffice and Python's own libraries write them: read like any other.

The files are one table of 300 charges, with texts of many kinds, as these programs wrote it.
"""

import datetime
import io
import re
import struct
import zipfile
from collections.abc import Callable, Mapping
from decimal import Decimal
from hashlib import md5
from pathlib import Path

import olefile
import pytest
import xlsxwriter
import xlwt
from msoffcrypto.format.ooxml import OOXMLFile
from msoffcrypto.method.rc4 import DocumentRC4
from xlwt.CompoundDoc import XlsDoc

from pipeline.model.errors import InputProblem
from pipeline.reading.formats import (
    workbook,
    xls_or_encrypted,
    xls_prescan,
    xlsb_prescan,
)
from pipeline.reading.formats.refusal import Refusal
from pipeline.reading.formats.repackaging import ods_anew
from pipeline.reading.formats.zip_package import Package
from pipeline.reading.input_files import read_sheets
from pipeline.reading.sheet import Sheet

pytestmark = pytest.mark.usefixtures("read_here")

FILES = Path(__file__).with_name("files")
AMOUNT, COMPONENTS = 4, range(5, 11)
TOTAL = Decimal("705721.48")


def only_sheet(name: str) -> Sheet:
    (sheet,) = read_sheets(FILES / name)
    return sheet


def total(sheet: Sheet) -> Decimal:
    """The amounts of all rows, each the sum of its components where it is not said."""
    found = Decimal(0)
    for row in sheet.rows[1:]:
        cells = [row[AMOUNT]] if row[AMOUNT] != "" else [row[at] for at in COMPONENTS if row[at] != ""]
        found += sum(Decimal(str(round(cell, 2))) for cell in cells)
    return found


@pytest.mark.parametrize(
    "name",
    [
        "embedded_workbook.xls",  # SheetJS, as of Excel 95: an embedded object is a workbook of its own
        "jxl.xls",  # Java Excel API: its code page is a Western one, its texts are UTF-16
        "sheetjs.xlsb",  # its cells leave out their column, but for a row's first
        "sheetjs.ods",  # white space between its tags
    ],
)
def test_the_whole_table_is_read(name: str) -> None:
    sheet = only_sheet(name)
    assert sheet.name == "Tickets"
    assert (sheet.first_row, sheet.first_column, sheet.height, sheet.width) == (0, 0, 301, 25)
    assert sheet.rows[0][:3] == ["ticket_no", "passenger_name", "charge"]
    assert sheet.rows[1][0] == "9992412000056"
    assert total(sheet) == TOTAL


def test_dates_of_an_xls_are_days_and_texts_are_as_written() -> None:
    sheet = only_sheet("jxl.xls")
    day = sheet.rows[2][13]
    assert f"{day}" == "2026-11-20"
    assert any(text.startswith("北京") for text in sheet.columns[19].different)


def test_a_western_code_page_is_believed_of_texts_that_can_be_of_it() -> None:
    sheet = only_sheet("embedded_workbook.xls")
    assert "MÜLLER/JÖRG MR" in sheet.columns[1].different


def test_chinese_texts_in_a_western_code_page_are_refused_with_the_cure(tmp_path: Path) -> None:
    """As of Excel 95 a text's bytes are in a code page; GBK under a Western one would be read as other letters."""
    content = (FILES / "embedded_workbook.xls").read_bytes()
    western = "MÜLLER/JÖRG MR".encode("cp1252")
    assert western in content
    chinese = "欧阳/小明 MR".encode("gbk").ljust(len(western))
    path = tmp_path / "t.xls"
    path.write_bytes(content.replace(western, chinese))
    with pytest.raises(InputProblem, match=r"Excel 95 or older.*save it as \.xlsx"):
        read_sheets(path)


# --- an .xlsx whose parts stand elsewhere, or say what nobody needs ---------------------------------


@pytest.fixture(scope="module")
def month() -> Mapping[str, bytes]:
    """The parts of a workbook as XlsxWriter makes it: a shared text, a number, a date and a hidden sheet."""
    made = io.BytesIO()
    with xlsxwriter.Workbook(made) as book:
        sheet = book.add_worksheet("Tickets")
        sheet.write_row(0, 0, ["票号", 1234.5])
        sheet.write_datetime(0, 2, datetime.datetime(2026, 3, 5), book.add_format({"num_format": 14}))  # noqa: DTZ001
        sheet.write_formula(0, 3, "=1-1")
        hidden = book.add_worksheet("Old")
        hidden.write(0, 0, "x")
        hidden.hide()
    with zipfile.ZipFile(made) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


BOOK, RELATIONS, SHEET = "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/worksheets/sheet1.xml"
Parts = dict[str, bytes]


def at_the_root(parts: Parts) -> Parts:
    """All that is in xl/ one folder higher."""
    moved = {name.removeprefix("xl/"): content for name, content in parts.items()}
    moved["_rels/.rels"] = parts["_rels/.rels"].replace(b'"xl/workbook.xml"', b'"workbook.xml"')
    moved["_rels/workbook.xml.rels"] = parts[RELATIONS]
    return moved


def called_otherwise(parts: Parts) -> Parts:
    """The workbook, its texts, formats and sheet under names of their own, told by absolute paths."""
    names = {
        BOOK: "book/list.xml", "xl/sharedStrings.xml": "texts/all.xml", "xl/styles.xml": "looks.xml", SHEET: "book/a/1.xml",
        "xl/worksheets/sheet2.xml": "book/2.xml", RELATIONS: "book/_rels/list.xml.rels",
    }  # fmt: skip
    moved = {names.get(name, name): content for name, content in parts.items()}
    moved["_rels/.rels"] = parts["_rels/.rels"].replace(b'"xl/workbook.xml"', b'"/book/list.xml"')
    for old, new in ((b"worksheets/sheet1.xml", b"a/1.xml"), (b"worksheets/sheet2.xml", b"/book/2.xml"),
                     (b"sharedStrings.xml", b"../texts/all.xml"), (b"styles.xml", b"/looks.xml")):  # fmt: skip
        moved["book/_rels/list.xml.rels"] = moved["book/_rels/list.xml.rels"].replace(b'"' + old, b'"' + new)
    return moved


def beside_another(parts: Parts) -> Parts:
    """The same, and a workbook of something else where one is looked for."""
    others = {name: content.replace("票号".encode(), b"no") for name, content in parts.items()}
    return others | at_the_root(parts)


def formats_elsewhere(parts: Parts) -> Parts:
    parts["xl/looks.xml"] = parts.pop("xl/styles.xml")
    parts[RELATIONS] = parts[RELATIONS].replace(b'"styles.xml"', b'"looks.xml"')
    return parts


def sheet_elsewhere(parts: Parts) -> Parts:
    parts["sheets/1.xml"] = parts.pop(SHEET)
    parts[RELATIONS] = parts[RELATIONS].replace(b'"worksheets/sheet1.xml"', b'"../sheets/1.xml"')
    return parts


def in_part(name: str, old: str, new: str) -> Callable[[Parts], Parts]:
    def change(parts: Parts) -> Parts:
        content, times = re.subn(old.encode(), new.encode(), parts[name])
        assert times == 1, parts[name]
        return parts | {name: content}

    return change


DIMENSION = '<dimension ref="[^"]*"/>'
ODD = {
    "the workbook at the root": at_the_root,
    "parts called otherwise": called_otherwise,
    "another workbook beside it": beside_another,
    "formats elsewhere": formats_elsewhere,
    "a sheet elsewhere": sheet_elsewhere,
    "state show": in_part(BOOK, '<sheet name="Tickets"', '<sheet state="show" name="Tickets"'),
    "state none": in_part(BOOK, '<sheet name="Tickets"', "<sheet name=\"Tickets\" state=''"),
    "rows alone": in_part(SHEET, DIMENSION, '<dimension ref="1:4"/>'),
    "columns alone": in_part(SHEET, DIMENSION, '<dimension ref="A:D"></dimension>'),
    "dollars": in_part(SHEET, DIMENSION, "<dimension ref='$A$1:$D$1' />"),
    "no reference": in_part(SHEET, DIMENSION, "<dimension/>"),
    "an error": in_part(SHEET, DIMENSION, '<dimension ref="#REF!"/>'),
}


def packed(parts: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


@pytest.mark.parametrize("change", ODD.values(), ids=ODD.keys())
def test_an_odd_package_is_read_as_excel_does(
    tmp_path: Path, month: Mapping[str, bytes], change: Callable[[Parts], Parts]
) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(packed(change(dict(month))))
    shown, hidden = read_sheets(path)
    assert list(shown.rows) == [["票号", 1234.5, datetime.date(2026, 3, 5), b"="]]
    assert (shown.name, shown.visible) == ("Tickets", True)
    assert (hidden.name, hidden.visible, hidden.height) == ("Old", False, 1)


def test_of_an_odd_package_its_program_is_known_too(tmp_path: Path, month: Mapping[str, bytes]) -> None:
    parts = in_part(BOOK, "<calcPr[^>]*>", "")(dict(month))
    for program, read in (("Microsoft Excel", 0.0), ("Apache POI", b"=")):
        made = in_part("docProps/app.xml", "Microsoft Excel", program)(parts)
        path = tmp_path / "t.xlsx"
        path.write_bytes(packed(at_the_root(made)))
        assert read_sheets(path)[0].rows[0][3] == read


def test_what_can_not_be_read_written_anew_either_says_why(
    tmp_path: Path, month: Mapping[str, bytes]
) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(packed(in_part(SHEET, '<c r="A1" t="s">', '<c r="A1" t="x">')(dict(month))))
    with pytest.raises(InputProblem, match=r"the workbook reader stumbled over it.*save it as \.xlsx"):
        read_sheets(path)


# --- records and tags -----------------------------------------------------------------------------


def test_cells_without_a_column_stand_after_the_one_before() -> None:
    row, blank, text = (
        struct.pack("<I", 0),
        struct.pack("<II", 4, 0),
        struct.pack("<I", 1) + "x".encode("utf-16-le"),
    )
    short, number = b"\0" * 4, struct.pack("<d", 5)
    records = [(0, row), (17, short + text), (1, blank), (16, short + number), (12, short), (14, short + b"\x2a"), (0, row),
               (18, short + b"\1\0\0\0")]  # fmt: skip
    content = b"".join(bytes([kind, len(inside)]) + inside for kind, inside in records)
    whole = list(xlsb_prescan._records(xlsb_prescan.with_columns(iter([content]))))
    cells = [(kind, int.from_bytes(inside[:4], "little")) for kind, inside in whole if kind]
    assert cells == [(6, 0), (1, 4), (5, 5), (1, 6), (3, 7), (7, 0)]
    look = xlsb_prescan.look(iter([content]))
    assert (look.short, look.filled, look.marks) == (True, 4, [(0, 7, b"#N/A")])


def test_an_xlsb_record_of_any_length_and_number_is_passed_on_as_it_is() -> None:
    content = b"".join(
        xlsb_prescan._varied(number) + xlsb_prescan._varied(length) + b"x" * length
        for number in (19, 127, 128, 648)
        for length in (0, 127, 128, 20_000)
    )
    assert b"".join(xlsb_prescan.with_columns(iter([content]))) == content
    assert not xlsb_prescan.look(iter([content])).short


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_white_space_between_tags_goes_and_that_of_texts_stays(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "<office:document-content>\n<table:table-row>\n <table:table-cell>\n  <text:p>a  b</text:p>\n  <text:p> <text:span>c</text:span>"
        " <text:span>d</text:span> </text:p>\n </table:table-cell>\n</table:table-row>\n</office:document-content>\n"
    )
    package = Package(packed({"content.xml": text.encode()}))
    pieces = [text.encode()[at : at + size] for at in range(0, len(text), size)]
    monkeypatch.setattr(package, "pieces", lambda _: iter(pieces))
    with zipfile.ZipFile(io.BytesIO(ods_anew(package))) as archive:
        assert archive.read("content.xml").decode() == (
            "<office:document-content><table:table-row><table:table-cell><text:p>a  b</text:p><text:p> <text:span>c</text:span>"
            " <text:span>d</text:span> </text:p></table:table-cell></table:table-row></office:document-content>\n"
        )


# --- encrypted with the password that every program tries ------------------------------------------


def encrypted(content: bytes, password: str) -> bytes:
    made = io.BytesIO()
    OOXMLFile(io.BytesIO(content)).encrypt(password, made)
    return made.getvalue()


def test_what_is_encrypted_with_excel_s_default_password_is_read(
    tmp_path: Path, month: Mapping[str, bytes]
) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(encrypted(packed(month), "VelvetSweatshop"))
    assert read_sheets(path)[0].rows[0][:2] == ["票号", 1234.5]


def test_what_is_encrypted_with_another_password_says_so(tmp_path: Path, month: Mapping[str, bytes]) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(encrypted(packed(month), "another"))
    with pytest.raises(InputProblem, match="protected by a password"):
        read_sheets(path)


def encrypted_xls(stream: bytes, password: str) -> bytes:
    """An .xls whose records are encrypted by RC4, as Excel 97 does it ([MS-OFFCRYPTO] 2.3.6)."""
    salt, verifier = bytes(range(16)), bytes(range(16, 32))
    proof = DocumentRC4.decrypt(password, salt, io.BytesIO(verifier + md5(verifier).digest())).read()
    password_record = struct.pack("<HHHHH", 0x2F, 54, 1, 1, 1) + salt + proof
    plain, kept, at = b"", list[tuple[int, bytes]](), 0
    while at < len(stream):
        number, length = struct.unpack_from("<HH", stream, at)
        content = stream[at + 4 : at + 4 + length]
        clear = {0x809: length, 0x85: 4}.get(number, 0)  # of these records so many bytes stay as they are
        if number == 0x85:
            content = (
                struct.pack("<I", struct.unpack_from("<I", content)[0] + len(password_record)) + content[4:]
            )
        kept.append((len(plain), struct.pack("<HH", number, length) + content[:clear]))
        plain += bytes(4) + content
        at += 4 + length
        if len(kept) == 1:
            kept.append((len(plain), password_record))
            plain += bytes(len(password_record))
    made = bytearray(DocumentRC4.decrypt(password, salt, io.BytesIO(plain), blocksize=1024).read())
    for begin, content in kept:
        made[begin : begin + len(content)] = content
    return bytes(made)


@pytest.mark.parametrize(("password", "read"), [("VelvetSweatshop", True), ("another", False)])
def test_an_xls_whose_structure_is_protected_is_encrypted_and_read(
    tmp_path: Path, password: str, *, read: bool
) -> None:
    """Excel encrypts it with its default password then; with one of somebody's own it can't be read."""
    path, book = tmp_path / "t.xls", xlwt.Workbook()
    for row in range(300):
        for column, cell in enumerate(["9991234567890", row + 0.5, "票号"]):
            (book.get_sheet(0) if row or column else book.add_sheet("S")).write(row, column, cell)
    book.save(str(path))
    with olefile.OleFileIO(str(path)) as storage:
        stream = storage.openstream("Workbook").read()
    stream = stream[: stream.rindex(b"\x0a\x00\x00\x00") + 4]  # to its last record
    filler = (
        -(len(stream) + 58) % 4
    )  # the record of the password comes in; what fills it to its size are empty ones
    stream += struct.pack("<HH", 0, filler) + bytes(filler)
    XlsDoc().save(str(path), encrypted_xls(stream, password))
    if read:
        assert read_sheets(path)[0].rows[299] == ["9991234567890", 299.5, "票号"]
    else:
        with pytest.raises(InputProblem, match="protected by a password"):
            read_sheets(path)


def test_a_sheet_that_nobody_could_look_through_is_not_read() -> None:
    """Its errors would be blank cells: the reader's list of sheets and ours must be the same."""
    stream = xls_or_encrypted.workbook_stream((FILES / "jxl.xls").read_bytes())
    assert stream
    with pytest.raises(Refusal, match="fit together"):
        workbook.taken_out(lambda: xls_prescan.Workbook(stream), {})
