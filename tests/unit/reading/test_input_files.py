"""Files: which are read, what is said of those that can't be, and how each format comes in."""

# ruff: noqa: DTZ001 - a spreadsheet's dates have no time zone

import datetime
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from pipeline.model.errors import InputProblem
from pipeline.model.table import Table
from pipeline.reading.input_files import read_sheets, workbook_files
from pipeline.reading.tickets import read_table

HEAD = ["ticket_no", "passenger_name", "charge", "amount", "flight_date"]
ROW = ["9991234567890", "A", "refund", "12.50", "2026-03-05"]


def assert_problem(path: Path, *, of: Callable[[Path], Any] = lambda path: read_table([path])) -> str:
    with pytest.raises(InputProblem) as problem:
        of(path)
    text = str(problem.value)
    assert str(path) in text
    assert "\n" not in text
    assert problem.value.exit_code == 2
    return text


# --- which files ---------------------------------------------------------------------------------


def test_a_folder_gives_its_workbooks_in_order_without_results_and_lock_files(tmp_path: Path) -> None:
    names = ["b.xlsx", "a.CSV", "c.xls", "d.ods", "e.xlsb", "f.tsv"]
    others = [
        "a.result.xlsx", "b.2.result.xlsx", "C.RESULT.XLSX", "a.reconciliation.xlsx", "a.2.Reconciliation.xlsx",
        "a.reconciliation.2.xlsx", "reconciliation.xlsx", "reconciliation.12.xlsx", "carrier.statement.csv", "~$b.xlsx", ".~lock.b.xlsx", "readme.txt", "y.pdf",
    ]  # fmt: skip
    for name in (*names, *others):
        (tmp_path / name).write_text("x")
    (tmp_path / "folder.xlsx").mkdir()
    assert [path.name for path in workbook_files([tmp_path])] == sorted(names)


def test_what_a_folder_holds_and_is_not_read_is_named_in_short(tmp_path: Path) -> None:
    for name in ("a.xlsx", "july.et", "august.xlsx.bak", "september", "note.txt"):
        (tmp_path / name).write_text("x")
    for name in ("may", "b.xlsx"):
        (tmp_path / name).mkdir()
    told: list[object] = []
    assert [path.name for path in workbook_files([tmp_path], told.append)] == ["a.xlsx"]
    assert [*map(str, told)] == [
        f"{tmp_path}: what is no workbook is not read (august.xlsx.bak, july.et, note.txt and 1 more); save what holds tickets as .xlsx",
        f"{tmp_path}: the folders in it are not looked into (b.xlsx, may); put what is to be read into {tmp_path} itself, or give such a folder by itself",
    ]


def test_of_what_lies_beside_workbooks_in_an_office_nothing_is_said(tmp_path: Path) -> None:
    for name in (
        "a.xlsx", "a.result.xlsx", "a.reconciliation.xlsx", "~$a.xlsx", ".~lock.a.xlsx#", "~$letter.docx", ".DS_Store", "Thumbs.db", "desktop.ini",
        "carrier.toml", "report.json", "voucher.log", "x.ledger", "x.ledger-wal", "x.ledger-shm", "x.ledger.lock", "x.ledger.statement.csv",
        "x.ledger.version-3", "Invoice.PDF", "ticket.ofd", "letter.docx", "scan.jpg",
    ):  # fmt: skip
        (tmp_path / name).write_text("x")
    (tmp_path / ".git").mkdir()
    told: list[object] = []
    assert [path.name for path in workbook_files([tmp_path], told.append)] == ["a.xlsx"]
    assert told == []


def test_a_result_that_is_named_itself_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.result.xlsx"
    path.write_text("x")
    assert workbook_files([path]) == [path]


def test_a_file_given_twice_is_read_once(tmp_path: Path) -> None:
    path, link = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text("x")
    link.symlink_to(path)
    assert workbook_files([path, tmp_path, tmp_path / ".." / tmp_path.name / "a.csv"]) == [path]


def test_files_keep_the_order_in_which_they_are_given(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("z.csv", "a.csv")]
    for path in paths:
        path.write_text("x")
    assert workbook_files(paths) == paths


@pytest.mark.parametrize(
    ("name", "make", "said"),
    [
        ("missing.xlsx", None, "no such file"),
        ("tickets.pdf", "file", ".xlsx"),
        ("tickets.xlsm", "file", ".xlsx"),
        ("tickets", "file", ".xlsx"),
        ("folder", "folder", "no workbook"),
    ],
)
def test_what_is_no_workbook_is_refused_by_name(
    tmp_path: Path, name: str, make: str | None, said: str
) -> None:
    path = tmp_path / name
    if make == "file":
        path.write_text("x")
    if make == "folder":
        path.mkdir()
        (path / "a.result.xlsx").write_text("x")
    assert said in assert_problem(path, of=lambda path: workbook_files([path]))


def test_a_name_that_the_file_system_refuses_is_a_problem_with_the_input(tmp_path: Path) -> None:
    assert_problem(tmp_path / f"{'a' * 300}.xlsx", of=lambda path: workbook_files([path]))


# --- what can't be read --------------------------------------------------------------------------


def _compound_file(*names: str) -> bytes:
    """An OLE compound file with empty streams of these names: what an encrypted .xlsx is inside."""
    free, end, fat = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    header = struct.pack(
        "<8s16sHHHHH6s9I109I",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"", 0, 1, 1, 0, 4096, end, 0, end, 0,
        0, *[free] * 108,
    )  # fmt: skip

    def entry(name: str, kind: int, right: int, child: int, start: int) -> bytes:
        text = (name + "\0").encode("utf-16-le") if name else b""
        return struct.pack(
            "<64sHBBIII16sIQQIQ", text, len(text), kind, 1, free, right, child, b"", 0, 0, 0, start, 0
        )  # fmt: skip

    entries = entry("Root Entry", 5, free, 1, end)
    for number, name in enumerate(names, start=1):
        entries += entry(name, 2, number + 1 if number < len(names) else free, free, end)
    return header + struct.pack("<128I", fat, end, *[free] * 126) + entries.ljust(512, b"\0")


def _locked_ods(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "META-INF/manifest.xml",
            '<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            '<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry>'
            "</manifest:manifest>",
        )
        archive.writestr("content.xml", b"\x93\x11")


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_a_workbook_with_a_password_is_told_so(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"locked.{suffix}"
    if suffix == "ods":
        _locked_ods(path)
    else:
        path.write_bytes(_compound_file("EncryptionInfo", "EncryptedPackage"))
    assert "password" in assert_problem(path)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.xlsx", b"", "empty"),
        ("a.csv", b" \r\n\r\n", "empty"),
        ("a.xlsx", b"PK\x03\x04 and then nothing of a workbook", "can't be read as a workbook"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600, "can't be read as a workbook"),
        ("a.xlsx", bytes(range(128, 256)) * 9, "can't be read|not UTF-8"),
        ("a.xls", b"<html><table><tr><td>ticket_no</td></tr></table></html>", "web page"),
        ("a.csv", b"\xef\xbb\xbf\n<!DOCTYPE html><p>Please log in</p>", "web page"),
        ("a.xls", b'<?xml version="1.0"?><Workbook/>', "web page"),
        ("a.xls", b"  <!-- made by a portal --><html>", "web page"),
        ("a.xls", "<html><table>票号</table></html>".encode("utf-16"), "web page"),
        ("a.xls", b"MIME-Version: 1.0\r\nContent-Type: multipart/related", "web page"),
        (
            "a.xls",
            b'<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>',
            "XML Spreadsheet 2003",
        ),
        ("a.xlsx", b"%PDF-1.7 ...", "is a PDF document, not a workbook"),
        ("a.xls", b"\x09\x04\x06\x00\x00\x00\x10\x00", "Excel file from before 1997"),
        (
            "a.csv",
            "ticket_no,passenger_name\n9991234567890,张伟\n".encode("gb18030"),
            "it is not UTF-8 (byte 40), and nothing that is known in it tells whether it is GB18030 or Big5; save it as",
        ),
        ("a.csv", "票号,金额\n9991234567890,1\n".encode("gb18030") + b"\xff\xff", "not UTF-8"),
        ("a.csv", "ticket_no,amount\n9991234567890,1\n".encode("utf-16") + b"\x00", "breaks off at byte"),
        ("a.csv", b"ticket_no,amount\n\x00,1\n", "NUL"),
        ("a.xlsx", b"\x91\x00\xff\x07" * 600, "NUL"),
        (
            "a.csv",
            b'ticket_no,amount\n"9991234567890,1\n',
            "its quotes and commas do not fit together in line 2",
        ),
        (
            "a.csv",
            b'ticket_no,amount\n"999"1234567890,1\n',
            "its quotes and commas do not fit together in line 2",
        ),
        (
            "a.csv",
            b"ticket_no,amount\n" + b"9" * 1_000_001,
            "a cell in line 2 of it is longer than a cell can be",
        ),
        ("a.csv", b"ticket_no,amount\n", "no rows"),
    ],
)
def test_a_file_that_can_t_be_read_is_told_with_its_cure(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    text = assert_problem(path)
    assert any(part in text for part in said.split("|")), text


@pytest.mark.parametrize("kept", [4, 30, 0.5, 0.9, 0.999])
def test_a_truncated_workbook_is_damaged(tmp_path: Path, write_openpyxl: Any, kept: float) -> None:
    whole = write_openpyxl(tmp_path / "whole.xlsx", {"S": [HEAD, ROW]}).read_bytes()
    path = tmp_path / "cut.xlsx"
    path.write_bytes(whole[: int(kept if kept > 1 else len(whole) * kept)])
    assert "can't be read as a workbook" in assert_problem(path)


def test_a_workbook_with_a_spoilt_sheet_is_damaged_and_gives_no_rows(
    tmp_path: Path, write_openpyxl: Any
) -> None:
    whole = write_openpyxl(tmp_path / "whole.xlsx", {"S": [HEAD, ROW, ["9991234567891", *ROW[1:]]]})
    path = tmp_path / "spoilt.xlsx"
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(path, "w") as new:
        for item in old.namelist():
            content = old.read(item)
            new.writestr(item, content[: len(content) // 2] if item.endswith("sheet1.xml") else content)
    assert "can't be read as a workbook" in assert_problem(path)


def test_another_office_document_is_no_workbook(tmp_path: Path) -> None:
    path = tmp_path / "letter.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<document/>")
    assert "is a text document, not a workbook" in assert_problem(path)


def test_workbooks_packed_in_an_archive_are_to_be_unpacked(tmp_path: Path, write_openpyxl: Any) -> None:
    path = tmp_path / "month.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(write_openpyxl(tmp_path / "a.xlsx", {"S": [HEAD, ROW]}), "a.xlsx")
    assert "unpack them" in assert_problem(path)


def test_a_folder_or_a_missing_file_is_no_traceback_when_it_vanishes_before_reading(tmp_path: Path) -> None:
    assert "can't be read" in assert_problem(tmp_path / "gone.xlsx", of=read_sheets)


@pytest.mark.slow
def test_one_far_away_cell_does_not_take_the_machine_s_memory(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0]["A1"] = "ticket_no"
    book.worksheets[0]["XFD1048576"] = "x"
    path = tmp_path / "far.xlsx"
    book.save(path)
    assert "headings of tickets" in assert_problem(path)
    book.worksheets[0]["XFD1048576"] = "9991234567890"
    book.save(path)
    text = assert_problem(path)
    assert "reaches to row 1048576 and column XFD for 2 filled cells" in text
    assert "Ctrl+End" in text


@pytest.mark.slow
def test_braces_in_a_file_s_name_do_no_harm(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0]["A1"] = book.worksheets[0]["XFD1048576"] = "x"
    path = tmp_path / "tickets {march}.xlsx"
    book.save(path)
    assert_problem(path)


# --- CSV -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_csv_file_in_utf_8_is_read_with_and_without_its_mark(
    tmp_path: Path, write_csv: Any, encoding: str
) -> None:
    path = write_csv(
        tmp_path / "t.csv", [["票号", "旅客姓名", "金额"], ["0012345678901", "张伟", "¥1,234.50"]], encoding
    )
    table = read_table([path])
    assert table.frame["ticket_no"].tolist() == ["0012345678901"]
    assert table.frame["passenger_name"].tolist() == ["张伟"]
    assert table.frame["amount"].tolist() == [123_450]
    assert table.frame[["file", "sheet", "row"]].to_numpy().tolist() == [["t.csv", "t", 2]]


def test_a_quoted_line_break_is_part_of_its_cell_and_rows_are_counted_as_the_spreadsheet_does(
    tmp_path: Path, write_csv: Any
) -> None:
    rows = [["October\nTickets", ""], [], HEAD, ["9991234567890", 'A "B", C\r\nD', "refund", "1", ""], ROW]
    table = read_table([write_csv(tmp_path / "t.csv", rows)])
    assert table.frame["passenger_name"].tolist() == ['A "B", C\r\nD', "A"]
    assert table.frame["row"].tolist() == [4, 5]


@pytest.mark.parametrize("line", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way(tmp_path: Path, line: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(line.join([",".join(HEAD), ",".join(ROW), ""]).encode())
    assert read_table([path]).frame["row"].tolist() == [2]


def test_texts_of_a_csv_file_are_not_taken_for_numbers_or_for_nothing(tmp_path: Path, write_csv: Any) -> None:
    names = ["NA", "None", "NULL", "nan", "0123", "1e5", "TRUE", "-"]
    rows = [[f"99912345678{n:02}", name] for n, name in enumerate(names)]
    table = read_table([write_csv(tmp_path / "t.csv", [["ticket_no", "passenger_name", "po"], *rows])])
    assert table.frame["passenger_name"].tolist() == names
    assert table.cells["po"].tolist() == [""] * len(names)


# --- spreadsheets --------------------------------------------------------------------------------


def assert_month_is_read(table: Table, file: str) -> None:
    frame = table.frame
    assert frame[["file", "sheet", "row"]].to_numpy().tolist() == [
        [file, "October", row] for row in (4, 5, 7)
    ]
    assert frame["ticket_no"].tolist() == ["9991234567890", "9991234567891", "9991234567892"]
    assert frame["passenger_name"].tolist() == ["ZHANG/WEI MR", "NA", "LI/LEI"]
    assert frame["charge"].tolist() == ["ticket_fare", "ticket_fare", "refund"]
    assert frame["amount"].tolist() == [123_450, 100_000, 30]
    assert [str(day.date()) for day in frame["flight_date"]] == ["2026-10-01", "2026-10-02", "2026-10-03"]
    assert frame["market"].tolist() == ["domestic", "domestic", "international"]
    assert table.cells["cost centre"].tolist() == ["C-1", "0123", ""]
    assert table.findings == ()
    assert table.buyers[["buyer", "tax_no"]].to_numpy().tolist() == [["ACME", "110108600037341"]]


BUYERS = [["购买方", "抬头名称", "税号"], ["ACME", "ACME Ltd", "110108600037341"]]


def test_a_month_made_by_openpyxl_is_read(
    tmp_path: Path, write_openpyxl: Any, month: list[list[Any]]
) -> None:
    path = write_openpyxl(tmp_path / "m.xlsx", {"October": month, "Buyers": BUYERS})
    assert_month_is_read(read_table([path]), "m.xlsx")


def test_a_month_made_by_xlsxwriter_is_read(
    tmp_path: Path, write_xlsxwriter: Any, month: list[list[Any]]
) -> None:
    path = write_xlsxwriter(tmp_path / "m.xlsx", {"October": month, "Buyers": BUYERS})
    assert_month_is_read(read_table([path]), "m.xlsx")


@pytest.mark.parametrize("suffix", ["xlsx", "xls", "ods"])
def test_a_month_saved_by_libreoffice_is_read(
    tmp_path: Path,
    write_openpyxl: Any,
    month: list[list[Any]],
    converted: Any,
    suffix: str,
) -> None:
    made = converted(write_openpyxl(tmp_path / "month.xlsx", {"October": month, "Buyers": BUYERS}), suffix)
    assert_month_is_read(read_table([made]), f"month.{suffix}")


def test_a_file_is_known_by_its_content_and_not_by_its_suffix(
    tmp_path: Path, write_openpyxl: Any, month: list[list[Any]]
) -> None:
    path = write_openpyxl(tmp_path / "m.xlsx", {"October": month, "Buyers": BUYERS})
    assert_month_is_read(read_table([path.rename(tmp_path / "m.csv")]), "m.csv")


def test_data_that_starts_at_c5_gives_the_rows_that_the_spreadsheet_shows(
    tmp_path: Path, write_openpyxl: Any
) -> None:
    path = write_openpyxl(
        tmp_path / "t.xlsx", {"S": [["title"], [*HEAD, "po"], [*ROW, "7"], [], [*ROW, "8"]]}, at=(5, 3)
    )
    table = read_table([path])
    assert table.frame["row"].tolist() == [7, 9]
    assert table.cells["po"].tolist() == ["7", "8"]


def test_two_headings_are_named_by_the_cells_that_the_spreadsheet_shows(
    tmp_path: Path, write_openpyxl: Any
) -> None:
    path = write_openpyxl(tmp_path / "t.xlsx", {"S": [[*HEAD, "票号"], ROW]}, at=(5, 3))
    text = assert_problem(path)
    assert "C5" in text
    assert "H5" in text


def test_ticket_numbers_kept_as_numbers_are_exact_or_refused(tmp_path: Path, write_xlsxwriter: Any) -> None:
    numbers = [9991234567890, 1234567890123, 991234567890, 9991234567890123]
    path = write_xlsxwriter(tmp_path / "t.xlsx", {"S": [["ticket_no", "amount"], *([n, 1] for n in numbers)]})
    table = read_table([path])
    assert table.frame["ticket_no"].tolist() == ["9991234567890", "1234567890123", "", ""]
    (finding,) = table.findings
    assert finding.rows.tolist() == [2, 3]
    assert finding.facts["hint"] == ["lost_zero", "spoilt_number"]


@pytest.mark.parametrize("number_format", ["yyyy-mm-dd", "m/d/yy", "[$-804]yyyy年m月d日", 14, 31, 57])
def test_a_date_cell_is_its_day_in_any_format(tmp_path: Path, number_format: str | int) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("S")
        sheet.write_row(0, 0, ["ticket_no", "flight_date"])
        sheet.write_string(1, 0, "9991234567890")
        sheet.write_number(1, 1, 46082, book.add_format({"num_format": number_format}))
    table = read_table([path])
    assert table.findings == ()
    assert str(table.frame["flight_date"][0].date()) == "2026-03-01"


def test_a_number_without_a_date_s_format_is_no_date(tmp_path: Path, write_xlsxwriter: Any) -> None:
    path = write_xlsxwriter(
        tmp_path / "t.xlsx", {"S": [["ticket_no", "flight_date"], ["9991234567890", 46082]]}
    )
    (finding,) = read_table([path]).findings
    assert finding.code == "bad_date"


def test_a_workbook_with_the_1904_calendar_has_its_own_days(tmp_path: Path) -> None:
    path = tmp_path / "mac.xlsx"
    with xlsxwriter.Workbook(str(path), {"date_1904": True}) as book:
        sheet = book.add_worksheet("S")
        sheet.write_row(0, 0, ["ticket_no", "flight_date"])
        sheet.write_string(1, 0, "9991234567890")
        sheet.write_datetime(
            1, 1, datetime.datetime(2026, 3, 5), book.add_format({"num_format": "yyyy-mm-dd"})
        )
    assert str(read_table([path]).frame["flight_date"][0].date()) == "2026-03-05"


def test_formulas_count_by_their_results_and_a_checkbox_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("S")
        sheet.write_row(0, 0, ["ticket_no", "amount", "fare"])
        sheet.write_string(1, 0, "9991234567890")
        sheet.write_formula(1, 1, "=0.1+0.2", None, 0.1 + 0.2)
        sheet.write_boolean(1, 2, True)
        sheet.write_row(2, 0, ["9991234567891", 5, 1])  # 1 == True, where Python compares them
    table = read_table([path])
    assert table.frame["amount"].tolist() == [30, 500]
    assert table.frame["fare"].tolist() == [0, 100]
    assert [(f.code, f.column, f.rows.tolist()) for f in table.findings] == [("bad_amount", "fare", [0])]


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_hidden_sheet_of_a_real_workbook_is_not_read(
    tmp_path: Path, write_openpyxl: Any, state: str
) -> None:
    path = write_openpyxl(tmp_path / "t.xlsx", {"S": [HEAD, ROW], "Old": [HEAD, ["9990000000000", *ROW[1:]]]})
    book = openpyxl.load_workbook(path)
    book["Old"].sheet_state = state
    book.save(path)
    table = read_table([path])
    assert table.frame["ticket_no"].tolist() == ["9991234567890"]
    assert tuple(map(str, table.notes)) == ()
    (warning,) = map(str, table.warnings)
    assert warning.startswith("t.xlsx: sheet Old is hidden and was not read, though 1 of its rows hold")


def test_hidden_rows_and_columns_are_read(tmp_path: Path, write_openpyxl: Any) -> None:
    # A filter hides rows; who sends the workbook means them all, and the plan shows how many there are.
    path = write_openpyxl(tmp_path / "t.xlsx", {"S": [HEAD, ROW, ["9991234567891", *ROW[1:]]]})
    book = openpyxl.load_workbook(path)
    book["S"].row_dimensions[3].hidden = True
    book.save(path)
    assert len(read_table([path])) == 2


def test_several_files_make_one_table_and_one_bad_file_none(
    tmp_path: Path, write_openpyxl: Any, write_csv: Any
) -> None:
    first = write_openpyxl(tmp_path / "a.xlsx", {"S": [HEAD, ROW]})
    second = write_csv(tmp_path / "b.csv", [HEAD, ["9991234567891", *ROW[1:]]])
    assert read_table([first, second]).frame["file"].tolist() == ["a.xlsx", "b.csv"]
    bad = tmp_path / "c.csv"
    bad.write_bytes(b"")
    assert "empty" in assert_problem(bad, of=lambda bad: read_table([first, bad]))


def test_a_buyers_file_is_read_like_any_workbook(tmp_path: Path, write_openpyxl: Any) -> None:
    tickets = write_openpyxl(tmp_path / "t.xlsx", {"S": [HEAD, ROW]})
    buyers = write_openpyxl(tmp_path / "buyers.xlsx", {"购买方信息": BUYERS})
    assert read_table([tickets], buyers).buyers["buyer"].tolist() == ["ACME"]


def test_a_damaged_buyers_file_is_told_by_its_own_name(tmp_path: Path, write_openpyxl: Any) -> None:
    tickets = write_openpyxl(tmp_path / "t.xlsx", {"S": [HEAD, ROW]})
    path = tmp_path / "buyers.xlsx"
    path.write_bytes(b"PK\x03\x04")
    assert "can't be read" in assert_problem(path, of=lambda path: read_table([tickets], path))


@pytest.mark.parametrize("kind", ["macro workbook", "broken link", "pipe"])
def test_a_folder_says_what_it_would_have_to_leave_out(tmp_path: Path, kind: str) -> None:
    (tmp_path / "a.csv").write_text("x")
    if kind == "broken link":
        (tmp_path / "b.xlsx").symlink_to(tmp_path / "gone.xlsx")
    elif kind == "pipe":
        os.mkfifo(tmp_path / "b.xlsx")
    else:
        (tmp_path / "b.xlsm").write_text("x")
    assert "b.xls" in assert_problem(tmp_path, of=lambda path: workbook_files([path]))


def test_rows_that_a_stray_quotation_mark_takes_into_a_cell_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"999123456789{at},LI/LEI,100,used,PO {at}" for at in range(5)]
    harmless = [*rows[:4], '9991234567894,LI/LEI,100,used,"with\n9991234567899, the other one"']
    swallowed = [rows[0], rows[1].replace("PO", '"PO'), rows[2], rows[3] + '"', rows[4]]
    for lines in (harmless, swallowed):
        path.write_text(
            "\n".join(["ticket_no,passenger_name,amount,ticket_status,remarks", *lines]), encoding="utf-8"
        )
        if lines is harmless:
            assert read_sheets(path)[0].height == 6
    with pytest.raises(InputProblem, match=r"lines 3 to 5 one cell, E3, .* take that quotation mark"):
        read_sheets(path)
