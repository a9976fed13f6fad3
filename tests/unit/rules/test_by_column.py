"""Judging and splitting look at columns: nothing but the packing goes through the rows one by one."""

from collections.abc import Callable
from typing import Any

from pipeline.model.table import Table
from tests.benchmarks.judging import loops

ROWS = 4_000
BUYERS = [
    ["buyer", "header_type", "header_name", "tax_no", "phone", "email"],
    *(
        [f"B{n}", "business", f"Company {n}", "91110000600037341L", "13800138000", f"a{n}@example.com"]
        for n in range(9)
    ),
]
BLANK = dict.fromkeys(("header_type", "header_name", "tax_no", "phone", "email"), "")


def test_only_the_packing_loops_over_rows_though_many_of_them_break_rules(
    table_of: Callable[..., Table],
) -> None:
    # A third of the rows are in the state of a rule each: duplicates, conflicts, wrong buyers, amounts and days.
    spoilt: list[dict[str, Any]] = [
        {"ticket_no": "9990000000001"}, {"buyer": "Nobody"}, {"amount": "x"}, {"amount": "20000"}, {"market": ""},
        {"flight_date": "2026-12-01"}, {"ticket_status": "open"}, {"flight_date": "2020-01-01"}, {"amount": "5", "fare": "6"},
        {"product": "seat"}, {"ticket_no": "9990000000002", "charge": "refund", "ticket_status": "refunded"},
    ]  # fmt: skip
    rows = [
        {**BLANK, "ticket_no": f"999{n:010}", "buyer": f"B{n % 9}", "amount": f"{n % 700 + 1}.10"}
        | (spoilt[n // 3 % len(spoilt)] if n % 3 == 0 else {})
        for n in range(ROWS)
    ]
    assert list(loops(table_of(rows, BUYERS))) == ["splitting.py: pack"]
