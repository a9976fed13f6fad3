"""On a terminal the plan is shown and asked for, and a bar shows how far the sending is."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

CTRL_C = b"\x03"


#: What stays as it is in Chinese: paths, options, codes of reasons, requests, currencies.
NAMES = re.compile(
    r"/\S+|\[[a-z]+\]\.[a-z_]+|[\w.-]*\.(xlsx|csv|toml|json|db)|--?[a-z][a-z-]*|[a-z]+(_[a-z]+)+|R[0-9a-f]{16}|\bCNY\b|\bvoucher( (issue|reconcile|template))?\b"
    r"|\b(Unknown|Failures|Rows|SANDBOX|Nobody|Tickets|DEMO|AGENCY|JSON|HTTP|TOML|nowhere)\b|\[y/N\]:?( n)?|\x1b\[[0-9;?]*[A-Za-z]"
)


def english(shown: str) -> list[str]:
    """The English words in what was shown, names aside."""
    return re.findall(r"[A-Za-z]{2,}", NAMES.sub(" ", shown))


def at_a_terminal(desk: Any, answer: bytes, *arguments: str | Path) -> tuple[int, str]:
    """Run a command at a terminal, give the answer when it asks, and read all that it shows."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pipeline", *map(str, arguments)],
        cwd=desk.folder, env={**os.environ, "HOME": str(desk.folder), "TERM": "xterm", "COLUMNS": "150"},
        stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True,
        # test workers ignore Ctrl-C and would hand that on
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no thread is running
    )  # fmt: skip
    os.close(theirs)
    shown, answered, deadline = b"", False, time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([ours], [], [], 0.5)
        if ready:
            try:
                shown += os.read(ours, 65536)
            except OSError:
                break  # the other end is closed: the command has ended
        elif process.poll() is not None:
            break
        elif answered and answer == CTRL_C and b"Interrupted" not in shown:
            process.send_signal(
                signal.SIGINT
            )  # the first may have come just before the command began to wait
        if not answered and b"[y/N]" in shown:
            if answer == CTRL_C:
                process.send_signal(signal.SIGINT)  # what the terminal makes of the key
            else:
                os.write(ours, answer)
            answered = True
    code = process.wait(timeout=30)
    os.close(ours)
    assert answered
    return code, shown.decode()


@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 3), (b"\n", 3), (CTRL_C, 3), (b"y\n", 0)])
def test_nothing_is_sent_until_somebody_says_yes(
    desk: Any, workbook: Any, tickets: Any, answer: bytes, code: int
) -> None:
    path = workbook(tickets(3))
    ended, shown = at_a_terminal(
        desk,
        answer,
        "issue",
        path,
        "--sandbox",
        "--ledger",
        "L",
        "--as-of",
        "2026-11-20",
        "--report",
        "r.json",
    )
    assert ended == code, shown
    assert "3 × domestic itinerary, 3000.00 CNY" in shown
    assert "Limits of one invoice: domestic 10000.00" in shown
    if code == 0:
        assert "3/3" in shown
        assert [row["status"] for row in desk.report("r.json")["rows"]] == ["issued"] * 3
    else:
        assert "Sending" not in shown
        assert not (desk.folder / "r.json").exists()
        assert desk.voucher("history", "9990000000001", "--ledger", "L").out.endswith(
            "the ledger knows nothing of it\n"
        )


def test_yes_can_be_said_beforehand(desk: Any, workbook: Any, tickets: Any) -> None:
    ran = desk.voucher("issue", workbook(tickets(1)), "--sandbox", "--as-of", "2026-11-20", "--yes")
    assert ran.code == 0
    assert "[y/N]" not in ran.err


def test_in_chinese_nothing_is_said_in_english(desk: Any, workbook: Any, tickets: Any) -> None:
    rows = [*tickets(2), {"ticket_no": "合计", "charge": "", "passenger_name": ""}, *tickets(3)[2:]]
    rows[1] |= {"amount": "12.345", "buyer": "Nobody", "ticket_status": "open"}
    path = workbook(rows)
    ran = desk.voucher("issue", path, "--sandbox", "--as-of", "2026-11-20", "--lang", "zh", "--verbose")
    assert ran.code == 1
    assert "已从 1 个工作簿读取 3 行" in ran.err
    assert "待发送：2 × 国内行程单，2000.00 CNY" in ran.err
    assert "结果：" in ran.err
    assert english(ran.err) == []


@pytest.mark.parametrize(
    ("content", "arguments", "said"),
    [
        ("", (), "是空的，没有可读取的内容"),
        ("票号,金额\n", (), "表头下没有数据"),
        ("天气,温度\n晴,20\n", (), "没有工作表含有客票表头"),
        ("票号,金额,合计金额\n9991234567890,1,1\n", (), "都表示金额"),
        (None, (), "没有此文件；请检查路径"),
        ("票号,金额\n9991234567890,1\n", ("--profile", "none.toml"), "无法读取（没有此文件或文件夹）"),
        ("票号,金额\n9991234567890,1\n", ("--profile", "wrong.toml"), "[submission].concurrency 须为 1 到"),
        ("票号,金额\n9991234567890,1\n", ("-o", "nowhere/r.xlsx"), "没有文件夹"),
        ("票号,金额\n9991234567890,1\n", ("--report", "t.csv"), "会覆盖此工作簿"),
    ],
)
def test_why_a_run_stops_is_said_in_chinese_too(
    desk: Any, content: str | None, arguments: tuple[str, ...], said: str
) -> None:
    if content is not None:
        (desk.folder / "t.csv").write_text(content, encoding="utf-8")
    (desk.folder / "wrong.toml").write_text("[submission]\nconcurrency = 0\n")
    ran = desk.voucher("check", "t.csv", "--sandbox", "--lang", "zh", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert english(ran.err) == []


def test_the_plan_is_shown_and_asked_for_in_chinese(desk: Any, workbook: Any, tickets: Any) -> None:
    path = workbook(tickets(2))
    code, shown = at_a_terminal(
        desk, b"n\n", "issue", path, "--sandbox", "--ledger", "L", "--as-of", "2026-11-20", "--lang", "zh"
    )
    assert code == 3
    assert "未发送任何内容" in shown
    assert english(shown) == []
