"""What a command loads before it does anything: no more than it needs, so that it starts at once."""

import subprocess
import sys
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "sample_data"
#: Runs a command in this process, and says what is loaded when it has ended.
_LOADED = """
import sys
from pipeline.cli import voucher
try:
    voucher(sys.argv[1:])
except SystemExit:
    pass
print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stdout)
"""
_CHECK = ("check", str(SAMPLES / "tickets-2026-10.xlsx"), "--profile", str(SAMPLES / "sandbox.toml"))
_HEAVY = {"aiohttp", "openpyxl", "xlsxwriter", "rich", "phonenumbers", "email_validator", "uvloop", "orjson"}


def _loaded(*command: str, folder: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, *command],
        cwd=SAMPLES.parent, env={"VOUCHER_LEDGER": str(folder / "ledger")}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stdout.splitlines()[-1].split())


def test_help_loads_no_tables_and_nothing_that_sends(tmp_path: Path) -> None:
    loaded = _loaded("--help", folder=tmp_path)
    assert "click" in loaded
    assert not loaded & {"numpy", "pandas", "asyncio", "apsw", "Crypto", *_HEAVY}


def test_a_check_loads_nothing_that_sends_draws_or_writes_workbooks(tmp_path: Path) -> None:
    loaded = _loaded(*_CHECK, folder=tmp_path)
    assert {"pandas", "apsw"} <= loaded
    assert not loaded & {"aiohttp", "openpyxl", "xlsxwriter", "rich", "uvloop"}
