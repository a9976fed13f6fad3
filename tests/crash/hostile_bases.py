"""Sound files of every kind, small, to be spoilt: see hostile_files."""

import csv
import datetime
import io
import re
import shutil
import struct
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import xlsxwriter
import xlwt
from msoffcrypto.format.ooxml import OOXMLFile

#: Of programs that are not at hand: SheetJS, Java Excel API.
_FILES = Path(__file__).parents[1] / "unit" / "reading" / "files"

ROWS: list[list[Any]] = [
    ["票号", "旅客姓名", "费用类型", "金额", "航班日期", "备注"],
    ["999-1234567890", "ZHANG/WEI MR", "机票款", 1234.5, datetime.date(2026, 10, 1), "a & b <c>"],
    ["9991234567891", "李雷", "退票费", 1000, datetime.date(2026, 10, 2), ""],
    ["9991234567892", "NA", "机票款", 0.1 + 0.2, datetime.date(2026, 10, 3), "行李,选座"],
    ["合计", "", "", 2234.8, "", ""],
]
BUYERS = [["购买方", "抬头名称", "税号"], ["ACME", "ACME Ltd", "110108600037341"]]


def by_openpyxl() -> bytes:
    """An .xlsx with a formula that has no result, an error, a hidden sheet, a merged cell and a far format."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in ROWS:
        sheet.append(row)
    sheet["H2"] = "=D2*2"
    sheet["H3"] = "#N/A"
    sheet.merge_cells("A9:C9")
    for row in BUYERS:
        book.create_sheet("购买方信息") if "购买方信息" not in book.sheetnames else None
        book["购买方信息"].append(row)
    book.create_sheet("Old").append(["x"])
    book["Old"].sheet_state = "hidden"
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def by_xlsxwriter() -> bytes:
    """An .xlsx with shared texts, dates, formulas and their results."""
    made = io.BytesIO()
    with xlsxwriter.Workbook(made) as book:
        day = book.add_format({"num_format": 31})
        sheet = book.add_worksheet("Tickets & more")
        for at, row in enumerate(ROWS):
            for column, cell in enumerate(row):
                if isinstance(cell, datetime.date):
                    sheet.write_number(at, column, (cell - datetime.date(1899, 12, 30)).days, day)
                else:
                    sheet.write(at, column, cell)
            sheet.write_formula(at, 7, "=1/0", None, "#DIV/0!")
            sheet.write_formula(at, 8, "=1+1", None, 2)
    return made.getvalue()


def xlsb(*cells: tuple[int, int, int, bytes], calculation: bytes = b"") -> bytes:
    """An .xlsb of one sheet with these cells: row, column, record number, and the record's content.

    `calculation` is the record of how the workbook is calculated.
    """

    def record(number: int, content: bytes = b"") -> bytes:
        named = bytes([number]) if number < 128 else bytes([number & 0x7F | 0x80, number >> 7])
        return named + bytes([len(content) & 0x7F | 0x80, len(content) >> 7]) + content

    def text(value: str) -> bytes:
        return struct.pack("<I", len(value)) + value.encode("utf-16-le")

    reach = (0, max(row for row, *_ in cells), 0, max(column for _, column, *_ in cells))
    sheet, last = record(129) + record(148, struct.pack("<4I", *reach)) + record(145), -1
    for row, column, number, content in cells:
        if row != last:
            sheet += record(0, struct.pack("<IIHHBI", row, 0, 300, 0, 0, 0))
            last = row
        sheet += record(number, struct.pack("<II", column, 0) + content)
    sheet += record(146) + record(130)
    book = record(131) + record(143) + record(156, struct.pack("<II", 0, 1) + text("rId1") + text("Tickets"))
    end = (record(157, calculation) if calculation else b"") + record(132)
    relation = '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"'
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.bin", book + record(144) + end)
        archive.writestr("xl/worksheets/sheet1.bin", sheet)
        archive.writestr(
            "xl/_rels/workbook.bin.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'{relation} Target="worksheets/sheet1.bin"/></Relationships>',
        )
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.bin"'
            ' ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>',
        )
    return made.getvalue()


def xlsb_text(value: str) -> bytes:
    """The content of a cell that holds a text (record 6)."""
    return struct.pack("<I", len(value)) + value.encode("utf-16-le")


def _small_xlsb() -> bytes:
    heads = [(0, at, 6, xlsb_text(head)) for at, head in enumerate(ROWS[0])]
    row = [(1, 0, 6, xlsb_text("9991234567890")), (1, 3, 5, struct.pack("<d", 12.5)), (1, 7, 3, b"\x2a")]
    return xlsb(*heads, *row)


def by_xlwt() -> bytes:
    """An .xls with texts, dates, a formula that nobody has calculated, and a merged cell."""
    book, made = xlwt.Workbook(), io.BytesIO()
    sheet, day = book.add_sheet("Tickets"), xlwt.easyxf(num_format_str="yyyy-mm-dd")
    for at, row in enumerate(ROWS):
        for column, cell in enumerate(row):
            sheet.write(at, column, cell, *([day] if isinstance(cell, datetime.date) else []))
    sheet.write(1, 7, xlwt.Formula("D2*2"))
    sheet.merge(8, 9, 0, 2)
    book.save(made)
    return made.getvalue()


def encrypted(content: bytes) -> bytes:
    """A workbook with the password that every program tries."""
    made = io.BytesIO()
    OOXMLFile(io.BytesIO(content)).encrypt("VelvetSweatshop", made)
    return made.getvalue()


def odd(content: bytes) -> bytes:
    """An .xlsx with its parts at the archive's root, and a <dimension> of whole rows: it is written anew to be read."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="1:4"', old.read(name))
            new.writestr(name.removeprefix("xl/"), part.replace(b'"xl/', b'"').replace(b'"/xl/', b'"/'))
    return made.getvalue()


def separated(rows: Sequence[Sequence[Any]], encoding: str, separator: str = ",") -> bytes:
    """The rows as a text."""
    made = io.StringIO(newline="")
    csv.writer(made, delimiter=separator).writerows(rows)
    return made.getvalue().encode(encoding)


def bases(folder: Path, converted: bool = True) -> dict[str, bytes]:
    """All kinds by their suffix and maker; .xls and .ods where LibreOffice is installed."""
    found = {
        "openpyxl.xlsx": by_openpyxl(),
        "odd.xlsx": odd(by_openpyxl()),
        "encrypted.xlsx": encrypted(by_xlsxwriter()),
        "xlwt.xls": by_xlwt(),
        **{path.name: path.read_bytes() for path in sorted(_FILES.iterdir())},
        "xlsxwriter.xlsx": by_xlsxwriter(),
        "made.xlsb": _small_xlsb(),
        "utf8.csv": separated(ROWS, "utf-8"),
        "gb18030.csv": separated(ROWS, "gb18030"),
        "utf16.tsv": separated(ROWS, "utf-16", "\t"),
    }
    if converted and shutil.which("soffice"):
        (folder / "base.xlsx").write_bytes(found["openpyxl.xlsx"])
        for suffix in ("xls", "ods"):
            subprocess.run(
                ["soffice", f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless",
                 "--convert-to", suffix, "--outdir", str(folder), str(folder / "base.xlsx")],
                check=True, capture_output=True, timeout=120,
            )  # fmt: skip
            found[f"libreoffice.{suffix}"] = (folder / f"base.{suffix}").read_bytes()
    return found
