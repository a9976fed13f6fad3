"""Hostile and broken files: each one clear line, at once, whatever it would unpack or reach to."""

import io
import os
import resource
import stat
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.profile import Profile
from pipeline.reading import bounded_child
from pipeline.reading.formats import xlsx_prescan, zip_package
from pipeline.reading.formats.refusal import Refusal
from pipeline.reading.input_files import read_sheets, refuse_far
from pipeline.reading.statement import read_statement
from pipeline.reading.tickets import read_table
from pipeline.reading.unknown_answers import answers_of
from tests.crash.hostile_bases import ROWS, by_openpyxl, separated, xlsb, xlsb_text

#: ROWS and one Basic module, as LibreOffice 7.4 saves them where its export of VBA is on.
MACROS = Path(__file__).with_name("macros.xls")
XML = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
SHEET = "xl/worksheets/sheet1.xml"
CONTENT = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">'
    '<office:body><office:spreadsheet><table:table table:name="S">{}</table:table></office:spreadsheet></office:body>'
    "</office:document-content>"
)
CELL = '<table:table-cell {} office:value-type="string"><text:p>x</text:p></table:table-cell>'

ONE_CELL = CELL.format("")
NUMBER = '<table:table-cell office:value-type="float" office:value="{}"/>'


def plain() -> bytes:
    made = io.BytesIO()
    book = openpyxl.Workbook()
    for row in ROWS:
        book.worksheets[0].append(row)
    book.save(made)
    return made.getvalue()


def changed(parts: Mapping[str, bytes | None], content: bytes | None = None) -> bytes:
    """A workbook with these parts in place of its own, or without those that are None."""
    made = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content or plain())) as old,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            if name not in parts:
                new.writestr(name, old.read(name))
        for name, inside in parts.items():
            if inside is not None:
                new.writestr(name, inside)
    return made.getvalue()


def part_of(name: str) -> bytes:
    """A part of the plain workbook."""
    with zipfile.ZipFile(io.BytesIO(plain())) as archive:
        return archive.read(name)


def ods(rows: str, declared: str = "", **parts: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", declared + CONTENT.format(rows))
        for name, inside in parts.items():
            archive.writestr(name, inside)
    return made.getvalue()


def rows_of(xml: str) -> bytes:
    return changed({SHEET: XML.format(xml).encode()})


def refusal(tmp_path: Path, content: bytes, name: str = "tickets.xlsx") -> str:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputProblem) as problem:
        read_sheets(path)
    text = str(problem.value)
    assert text.startswith(f"{path}: ")
    return text.removeprefix(f"{path}: ")


@pytest.mark.slow
def test_the_plain_workbook_of_these_tests_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    for content in (
        plain(),
        changed({}),
        by_openpyxl(),
        ods(f"<table:table-row>{ONE_CELL}</table:table-row>"),
    ):
        path.write_bytes(content)
        assert read_sheets(path)[0].rows


FAR = {
    "the last cell of all": rows_of('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
    "without its place": rows_of('<row r="1048576"><c><v>1</v></c><c r="XFD1048576"><v>1</v></c></row><row r="1"><c r="A1"><v>1</v></c></row>'),
    "in the midst of a near row": rows_of('<row r="1"><c r="A1"><v>1</v></c><c r="XFD1048576"><v>1</v></c><c r="C1"><v>1</v></c></row>'),
    "in the midst of a near row, and its own row is near": rows_of('<row r="1"><c r="A1"><v>1</v></c><c r="XFD1048576"><v>1</v></c><c r="ZZ1"><v>1</v></c><c r="AAA1"><v>1</v></c></row>'),
    "an error": rows_of('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576" t="e"><v>#N/A</v></c></row>'),
    "a formula without its result": rows_of('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><f>1</f></c></row>'),
    "in an .xlsb": xlsb((0, 0, 6, xlsb_text("x")), (1_048_575, 16_383, 2, struct.pack("<I", 6))),
    "in an .ods": ods(
        f'<table:table-row>{ONE_CELL}</table:table-row><table:table-row table:number-rows-repeated="1048574"><table:table-cell/>'
        f'</table:table-row><table:table-row><table:table-cell table:number-columns-repeated="16383"/>{ONE_CELL}</table:table-row>'
    ),
}  # fmt: skip


#: Of the same kind of file, and read in the same way but for its place.
OTHERWISE_FAR = {
    "without its place",
    "in the midst of a near row",
    "in the midst of a near row, and its own row is near",
    "an error",
}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(content, id=name, marks=[pytest.mark.slow] if name in OTHERWISE_FAR else [])
        for name, content in FAR.items()
    ],
)
def test_a_far_away_cell_takes_no_memory_and_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(content)
    (sheet,) = read_sheets(path)
    assert (1_048_575, 16_383) in sheet.far
    assert sheet.rows[0][0] in (1, "x")
    assert (sheet.first_row, sheet.first_column, sheet.height) == (0, 0, 1)
    assert all(row == 1_048_575 or column > 700 for row, column in sheet.far)
    with pytest.raises(InputProblem, match=r"XFD1048576.*Ctrl\+End"):
        refuse_far(path, [sheet])


#: Far away, and read by its value: a ticket, and what may be left unread, and the blank ones of which nothing is said.
BELOW: dict[str, Callable[[str], bytes]] = {
    ".xlsx": lambda text: changed(
        {
            SHEET: XML.format(
                '<row r="1"><c r="A1"><v>1</v></c><c r="J1"><v>2</v></c></row><row r="900000"><c r="A900000"><v>1</v></c></row>'
                f'<row r="1048575" spans="1:9"><c r="B1048575" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c></row>'
            ).encode()
        }
    ),
    ".xlsb": lambda text: xlsb(
        (0, 0, 2, struct.pack("<I", 6)), (0, 9, 2, struct.pack("<I", 10)),
        (899_999, 0, 2, struct.pack("<I", 6)), (1_048_574, 1, 6, xlsb_text(text)),
    ),
    ".ods": lambda text: ods(
        f'<table:table-row>{NUMBER.format(1)}<table:table-cell table:number-columns-repeated="8"/>{NUMBER.format(2)}</table:table-row><table:table-row table:number-rows-repeated="899998"/>'
        f'<table:table-row>{NUMBER.format(1)}</table:table-row><table:table-row table:number-rows-repeated="148574">'
        '<table:table-cell table:number-columns-repeated="500"/></table:table-row><table:table-row><table:table-cell></table:table-cell>'
        f"{ONE_CELL.replace('>x<', f'>{text}<')}</table:table-row>"
        '<table:table-row table:number-rows-repeated="1"><table:table-cell/></table:table-row>'
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "suffix",
    [".xlsx", *(pytest.param(suffix, marks=pytest.mark.slow) for suffix in BELOW if suffix != ".xlsx")],
)
def test_what_is_far_below_is_told_by_its_place_unless_it_is_blank(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    for text, far in (("note", [(899_999, 0), (1_048_574, 1)]), ("\u3000", [(899_999, 0)])):
        path.write_bytes(BELOW[suffix](text))
        (sheet,) = read_sheets(path)
        assert list(sheet.rows) == [[1, *[""] * 8, 2]]
        assert list(sheet.far) == far


@pytest.mark.parametrize("suffix", BELOW)
@pytest.mark.parametrize(
    "ticket",
    [
        "9991234567890",
        *(
            pytest.param(ticket, marks=pytest.mark.slow)
            for ticket in ("'999 1234567890", "９９９-１２３４５６７８９０", "999-1234567890/91")
        ),
    ],
)
def test_a_ticket_far_below_is_never_left_out(tmp_path: Path, suffix: str, ticket: str) -> None:
    text = refusal(tmp_path, BELOW[suffix](ticket), f"t{suffix}")
    assert "row 1048575 and column J for 4 filled cells" in text
    assert "Ctrl+End" in text


def test_many_cells_far_below_are_not_left_out_either(tmp_path: Path) -> None:
    rows = "".join(f'<row r="{row}"><c r="A{row}"><v>1</v></c></row>' for row in range(900_000, 901_001))
    text = refusal(tmp_path, rows_of(f'<row r="1"><c r="A1"><v>1</v></c><c r="Z1"><v>1</v></c></row>{rows}'))
    assert "reaches to row 901000" in text


@pytest.mark.slow
def test_a_table_with_far_cells_is_read_and_they_are_told_where_evidence_is_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["ticket_no", "amount"], ["9991234567890", 12.5]):
        book.worksheets[0].append(row)
    book.worksheets[0]["J1"], book.worksheets[0]["C1048576"] = "note", "x"
    book.save(tmp_path / "t.xlsx")
    table = read_table([tmp_path / "t.xlsx"])
    assert table.frame["amount"].tolist() == [1250]
    assert tuple(map(str, table.notes)) == (
        "t.xlsx, sheet Sheet: cells far from all others were not read (C1048576); see that they are no part of the tickets",
    )
    book.worksheets[0]["A1"], book.worksheets[0]["B1"] = "buyer", "header_name"
    book.save(tmp_path / "buyers.xlsx")
    with pytest.raises(InputProblem, match="C1048576"):
        read_table([tmp_path / "t.xlsx"], tmp_path / "buyers.xlsx")
    book.worksheets[0]["A1"], book.worksheets[0]["B1"] = "ticket_no", "voucher number"
    book.save(tmp_path / "statement.xlsx")
    with pytest.raises(InputProblem, match="C1048576"):
        read_statement(tmp_path / "statement.xlsx", Profile())
    sheet = replace(read_sheets(tmp_path / "t.xlsx")[0], name="Unknown", columns=())
    with pytest.raises(InputProblem, match="no sheet Unknown"):
        answers_of(tmp_path / "t.xlsx", [sheet])


NINETEEN = CELL.format('table:number-columns-repeated="19"')
TENS = "<row>" + '<c t="s"><v>0</v></c>' * 10 + "</row>"
LONG = {
    SHEET: XML.format(TENS * 20_000).encode(),
    "xl/sharedStrings.xml": b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>' + b"A" * 32_767 + b"</t></si></sst>",
}  # fmt: skip
#: Small files, and what is said of each. Before there was a bound for small ones the reader took 750 to 6,100 MB for them.
COSTLY = {
    "far_below.xlsx": (
        rows_of('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="R1048576"><v>1</v></c></row>'),
        "",
    ),
    "far_right.xlsx": (
        rows_of(
            "".join(f'<row r="{row}"><c r="A{row}"><v>1</v></c></row>' for row in range(1, 1_200))
            + '<row r="1200"><c r="XFD1200"><v>1</v></c></row>'
        ),
        "",
    ),
    "repeated.ods": (
        ods(f'<table:table-row table:number-rows-repeated="1000000">{NINETEEN}</table:table-row>'),
        "sheet S spans 19,000,000 cells",
    ),
    "long_text.xlsx": (changed(LONG), "it takes more memory than a file of its size may"),
}


#: Starts a command and says how much memory that took at most, in kilobytes. Linux counts to a process what the one that started
#: it had taken (exec keeps its peak), so that this has to be a small one, and not the tests' own.
STARTER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_kilobytes(command: Sequence[str]) -> int:
    started = [sys.executable, "-I", "-S", "-c", STARTER, *command]
    found = {**os.environ, "PYTHONPATH": str(Path(bounded_child.__file__).parents[2])}
    return int(subprocess.run(started, check=True, capture_output=True, text=True, env=found).stdout)


@pytest.mark.slow
def test_what_a_command_takes_is_measured_without_what_these_tests_take() -> None:
    taken = b"x" * (500 << 20)
    assert peak_kilobytes([sys.executable, "-I", "-S", "-c", "pass"]) < 100 * 1024
    assert len(taken) == 500 << 20


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name == "long_text.xlsx" else name for name in COSTLY],
)
def test_a_small_file_costs_the_reader_little_memory(tmp_path: Path, name: str) -> None:
    content, said = COSTLY[name]
    path = tmp_path / name
    path.write_bytes(content)
    assert len(content) < 100_000
    for exactly in ([], [bounded_child.EXACTLY]):
        assert (
            peak_kilobytes([sys.executable, "-P", bounded_child.__file__, str(path), *exactly]) < 480 * 1024
        )
    if said:
        assert said in refusal(tmp_path, content, name)
    else:
        assert read_sheets(path)[0].far


@pytest.mark.parametrize("rows", [["1,2"] * 5_000, ["," * 40_000, *["1,2"] * 5_000, "," * 50_000]])
def test_a_text_with_one_row_of_very_many_cells_is_not_laid_out(tmp_path: Path, rows: list[str]) -> None:
    text = refusal(tmp_path, "\n".join(["a,b", *rows, "," * 45_000]).encode(), "t.csv")
    assert "too large to be read (a row of it holds" in text


@pytest.mark.slow
def test_a_cell_that_is_not_so_far_away_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(
        rows_of(
            "".join(f'<row r="{row}"><c r="A{row}"><v>1</v></c></row>' for row in range(1, 300))
            + '<row r="300"><c r="XFD300"><v>7</v></c></row>'
        )
    )
    assert read_sheets(path)[0].rows[299][16_383] == 7


def declaring(name: str, encoding: str) -> bytes:
    """A workbook of which this part declares an encoding of its own."""
    declared = f'<?xml version="1.0" encoding="{encoding}"?>'.encode()
    if name == "content.xml":
        return ods(f"<table:table-row>{ONE_CELL}</table:table-row>", declared.decode())
    part = part_of(name)
    part = part[part.index(b"?>") + 2 :] if part.startswith(b"<?xml") else part
    return changed({name: declared + part})


@pytest.mark.parametrize("exactly", [False, True])
@pytest.mark.parametrize("encoding", ["UT.-8", "gb2312", "utf-7", ""])
@pytest.mark.parametrize(
    "part",
    [
        SHEET,
        "xl/workbook.xml",
        "xl/_rels/workbook.xml.rels",
        "xl/styles.xml",
        "[Content_Types].xml",
        "content.xml",
    ],
)
def test_an_encoding_that_is_none_or_another_is_no_stumbling_block(
    tmp_path: Path, part: str, encoding: str, *, exactly: bool
) -> None:
    """What is declared does not count: it is read as UTF-8, or refused; and the text here is one in any of them."""
    path = tmp_path / "tickets.xlsx"
    path.write_bytes(declaring(part, encoding))
    answer = bounded_child.read(path, exactly)
    assert answer.get("problem", "damaged") == "damaged", answer


def test_a_cell_repeated_a_million_times_a_million_times_is_too_large(tmp_path: Path) -> None:
    cell = CELL.format('table:number-columns-repeated="16384"')
    rows = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    assert "too large" in refusal(tmp_path, ods(rows), "t.ods")


@pytest.mark.slow
def test_formats_down_to_the_last_row_and_one_cell_at_the_end_of_a_column_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(
        rows_of(
            '<row r="1"><c r="A1"><v>1</v></c></row><row r="1000000"><c r="A1000000"><v>2</v></c></row>'
            '<row r="1048576"><c r="XFD1048576" s="0"/></row>'
        )
    )
    (sheet,) = read_sheets(path)
    assert (len(sheet.rows), len(sheet.rows[0])) == (1_000_000, 1)


def _deflated_zeros(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)), packer.flush()])


def zip_bomb(says: int | None = None, part: str = SHEET) -> bytes:
    """A part of 128 MB of zero bytes in 128 kB; the archive may say that it is smaller."""
    size, made = 128 << 20, io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(plain())) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name != part:
                new.writestr(name, old.read(name))
        info = zipfile.ZipInfo(part)
        new.writestr(info, _deflated_zeros(size))
        info.compress_type, info.file_size = zipfile.ZIP_DEFLATED, size if says is None else says
    return made.getvalue()


@pytest.mark.parametrize(
    "part",
    [
        SHEET,
        *(
            pytest.param(part, marks=pytest.mark.slow)
            for part in ("xl/sharedStrings.xml", "xl/styles.xml", "xl/workbook.xml")
        ),
    ],
)
def test_a_zip_bomb_is_not_unpacked(tmp_path: Path, part: str) -> None:
    text = refusal(tmp_path, zip_bomb(part=part))
    assert "far more room than any workbook" in text or "larger than any program" in text


@pytest.mark.slow
def test_a_zip_bomb_that_lies_about_its_size_is_unpacked_no_further_than_it_says(tmp_path: Path) -> None:
    assert "unpacks to more than it declares" in refusal(
        tmp_path, zip_bomb(says=1_000, part="xl/sharedStrings.xml")
    )


@pytest.mark.slow
def test_unpacking_never_holds_more_than_a_piece() -> None:
    inside = zip_package.Package(zip_bomb(says=128 << 20))
    pieces = inside._unpack(inside._parts[SHEET])
    assert max(len(next(pieces)) for _ in range(20)) <= 1 << 20


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize("part", [SHEET, "xl/workbook.xml", "xl/styles.xml", "xl/_rels/workbook.xml.rels"])
def test_an_xml_bomb_is_told_before_it_is_parsed(tmp_path: Path, part: str) -> None:
    with zipfile.ZipFile(io.BytesIO(plain())) as old:
        content = old.read(part)
    at = content.find(b"?>") + 2 if content.startswith(b"<?xml") else 0
    text = refusal(tmp_path, changed({part: content[:at] + ENTITIES.encode() + content[at:]}))
    assert "declares entities of its own" in text


@pytest.mark.parametrize(
    "before",
    [1, (1 << 20) - 4, *(pytest.param(before, marks=pytest.mark.slow) for before in (1_000, (1 << 20) + 9))],
)
def test_an_xml_bomb_is_told_wherever_it_stands(tmp_path: Path, before: int) -> None:
    content = "<!--" + "x" * before + "-->" + ENTITIES + XML.format("")
    texts = (
        refusal(tmp_path, changed({SHEET: content.encode()})),
        refusal(tmp_path, changed({"content.xml": content.encode()}, ods("")), "t.ods"),
    )
    assert all("entities" in text or (before > 1_000_000 and "divided by comments" in text) for text in texts)


@pytest.mark.parametrize("at", range(30))
def test_a_declaration_that_two_pieces_share_is_seen(at: int) -> None:
    content = b"<?xml?><!DOCTYPE x><worksheet>"
    with pytest.raises(Refusal, match="entities"):
        list(xlsx_prescan.harmless(iter([content[:at], content[at:]])))


def test_a_workbook_with_macros_is_to_be_saved_without_them(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(plain())) as old:
        types = old.read("[Content_Types].xml")
    renamed = types.replace(
        b"openxmlformats-officedocument.spreadsheetml.sheet.main", b"ms-excel.sheet.macroEnabled.main"
    )
    assert renamed != types
    for content in (changed({"[Content_Types].xml": renamed}), changed({"xl/vbaProject.bin": b"x"})):
        text = refusal(tmp_path, content)
        assert "macros" in text
        assert ".xlsx" in text


def test_an_xls_with_macros_is_to_be_saved_without_them_too(tmp_path: Path) -> None:
    content = MACROS.read_bytes()
    text = refusal(tmp_path, content, "t.xls")
    assert "holds macros" in text
    assert "save it as .xlsx" in text
    folder, other = ("_VBA_PROJECT_CUR".encode("utf-16-le"), "_WORKBOOK_NOTES_".encode("utf-16-le"))
    assert content.count(folder) == 1
    path = tmp_path / "without.xls"
    path.write_bytes(content.replace(folder, other))  # the same file is read where that folder is no macros'
    assert len(read_sheets(path)[0].rows) == len(ROWS)


def test_an_xlsb_without_macros_is_read_though_its_type_names_them(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsb"
    path.write_bytes(xlsb((0, 0, 6, xlsb_text("票号"))))
    assert list(read_sheets(path)[0].rows) == [["票号"]]


def test_an_archive_with_two_parts_of_one_name_or_a_password_is_refused(tmp_path: Path) -> None:
    assert "two parts of one name" in refusal(tmp_path, changed({SHEET.upper(): b"<worksheet/>"}, plain()))
    content = bytearray(plain())
    at = 0
    while (at := content.find(b"PK\x01\x02", at + 1)) > 0:
        content[at + 8] |= 1
    assert "password" in refusal(tmp_path, bytes(content))


@pytest.mark.parametrize(
    "make",
    [
        plain,
        *(
            pytest.param(make, marks=pytest.mark.slow)
            for make in (by_openpyxl, lambda: xlsb((0, 0, 6, xlsb_text("x"))), lambda: ods(""))
        ),
    ],
)
def test_a_file_cut_off_anywhere_is_one_line(tmp_path: Path, make: Callable[[], bytes]) -> None:
    whole = make()
    for kept in range(len(whole) - 1, 0, -len(whole) // 12):
        text = refusal(tmp_path, whole[:kept])
        assert "can't be" in text or "encoding" in text


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "tickets.xlsx"
    os.mkfifo(path)
    begun = time.monotonic()
    with pytest.raises(InputProblem, match="not a file but a pipe"):
        read_sheets(path)
    assert time.monotonic() - begun < 30
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_the_child_sets_its_bounds_before_it_opens_anything() -> None:
    asked = "; ".join(
        f"print(resource.getrlimit(resource.{name}))"
        for name in ("RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_CPU", "RLIMIT_CORE")
    )
    code = f"import resource; from pipeline.reading import bounded_child; bounded_child.set_bounds(1000); {asked}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    data = bounded_child.SMALLEST_DATA + 1000 * bounded_child.DATA_OF_A_BYTE
    linux = sys.platform == "linux"
    memory, data = (bounded_child.MEMORY_BYTES, data) if linux else (resource.RLIM_INFINITY,) * 2
    assert done.stdout.splitlines() == [
        str((memory, memory)),
        str((data, data)),
        str((bounded_child.CPU_SECONDS, bounded_child.CPU_SECONDS)),
        "(0, 0)",
    ]


@pytest.mark.slow
def test_a_text_of_too_many_cells_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"," * 70_000_000)
    with pytest.raises(InputProblem, match=r"too large to be read \(it holds more than"):
        read_sheets(path)


def test_separated_values_are_no_worse_for_odd_bytes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(separated(ROWS, "utf-8") + "\u2028\x0b\x1c,x\n".encode())
    assert len(read_sheets(path)[0].rows) == len(ROWS) + 1


@pytest.mark.parametrize("exactly", [False, True])
@pytest.mark.parametrize("value", ["<![CDATA[50]]>", "5<!-- x -->0"])
@pytest.mark.parametrize("part", ["sheet", "texts", "ods"])
def test_a_value_in_pieces_is_refused_because_the_reader_takes_the_first_alone(
    tmp_path: Path, part: str, value: str, *, exactly: bool
) -> None:
    """Programs that fill templates write such values; the component would be 0, or 5."""
    path = tmp_path / "t.xlsx"
    if part == "sheet":
        path.write_bytes(rows_of(f'<row r="1"><c r="A1"><v>{value}</v></c></row>'))
    elif part == "texts":
        path.write_bytes(
            changed(
                {
                    **LONG,
                    "xl/sharedStrings.xml": LONG["xl/sharedStrings.xml"].replace(
                        b"A" * 32_767, value.encode()
                    ),
                }
            )
        )
    else:
        path.write_bytes(ods(f"<table:table-row>{ONE_CELL.replace('>x<', f'>{value}<')}</table:table-row>"))
    answer = bounded_child.read(path, exactly)
    assert (answer.get("problem"), "no spreadsheet program" in str(answer.get("detail", ""))) == (
        "damaged",
        True,
    )


@pytest.mark.parametrize("exactly", [False, True])
def test_a_comment_above_all_does_no_harm(tmp_path: Path, *, exactly: bool) -> None:
    path = tmp_path / "t.xlsx"
    sheet = XML.format('<row r="1"><c r="A1"><v>50</v></c></row>')
    path.write_bytes(
        changed(
            {SHEET: f'<?xml version="1.0"?>\n<!-- made by a script --> <!-- on Monday -->\n{sheet}'.encode()}
        )
    )
    assert "readings" in bounded_child.read(path, exactly)
