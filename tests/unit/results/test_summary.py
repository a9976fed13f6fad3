"""The Summary: counts, money, and what to do next."""

import re
from collections.abc import Callable
from pathlib import Path

import openpyxl

from pipeline.account import Account
from pipeline.carrier.replies import Outcome
from pipeline.results.workbook import write_workbook

Made = Callable[..., Account]


def summary_text(path: Path) -> str:
    rows = openpyxl.load_workbook(path)["Summary"].iter_rows(values_only=True)
    return "\n".join(" | ".join(str(cell) for cell in row if cell is not None) for row in rows)


def test_the_summary_counts_and_says_what_to_do(mixed: Account, tmp_path: Path) -> None:
    text = summary_text(write_workbook(mixed, tmp_path / "r.xlsx"))
    assert "issued | 1 | 1000.5 | the carrier accepted it" in text
    assert "Total | 5 | 4002" in text
    assert "itinerary | 1 | 1000.5 | 0 | 0" in text
    assert "Buyer 1 | 0 | 0 | 1 | 1000.5" in text
    assert "1 request with an unknown outcome (sheet Unknown)" in text
    assert "1 row invalid: correct" in text
    assert "ready" not in text


def test_the_summary_adds_small_buyers_up_and_says_that_a_run_stopped(made: Made, tmp_path: Path) -> None:
    rows = [
        {
            "ticket_no": f"99912345678{n:02d}",
            "header_name": f"Buyer {n}",
            "header_type": "individual",
            "buyer": None,
            "amount": 1 + n,
        }
        for n in range(25)
    ]
    text = summary_text(write_workbook(made(*rows, stopped="key refused."), tmp_path / "r.xlsx"))
    assert "Buyer 24" in text
    assert "Buyer 4 " not in text
    assert re.search(r"^5 other buyers \| 0 \| 0 \| 5 \| 15 \| 0 \| 0$", text, re.MULTILINE)
    assert "The run stopped early: key refused. Running" in text
    assert "25 rows ready" in text


def test_a_run_with_nothing_to_do_says_so(made: Made, tmp_path: Path) -> None:
    account = made({}, answers=[Outcome("issued", number="1")])
    assert "Nothing: every row is issued." in summary_text(write_workbook(account, tmp_path / "r.xlsx"))
