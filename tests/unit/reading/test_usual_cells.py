"""Long sheets taken out by column: the same cells as python-calamine lays out, or the sheet is odd and it lays them out."""

import io
import zipfile
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.reading.deserialize import loads
from pipeline.reading.formats import usual_workbook, workbook, zip_workbook
from pipeline.reading.formats.calamine import Workbook
from pipeline.reading.formats.columnar import Columns
from pipeline.reading.formats.refusal import Refusal
from pipeline.reading.formats.serialize import dumps
from pipeline.reading.formats.usual_cells import UsualCells
from pipeline.reading.formats.usual_workbook import UsualWorkbook
from pipeline.reading.formats.zip_package import Package
from pipeline.reading.sheet import Sheet

MAIN = usual_workbook._MAIN
FORMATS = ("General", "yyyy-mm-dd", "yyyy-mm-dd hh:mm", "[h]:mm", "0.00%", "hh:mm:ss", '"¥"#,##0.00')
TEXTS = (
    "<t>票号</t>", "<t>ZHANG/WEI MR</t>", '<t xml:space="preserve"> a  b </t>', "<t>a &amp; b &lt; c</t>", "<t></t>", "<t>9991234567890</t>",
    "<r><t>rich </t></r><r><rPr><b/></rPr><t>text</t></r>", "<t>one\r\ntwo _x000D_</t>", "<t>12.50</t>", "<t>#N/A</t>",
)  # fmt: skip
NUMBERS = (
    "0", "1", "-1", "100", "785.63", "0.1", "-0.05", "46301", "46301.75", "46301.3333333333", "9991234567890", "1234567.8", "12345678", "123456789",
    "0.30000000000000004", "1E-3", "1.5e+10", "0012", "2.5", "60", "0.5", "-3.25", "99999999999999999999",
)  # fmt: skip
HIDDEN = ' state="hidden"'
A_TEXT, A_NUMBER = '<c r="%s" t="s"><v>0</v></c>', '<c r="%s"><v>12.5</v></c>'
USUAL = f'<row r="1">{A_TEXT % "A1"}{A_NUMBER % "B1"}</row>'


def part_of_texts() -> str:
    return f"<sst {MAIN}>{''.join(f'<si>{text}</si>' for text in TEXTS)}</sst>"


def part_of_styles() -> str:
    named = enumerate(FORMATS, start=164)
    formats = "".join(
        f'<numFmt numFmtId="{at}" formatCode="{text.replace(chr(34), "&quot;")}"/>' for at, text in named
    )
    cells = "".join(f'<xf numFmtId="{at}" applyNumberFormat="1"/>' for at in range(164, 164 + len(FORMATS)))
    return f"<styleSheet {MAIN}><numFmts>{formats}</numFmts><cellXfs>{cells}</cellXfs></styleSheet>"


def book_of(*sheets: str, hidden: Sequence[int] = (), in_1904: bool = False) -> bytes:
    """An .xlsx whose sheets are these rows, or these whole sheets."""
    names = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name="S{at}" sheetId="{at}" r:id="rId{at}"{HIDDEN * (at in hidden)}/>' for at in names
    )
    relations = "".join(
        f'<Relationship Id="rId{at}" Type="{usual_workbook._TYPES}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        for at in names
    )
    of = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    root = f'<Relationship Id="rId1" Type="{usual_workbook._TYPES}/officeDocument" Target="xl/workbook.xml"/>'
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("_rels/.rels", f"<Relationships {of}>{root}</Relationships>")
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook {MAIN} xmlns:r="{usual_workbook._TYPES}"><workbookPr date1904="{str(in_1904).lower()}"/>'
            f"<sheets>{listed}</sheets></workbook>",
        )
        archive.writestr("xl/_rels/workbook.xml.rels", f"<Relationships {of}>{relations}</Relationships>")
        archive.writestr("xl/sharedStrings.xml", part_of_texts())
        archive.writestr("xl/styles.xml", part_of_styles())
        for at, rows in zip(names, sheets, strict=True):
            whole = f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"
            archive.writestr(f"xl/worksheets/sheet{at}.xml", rows if rows.startswith("<work") else whole)
    return made.getvalue()


def exact(sheet: Sheet) -> list[list[tuple[type, Any]]]:
    return [[(type(cell), repr(cell)) for cell in row] for row in sheet.rows]


def read(content: bytes, *, long: int, by_piece: bool = False) -> Any:
    """All that is handed over of a workbook, of which those of so many bytes are long; or why it is not read."""
    pieces = list[bytes]()

    def hand_over(parts: Any) -> int:
        pieces.append(b"".join(dumps({"piece": len(pieces), "columns": parts})))
        return len(pieces) - 1

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(zip_workbook, "LONG", long)
        patched.setattr(Columns, "hand_over", hand_over if by_piece else None)
        try:
            sheets = zip_workbook.sheets(content)
        except Refusal as refusal:
            return refusal.answer()
    answer = b"".join(dumps({"readings": [sheets], "certain": True, "detail": ""}))
    (found,) = loads([*pieces, answer])["readings"]
    handed_over = [Sheet.handed_over(sheet) for sheet in found]
    besides = [
        {**sheet, "columns": len(sheet["columns"]), "currencies": {sign: at.tolist() for sign, at in sheet["currencies"].items()}}
        for sheet in found
    ]  # fmt: skip
    return besides, [exact(sheet) for sheet in handed_over]


def is_usual(content: bytes) -> dict[str, bool]:
    """Which of the sheets that are shown are as usual."""
    book = UsualWorkbook(content)
    workbook.looks_of_xlsx(Package(content), False, book.cells_of)
    return {name: cells.usual for name, cells in book._cells.items()}


def letters(column: int) -> str:
    return (chr(64 + column // 26) if column >= 26 else "") + chr(65 + column % 26)


STYLE = st.sampled_from(["", *(f' s="{at}"' for at in range(len(FORMATS)))])
CELL = st.one_of(
    st.tuples(st.integers(0, len(TEXTS) - 1), STYLE).map(lambda of: f'{of[1]} t="s"><v>{of[0]}</v></c>'),
    st.tuples(st.sampled_from(NUMBERS), STYLE, st.sampled_from(["", ' t="n"'])).map(
        lambda of: f"{of[1]}{of[2]}><v>{of[0]}</v></c>"
    ),
    STYLE.map(lambda style: f"{style}/>"),
)
ROW = st.dictionaries(st.integers(0, 30), CELL, max_size=6)


@settings(deadline=None)
@given(st.dictionaries(st.integers(1, 1_200), ROW, max_size=12), st.booleans(), st.booleans())
def test_sheets_as_usual_come_out_by_column_as_they_are_laid_out(
    rows: dict[int, dict[int, str]], in_1904: bool, by_piece: bool
) -> None:
    text = ""
    for number, cells in sorted(rows.items()):
        made = "".join(f'<c r="{letters(at)}{number}"{cell}' for at, cell in sorted(cells.items()))
        text += f'<row r="{number}" spans="1:9">{made}</row>' if made else f'<row r="{number}" ht="15"/>'
    content = book_of(text, USUAL, in_1904=in_1904)
    assert read(content, long=0, by_piece=by_piece) == read(content, long=1 << 40)
    assert is_usual(content)["S1"] == ("<v>" in text)


PLAIN = ("ZHANG/WEI MR", "票号", "a  b", "", "12.50", "#N/A", "]]>", "x_000D_", "\u200b", "😀")
DECLARED = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'


def with_texts(part: bytes) -> bytes:
    """A workbook whose shared texts are this part, of which two stand on its sheet."""
    made, of = (
        io.BytesIO(),
        zipfile.ZipFile(io.BytesIO(book_of(USUAL.replace(A_NUMBER % "B1", A_TEXT % "B1")))),
    )
    with of, zipfile.ZipFile(made, "w") as archive:
        for name in of.namelist():
            archive.writestr(name, part if name == "xl/sharedStrings.xml" else of.read(name))
    return made.getvalue()


@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.parametrize("declared", ["", DECLARED])
def test_plain_shared_texts_are_what_they_look_like(text: str, declared: str) -> None:
    part = f'{declared}<sst {MAIN} count="2">\n<si><t>first</t></si><si><t>{text}</t></si>\n</sst>\n'.encode()
    assert usual_workbook._plain(part) == ["first", text]
    content = with_texts(part.replace(b"first", text.encode()))
    assert read(content, long=0) == read(content, long=1 << 40)


@pytest.mark.parametrize(
    "part",
    [
        *(f"<sst {MAIN}><si><t>a</t></si><si>{text}</si></sst>".encode() for text in (
            "<t>a &amp; b</t>", "<t> a</t>", "<t>a\u3000</t>", "<t>a\nb</t>", "<t>a\tb</t>", "<t>_x000D_b</t>", '<t xml:space="preserve">a</t>',
            "<r><t>a</t></r>", '<t>a</t><phoneticPr fontId="1"/>', "<t>a</t> ", "<t/>", "", "<t>a<!-- b --></t>", "<t>a</t></si> <si><t>b</t>",
        )),
        f'<?xml version="1.0" encoding="GBK"?><sst {MAIN}><si><t>a</t></si></sst>'.encode(),
        f"<x:sst {MAIN.replace('xmlns', 'xmlns:x')}><x:si><x:t>a</x:t></x:si></x:sst>".encode(),
        f"<sst {MAIN}></sst>".encode(), f"<sst {MAIN}><si><t>a</t></si>".encode(), f"<sst {MAIN}><si><t>\xff</t></si></sst>".encode("latin-1"), b"",
    ],
)  # fmt: skip
def test_other_shared_texts_are_read_by_python_calamine(part: bytes) -> None:
    assert usual_workbook._plain(part) is None
    content = with_texts(part)
    assert read(content, long=0) == read(content, long=1 << 40)


def row(cells: str, number: str = "1") -> str:
    return f'<row r="{number}">{cells}</row>'


ODD = {
    "formula": row('<c r="A1"><f>1+1</f><v>2</v></c>'),
    "error": row('<c r="A1" t="e"><v>#N/A</v></c>'),
    "checkbox": row('<c r="A1" t="b"><v>1</v></c>'),
    "text of a formula": row('<c r="A1" t="str"><v>x</v></c>'),
    "text in the cell": row('<c r="A1" t="inlineStr"><is><t>x</t></is></c>'),
    "day as text": row('<c r="A1" t="d"><v>2026-10-01</v></c>'),
    "value of nothing": row('<c r="A1"><v></v></c>'),
    "value of nothing, closed": row('<c r="A1"><v/></c>'),
    "cell of nothing": row('<c r="A1"></c>'),
    "spaces": row('<c r="A1"><v> 5 </v></c>'),
    "spaces are kept": row('<c r="A1"><v xml:space="preserve">5</v></c>'),
    "no number": row('<c r="A1"><v>abc</v></c>'),
    "no digits": row('<c r="A1"><v>-</v></c>'),
    "two points": row('<c r="A1"><v>1.2.3</v></c>'),
    "nothing behind the point": row('<c r="A1"><v>1.</v></c>'),
    "no exponent": row('<c r="A1"><v>1e</v></c>'),
    "a point and an exponent": row('<c r="A1"><v>-1.E0</v></c>'),
    "an exponent too long": row('<c r="A1"><v>1e1000</v></c>'),
    "a number of another kind": row('<c r="A1"><v>inf</v></c>'),
    "a character that XML has not": row('<c r="A1"><v>60\0</v></c>'),
    "an entity": row('<c r="A1"><v>&#53;</v></c>'),
    "no such text": row('<c r="A1" t="s"><v>99</v></c>'),
    "no number of a text": row('<c r="A1" t="s"><v>x</v></c>'),
    "a text's number too long": row('<c r="A1" t="s"><v>00000001</v></c>'),
    "three letters": row('<c r="AAA1"><v>1</v></c>'),
    "small letters": row('<c r="a1"><v>1</v></c>'),
    "another row's number": row('<c r="A2"><v>1</v></c>'),
    "a longer number": row('<c r="A11"><v>1</v></c>'),
    "no reference": row("<c><v>1</v></c>"),
    "no reference, but a style": row('<c s="1"><v>46301</v></c>'),
    "cells in another order": row('<c r="B1"><v>1</v></c><c r="A1"><v>2</v></c>'),
    "a cell twice": row('<c r="A1"><v>1</v></c><c r="A1"><v>2</v></c>'),
    "rows in another order": row('<c r="A2"><v>1</v></c>', "2") + row('<c r="A1"><v>2</v></c>'),
    "a row twice": row('<c r="A1"><v>1</v></c>') + row('<c r="A1"><v>2</v></c>'),
    "row beyond all": row('<c r="A1048577"><v>1</v></c>', "1048577"),
    "row zero": row('<c r="A0"><v>1</v></c>', "0"),
    "attributes in another order": row('<c r="A1" t="n" s="1"><v>46301</v></c>'),
    "another attribute": row('<c r="A1" cm="1"><v>1</v></c>'),
    "another mark": row("<c r='A1'><v>1</v></c>"),
    "style of many digits": row('<c r="A1" s="1000"><v>1</v></c>'),
    "style of none": row('<c r="A1" s=""><v>1</v></c>'),
    "style of letters": row('<c r="A1" s="x"><v>1</v></c>'),
    "two values": row('<c r="A1"><v>1</v><v>2</v></c>'),
    "a cell in a cell": row('<c r="A1"><c r="B1"><v>1</v></c></c>'),
    "between the rows": USUAL + '<c r="A2"><v>1</v></c>' + row('<c r="A3"><v>2</v></c>', "3"),
    "a row in a row": f'<row r="1">{USUAL}</row>',
    "another element": row('<c r="A1"><v>1</v></c><extLst/>'),
    "merged": f'<worksheet {MAIN}><sheetData>{USUAL}</sheetData><mergeCells count="1"><mergeCell ref="A1:A3"/></mergeCells></worksheet>',
    "cut off": f"<worksheet {MAIN}><sheetData>{USUAL}</sheetData>",
    "of another name": f'<x:worksheet xmlns:x="{MAIN[7:-1]}"><x:sheetData><x:row r="1"><x:c r="A1"><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>',
}  # fmt: skip


@pytest.mark.parametrize("said", ODD)
def test_what_is_not_as_usual_is_left_to_the_reader(said: str) -> None:
    content = book_of(ODD[said])
    assert read(content, long=0) == read(content, long=1 << 40)
    there = said == "no such text"  # which shows when the texts are there
    assert is_usual(content) == {"S1": there}


def test_a_sheet_that_reaches_far_beyond_what_it_holds_is_not_laid_out_here() -> None:
    odd = list[bool]()
    cells = UsualCells(lambda: odd.append(True))
    cells.take((row(A_NUMBER % "A1") + row(A_NUMBER % "ZZ1048576", "1048576")).encode())
    assert not odd
    cells.end(b"</sheetData></worksheet>")
    assert odd == [True]
    assert not cells.usual


def test_each_sheet_is_taken_out_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out = list[str]()
    content = book_of(USUAL, ODD["formula"], row(A_TEXT % "A1"), "", hidden=[3])
    expected = read(content, long=1 << 40)
    sheet = Workbook.sheet
    monkeypatch.setattr(Workbook, "sheet", lambda book, name: laid_out.append(name) or sheet(book, name))
    assert read(content, long=0) == expected
    assert "S2" in laid_out
    assert "S1" not in laid_out


def test_a_long_workbook_is_taken_out_by_column_and_a_short_one_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = list[bytes]()
    made = UsualWorkbook.__init__
    monkeypatch.setattr(
        UsualWorkbook, "__init__", lambda book, content: opened.append(content) or made(book, content)
    )
    monkeypatch.setattr(zip_workbook, "LONG", 4_000)
    long = book_of("".join(row(A_NUMBER % f"A{at}", f"{at}") for at in range(1, 121)))
    assert zip_workbook.sheets(long)[0]["height"] == 120
    assert opened == [long]
    assert zip_workbook.sheets(book_of(USUAL))[0]["height"] == 1
    assert opened == [long]
