"""With --lang zh every command speaks Chinese: what it tells, what it prints, and why it stopped."""

import os
import signal
import socket
import unicodedata
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.ledger.schema import VERSION
from tests.acceptance.english import english

ZH = ("--lang", "zh")
HERE = ("--ledger", "L.ledger")


@pytest.mark.slow
def test_in_chinese_nothing_is_said_in_english(desk: Any, workbook: Any, tickets: Any) -> None:
    rows = [*tickets(2), {"ticket_no": "合计", "charge": "", "passenger_name": ""}, *tickets(3)[2:]]
    rows[1] |= {"amount": "12.345", "buyer": "Nobody", "ticket_status": "open"}
    path = workbook(rows)
    ran = desk.voucher("issue", path, "--sandbox", "--as-of", "2026-11-20", "--lang", "zh", "--verbose")
    assert ran.code == 1
    assert "已从 1 个工作簿读取 3 行" in ran.err
    assert "待发送：2 × 国内行程单，2,000.00 CNY" in ran.err
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


@pytest.fixture
def issued(desk: Any, sandbox: Any, workbook: Any, tickets: Any) -> Any:
    """A ledger with two issued tickets, and the profile of their carrier."""
    path = workbook(tickets(2))
    with sandbox(path) as carrier:
        desk.profile(carrier.base_url)
        assert (
            desk.voucher("issue", path, "--profile", "carrier.toml", *HERE, "--as-of", "2026-11-20").code == 0
        )
        yield carrier


@pytest.mark.slow
def test_the_ledger_is_looked_over_and_backed_up_in_chinese(desk: Any, issued: Any) -> None:
    ran = desk.voucher("ledger", "check", *HERE, *ZH)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "台账：L.ledger",
        f"承运人：{issued.base_url}（代理人 AGENCY）；版本 {VERSION}；运行 1 次",
        "开具尝试：2 次已开具",
        "完好：没有发现问题",
    ]
    ran = desk.voucher("ledger", "backup", "kept.ledger", *HERE, *ZH)
    assert (ran.code, ran.err) == (0, "备份：kept.ledger\n")
    ran = desk.voucher("ledger", "backup", "kept.ledger", *HERE, *ZH)
    assert (ran.code, ran.err) == (2, "voucher: kept.ledger：已经存在，保持不变；请另取名称，或指定文件夹\n")
    ran = desk.voucher("ledger", "check", "--ledger", "kept.ledger", *ZH)
    assert "缺口：可能缺少" in ran.out
    assert "（它是备份）" in ran.out
    assert english(ran.out) == []


@pytest.mark.slow
@pytest.mark.usefixtures("issued")
def test_a_gap_is_marked_and_closed_in_chinese(desk: Any) -> None:
    marked = desk.voucher("ledger", "mark-gap", *HERE, "--why", "旧副本", *ZH)
    assert marked.code == 0
    assert "核清之前不会发送任何内容" in marked.err
    refused = desk.voucher("ledger", "close-gap", *HERE, "--by", "陈", "--evidence", "账单", *ZH)
    assert (refused.code, "之后生成且列有内容的账单；台账所缺的内容会重复开具" in refused.err) == (2, True)
    assert "如仍要关闭，请加 --yes" in refused.err
    closed = desk.voucher("ledger", "close-gap", *HERE, "--by", "陈", "--evidence", "账单", "--yes", *ZH)
    assert closed.code == 0
    assert "可以重新用于发送；已核清：" in closed.err
    again = desk.voucher("ledger", "close-gap", *HERE, "--by", "陈", "--evidence", "账单", *ZH)
    assert again.err.endswith("没有需要关闭的缺口\n")
    early = desk.voucher("ledger", "mark-gap", *HERE, "--why", "旧", "--since", "2001-01-01", *ZH)
    assert "不是使用过此台账的日期" in early.err
    assert [english(ran.err) for ran in (marked, refused, closed, again, early)] == [[]] * 5


@pytest.mark.usefixtures("issued")
def test_a_carrier_s_move_is_told_in_chinese(desk: Any) -> None:
    where = ("--profile", "carrier.toml", *HERE, "--by", "陈", "--why", "新地址", *ZH)
    stays = desk.voucher("ledger", "move-carrier", *where)
    assert stays.code == 2
    assert "请在配置中写明新地址" in stays.err
    desk.profile("http://127.0.0.1:9")
    moved = desk.voucher("ledger", "move-carrier", *where)
    assert moved.code == 0
    assert "从现在起属于 http://127.0.0.1:9（代理人 AGENCY）" in moved.err
    assert [english(ran.err) for ran in (stays, moved)] == [[]] * 2


def test_what_is_wrong_with_a_ledger_is_said_in_chinese(desk: Any, issued: Any) -> None:
    path = desk.folder / "L.ledger"
    data = bytearray(path.read_bytes())
    for page in range(4, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xa5" * 64
    path.write_bytes(data)
    ran = desk.voucher("ledger", "check", *HERE, *ZH)
    assert ran.code == 3
    assert "已损坏（数据库文件已损坏）" in ran.out + ran.err
    assert english(ran.out + ran.err) == []
    assert len(issued.issued()) == 2


def test_the_sandbox_says_in_chinese_where_it_is_and_what_it_did(desk: Any) -> None:
    run = desk.begin("sandbox", "--port", "0", *ZH)
    desk.during(run, lambda: "http://127.0.0.1:" in run.told())
    run.send_signal(signal.SIGTERM)
    nothing, where, told = run.end().err.splitlines()
    assert "没有任何客票" in nothing
    assert "沙箱承运人已在 http://127.0.0.1:" in where
    assert told == "请求：收到 0 个，开具 0 个，拒绝 0 个"


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ("x = 1", "未知的键 'x'：只能使用 seed 和 [[fault]]"),
        ('[[fault]]\nkind = "odd"', "kind 须为下列之一：latency、"),
        ('[[fault]]\nkind = "latency"', "缺少 seconds：请加上 seconds，须为秒数，最多一天"),
        (None, "无法读取（没有此文件或文件夹）：请检查路径"),
    ],
)
def test_what_is_wrong_with_faults_is_said_in_chinese(desk: Any, faults: str | None, said: str) -> None:
    if faults is not None:
        (desk.folder / "f.toml").write_text(faults)
    ran = desk.voucher("sandbox", "--port", "0", "--faults", "f.toml", *ZH)
    assert ran.code == 2
    assert said in ran.err


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        ("RuntimeError('planted')", 3, "这是程序的缺陷，请报告。重新运行同一命令是安全的。"),
        pytest.param(
            "OSError(28, 'No space left on device', '/x')",
            3,
            "/x 无法读写：磁盘空间不足。重新运行同一命令是安全的。",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "OSError(5, 'Input/output error')",
            3,
            "某个文件 无法读写：磁盘读写出错。重新运行同一命令是安全的。",
            marks=pytest.mark.slow,
        ),
        pytest.param("KeyboardInterrupt", 3, "已中断。重新运行同一命令是安全的。", marks=pytest.mark.slow),
    ],
)
def test_the_last_line_of_all_is_in_chinese_too(
    desk: Any, tmp_path: Path, raised: str, code: int, said: str
) -> None:
    (desk.folder / "t.csv").write_text("票号,金额\n9991234567890,1\n", encoding="utf-8")
    planted = f"import pipeline.reading.input_files as at\ndef gone(*_):\n    raise {raised}\nat.workbook_files = gone\n"
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted" / "sitecustomize.py").write_text(planted)
    desk.environment["PYTHONPATH"] = os.pathsep.join(
        [str(tmp_path / "planted"), os.environ.get("PYTHONPATH", "")]
    )
    for lang, last in (("zh", said), ("en", "Running the same command again is safe.")):
        ran = desk.voucher("check", "t.csv", "--sandbox", "--lang", lang)
        assert ran.code == code
        assert ran.err.splitlines()[-1].startswith("voucher: ")
        assert ran.err.splitlines()[-1].endswith(last)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("issue",), "缺少参数 'WORKBOOK...'。"),
        (("issue", "t.csv", "--nope"), "没有选项 '--nope'。"),
        (("ledger", "withdra"), "没有命令 'withdra'。 是否要用 'withdraw'？"),
        (("ledger", "reverse", "1", "--voucher", "bill"), "'--voucher' 的值无效：'bill' 不是下列之一：'invoice', 'itinerary'。"),
        (("check", "t.csv", "--as-of", "1 May"), "'--as-of' 的值无效：'1 May' 不符合格式：'%Y-%m-%d'。"),
        (("check", "t.csv", "--concurrency", "many"), "'--concurrency' 的值无效：'many' 不是有效的整数。"),
        (("check", "t.csv", "--rate", "-1"), "不在范围 0<=x<=100000 内。"),
        (("template", "a.xlsx", "b.xlsx"), "多余的参数（b.xlsx）"),
        (("ledger", "withdraw", "S1", "--why", " "), "'--why' 的值无效：为空；请简要说明"),
    ],
)  # fmt: skip
def test_wrong_usage_is_told_in_chinese(desk: Any, arguments: tuple[str, ...], said: str) -> None:
    ran = desk.voucher(*arguments, *ZH)
    assert (ran.code, ran.out) == (2, "")
    usage, ask, blank, problem = ran.err.splitlines()
    assert (usage[:3], ask[:7], blank, problem[:3]) == ("用法：", "如需帮助，请运", "", "错误：")
    assert said in problem
    desk.environment = {"VOUCHER_LANG": "zh"}
    assert desk.voucher(*arguments) == ran


@pytest.mark.slow
def test_help_and_the_language_of_the_locale(desk: Any) -> None:
    ran = desk.voucher("--help", *ZH)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("用法： voucher [选项] 命令 [参数]...")
    assert "显示此帮助后退出。" in ran.out
    assert {"选项：", "命令："} <= set(ran.out.splitlines())
    assert "  issue      判定、拆分、发送，并写出结果工作簿。" in ran.out.splitlines()
    closing = desk.voucher("ledger", "close-gap", "--help", *ZH).out
    assert "由谁核对；默认：您的登录名。  [必填]" in closing
    assert 70 < max(map(_columns, closing.splitlines())) <= 80
    assert "\u200b" not in closing
    assert desk.voucher(*ZH, "ledger", "--help").out.startswith("用法： voucher ledger ")
    desk.environment = {"LC_ALL": "zh_CN.UTF-8"}
    assert desk.voucher("--help").out == ran.out
    assert desk.voucher("--help", "--lang", "en").out.startswith("Usage: voucher [OPTIONS]")


def _columns(line: str) -> int:
    """The width of a line on a terminal."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in line)


def test_a_language_before_the_command_is_the_command_s_too(desk: Any) -> None:
    desk.voucher(*ZH, "template", "a.xlsx")
    told = desk.voucher("template", "b.xlsx", "--lang", "en")
    assert told.err == "Template: b.xlsx\n"
    assert openpyxl.load_workbook(desk.folder / "a.xlsx").sheetnames[0] == "客票"
    assert openpyxl.load_workbook(desk.folder / "b.xlsx").sheetnames[0] == "Tickets"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.csv", '票号,金额\n"9991234567890,1\n', "第 2 行的引号与分隔符不匹配"),
        ("p.toml", "[carrier]\nagency = 'a' 'b'\n", "不是有效的 TOML：第 2 行第 14 列"),
        ("p.toml", "[carrier]\nagency = \n", "不是有效的 TOML：第 2 行第 10 列"),
        ("p.toml", "[carrier", "文件末尾附近有未写完的内容，或有重复的键"),
    ],
)  # fmt: skip
def test_what_other_readers_say_of_a_file_is_put_into_words_of_ours(
    desk: Any, name: str, content: str, said: str
) -> None:
    (desk.folder / "t.csv").write_text("票号,金额\n9991234567890,1\n", encoding="utf-8")
    (desk.folder / name).write_text(content, encoding="utf-8")
    profile = ("--profile", "p.toml") if name == "p.toml" else ()
    ran = desk.voucher("check", "t.csv", "--sandbox", *profile, *ZH)
    assert ran.code == 2
    assert said in ran.err
    assert english(ran.err) == []


def test_a_port_that_is_taken_and_a_language_that_is_none_are_told_in_chinese(desk: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ran = desk.voucher("sandbox", "--port", port, *ZH)
    assert (ran.code, f"端口 {port} 无法使用（已被占用）" in ran.err) == (2, True)
    desk.environment = {"VOUCHER_LANG": "fr", "LC_ALL": "zh_CN.UTF-8"}
    ran = desk.voucher("check", "t.csv")
    assert (ran.code, ran.err) == (2, "voucher: VOUCHER_LANG fr：不是可用的语言；请设为 en 或 zh\n")
