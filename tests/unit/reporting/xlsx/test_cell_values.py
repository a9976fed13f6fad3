"""Every value comes back from a cell as what it was; a text stays a text."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from python_calamine import CalamineWorkbook

from pipeline.model.result import RunResult
from pipeline.reporting.result_workbook import write_workbook

Made = Callable[..., RunResult]


def records(path: Path, sheet: str) -> list[dict[str, Any]]:
    rows = list(openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True))
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


TEXTS = (
    "=1+1", "+x", "@SUM(A1)", "-1", "1", "http://example.com", "{=1}", " two  ", "\ta\nb\n",
    "<r>x</r>", "<r></r>", "<r> &amp; </r>", "<r><t>_x0041_</t></r>", "_x0041_&_x0042_x0043_",
)  # fmt: skip


def test_a_text_stays_a_text(made: Made, with_cells: Any, tmp_path: Path) -> None:
    columns = {f"note {number}": text for number, text in enumerate(TEXTS)}
    result = made({**dict.fromkeys(columns, "x"), "amount": "abc"})
    for column, text in columns.items():
        result = with_cells(result, column, text)
    path = write_workbook(result, tmp_path / "r.xlsx")
    book = openpyxl.load_workbook(path)
    for name in ("Rows", "Failures"):
        sheet = book[name]
        cells = {heading.value: sheet.cell(2, heading.column) for heading in sheet[1]}
        found = {column: cells[column] for column in columns}
        assert {column: cell.value for column, cell in found.items()} == columns
        assert {(cell.data_type, cell.number_format) for cell in found.values()} == {("s", "@")}
        assert not [cell for cell in found.values() if cell.hyperlink]
        assert not sheet._hyperlinks
        rows = CalamineWorkbook.from_path(path).get_sheet_by_name(name).to_python()
        assert {column: rows[1][rows[0].index(column)] for column in columns} == columns


def test_a_buyers_name_stays_a_text_on_the_summary(made: Made, tmp_path: Path) -> None:
    names = ["=1+1", "<r>&</r>", "<r></r>", "http://x.example"]
    rows = [
        {"ticket_no": f"999123456789{n}", "header_name": name, "buyer": None} for n, name in enumerate(names)
    ]
    cells = CalamineWorkbook.from_path(write_workbook(made(*rows), tmp_path / "r.xlsx"))
    shown = {row[0] for row in cells.get_sheet_by_name("Summary").to_python() if row}
    assert shown >= set(names)


def test_what_no_workbook_can_hold_is_taken_out(made: Made, with_cells: Any, tmp_path: Path) -> None:
    result = with_cells(made({"own": "x"}), "own", "a\x00b\x0bc\ufffed\uffffe\ud800f\x9fg\r\nh")
    (row,) = records(write_workbook(result, tmp_path / "r.xlsx"), "Rows")
    assert row["own"] == "abcdefg\nh"
    result = with_cells(result, "own", "\x00")
    (row,) = records(write_workbook(result, tmp_path / "s.xlsx"), "Rows")
    assert row["own"] is None


@pytest.mark.parametrize(("text", "ending"), [("x" * 40_000, "x…"), ("𠮷" * 20_000, "𠮷…")])
def test_a_text_too_long_for_a_cell_is_cut_where_it_shows(
    text: str, ending: str, made: Made, with_cells: Any, tmp_path: Path
) -> None:
    result = with_cells(made({"own": "x"}), "own", text)
    (row,) = records(write_workbook(result, tmp_path / "r.xlsx"), "Rows")
    assert row["own"].endswith(ending)
    assert 32_766 <= len(row["own"].encode("utf-16-le")) // 2 <= 32_767


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (datetime.datetime(2026, 1, 2, 3, 4, 5), datetime.datetime(2026, 1, 2, 3, 4, 5)),  # noqa: DTZ001 - cells
        (datetime.datetime(2026, 1, 2), datetime.date(2026, 1, 2)),  # noqa: DTZ001 - likewise
        (datetime.date(1900, 3, 1), datetime.date(1900, 3, 1)),
        (datetime.time(3, 4, 5), datetime.time(3, 4, 5)),
        (datetime.timedelta(hours=30), datetime.timedelta(hours=30)),
        (datetime.date(1900, 1, 1), "1900-01-01"),
        (datetime.timedelta(hours=-1), "-1 day, 23:00:00"),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
        (12.5, 12.5),
    ],
)
def test_other_values_of_extra_columns_come_back(
    value: Any, shown: Any, made: Made, with_cells: Any, tmp_path: Path
) -> None:
    result = with_cells(made({"own": "x"}), "own", value)
    sheet = CalamineWorkbook.from_path(write_workbook(result, tmp_path / "r.xlsx")).get_sheet_by_name("Rows")
    assert sheet.to_python()[1][-1] == shown
