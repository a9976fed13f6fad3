"""Columns that say that a row has its voucher already, however they are called, and what in them says so."""

import csv
from pathlib import Path

import numpy as np
import pytest

from pipeline.model.table import Table
from pipeline.reading.columns_file import ColumnMap
from pipeline.reading.input_files import read_sheets
from pipeline.reading.tickets import assemble

pytestmark = pytest.mark.usefixtures("read_here")

NUMBERS = ["100000000000000001", "144031900111 12345678", "25117000000123456789", "№ 12345678", "1.79526E+17"]
NO_NUMBERS = ["", "无", "-", "0", "2026", "待开", "1234567", "1.5E+3"]
ISSUED = ["已开票", "已开", "Issued", "是", "开票成功", "YES", "√"]
NOT_ISSUED = ["", "未开票", "未开", "not issued", "否", "待开票", "需要"]


def _table(path: Path, heading: str, said: list[str], own: dict[str, str] | None = None) -> Table:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = [[f"99912345678{at:02}", "ticket_fare", "100", cell] for at, cell in enumerate(said)]
        csv.writer(file).writerows([["票号", "charge", "金额", heading], *rows])
    return assemble([(path, read_sheets(path))], mapping=ColumnMap(headings=own or {}))


@pytest.mark.parametrize(
    "heading", ["发票号码", "Invoice No.", "行程单号", "发票号码 (Invoice No)", "数电票号码"]
)
def test_a_voucher_s_number_says_it(tmp_path: Path, heading: str) -> None:
    said = _table(tmp_path / "a.csv", heading, NUMBERS + NO_NUMBERS).said_issued
    assert {name: np.flatnonzero(rows).tolist() for name, rows in said.items()} == {heading: [0, 1, 2, 3, 4]}


@pytest.mark.parametrize(
    "heading", ["发票状态", "开票状态", "Invoice Status", "是否已开票", "发票状态 (input)"]
)
def test_a_voucher_s_state_says_it(tmp_path: Path, heading: str) -> None:
    said = _table(tmp_path / "a.csv", heading, ISSUED + NOT_ISSUED).said_issued
    assert {name: np.flatnonzero(rows).tolist() for name, rows in said.items()} == {
        heading: list(range(len(ISSUED)))
    }


@pytest.mark.parametrize("heading", ["订单号", "Order No", "订单状态", "备注", "是否开票"])
def test_no_other_column_says_it(tmp_path: Path, heading: str) -> None:
    assert _table(tmp_path / "a.csv", heading, NUMBERS + ISSUED).said_issued == {}


@pytest.mark.parametrize("heading", ["发票号码", "发票号码 (input)"])
def test_a_column_that_a_team_s_mapping_sets_aside_says_nothing(tmp_path: Path, heading: str) -> None:
    assert _table(tmp_path / "a.csv", heading, NUMBERS, {"发票号码": ""}).said_issued == {}
