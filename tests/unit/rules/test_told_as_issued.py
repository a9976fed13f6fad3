"""Rows that a column of the bill says are issued, and that are to be sent: sent, and told."""

from collections.abc import Callable
from typing import Any

Judged = Callable[..., Any]
Make = Callable[..., Any]


def test_rows_to_be_sent_that_a_column_says_are_issued_are_told_by_column(
    judged: Judged, holding: Make, ledger: Make
) -> None:
    number = "144031900111 12345678"
    rows = [
        {"ticket_no": "9990000000000", "发票状态": "未开票", "发票号": number},
        {"发票状态": "已开票", "发票号": number},
        {"ticket_no": "9990000000002", "发票状态": "已开票", "发票号": number},
        {"ticket_no": "9990000000003", "发票状态": "", "发票号": number},
        {"ticket_no": "9990000000004", "发票状态": "已开票", "发票号": number, "ticket_status": "open"},
    ]
    found = judged(*rows, holdings=ledger(holding()))
    assert found.statuses == ["ready", "already_issued", "ready", "ready", "waiting"]
    about = "tickets.xlsx, sheet Tickets: the column"
    says = "says of rows that are to be sent that they have a voucher already"
    assert [str(note).partition(". ")[0] for note in found.verdicts.notes] == [
        f"{about} 发票号 {says} (rows: 3, the first of them row 2)",
        f"{about} 发票状态 {says} (rows: 1, the first of them row 4)",
    ]


def test_a_row_of_several_charges_is_told_once(judged: Judged) -> None:
    wide = {"charge": "", "amount": "", "fare": "900", "seat_fee": "100", "发票号": "100000000000000001"}
    one = {"ticket_no": "9990000000001", "发票号": "100000000000000002"}
    found = judged(wide, one)
    assert len(found.verdicts.rows) > 2
    (note,) = found.verdicts.notes
    assert "(rows: 2, the first of them row 2)" in str(note)
