"""On a terminal the plan is shown and asked for, and a bar shows how far the sending is."""

import os
import pty
import select
import signal
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.acceptance.english import english

CTRL_C = b"\x03"


def at_a_terminal(
    desk: Any, answer: bytes | None, *arguments: str | Path, asks: bytes = b"[y/N]"
) -> tuple[int, str]:
    """Run a command at a terminal, give the answer when it asks (None: it must not), and read all that it shows."""
    ours, theirs = pty.openpty()
    there = replace(desk, environment={**desk.environment, "TERM": "xterm", "COLUMNS": "150"})
    run = there.begin(*arguments, terminal=os.ttyname(theirs))
    shown, answered, deadline = b"", 0.0, time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([ours], [], [], 0.1)
        if ready:
            shown += os.read(ours, 65536)
        elif run.has_ended():
            break
        elif (
            answer == CTRL_C and answered and time.monotonic() > answered + 1 and b"Interrupted" not in shown
        ):
            run.send_signal(signal.SIGINT)  # the first may have come just before the command began to wait
        if not answered and asks in shown:
            if answer == CTRL_C:
                run.send_signal(signal.SIGINT)  # what the terminal makes of the key
            else:
                os.write(ours, answer or b"n\n")
            answered = time.monotonic()
    code = run.wait()
    for end in (ours, theirs):
        os.close(end)
    assert bool(answered) is (answer is not None)
    return code, shown.decode()


@pytest.mark.parametrize(
    ("answer", "code"),
    [(b"n\n", 3), (b"\n", 3), pytest.param(CTRL_C, 3, marks=pytest.mark.slow), (b"y\n", 0)],
)
def test_nothing_is_sent_until_somebody_says_yes(
    desk: Any, workbook: Any, tickets: Any, answer: bytes, code: int
) -> None:
    path = workbook(tickets(3))
    given = ("issue", path, "--sandbox", "--ledger", "L", "--as-of", "2026-11-20", "--report", "r.json")
    ended, shown = at_a_terminal(desk, answer, *given)
    assert ended == code, shown
    assert "3 × domestic itinerary, 3,000.00 CNY" in shown
    assert "Limits of one invoice: domestic 10,000.00" in shown
    if code == 0:
        assert "3/3" in shown
        assert [row["status"] for row in desk.report("r.json")["rows"]] == ["issued"] * 3
        assert at_a_terminal(desk, None, *given)[0] == 0, "nothing is to be sent"
    else:
        assert "Sending" not in shown
        assert not (desk.folder / "r.json").exists()
        assert desk.voucher("history", "9990000000001", "--ledger", "L").out.endswith(
            "the ledger knows nothing of it\n"
        )


@pytest.mark.slow
def test_yes_can_be_said_beforehand(desk: Any, workbook: Any, tickets: Any) -> None:
    ran = desk.voucher("issue", workbook(tickets(1)), "--sandbox", "--as-of", "2026-11-20", "--yes")
    assert ran.code == 0
    assert "[y/N]" not in ran.err


def test_the_plan_is_shown_and_asked_for_in_chinese(desk: Any, workbook: Any, tickets: Any) -> None:
    path = workbook(tickets(2))
    code, shown = at_a_terminal(
        desk, b"n\n", "issue", path, "--sandbox", "--ledger", "L", "--as-of", "2026-11-20", "--lang", "zh"
    )
    assert code == 3
    assert "未发送任何内容" in shown
    assert english(shown) == []


@pytest.mark.parametrize(
    ("lang", "plan"),
    [
        ("en", "2 of 3 rows of tickets.xlsx, sheet Tickets"),
        pytest.param("zh", "3 行中的 2 行", marks=pytest.mark.slow),
    ],
)
def test_the_plan_counts_what_is_hidden_before_it_asks(
    desk: Any, workbook: Any, tickets: Any, lang: str, plan: str
) -> None:
    path = workbook(tickets(3))
    book = openpyxl.load_workbook(path)
    for row in (3, 4):
        book["Tickets"].row_dimensions[row].hidden = True
    book.save(path)
    arguments = (
        "issue",
        path,
        "--sandbox",
        "--as-of",
        "2026-11-20",
        "--lang",
        lang,
    )
    code, shown = at_a_terminal(desk, b"n\n", *arguments)
    assert code == 3
    assert plan in shown[: shown.index("[y/N]")]
    # Nobody at a terminal, and --quiet: it is told all the same, and stands in the result and the report.
    ran = desk.voucher(*arguments, "--quiet", "--report", "r.json", "-o", "r.xlsx")
    assert ran.code == 0, ran.err
    warning = {
        "en": "read all the same: 2 of 3 rows",
        "zh": "3 行中有 2 行在文件中被隐藏或筛选掉，仍照常读取",
    }[lang]
    assert warning in ran.err
    assert desk.report("r.json")["sheets"] == [
        {"file": "tickets.xlsx", "sheet": "Tickets", "rows": 3, "hidden_rows": 2, "hidden_sheet": False}
    ]
    summary = openpyxl.load_workbook(desk.folder / "r.xlsx")["Summary"]
    assert any(warning in str(cell.value) for cell in summary["A"])


def doubtful(path: Path) -> Path:
    """A bill of which only the team knows what its headings and words mean; two headings mean the ticket's number."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["票号", "机票号码", "乘机人", "起飞日期", "票价", "手续费", "国内/国际", "状态"])
    flown, refunded = "999-2420000001", "999-2420000002"
    sheet.append([flown, "E1", "李娜", "2026-10-03", 980, None, "国内", "走了"])
    sheet.append([refunded, "E2", "王芳", "2026-10-03", None, 150, "国内", "没走"])
    book.save(path)
    return path


ANSWERS = {
    "手续费": b"x\n9\n1\n",  # what is no answer is asked again
    "状态": b"1\n",
    "票号": b"1\n",
    "走了": b"2\n",  # found only once the sheet can be read
    "没走": b"0\n",  # left open
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ["Which column is F1 “手续费”?", "none of these numbers", "2 rows, headings", "Mapping: m.toml (1 thing"]),
        ("zh", ["F1“手续费”是哪一列？", "请输入上面列出的编号", "2 行，表头在", "对照文件：m.toml（1 项不确定）"]),
    ],
)  # fmt: skip
def test_what_a_bill_leaves_open_is_asked_and_what_follows_from_the_answers_too(
    desk: Any, lang: str, words: list[str]
) -> None:
    bill = doubtful(desk.folder / "bill.xlsx")
    code, shown = at_a_terminal(
        desk, b"".join(ANSWERS.values()), "columns", bill, "-o", "m.toml", "--lang", lang, asks=b"[0]: "
    )
    assert code == 0, shown
    assert [word for word in words if word not in shown] == []
    assert shown.count("[0]: ") == len(ANSWERS) + 2
    text = (desk.folder / "m.toml").read_text(encoding="utf-8")
    written = tomllib.loads(text)
    assert written["headings"] == {
        "票号": "ticket_no", "机票号码": "", "乘机人": "passenger_name", "起飞日期": "flight_date", "票价": "fare",
        "手续费": "refund_fee", "国内/国际": "market", "状态": "ticket_status",
    }  # fmt: skip
    assert written["values"]["ticket_status"] == {"走了": "used"}
    assert '"没走" = "refunded"' in text
    asked_again = desk.voucher("columns", bill, "--columns", "m.toml")
    assert "1 thing is not certain" in asked_again.err


@pytest.mark.parametrize("key", [pytest.param(CTRL_C, marks=pytest.mark.slow), b"\x04"])
def test_nothing_is_written_by_whoever_gives_the_questions_up(desk: Any, key: bytes) -> None:
    bill = doubtful(desk.folder / "bill.xlsx")
    code, shown = at_a_terminal(desk, key, "columns", bill, "-o", "m.toml", asks=b"[0]: ")
    assert code == 3, shown
    assert "Interrupted" in shown
    assert not list(desk.folder.glob("*.toml"))
