"""Rows and sheets that nobody sees who opens the file: the rows are read and counted, the sheets are told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.model.table import SheetRows
from pipeline.reading.formats import xlsb_prescan, xlsx_prescan
from pipeline.reading.input_files import read_sheets
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble, read_table

pytestmark = pytest.mark.usefixtures("read_here")

HEAD = ["ticket_no", "passenger_name", "amount"]


def rows(count: int) -> list[list[Any]]:
    return [[f"99900000000{n:02}", "ZHANG/WEI", 100 + n] for n in range(count)]


def filtered(path: Path) -> Path:
    """Ten tickets below a title, filtered down to four, with a total; a hidden row of nothing, and three sheets beside it."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "S"
    for line in (["October"], [], HEAD, *rows(10), ["Total", None, 1045]):
        sheet.append(line)
    sheet.auto_filter.ref = "A3:C13"
    for hidden in (1, 4, 5, 6, 9, 12, 13, 14, 20):
        sheet.row_dimensions[hidden].hidden = True
    sheet.column_dimensions["B"].hidden = True
    for name, lines in (("Old", [HEAD, *rows(3)]), ("Lists", [["domestic"], ["international"]])):
        book.create_sheet(name).sheet_state = "hidden"
        for line in lines:
            book[name].append(line)
    book.save(path)
    return path


FOUND = (SheetRows("t", "Old", 0, 3, hidden_sheet=True), SheetRows("t", "S", 10, 6))


def told(path: Path) -> tuple[SheetRows, ...]:
    found = read_table([path]).sheets
    return tuple(SheetRows("t", s.sheet, s.rows, s.hidden_rows, s.hidden_sheet) for s in found)


def test_rows_that_are_filtered_out_are_read_and_counted(tmp_path: Path) -> None:
    table = read_table([filtered(tmp_path / "t.xlsx")])
    assert len(table) == 10
    assert told(tmp_path / "t.xlsx") == FOUND
    assert tuple(map(str, table.warnings)) == (
        "t.xlsx: sheet Old is hidden and was not read, though 3 of its rows hold ticket numbers; show it if they are to be issued",
        "t.xlsx, sheet S: hidden or filtered out in the file, and read all the same: 6 of 10 rows",
    )
    assert str(table.notes[0]) == "t.xlsx: sheet Lists is hidden and was not read"


@pytest.mark.parametrize("suffix", ["ods", "xls", "xlsx"])
def test_in_every_format_that_says_it(
    tmp_path: Path, converted: Callable[[Path, str], Path], suffix: str
) -> None:
    assert told(converted(filtered(tmp_path / f"filtered-{suffix}.xlsx"), suffix)) == FOUND


@pytest.mark.parametrize(
    "row",
    [
        '<row r="2" hidden="1">', "<row hidden='true' spans=\"1:3\" r='2' ht=\"0\">", '<x:row r="2" hidden="1">',
        '<row\tr="2"\thidden="1">',
    ],
)  # fmt: skip
@pytest.mark.parametrize("exactly", [False, True])
def test_a_row_of_an_xlsx_is_hidden_however_that_is_spelt(row: str, exactly: bool) -> None:
    x = "x:" if row.startswith("<x:") else ""
    text = (
        f'<{x}worksheet xmlns:x="x"><{x}cols><{x}col min="1" max="1" hidden="1"/></{x}cols><{x}sheetData>'
        f'<{x}row r="1"><{x}c r="A1"><{x}v>1</{x}v></{x}c></{x}row>'
        f'{row}<{x}c r="A2"><{x}v>1</{x}v></{x}c></{x}row>'
        f'<{x}row r="3" hidden="0"><{x}c r="A3" t="inlineStr"><{x}is><{x}t> hidden="1"</{x}t></{x}is></{x}c></{x}row>'
        f"</{x}sheetData></{x}worksheet>"
    )
    assert xlsx_prescan.look(lambda: iter([text.encode()]), exactly).hidden == [(1, 1)]


def test_a_row_of_an_xlsb_is_hidden_where_its_record_says_so() -> None:
    def row(number: int, flags: int) -> bytes:
        record = number.to_bytes(4, "little") + bytes(6) + bytes([0, flags]) + bytes(5)
        cell = bytes(8) + b"\x00\x00\x00\x00"
        return bytes([0, len(record)]) + record + bytes([2, len(cell)]) + cell

    content = row(0, 0x07) + row(1, 0x10) + row(2, 0x30) + row(4, 0x18) + row(5, 0x2F)
    assert xlsb_prescan.look(iter([content])).hidden == [(1, 2), (4, 4)]


def test_a_hidden_sheet_that_reaches_too_far_is_counted_if_it_can_be(tmp_path: Path) -> None:
    path = filtered(tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(path)
    book["Old"]["XFD1048576"] = "far away"
    book.save(path)
    assert told(path) == FOUND
    for row in range(1, 1_048_576, 1_001):
        book["Old"].cell(row, 16_384, "x")
    book.save(path)
    table = read_table([path])
    assert [sheet.sheet for sheet in table.sheets] == ["S"]
    assert "t.xlsx: sheet Old is hidden and was not read" in map(str, table.notes)


def test_the_counts_are_of_rows_wherever_the_sheet_begins(tmp_path: Path) -> None:
    sheet = Sheet.of_rows("S", [HEAD, *rows(4)], first_row=10, hidden_rows=[(0, 10), (12, 12), (14, 99)])
    assert assemble([(tmp_path / "t.xlsx", [sheet])]).sheets == (SheetRows("t.xlsx", "S", 4, 2),)


def test_no_more_than_one_cell_of_a_hidden_sheet_is_handed_over(tmp_path: Path) -> None:
    hidden = {sheet.name: sheet for sheet in read_sheets(filtered(tmp_path / "t.xlsx"))}["Old"]
    assert (list(hidden.rows), hidden.hidden_tickets) == ([["…"]], 3)
