"""Cells of a workbook written anew: those alone, whatever program wrote it; formulas keep their results, and charts stay."""

import datetime
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from pipeline.reporting.xlsx.edited_cells import edited_sheet, with_new_sheet, write_package

DAY_0 = datetime.date(1899, 12, 30)
SHEET = "xl/worksheets/sheet1.xml"
ROWS = '<row r="2" spans="1:2"><c r="A2" s="3"><v>1</v></c><c r="C2"/></row><row r="3"/><row r="5"><c r="B5" t="s"><v>0</v></c></row>'


def edited(rows: str, cells: Any, kept: Any = (), x: str = "") -> str:
    for tag in ("row", "c", "v", "f") if x else ():
        rows = rows.replace(f"<{tag}", f"<{x}{tag}").replace(f"</{tag}>", f"</{x}{tag}>")
    xml = (
        f'<{x}worksheet><{x}dimension ref="A1"/><{x}sheetData>{rows}</{x}sheetData><{x}after/></{x}worksheet>'
    )
    made, _ = edited_sheet(xml.encode(), cells, kept, DAY_0)
    text = made.decode()
    head, end = f"<{x}worksheet><{x}sheetData>", f"</{x}sheetData><{x}after/></{x}worksheet>"
    assert (text[: len(head)], text[-len(end) :]) == (head, end)
    return text[len(head) : -len(end)].replace(x, "") if x else text[len(head) : -len(end)]


def text(value: str) -> str:
    return f'<is><t xml:space="preserve">{value}</t></is>'


@pytest.mark.parametrize("x", ["", "x:"])
@pytest.mark.parametrize(
    ("cells", "changed"),
    [
        ({(2, 1): 1234.5}, ('<c r="A2" s="3"><v>1</v></c>', '<c r="A2" s="3"><v>1234.5</v></c>')),
        ({(2, 1): datetime.date(2026, 11, 1)}, ("<v>1</v>", "<v>46327</v>")),
        ({(2, 1): ""}, ('<c r="A2" s="3"><v>1</v></c>', '<c r="A2" s="3"/>')),
        ({(2, 3): "a<b"}, ('<c r="C2"/>', f'<c r="C2" t="inlineStr">{text("a&lt;b")}</c>')),
        # A new cell with a text looks like the one on its left, which a number does not.
        ({(2, 2): "n", (2, 4): 7}, (
            '<c r="C2"/>', f'<c r="B2" s="3" t="inlineStr">{text("n")}</c><c r="C2"/><c r="D2"><v>7</v></c>',
        )),
        ({(3, 2): 7}, ('<row r="3"/>', '<row r="3"><c r="B3"><v>7</v></c></row>')),
        ({(4, 1): 7}, ('<row r="5">', '<row r="4"><c r="A4"><v>7</v></c></row><row r="5">')),
        ({(5, 1): 7}, ('<row r="5">', '<row r="5"><c r="A5"><v>7</v></c>')),
        ({(9, 1): 8, (7, 1): 7}, ("<v>0</v></c></row>", (
            '<v>0</v></c></row><row r="7"><c r="A7"><v>7</v></c></row><row r="9"><c r="A9"><v>8</v></c></row>'
        ))),
    ],
)  # fmt: skip
def test_only_these_cells_change(cells: Any, changed: tuple[str, str], x: str) -> None:
    wanted = ROWS.replace(*changed)
    if 2 in {row for row, _ in cells}:
        wanted = wanted.replace(' spans="1:2"', "")
    assert edited(ROWS, cells, x=x) == wanted


def test_rows_and_cells_without_numbers_are_counted() -> None:
    rows = "<row><c><v>1</v></c><c/></row><row><c><v>2</v></c></row>"
    assert (
        edited(rows, {(1, 2): 5, (2, 1): 6})
        == '<row><c><v>1</v></c><c r="B1"><v>5</v></c></row><row><c r="A2"><v>6</v></c></row>'
    )


FORMULAS = (
    '<row r="1"><c r="C1"><f t="shared" ref="C1:C3" si="0">A1+$B$1</f><v>3</v></c></row>'
    '<row r="2"><c r="C2"><f t="shared" si="0"/><v>4</v></c></row><row r="3"><c r="C3"><f t="shared" si="0"/><v>5</v></c></row>'
    '<row r="4"><c r="C4"><f>SUM(C1:C3)</f><v>12</v></c></row>'
)


def test_formulas_that_share_one_that_is_gone_get_their_own_and_only_rows_that_are_read_keep_results() -> (
    None
):
    assert edited(FORMULAS, {(1, 3): 9}, kept={1, 2, 3}) == (
        '<row r="1"><c r="C1"><v>9</v></c></row><row r="2"><c r="C2"><f>A2+$B$1</f><v>4</v></c></row>'
        '<row r="3"><c r="C3"><f>A3+$B$1</f><v>5</v></c></row><row r="4"><c r="C4"><f>SUM(C1:C3)</f></c></row>'
    )
    _, gone = edited_sheet(f"<sheetData>{FORMULAS}</sheetData>".encode(), {(2, 3): 9, (2, 1): 1}, (), DAY_0)
    assert gone == ["C2"]


def test_a_formula_over_several_cells_is_not_broken_up() -> None:
    rows = '<row r="1"><c r="A1"><f t="array" ref="A1:A2">B1:B2</f><v>3</v></c></row><row r="2"><c r="A2"><v>4</v></c></row>'
    for cell in ((1, 1), (2, 1)):
        with pytest.raises(ValueError, match="A1:A2"):
            edited_sheet(f"<sheetData>{rows}</sheetData>".encode(), {cell: 9}, (), DAY_0)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as made:
        sheet = made.add_worksheet("票")
        sheet.write_row(0, 0, ["a", 1, 2])
        sheet.write_formula(1, 0, "=SUM(B1:C1)", None, 3)
        chart = made.add_chart({"type": "column"})
        chart.add_series({"values": "=票!$B$1:$C$1"})
        sheet.insert_chart("E2", chart)
    return path


def test_every_other_part_stays_byte_for_byte_and_formulas_that_are_gone_are_in_no_chain(book: Path) -> None:
    with_chain = book.with_name("chain.xlsx")
    with zipfile.ZipFile(book) as before, zipfile.ZipFile(with_chain, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            if name == "[Content_Types].xml":
                content = content.replace(
                    b"</Types>", b'<Override PartName="/xl/calcChain.xml" ContentType="x"/></Types>'
                )
            if name == "xl/_rels/workbook.xml.rels":
                content = content.replace(
                    b"</Relationships>",
                    b'<Relationship Id="c" Type="t" Target="calcChain.xml"/></Relationships>',
                )
            after.writestr(name, content)
        after.writestr("xl/calcChain.xml", b'<calcChain><c r="A2"/></calcChain>')
    made, finished = {SHEET: b"<worksheet/>"}, book.with_name("made.xlsx")
    write_package(with_chain, finished, made, formulas_gone=False)
    with zipfile.ZipFile(with_chain) as before, zipfile.ZipFile(finished) as after:
        assert after.namelist() == before.namelist()
        changed = {name for name in before.namelist() if before.read(name) != after.read(name)}
        assert changed == {SHEET, "xl/workbook.xml"}
        assert b"calcId" in before.read("xl/workbook.xml")
        assert b"calcId" not in after.read("xl/workbook.xml")
    write_package(with_chain, finished, made, formulas_gone=True)
    with zipfile.ZipFile(finished) as after:
        assert not any("calcChain" in name or b"calcChain" in after.read(name) for name in after.namelist())


def test_a_new_sheet_stands_at_the_end(book: Path) -> None:
    finished = book.with_name("made.xlsx")
    write_package(
        book, finished, with_new_sheet(book, "购买方 & Co", [["a", "b"], ["", "<c>"]]), formulas_gone=False
    )
    made = openpyxl.load_workbook(finished)
    assert made.sheetnames == ["票", "购买方 & Co"]
    assert [*made["购买方 & Co"].values] == [("a", "b"), (None, "<c>")]
