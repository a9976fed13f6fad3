"""An .xlsb by its records ([MS-XLSB]): formats that show a currency, rows and sheets that are hidden, short numbers, days.

LibreOffice does not write the format; `sheetjs_formats.xlsb` is the same as SheetJS writes it.
"""

import io
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.model.table import SheetRows, Table
from pipeline.reading.input_files import read_sheets
from pipeline.reading.tickets import assemble, read_table

pytestmark = pytest.mark.usefixtures("read_here")

FILE = Path(__file__).with_name("files") / "sheetjs_formats.xlsb"
HEAD = ["ticket_no", "amount", "flight_date"]
#: Number formats and how the sandbox carrier's own currency, CNY, is told from others: what an amount of 100.5 in it reads.
FORMATS = {
    "[$CAD] #,##0.00": "CAD100.5", '"$"#,##0.00': "$100.5", "[$¥-411]#,##0": "JP¥100.5", '0.00"万"': "100.5万",
    "[$¥-804]#,##0.00": 100.5, '0.00"元"': 100.5, "#,##0.00": 100.5, '_ "¥"* #,##0.00_ ;_ "¥"* -#,##0.00_ ;_ "¥"* "-"??_ ;_ @_ ': 100.5,
}  # fmt: skip
DATE = "yyyy-mm-dd"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
Cell = tuple[int, int, bytes]  # record, format, content


def record(number: int, content: bytes = b"") -> bytes:
    named = bytes([number]) if number < 128 else bytes([number & 0x7F | 0x80, number >> 7])
    return named + bytes([len(content) & 0x7F | 0x80, len(content) >> 7]) + content


def wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def text(value: str) -> Cell:
    return 6, 0, wide(value)


def number(value: float, style: int = 0) -> Cell:
    return 5, style, struct.pack("<d", value)


def hundredths(value: int, style: int = 0) -> Cell:
    """A whole number of hundredths in four bytes."""
    return 2, style, struct.pack("<I", value << 2 | 0b11)


def styles(codes: Sequence[str]) -> bytes:
    """Cell formats: the plain one, one for each code, and a percentage, which is known by its number."""
    formats = b"".join(record(44, struct.pack("<H", 164 + at) + wide(code)) for at, code in enumerate(codes))
    numbers = [0, *range(164, 164 + len(codes)), 10]
    cells = b"".join(record(47, struct.pack("<HHHHHHHH", 0, of, 0, 0, 0, 0, 0, 0)) for of in numbers)
    of_styles = (
        record(626, struct.pack("<I", 1))
        + record(47, struct.pack("<8H", 0xFFFF, 164, *[0] * 6))
        + record(627)
    )
    return (
        record(278) + record(615, struct.pack("<I", len(codes))) + formats + record(616) + of_styles
        + record(617, struct.pack("<I", len(numbers))) + cells + record(618) + record(279)
    )  # fmt: skip


def sheet(rows: Sequence[Sequence[Cell]], hidden: Sequence[int] = ()) -> bytes:
    made = record(129) + record(148, struct.pack("<4I", 0, max(len(rows) - 1, 0), 0, 2)) + record(145)
    for at, cells in enumerate(rows):
        made += record(0, struct.pack("<IIHBBBI", at, 0, 300, 0, 0x10 * (at in hidden), 0, 0))
        for column, (kind, style, content) in enumerate(cells):
            made += record(kind, struct.pack("<II", column, style) + content)
    return made + record(146) + record(130)


def an_xlsb(path: Path, codes: Sequence[str], sheets: Sequence[tuple[str, int, bytes]]) -> Path:
    """A workbook of sheets: name, 0 for one that is shown (1 hidden, 2 hidden from the menu too), and its records."""
    listed = b"".join(
        record(156, struct.pack("<II", state, at) + wide(f"rId{at}") + wide(name))
        for at, (name, state, _) in enumerate(sheets, start=1)
    )
    relations = "".join(
        f'<Relationship Id="rId{at}" Type="{_RELATIONS}worksheet" Target="worksheets/sheet{at}.bin"/>'
        for at in range(1, len(sheets) + 1)
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        )
        archive.writestr("xl/workbook.bin", record(131) + record(143) + listed + record(144) + record(132))
        archive.writestr("xl/styles.bin", styles(codes))
        archive.writestr(
            "xl/_rels/workbook.bin.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'{relations}<Relationship Id="rIdS" Type="{_RELATIONS}styles" Target="styles.bin"/></Relationships>',
        )
        for at, (_, _, content) in enumerate(sheets, start=1):
            archive.writestr(f"xl/worksheets/sheet{at}.bin", content)
    path.write_bytes(made.getvalue())
    return path


def table_of(path: Path, currency: str = "CNY") -> Table:
    return assemble([(path, read_sheets(path))], currency=currency)


def ticket(at: int) -> Cell:
    return text(f"99912345678{at:02}")


@pytest.mark.parametrize("amount", [number(100.5, 1), hundredths(10050, 1)], ids=["long", "short"])
@pytest.mark.parametrize("code", FORMATS)
def test_an_amount_is_refused_in_another_currency_and_taken_in_its_own(
    tmp_path: Path, code: str, amount: Cell
) -> None:
    rows = [[*map(text, HEAD)], [ticket(1), amount, number(46300, 2)]]
    table = table_of(an_xlsb(tmp_path / "t.xlsb", [code, DATE], [("S", 0, sheet(rows))]))
    assert table.cells["amount"].tolist() == [FORMATS[code]]
    assert [finding.column for finding in table.findings] == (["amount"] if FORMATS[code] != 100.5 else [])
    assert str(table.frame["flight_date"][0].date()) == "2026-10-05"


def test_a_percentage_is_known_without_its_code(tmp_path: Path) -> None:
    rows = [[*map(text, HEAD)], [ticket(1), number(0.5, 2), number(46300, 1)]]
    table = table_of(an_xlsb(tmp_path / "t.xlsb", [DATE], [("S", 0, sheet(rows))]))
    assert [finding.facts["hint"] for finding in table.findings] == [["unit"]]


def test_rows_and_sheets_that_are_hidden_are_told(tmp_path: Path) -> None:
    rows = [[*map(text, HEAD)], *([ticket(at), hundredths(100 * at), number(46300, 1)] for at in range(1, 7))]
    path = an_xlsb(
        tmp_path / "t.xlsb",
        [DATE],
        [
            ("S", 0, sheet(rows, hidden=(2, 3, 6))),
            ("Old", 1, sheet(rows[:4])),
            ("Very", 2, sheet([[text("x")]])),
        ],
    )
    table = read_table([path])
    assert table.frame["amount"].tolist() == [100, 200, 300, 400, 500, 600]
    assert set(table.sheets) == {
        SheetRows("t.xlsb", "Old", 0, 3, hidden_sheet=True),
        SheetRows("t.xlsb", "S", 6, 3),
    }
    assert tuple(map(str, table.notes)) == ("t.xlsb: sheet Very is hidden and was not read",)


def test_the_same_as_sheetjs_writes_it() -> None:
    table = table_of(FILE)
    assert table.cells["amount"].tolist() == ["CAD100.5", "$101.5", "JP¥102.5", 103.5, 104.5, 105.5, 106.5]
    assert table.frame["flight_date"].dt.date.astype(str).tolist() == ["2026-10-05"] * 7
    assert {(told.sheet, told.rows, told.hidden_rows, told.hidden_sheet) for told in table.sheets} == {
        ("Old", 0, 3, True),
        ("S", 7, 2, False),
    }
    assert tuple(map(str, table.notes)) == ("sheetjs_formats.xlsb: sheet Very is hidden and was not read",)
