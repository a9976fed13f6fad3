"""A process that holds keys can't be looked into, and what a keyring gives it is in none of its words."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Desk, running_sandbox, write_workbook
from tests.conftest import without_privileges

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what /proc shows of others is Linux's")

KEY = "canary-from-a-keyring-5c1e"
#: A keyring of which each answer notes whether this process could be looked into at that moment (prctl(2), PR_GET_DUMPABLE).
KEYRING = """
import ctypes, resource, types, sys
class KeyringError(Exception): pass
errors = types.ModuleType("keyring.errors")
errors.KeyringError = KeyringError
sys.modules["keyring.errors"] = errors
def get_password(service, name):
    seen = ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), resource.getrlimit(resource.RLIMIT_CORE)[0]
    with open("SEEN", "a") as file:
        print(*seen, file=file)
    {ends}
"""
#: What reads of another process's secrets: its environment, its memory.
LOOK = """
import sys
for name in ("environ", "mem"):
    try:
        with open(f"/proc/{sys.argv[1]}/{name}", "rb") as file:
            if name == "mem":
                begin = next(int(line.split("-")[0], 16) for line in open(f"/proc/{sys.argv[1]}/maps") if "[stack]" in line)
                file.seek(begin)
            print(name, len(file.read(4096)))
    except OSError as error:
        print(name, type(error).__name__)
"""


def looked_into(pid: int) -> list[str]:
    """What another process of the same user sees of this one."""
    look = subprocess.run(
        [*without_privileges(), sys.executable, "-c", LOOK, str(pid)],
        capture_output=True,
        text=True,
        check=True,
    )
    return look.stdout.split()


@pytest.mark.slow
def test_nobody_of_the_same_user_looks_into_a_process_that_holds_keys(desk: Any) -> None:
    arguments = [
        "-m",
        "pipeline",
        "sandbox",
        "--port",
        "0",
        "--profile",
        str(desk.profile("http://127.0.0.1:1")),
    ]
    environment = {**os.environ, "VOUCHER_API_KEY": KEY, "VOUCHER_ENCRYPTION_KEY": KEY}
    for arguments_of, expected in (
        (["-c", "import sys, time; print(file=sys.stderr, flush=True); time.sleep(60)"], "4096"),
        (arguments, "PermissionError"),
    ):
        process = subprocess.Popen(
            [*without_privileges(), sys.executable, *arguments_of],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stderr is not None
            process.stderr.readline()  # it is at work
            if expected == "4096":
                assert looked_into(process.pid)[-1] == expected  # else this shows nothing
            else:
                assert looked_into(process.pid) == ["environ", expected, "mem", expected]
                limits = Path(f"/proc/{process.pid}/limits").read_text().splitlines()
                assert [line.split()[4:6] for line in limits if "core file" in line] == [["0", "0"]]
        finally:
            process.kill()
            process.communicate(timeout=60)


def _with_keyring(folder: Path, ends: str) -> Desk:
    desk = Desk(
        folder / "desk", {"VOUCHER_API_KEY": "", "VOUCHER_ENCRYPTION_KEY": "", "PYTHONPATH": str(folder)}
    )
    desk.folder.mkdir()
    (folder / "keyring.py").write_text(KEYRING.format(ends=ends))
    return desk


@pytest.mark.slow
def test_the_process_is_closed_before_a_key_is_read(tmp_path: Path) -> None:
    desk = _with_keyring(tmp_path, f"return {KEY!r}")
    book = write_workbook(desk.folder / "t.xlsx", [{}])
    theirs = Desk(tmp_path, {"VOUCHER_API_KEY": KEY, "VOUCHER_ENCRYPTION_KEY": KEY})
    with running_sandbox(theirs, book) as carrier:
        ran = desk.voucher(
            "issue", book, "--profile", desk.profile(carrier.base_url), "--as-of", "2026-11-20"
        )
    assert ran.code == 0, ran.err
    assert (desk.folder / "SEEN").read_text().splitlines() == ["0 0", "0 0"]
    assert KEY not in ran.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "raised",
    [
        "RuntimeError",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("KeyError", "UnicodeError", "OSError")),
    ],
)
def test_a_keyring_that_fails_is_told_in_our_words_alone(tmp_path: Path, raised: str) -> None:
    desk = _with_keyring(tmp_path, f"raise {raised}('{KEY} can not be unlocked')")
    book = write_workbook(desk.folder / "t.xlsx", [{}])
    ran = desk.voucher("issue", book, "--profile", desk.profile("http://127.0.0.1:1"))
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert f"VOUCHER_API_KEY can't be read from the system keyring ({raised})" in ran.err
    assert KEY not in ran.err


@pytest.mark.slow
def test_a_traceback_does_not_show_the_keyring_s_keys(tmp_path: Path) -> None:
    desk = _with_keyring(tmp_path, f"return {KEY!r}")
    (tmp_path / "sitecustomize.py").write_text(
        "import pipeline.secret_keys as secret_keys\n"
        "class Secrets(secret_keys.Secrets):\n"
        "    def __init__(self, **given): raise RuntimeError('planted ' + given['api_key'])\n"
        "secret_keys.Secrets = Secrets\n"
    )
    book = write_workbook(desk.folder / "t.xlsx", [{}])
    ran = desk.voucher("issue", book, "--profile", desk.profile("http://127.0.0.1:1"))
    assert ran.code == 3
    assert "RuntimeError: planted ***" in ran.err
    assert KEY not in ran.err
