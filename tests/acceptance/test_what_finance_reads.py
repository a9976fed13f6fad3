"""What finance reads of a run: totals that are those of the vouchers, counts that say what was compared, words that say what to do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl

from tests.acceptance.conftest import Desk
from tests.acceptance.office import Office

Make = Callable[..., Any]


def summary(path: Path) -> dict[str, list[Any]]:
    """The lines of a Summary by their first cell, the last line where several begin alike."""
    rows = openpyxl.load_workbook(path)["Summary"].iter_rows(values_only=True)
    return {str(row[0]): list(row[1:]) for row in rows if row[0] is not None}


def test_totals_of_issued_vouchers_are_those_that_were_issued(
    desk: Desk, sandbox: Make, workbook: Make, tickets: Make
) -> None:
    rows = tickets(2, voucher="invoice")
    rows[1]["buyer"] = "Li Na"
    with sandbox(workbook(rows)) as carrier:
        office = Office(desk, carrier)
        assert office.issue(workbook(rows)).code == 0
        rows[0]["amount"], rows[1]["buyer"] = 1500, "ACME"
        ran = office.issue(workbook(rows, name="later.xlsx"))
    assert ran.code == 1, ran.err
    (line,) = (line for line in ran.err.splitlines() if line.startswith("  already_issued"))
    assert line.split() == ["already_issued", "2", "CNY", "2,000.00"]
    said = summary(desk.folder / "later.result.xlsx")
    assert said["already_issued"][:2] == [2, 2000]
    assert "2 of 2 charges have their voucher: CNY 2,000.00 of CNY 2,000.00." in said
    assert said["Acme Trading Co."][:4] == said["Li Na"][:4] == [1, 1000, 1, 1000]
    assert [row["amount"] for row in desk.report("issue.json")["rows"]] == ["1000.00"] * 2
