"""Every way in which a command ends is an exit code, and a line on stderr at most; none is a traceback of the interpreter's."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from pipeline import signals
from pipeline.cli import command_line
from pipeline.cli.command_line import ended as end_of
from pipeline.cli.stderr import Reader
from pipeline.model.errors import InputProblem, LedgerProblem

Ended = Callable[..., Any]


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    with signals.as_before():
        yield


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> Ended:
    """How a command ends that does this."""
    for name in ("LANGUAGE", "VOUCHER_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.setenv(name, "")

    def end(does: Callable[[], object], *arguments: str, reader: Reader | None = None) -> Any:
        monkeypatch.setattr(
            command_line,
            "voucher",
            click.Group(commands=[click.Command("do", callback=does, params=[click.Option(["--x"])])]),
        )
        return end_of(["do", *arguments], reader or Reader())

    return end


def raising(error: BaseException) -> Callable[..., None]:
    def do(**_: Any) -> None:
        raise error

    return do


@pytest.mark.parametrize(
    ("does", "code"),
    [
        (lambda **_: None, 0),
        (lambda **_: 4, 4),
        (lambda **_: "done", 0),
        (raising(SystemExit(3)), 3),
        (raising(SystemExit()), 0),
    ],
)
def test_a_command_ends_with_its_code_and_without_a_word(
    ended: Ended, does: Callable[[], object], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(does) == code
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (InputProblem("{file}: is none", file="a.xlsx"), 2, "voucher: a.xlsx: is none\n"),
        (LedgerProblem("it is damaged"), 3, "voucher: it is damaged\n"),
        (
            PermissionError(13, "Permission denied", "/x/a.xlsx"),
            3,
            "voucher: /x/a.xlsx can't be read or written: Permission denied. Running the same command again is safe.\n",
        ),
        (
            OSError(28, "No space left on device"),
            3,
            "voucher: a file can't be read or written: No space left on device. Running the same command again is safe.\n",
        ),
    ],
)
def test_what_stops_a_command_is_told_in_a_line(
    ended: Ended, error: Exception, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(raising(error)) == code
    assert capsys.readouterr() == ("", told)


def test_wrong_usage_is_told_with_the_commands_own_name(
    ended: Ended, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(lambda **_: None, "--no-such") == 2
    told = capsys.readouterr().err
    assert told.startswith("Usage: voucher do [OPTIONS]\n")
    assert told.endswith("Error: No such option '--no-such'.\n")


def test_a_defect_is_told_with_its_traceback_and_without_the_keys(
    ended: Ended, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VOUCHER_API_KEY", "canary-api-key")
    assert ended(raising(RuntimeError("it has canary-api-key in it"))) == 3
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "Traceback (most recent call last):"
    assert told[-2].startswith("RuntimeError: it has ")
    assert told[-1] == (
        "voucher: This is a defect of the program; please report it. Running the same command again is safe."
    )
    assert "canary" not in "".join(told)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interruption_is_left_to_whoever_calls(ended: Ended, error: BaseException) -> None:
    with pytest.raises(KeyboardInterrupt):
        ended(raising(error))


def test_who_reads_is_known_to_the_command_and_outlives_it(
    ended: Ended, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VOUCHER_LANG", "zh")
    reader, seen = Reader(), list[object]()

    def do(**_: Any) -> None:
        seen.append(click.get_current_context().obj)
        raise InputProblem("--ledger is empty; name the ledger's file, or leave the option out")

    assert ended(do, reader=reader) == 2
    assert seen[0] is reader
    assert (reader.lang, os.environ["LANGUAGE"]) == ("zh", "zh")
    assert capsys.readouterr().err == "voucher: --ledger 为空；请指明台账文件，或省略该选项\n"


def test_wrong_usage_is_told_in_the_language_that_is_asked_for(
    ended: Ended, capsys: pytest.CaptureFixture[str]
) -> None:
    reader = Reader()
    assert ended(lambda **_: None, "--no-such", "--lang", "zh", reader=reader) == 2
    assert reader.lang == "zh"
    assert capsys.readouterr().err.splitlines() == [
        "用法： voucher do [选项]",
        "如需帮助，请运行 'voucher do --help'。",
        "",
        "错误：没有选项 '--no-such'。",
    ]


def test_a_language_that_there_is_not_ends_a_command_before_it_begins(
    ended: Ended, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VOUCHER_LANG", "fr")
    assert ended(raising(AssertionError())) == 2
    assert capsys.readouterr().err.startswith("voucher: VOUCHER_LANG fr: is none of our languages")


def test_when_a_command_has_ended_nothing_is_interrupted_any_more(ended: Ended) -> None:
    signals.heed()
    for does in (lambda **_: None, raising(RuntimeError())):
        for number in signals.ENDING:
            signal.signal(number, signal.default_int_handler)
        ended(does)
        assert {signal.getsignal(number) for number in signals.ENDING} == {signal.SIG_IGN}


# --- in a process of its own -----------------------------------------------------------------------

PROGRAM = """
import os, signal, sys
import click
from pipeline import signals
import pipeline.cli.commands, pipeline.cli.main

sys.argv = ["voucher", "do"]
{before}

@click.command()
def do():
{does}

pipeline.cli.commands.voucher.add_command(do)
pipeline.cli.main.main({arguments})
os._exit(99)
"""


def process(does: str, before: str = "", lang: str = "en", arguments: str = "") -> tuple[int, str, str]:
    """How the program ends as a process, with a command that does this: its exit code, and what it wrote."""
    text = PROGRAM.format(does=textwrap.indent(does, "    "), before=before, arguments=arguments)
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "PYTHONUNBUFFERED": "",
        "VOUCHER_LANG": lang,
    }
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env=environment, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_a_process_ends_with_the_commands_code_and_all_that_it_wrote() -> None:
    assert process("sys.stdout.write('half a line'); return 4") == (4, "half a line", "")


@pytest.mark.skipif(
    len(os.sched_getaffinity(0)) == 1, reason="linear algebra begins no thread for one processor"
)
def test_a_process_has_no_threads_that_it_does_not_need() -> None:
    """Each would keep a processor busy as it begins; and a copy of a process (`forked_pieces`) has none of them."""
    assert process("import os, numpy; return len(os.listdir('/proc/self/task'))") == (1, "", "")


@pytest.mark.parametrize(
    "does",
    ["sys.stdout = None", "sys.stdout.close()", "sys.stdout = open('/dev/full', 'w'); sys.stdout.write('x')"],
)
def test_a_process_whose_output_is_closed_ends_with_the_commands_code(does: str) -> None:
    assert process(f"{does}; return 4") == (4, "", "")


def test_a_command_line_may_be_handed_over() -> None:
    assert process("return 4", "sys.argv[1:] = ['nothing']", arguments="['do']") == (4, "", "")


INTERRUPTED = "voucher: Interrupted. Running the same command again is safe.\n"


@pytest.mark.parametrize("number", signals.ENDING)
def test_what_ends_a_process_interrupts_its_command(number: signal.Signals) -> None:
    interrupted = f"os.kill(os.getpid(), {int(number)}); signal.pause()"
    code, out, told = process(interrupted, "[signal.signal(n, signal.SIG_DFL) for n in signals.ENDING]")
    assert (code, out, told.lstrip("\n")) == (3, "", INTERRUPTED)


def test_an_interruption_is_told_in_the_language_of_the_command() -> None:
    code, _, told = process("raise KeyboardInterrupt", lang="zh")
    assert (code, told.lstrip("\n")) == (3, "voucher: 已中断。重新运行同一命令是安全的。\n")


def test_an_interruption_while_a_command_ends_leaves_it_its_last_words() -> None:
    before = """
real = signals.let_finish

class Second:
    def write(self, text):
        os.kill(os.getpid(), signal.SIGTERM)
        return os.write(2, text.encode())
    def flush(self):
        pass

def first():
    signals.let_finish, sys.stderr = real, Second()
    os.kill(os.getpid(), signal.SIGTERM)
    signal.pause()

signals.let_finish = first
"""
    code, _, told = process("return 0", before)
    assert (code, told) == (3, INTERRUPTED)


#: The program, that says of each process which it starts which one it is, and does this when a module is loaded.
READING = """
import os, signal, subprocess, sys
from pathlib import Path

signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever whoever runs the tests ignores

class Started(subprocess.Popen):
    def __init__(self, command, **more):
        super().__init__(command, **more)
        Path("started").write_text(f"{{self.pid}} {{Path(command[-1]).name}}")
subprocess.Popen = Started

class Watch:
    def find_spec(self, name, *_):
        if name == "{module}":
            {does}
sys.meta_path.insert(0, Watch())
from pipeline.__main__ import main
main()
"""


def reading(
    folder: Path, *arguments: str, module: str = "", does: str = "pass", lang: str = "en"
) -> tuple[subprocess.CompletedProcess[str], str]:
    """How the program ends, and the file that it began to read; what read it has ended then."""
    environment = {"PYTHONPATH": str(Path(__file__).parents[3]), "VOUCHER_LANG": lang}
    done = subprocess.run(
        [sys.executable, "-c", READING.format(module=module, does=does), *arguments],
        cwd=folder, capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    if not (folder / "started").exists():
        return done, ""
    number, name = (folder / "started").read_text().split()
    assert not Path(f"/proc/{number}").exists()
    return done, name


@pytest.fixture
def month(tmp_path: Path) -> Path:
    (tmp_path / "may.csv").write_text(
        "ticket_no,amount\n" + "9991234567890,1\n" * 200_000
    )  # it is read for a while
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "begun"),
    [
        (("check", "may.csv", "--help"), 0, "may.csv"),
        (("issue", "may.csv", "--no-such-option"), 2, "may.csv"),
        (("check", "may.csv", "--profile", "gone.toml"), 2, "may.csv"),
        (("check", "--help", "may.csv"), 0, ""),
        (("check", "gone.csv"), 2, ""),
        (("columns", "--help"), 0, ""),
        (("check",), 2, ""),
        ((), 2, ""),
    ],
)
def test_a_workbook_is_begun_to_be_read_before_commands_are_loaded_and_nothing_is_left_behind(
    month: Path, arguments: tuple[str, ...], code: int, begun: str
) -> None:
    done, name = reading(month, *arguments, module="click", does="assert 'click' not in sys.modules")
    assert (done.returncode, name) == (code, begun)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_while_commands_are_loaded_is_told_and_leaves_no_reading_behind(
    month: Path, number: signal.Signals
) -> None:
    does = f"Watch.find_spec = lambda *_: None; os.kill(os.getpid(), {int(number)})"
    done, name = reading(month, "check", "may.csv", "--lang", "zh", module="click.core", does=does)
    assert (done.returncode, name) == (3, "may.csv")
    assert done.stderr == "voucher: 已中断。重新运行同一命令是安全的。\n"


@pytest.mark.skipif(sys.platform != "linux", reason="prctl(2) is Linux's")
def test_a_process_is_hidden_before_its_command_begins() -> None:
    seen = "import ctypes, resource; click.echo((ctypes.CDLL(None).prctl(3), resource.getrlimit(resource.RLIMIT_CORE)))"
    assert process(seen) == (0, "(0, (0, 0))\n", "")
