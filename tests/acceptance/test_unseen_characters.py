"""Names with characters that nobody sees, or that a terminal obeys, are refused; what spreadsheets bring along is not."""

import csv
from pathlib import Path
from typing import Any

import pytest

from pipeline.model.printable_text import has_unseen, name_hint
from pipeline.rules.text_as_sent import one_line

BAD = [
    "ZHANG/WEI\x1b[31m", "\u3164", "ZHANG\u3164WEI", "\u115f\u1160", "\uffa0", "\u2800", "A\x07B", "A\x9b31m", "\ue000", "A\ud800",
    "A\U000f0000", "A\ufdd0", "A\uffff", "A\x00",
]  # fmt: skip
GOOD = [
    "\u200bZHANG/WEI",
    "ZHANG/WEI\ufeff",
    "张\u00a0三",
    "ZHANG\tWEI",
    "𠮷野",
    "葛\U000e0100城",
    "O\u2019Brien",
    "\u202aZHANG\u202c",
]


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_letter_is_refused(name: str) -> None:
    assert has_unseen(name)
    assert name_hint(one_line(name)) == "unseen_characters"


@pytest.mark.parametrize("name", GOOD)
def test_what_spreadsheets_bring_along_is_no_harm(name: str) -> None:
    assert name_hint(one_line(name)) == ""


@pytest.mark.slow
def test_such_rows_are_invalid_and_nothing_of_them_reaches_the_terminal(desk: Any, sandbox: Any) -> None:
    names = ["ticket_no", "passenger_name", "charge", "amount", "market", "ticket_status", "flight_date", "voucher", "header_type",
             "header_name", "tax_no", "email", "remarks"]  # fmt: skip
    good = ["", "ZHANG/WEI", "ticket_fare", "1000", "domestic", "used", "2026-10-01", "invoice", "business", "Acme Co.",
            "91110000600037341L", "a@example.com", ""]  # fmt: skip
    rows = []
    for number, (column, text) in enumerate(
        [
            ("passenger_name", "A\x1b[2J"),
            ("passenger_name", "\u3164"),
            ("header_name", "Ac\x1b]0;x\x07me"),
            ("remarks", "PO\x9b2J"),
            ("remarks", "PO\n7"),
        ]
    ):
        row = list(good)
        row[0], row[names.index(column)] = f"999{number:010}", text
        rows.append(row)
    path = Path(desk.folder) / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    with sandbox(path) as carrier:
        profile = desk.profile(carrier.base_url)
        common = ("--profile", profile, "--ledger", "L", "--as-of", "2026-11-20", "--report", "r.json")
        ran = desk.voucher("issue", path, *common, "--new-ledger")
    report = desk.report("r.json")["rows"]
    assert [row["status"] for row in report] == ["invalid"] * 4 + ["issued"], ran.err
    assert {row["reasons"][0]["code"] for row in report[:4]} == {"missing_value"}
    for said in (
        ran.err,
        *(desk.voucher("history", "9990000000002", "--ledger", "L", *more).out for more in ((), ("--json",))),
        desk.voucher("check", path, *common, "--lang", "zh").err,
    ):
        assert all(c.isprintable() or c == "\n" for c in said), said
