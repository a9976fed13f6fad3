"""Numbers that a cell's format shows in another currency are not taken for the carrier's own."""

import zipfile
from pathlib import Path

import openpyxl
import pytest

from pipeline.reading.formats import xlsx_slowly
from pipeline.reading.formats.currencies import foreign_styles
from pipeline.reading.inputs import read_sheets
from pipeline.reading.tables import assemble
from pipeline.table import Table

FOREIGN = [
    "[$USD] #,##0.00",
    '"$"#,##0.00',
    "[$$-409]#,##0.00",
    r"\$0.00",
    '0.00"美元"',
    "[$€-2] #,##0",
    '_("HK$"* #,##0_)',
]
OWN = [
    "General",
    "#,##0.00",
    "[$¥-804]#,##0.00",
    '"¥"#,##0',
    "[$CNY] 0.00",
    '0.00"元"',
    "[Red][<0]-0.00;0.00",
    "[$-804]0.00",
]


def _workbook(path: Path, number_format: str, amount: float = 1070.5) -> Path:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append(["票号", "金额", "部门"])
    sheet.append(["9991234567890", amount, amount])
    for column in (2, 3):
        sheet.cell(2, column).number_format = number_format
    book.save(path)
    return path


def _table(path: Path) -> Table:
    return assemble([(path, read_sheets(path))])


@pytest.mark.parametrize("number_format", FOREIGN)
def test_an_amount_shown_in_another_currency_is_refused_like_a_text_that_says_so(
    tmp_path: Path, number_format: str
) -> None:
    table = _table(_workbook(tmp_path / "t.xlsx", number_format))
    (finding,) = table.findings
    assert (finding.code, finding.column, finding.facts["hint"]) == ("bad_amount", "amount", ["currency"])
    assert str(table.cells["amount"][0]).endswith("1070.5")
    assert table.cells["部门"].tolist() == [1070.5]  # not ours, and carried through as it is


@pytest.mark.parametrize("number_format", OWN)
def test_an_amount_in_the_currency_s_own_format_is_taken(tmp_path: Path, number_format: str) -> None:
    table = _table(_workbook(tmp_path / "t.xlsx", number_format))
    assert table.frame["amount"].tolist() == [107050]
    assert table.findings == ()


def test_nothing_is_nothing_in_every_currency(tmp_path: Path) -> None:
    book = openpyxl.load_workbook(_workbook(tmp_path / "t.xlsx", FOREIGN[0], 0))
    book.worksheets[0]["B1"] = "票价"
    book.save(tmp_path / "t.xlsx")
    assert _table(tmp_path / "t.xlsx").findings == ()


def test_an_exact_look_sees_the_same_cells_as_a_quick_one(tmp_path: Path) -> None:
    path = _workbook(tmp_path / "t.xlsx", FOREIGN[0])
    with zipfile.ZipFile(path) as package:
        foreign = foreign_styles(package.read("xl/styles.xml"))
        look = xlsx_slowly.look(iter([package.read("xl/worksheets/sheet1.xml")]), foreign)
    assert look.foreign == read_sheets(path)[0].foreign == {(1, 1): "USD", (1, 2): "USD"}
