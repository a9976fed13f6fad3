"""What a command loads before it does anything: no more than it needs, so that it starts at once."""

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.cli.commands import voucher

SAMPLES = Path(__file__).parents[2] / "sample_data"
#: Runs a command in this process, and says what is loaded when it has ended.
_LOADED = """
import sys
from pipeline.cli.commands import voucher
try:
    voucher(sys.argv[1:], prog_name="voucher")
except SystemExit:
    pass
print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stdout)
"""
_CHECK = ("check", str(SAMPLES / "tickets-2026-10.xlsx"), "--profile", str(SAMPLES / "sandbox.toml"))
_HEAVY = {"aiohttp", "openpyxl", "xlsxwriter", "rich", "phonenumbers", "email_validator", "uvloop", "orjson"}


def _printed(*command: str, **environment: str) -> list[str]:
    """What a command prints, and in the last line what it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, *command], cwd=SAMPLES.parent, env=environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def _assert_light(loaded: str) -> None:
    assert "click" in loaded.split()
    assert not set(loaded.split()) & {"numpy", "pandas", "asyncio", "apsw", "Crypto", *_HEAVY}


@pytest.mark.parametrize("command", [(), ("check",), ("reconcile",), ("ledger",), ("ledger", "close-gap")])
def test_help_loads_no_tables_and_nothing_that_sends(command: tuple[str, ...]) -> None:
    *printed, loaded = _printed(*command, "--help")
    assert printed[0].startswith(" ".join(("Usage: voucher", *command)))
    _assert_light(loaded)


def test_completion_names_all_commands_and_loads_none_of_them() -> None:
    asked = {"_VOUCHER_COMPLETE": "zsh_complete", "COMP_WORDS": "voucher ", "COMP_CWORD": "1"}
    *printed, loaded = _printed(**asked)
    assert set(voucher.commands) == set(printed[1::3])
    assert all(text not in ("", "_") for text in printed[2::3])  # what each does
    _assert_light(loaded)


_COLLECTIONS = """
import gc
import sys
from pipeline.cli.commands import voucher
before = gc.get_stats()[0]["collections"]
try:
    voucher(sys.argv[1:], prog_name="voucher")
except SystemExit:
    pass
young = len(gc.get_objects(generation=0)) + len(gc.get_objects(generation=1))
print(gc.get_stats()[0]["collections"] - before, young, gc.isenabled())
"""


@pytest.mark.parametrize("command", ["check", pytest.param("issue", marks=pytest.mark.slow)])
def test_rubbish_is_hardly_looked_for_in_what_is_read_and_made_of_it(tmp_path: Path, command: str) -> None:
    asked = (command, *_CHECK[1:], "--sandbox", "--ledger", str(tmp_path / "ledger"))
    if command == "issue":
        asked = (*asked, "-o", str(tmp_path / "out.xlsx"))
    done = subprocess.run(
        [sys.executable, "-c", _COLLECTIONS, *asked],
        cwd=tmp_path,
        env={},
        capture_output=True,
        text=True,
        check=True,
    )
    count, young, on = map(int, done.stdout.splitlines()[-1].replace("True", "1").split())
    assert count <= 20
    assert young <= 10_000  # of 60,000
    assert on


@pytest.mark.slow
def test_a_check_loads_nothing_that_sends_draws_or_writes_workbooks(tmp_path: Path) -> None:
    loaded = set(_printed(*_CHECK, VOUCHER_LEDGER=str(tmp_path / "ledger"))[-1].split())
    assert {"pandas", "apsw"} <= loaded
    assert not loaded & {"aiohttp", "openpyxl", "xlsxwriter", "rich", "uvloop"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [("history", "9991234567890"), ("ledger", "check"), ("ledger", "mark-gap", "--why", "a copy")]
)
def test_what_is_asked_of_a_ledger_loads_no_tables_and_writes_no_workbooks(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    of = ("--sandbox", "--profile", str(SAMPLES / "sandbox.toml"), "--ledger", str(tmp_path / "ledger"))
    subprocess.run(
        [sys.executable, "-m", "pipeline", "issue", _CHECK[1], *of, "-o", str(tmp_path / "out.xlsx")],
        check=False,
    )
    loaded = set(_printed(*command, *of)[-1].split())
    assert "apsw" in loaded
    assert not loaded & {"numpy", "pandas", *_HEAVY - {"orjson"}}
