"""Cells of thousands of characters: what is said of them stays short, and they themselves are carried through whole."""

import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest

LONGEST = 400
LONG = "甲" * 5_000
NAMES = ["ticket_no", "passenger_name", "charge", "amount", "market", "ticket_status", "flight_date", "voucher", "buyer", "header_type",
         "header_name", "tax_no", "email"]  # fmt: skip
GOOD = ["", "ZHANG/WEI", "ticket_fare", "1000", "domestic", "used", "2026-10-01", "invoice", "", "business", "Acme Co.",
        "91110000600037341L", "a@example.com"]  # fmt: skip


def workbook(folder: Path) -> Path:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "s" * 31
    sheet.append([*NAMES, "y" * 5_000])
    for at in range(len(NAMES)):
        row = [f"999{at:010}", *GOOD[1:]]
        row[at] = LONG
        sheet.append(row)
    sheet.append([LONG] * len(NAMES))
    for _ in range(2):  # one charge in two rows that differ
        sheet.append(["9990000000099", f"{LONG}{_}", *GOOD[2:]])
    path = folder / f"{'n' * 195}.xlsx"
    book.save(path)
    return path


def messages(found: Any) -> list[str]:
    if isinstance(found, dict):
        own = [text for name, text in found.items() if name in ("message", "cure") and isinstance(text, str)]
        return own + [text for inside in found.values() for text in messages(inside)]
    return [text for inside in found for text in messages(inside)] if isinstance(found, list) else []


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_said_of_long_cells_is_short(desk: Any, lang: str) -> None:
    path, result, report = workbook(desk.folder), desk.folder / "r.xlsx", desk.folder / "r.json"
    ran = desk.voucher(
        "check", path, "--sandbox", "--as-of", "2026-11-20", "--lang", lang, "-o", result, "--report", report
    )
    assert ran.code == 1, ran.err
    assert max(map(len, f"{ran.err}\n{ran.out}".splitlines())) <= LONGEST
    said = messages(json.loads(report.read_text()))
    assert any("甲" in text for text in said)
    assert max(map(len, said)) <= LONGEST
    assert not any("甲" * 81 in text or "\n" in text for text in said)
    book = openpyxl.load_workbook(result)
    checked = 0
    for sheet in book.worksheets:
        for column in sheet.iter_cols(values_only=True):
            if column[0] in ("reason", "what_to_do", "原因", "处理方法"):
                lines = [line for cell in column[1:] for line in str(cell or "").splitlines()]
                assert max(map(len, lines), default=0) <= LONGEST + 40  # its cell and its code beside it
                checked += len(lines)
    assert checked > 2 * len(NAMES)
    cells = {cell.value for sheet in book.worksheets for row in sheet.iter_rows() for cell in row}
    assert LONG in cells  # what the team wrote is carried through
