"""What xlrd takes out of an .xls: values of every kind, in their places, whatever the file says of its code page."""

import datetime
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import olefile
import pytest
import xlwt
from xlwt.CompoundDoc import XlsDoc

from pipeline.model.errors import InputProblem
from pipeline.reading.input_files import read_sheets
from pipeline.reading.tickets import read_table

pytestmark = pytest.mark.usefixtures("read_here")


def made(path: Path, fill: Callable[[Any], object], **more: Any) -> Path:
    book = xlwt.Workbook(**more)
    fill(book.add_sheet("Tickets"))
    book.save(str(path))
    return path


def streamed(path: Path, change: Callable[[bytes], bytes]) -> Path:
    """The workbook with its records changed."""
    with olefile.OleFileIO(str(path)) as storage:
        stream = storage.openstream("Workbook").read()
    XlsDoc().save(str(path), change(stream))
    return path


def test_every_kind_of_value_is_as_from_other_workbooks(tmp_path: Path) -> None:
    formats = ["yyyy-mm-dd", "yyyy-mm-dd hh:mm", "hh:mm"]
    moments = [datetime.date(2026, 3, 5), datetime.datetime(2026, 3, 5, 14, 30), datetime.time(14, 30)]  # noqa: DTZ001

    def fill(sheet: Any) -> None:
        for at, cell in enumerate(["票号", 12.5, 7, True, False]):
            sheet.write(0, at, cell)
        for at, (shown, moment) in enumerate(zip(formats, moments, strict=True), start=5):
            sheet.write(0, at, moment, xlwt.easyxf(num_format_str=shown))
        sheet.row(0).set_cell_error(8, 42)
        sheet.write(0, 9, -5.0, xlwt.easyxf(num_format_str="yyyy-mm-dd"))

    (sheet,) = read_sheets(made(tmp_path / "t.xls", fill))
    assert list(sheet.rows) == [["票号", 12.5, 7.0, "TRUE", "FALSE", *moments, b"#N/A", -5.0]]
    assert type(sheet.rows[0][5]) is datetime.date


def test_a_table_far_down_and_to_the_right_has_its_places(tmp_path: Path) -> None:
    def fill(sheet: Any) -> None:
        sheet.write(70, 4, "金额")
        sheet.write(70, 3, "票号")
        sheet.write(71, 3, "9991234567890")
        sheet.write(73, 2, "x")
        sheet.write(73, 4, 5)

    path = made(tmp_path / "t.xls", fill)
    (sheet,) = read_sheets(path)
    assert (sheet.first_row, sheet.first_column) == (70, 2)
    assert list(sheet.rows) == [["", "票号", "金额"], ["", "9991234567890", ""], ["", "", ""], ["x", "", 5.0]]
    assert read_table([path]).frame["row"].tolist() == [72, 74]


def test_a_hidden_sheet_is_hidden(tmp_path: Path) -> None:
    book = xlwt.Workbook()
    for name, visibility in (("Tickets", 0), ("Old", 1), ("Older", 2), ("Empty", 1)):
        sheet = book.add_sheet(name)
        sheet.visibility = visibility
        if name != "Empty":
            sheet.write(0, 0, name)
    book.save(str(tmp_path / "t.xls"))
    shown = [(sheet.name, sheet.visible, sheet.height) for sheet in read_sheets(tmp_path / "t.xls")]
    assert shown == [("Tickets", True, 1), ("Old", False, 1), ("Older", False, 1), ("Empty", False, 0)]


@pytest.mark.parametrize("code_page", [0, 437, 936, 1252, 1999, 21010, 65001])
def test_texts_since_excel_97_are_read_whatever_the_code_page(tmp_path: Path, code_page: int) -> None:
    path = made(tmp_path / "t.xls", lambda sheet: sheet.write(0, 0, "票号"))
    utf_16 = struct.pack("<HHH", 0x42, 2, 1200)
    streamed(path, lambda stream: stream.replace(utf_16, struct.pack("<HHH", 0x42, 2, code_page)))
    assert list(read_sheets(path)[0].rows) == [["票号"]]


def test_cells_that_have_a_format_and_nothing_else_are_no_part_of_the_table(tmp_path: Path) -> None:
    def fill(sheet: Any) -> None:
        sheet.write(3, 2, "票号")
        for row, column in ((0, 0), (3, 0), (3, 200), (900, 2)):
            sheet.write(row, column, "", xlwt.easyxf("pattern: pattern solid"))

    (sheet,) = read_sheets(made(tmp_path / "t.xls", fill))
    assert (sheet.first_row, sheet.first_column, list(sheet.rows)) == (3, 2, [["票号"]])


def with_a_text_that_is_nowhere(stream: bytes) -> bytes:
    """The last text's number in the list of texts is beyond its end."""
    at = stream.rindex(struct.pack("<HH", 0xFD, 10))
    return stream[: at + 10] + struct.pack("<I", 9_999) + stream[at + 14 :]


def test_a_sheet_whose_records_make_no_sense_is_one_line(tmp_path: Path) -> None:
    path = made(tmp_path / "t.xls", lambda sheet: sheet.write(0, 0, "票号"))
    with pytest.raises(InputProblem, match="its records do not fit together"):
        read_sheets(streamed(path, with_a_text_that_is_nowhere))


def test_a_hidden_sheet_whose_records_make_no_sense_is_passed_over(tmp_path: Path) -> None:
    book = xlwt.Workbook()
    for name in ("Tickets", "Old"):
        book.add_sheet(name).write(0, 0, name)
    book.get_sheet(1).visibility = 1
    book.save(str(tmp_path / "t.xls"))
    shown, hidden = read_sheets(streamed(tmp_path / "t.xls", with_a_text_that_is_nowhere))
    assert list(shown.rows) == [["Tickets"]]
    assert (hidden.visible, hidden.height, hidden.hidden_tickets) == (False, 1, 0)
