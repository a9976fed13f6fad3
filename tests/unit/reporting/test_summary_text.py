"""The last lines on the terminal."""

import dataclasses
from collections.abc import Callable

from pipeline.model.columns import Lang
from pipeline.model.result import RunResult
from pipeline.reporting.summary_text import summary_lines


def test_counts_money_and_reasons(mixed: RunResult) -> None:
    lines = summary_lines(mixed)
    assert lines[0] == "5 rows, judged on 2026-11-20"
    assert lines[1].split() == ["issued", "1", "CNY", "1,000.50"]
    assert any("“abc” in amount is not" in line for line in lines)
    assert lines[-1].startswith("1 request with an unknown outcome")


def test_the_commonest_reasons_come_first(sample: Callable[[Lang], RunResult]) -> None:
    lines = [line for line in summary_lines(sample("en")) if " × " in line]
    counts = [int(line.split()[0]) for line in lines]
    assert counts == sorted(counts, reverse=True)
    assert len(counts) <= 8


def test_in_chinese(mixed_zh: RunResult) -> None:
    lines = summary_lines(dataclasses.replace(mixed_zh, stopped="网络中断。"))
    assert lines[0] == "5 行，判定日 2026-11-20"
    assert lines[1].split() == ["已开具", "1", "CNY", "1,000.50"]
    assert lines[-2:] == ["运行提前停止：网络中断。", "重新运行同一命令是安全的。"]


def test_a_cell_can_not_drive_the_terminal(mixed: RunResult) -> None:
    reason = dataclasses.replace(mixed.rows[4].reasons[0], message="\x1b[31mred\x07\nline")
    result = dataclasses.replace(
        mixed, rows=(dataclasses.replace(mixed.rows[4], reasons=(reason,)),), stopped="\x1b]0;x\x07"
    )
    assert not any(character < " " for line in summary_lines(result) for character in line)


def test_each_reason_names_where_one_of_its_rows_stands(mixed: RunResult, mixed_zh: RunResult) -> None:
    (line,) = (line for line in summary_lines(mixed) if "bad_amount" in line)
    assert line.startswith("  1 × bad_amount: tickets.xlsx, Tickets, D6: “abc” in amount is not")
    (line,) = (line for line in summary_lines(mixed_zh) if "bad_amount" in line)
    assert line.startswith("  1 × bad_amount：tickets.xlsx，Tickets，D6：金额中的“abc”")


def test_of_a_reason_that_several_rows_have_the_first_is_quoted_as_the_first(
    made: Callable[..., RunResult],
) -> None:
    rows = [{"amount": "abc"}, {"ticket_no": "9991234567891", "amount": "xyz"}]
    (line,) = (line for line in summary_lines(made(*rows, command="check")) if "bad_amount" in line)
    assert line.startswith("  2 × bad_amount, the first: tickets.xlsx, Tickets, D2: “abc” in amount")


def test_what_needs_nobody_is_no_reason_though_its_row_has_others(
    made: Callable[..., RunResult],
) -> None:
    bill = {"charge": None, "amount": None, "fare": 900, "purchased_on": "2025-01-01"}
    result = made(bill, {**bill, "meal_fee": 50}, command="check")
    assert result.totals == {"ready": 1, "ineligible": 1}
    assert "repeated_charge" in result.columns.having
    assert not any("repeated_charge" in line for line in summary_lines(result))


def test_check_says_how_many_requests_of_which_kind_it_would_make(made: Callable[..., RunResult]) -> None:
    rows = [
        {"voucher": "itinerary"},
        {"ticket_no": "9991234567891", "voucher": "itinerary", "amount": 2000},
        {"ticket_no": "9991234567892", "market": "international"},
    ]
    told = [line for line in summary_lines(made(*rows, command="check")) if "To send" in line]
    assert told == [
        "  To send: 1 × international invoice, 1,000.50 CNY",
        "  To send: 2 × domestic itinerary, 3,000.50 CNY",
    ]
    assert not any("To send" in line for line in summary_lines(made(*rows, command="issue")))
