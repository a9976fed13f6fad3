"""What tests of the reader share: small files made on the spot."""

import csv
import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from pipeline.model.table import Table
from pipeline.reading.sheet import Sheet
from pipeline.reading.tickets import assemble

#: A small month as people type it: headings below a title row, a total row below the data.
HEADINGS = ["票号", "Passenger Name", "charge", "金额", "flight_date", "market", "cost centre"]
MONTH: list[list[Any]] = [
    ["October tickets"],
    [],
    HEADINGS,
    ["999-1234567890", "ZHANG/WEI MR", "机票款", 1234.5, datetime.date(2026, 10, 1), "国内", "C-1"],
    [9991234567891, "NA", "ticket_fare", "1,000.00", "2026/10/02", "Domestic", "0123"],
    [],
    ["9991234567892", "LI/LEI", "refund", 0.1 + 0.2, "2026年10月3日", "intl", ""],
    ["合计", "", "", 2234.8],
]


def write_openpyxl(
    path: Path, sheets: Mapping[str, Sequence[Sequence[Any]]], at: tuple[int, int] = (1, 1)
) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row, values in enumerate(rows, start=at[0]):
            for column, value in enumerate(values, start=at[1]):
                if value not in (None, ""):
                    sheet.cell(row, column, value)
    book.save(path)
    return path


def write_xlsxwriter(path: Path, sheets: Mapping[str, Sequence[Sequence[Any]]]) -> Path:
    with xlsxwriter.Workbook(str(path)) as book:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for row, values in enumerate(rows):
                for column, value in enumerate(values):
                    if isinstance(value, datetime.date):
                        sheet.write_datetime(
                            row, column, datetime.datetime.combine(value, datetime.time()), day
                        )
                    elif isinstance(value, str):
                        sheet.write_string(row, column, value)
                    else:
                        sheet.write(row, column, value)
    return path


def write_csv(path: Path, rows: Iterable[Sequence[Any]], encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def month() -> list[list[Any]]:
    return [list(row) for row in MONTH]


@pytest.fixture(name="write_openpyxl")
def _write_openpyxl() -> Callable[..., Path]:
    return write_openpyxl


@pytest.fixture(name="write_xlsxwriter")
def _write_xlsxwriter() -> Callable[..., Path]:
    return write_xlsxwriter


@pytest.fixture(name="write_csv")
def _write_csv() -> Callable[..., Path]:
    return write_csv


@pytest.fixture
def sheets_table() -> Callable[..., Table]:
    """The Table of one workbook whose sheets are given as (name, rows), or as Sheets."""

    def make(*sheets: Any, buyers: Path | None = None) -> Table:
        made = [one if isinstance(one, Sheet) else Sheet.of_rows(one[0], one[1]) for one in sheets]
        return assemble([(Path("book.xlsx"), made)], buyers)

    return make
