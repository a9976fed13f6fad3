"""Cells merged over several rows: found in every format, said of each row, and never guessed where they are money."""

import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.table import Table
from pipeline.reading import bounded_child
from pipeline.reading.formats import xls_prescan, xlsb_prescan
from pipeline.reading.input_files import read_sheets
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble

pytestmark = pytest.mark.usefixtures("read_here")

HEAD = ["票号", "姓名", "票价", "机建", "发票抬头", "订单"]
ROWS: list[list[Any]] = [
    ["9991234567890", "A", 1000.0, 50.0, "甲公司", "O1"],
    ["9991234567891", "B", "", 50.0, "", ""],
]
BUYERS = [["购买方", "抬头名称", "抬头类型"], ["A", "甲公司", "企业"], ["B", "乙公司", ""]]


def _table(*merged: tuple[int, int, int, int], rows: list[list[Any]] = ROWS, first: int = 0) -> Table:
    sheet = Sheet.of_rows("S", [["title"], HEAD, *rows], first_row=first, first_column=first, merged=merged)
    return assemble([(Path("book.xlsx"), [sheet])])


# --- what they mean ------------------------------------------------------------------------------


def test_a_text_over_two_rows_is_that_of_both() -> None:
    frame = _table((2, 4, 3, 4)).frame
    assert frame["header_name"].tolist() == ["甲公司", "甲公司"]
    assert _table().frame["header_name"].tolist() == ["甲公司", ""]


def test_a_sheet_that_starts_elsewhere_has_its_merged_cells_where_they_stand() -> None:
    assert _table((7, 9, 8, 9), first=5).frame["header_name"].tolist() == ["甲公司", "甲公司"]


def test_an_amount_over_two_rows_is_refused_with_its_cells() -> None:
    with pytest.raises(
        InputProblem, match=r"book\.xlsx, sheet S: C3:C4 is one merged cell, and its amount “1000”"
    ):
        _table((2, 2, 3, 2))


@pytest.mark.parametrize("heading", ["币种", "Currency"])
def test_a_currency_over_several_rows_is_that_of_each(heading: str) -> None:
    rows = [
        [heading if at == 0 else said, *row]
        for at, (said, row) in enumerate([("", HEAD), ("USD", ROWS[0]), ("", ROWS[1]), ("", ROWS[1])])
    ]
    sheet = Sheet.of_rows("S", rows, merged=((1, 0, 2, 0),))
    (finding,) = assemble([(Path("book.xlsx"), [sheet])]).findings
    assert (finding.code, finding.facts["hint"], finding.rows.tolist()) == (
        "bad_amount",
        "currency_column",
        [0, 1],
    )


@pytest.mark.parametrize(("heading", "said"), [("发票号码", "25117000000012345678"), ("开票状态", "已开票")])
def test_what_says_that_several_rows_are_issued_says_it_of_each(heading: str, said: str) -> None:
    rows = [[*HEAD[:5], heading], [*ROWS[0][:5], said], ROWS[1], ROWS[1]]
    sheet = Sheet.of_rows("S", rows, merged=((1, 5, 2, 5),))
    found = assemble([(Path("book.xlsx"), [sheet])]).said_issued
    assert {name: told.tolist() for name, told in found.items()} == {heading: [True, True, False]}


@pytest.mark.parametrize(
    "merged",
    [
        (0, 0, 0, 5),  # a title
        (0, 2, 1, 2),  # a heading
        (1, 4, 3, 4),  # from a heading down
        (2, 5, 3, 5),  # a column that is carried through
        (3, 4, 4, 4),  # nothing in it
        (90, 0, 99, 0),
    ],
)
def test_what_is_merged_elsewhere_changes_nothing(merged: tuple[int, int, int, int]) -> None:
    assert _table(merged).cells.equals(_table().cells)


def test_tickets_of_two_merged_rows_each_are_one_row_each() -> None:
    rows = [ROWS[0], [""] * 6, ["9991234567891", "B", 900.0, 50.0, "乙公司", "O2"], [""] * 6]
    merged = [(top, column, top + 1, column) for top in (2, 4) for column in range(6)]
    table = _table(*merged, rows=rows)
    assert table.frame["row"].tolist() == [3, 5]
    assert table.frame["fare"].tolist() == [100000, 90000]


def test_a_cell_that_holds_something_of_its_own_under_a_merged_one_keeps_it() -> None:
    rows = [ROWS[0], [*ROWS[1][:4], "乙公司", ""]]
    assert _table((2, 4, 3, 4), rows=rows).frame["header_name"].tolist() == ["甲公司", "乙公司"]


def test_what_is_merged_among_buyers_is_said_of_each_of_them() -> None:
    buyers = Sheet.of_rows("B", BUYERS, merged=((1, 2, 2, 2),))
    table = assemble([(Path("book.xlsx"), [Sheet.of_rows("S", [HEAD, ROWS[0]]), buyers])])
    assert table.buyers["header_type"].tolist() == ["business", "business"]


# --- where they are found ------------------------------------------------------------------------


def _workbook(path: Path) -> Path:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in [["title"], HEAD, *ROWS]:
        sheet.append(row)
    sheet.merge_cells("A1:F1")
    sheet.merge_cells("E3:E4")
    book.save(path)
    return path


def test_merged_cells_of_an_xlsx_are_found_at_a_quick_look_and_at_an_exact_one(tmp_path: Path) -> None:
    path = _workbook(tmp_path / "t.xlsx")
    for exactly in (False, True):
        assert bounded_child.read(path, exactly)["readings"][0][0]["merged"] == [(2, 4, 3, 4)]


@pytest.mark.parametrize("suffix", ["xls", "ods"])
def test_merged_cells_of_older_and_open_workbooks_are_found(
    tmp_path: Path, converted: Any, suffix: str
) -> None:
    made = converted(_workbook(tmp_path / f"merged-{suffix}.xlsx"), suffix)
    assert read_sheets(made)[0].merged == [(2, 4, 3, 4)]
    assert assemble([(made, read_sheets(made))]).frame["header_name"].tolist() == ["甲公司", "甲公司"]


def test_merged_cells_of_an_xlsb_are_found() -> None:
    record = bytes([176 & 0x7F | 0x80, 176 >> 7, 16]) + struct.pack("<4I", 2, 3, 4, 4)
    assert xlsb_prescan.look(iter([record])).merged == [(2, 4, 3, 4)]


def test_merged_cells_of_an_xls_are_found_behind_a_chart_whose_numbers_are_no_cells() -> None:
    def record(number: int, content: bytes = b"") -> bytes:
        return struct.pack("<HH", number, len(content)) + content

    number = record(0x203, struct.pack("<HHHd", 900, 90, 0, 1.0))
    chart = record(0x809, b"\x00\x06\x20\x00") + number + record(0x0A)
    merged = record(0xE5, struct.pack("<H", 1) + struct.pack("<4H", 2, 3, 4, 4))
    sheet = record(0x809, b"\x00\x06\x10\x00") + chart + merged + record(0x0A)
    listed = record(0x85, struct.pack("<IBBBB", 8 + 13 + 4, 0, 0, 1, 0) + b"S")
    stream = record(0x809, b"\x00\x06\x05\x00") + listed + record(0x0A) + sheet
    (look,) = xls_prescan.Workbook(stream).looks.values()
    assert look.merged == [(2, 4, 3, 4)]
    assert look.filled == 0


def test_merged_cells_that_overlap_are_said_once_and_keep_nothing_from_being_read(tmp_path: Path) -> None:
    path = _workbook(tmp_path / "t.xlsx")
    made = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            many = b'<mergeCell ref="E3:E4"/>' * 50
            new.writestr(
                name,
                old.read(name)
                .replace(b'<mergeCell ref="E3:E4"/>', many)
                .replace(b'<mergeCell ref="E3:E4" />', many),
            )
    path.write_bytes(made.getvalue())
    (sheet,) = read_sheets(path)
    assert sheet.merged == [(2, 4, 3, 4)] * 50
    assert assemble([(path, [sheet])]).frame["header_name"].tolist() == ["甲公司", "甲公司"]


@pytest.mark.parametrize("suffix", ["xlsx", "xls", "ods"])
def test_tall_merged_boxes_beside_the_data_and_on_a_sheet_of_instructions_are_no_damage(
    tmp_path: Path, converted: Any, suffix: str
) -> None:
    """Boxes may be taller together than the sheet has cells, for it ends where its last text begins."""
    book = openpyxl.load_workbook(_workbook(tmp_path / "t.xlsx"))
    book.worksheets[0]["H1"], book.worksheets[0]["I1"] = "说明", "说明"
    book.worksheets[0].merge_cells("H1:H90")
    book.worksheets[0].merge_cells("I1:L90")
    cover = book.create_sheet("填写说明", 0)
    for top in (2, 7):
        for column in "AB":
            cover[f"{column}{top}"] = "请按说明填写"
            cover.merge_cells(f"{column}{top}:{column}{top + 5 - (top == 2)}")
    path = tmp_path / f"boxes-{suffix}.xlsx"
    book.save(path)
    if suffix != "xlsx":
        path = converted(path, suffix)
    assert assemble([(path, read_sheets(path))]).frame["header_name"].tolist() == ["甲公司", "甲公司"]


def test_cells_merged_twice_are_said_once_and_cost_no_more() -> None:
    """No program writes that; of a hostile file each row would be gone through for each of them."""
    rows = [[f"99912345{at:05}", "A", 1000.0, 50.0, "甲公司" if not at else "", ""] for at in range(2_000)]
    merged = [(2, 4, 2_001, 4)] + [(2 + at, 4, 2_001, 4) for at in range(1, 2_000)]
    table = _table(*merged, rows=rows)
    assert set(table.frame["header_name"]) == {"甲公司"}
