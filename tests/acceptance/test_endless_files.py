"""Whatever is named as a file: one line, exit code 2, at once, and in little memory."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import KEYS, write_workbook

MEMORY_BYTES = 3 * 1024**3  # of addresses; what a check of a small month takes is a third of it
SECONDS = 30  # on a busy machine; the reading of a pipe or a device never ends


def _kinds(folder: Path) -> dict[str, Path]:
    os.mkfifo(folder / "pipe.csv")
    with (folder / "huge.csv").open("wb") as file:
        file.truncate(20 * 1024**3)
    nested = folder / "nested.csv"
    nested.write_text("a = " + "[" * 500_000)
    return {
        "device": Path("/dev/zero"), "pipe": folder / "pipe.csv", "folder": folder, "huge": folder / "huge.csv",
        "standard input": Path("/dev/stdin"), "nested": nested,
    }  # fmt: skip


NAMED = {
    "profile": ("check", "t.xlsx", "--profile", "{}"),
    "columns": ("check", "t.xlsx", "--profile", "p.toml", "--columns", "{}"),
    "buyers": ("check", "t.xlsx", "--profile", "p.toml", "--buyers", "{}"),
    "statement": ("reconcile", "--profile", "p.toml", "--ledger", "L", "--statement", "{}"),
    "resolved": ("reconcile", "--profile", "p.toml", "--ledger", "L", "--resolved", "{}"),
    "faults": ("sandbox", "--port", "0", "--profile", "p.toml", "--faults", "{}"),
    "workbook": ("check", "{}", "--profile", "p.toml"),
}


MORE = [
    *((named, "pipe") for named in NAMED if named != "profile"),
    *((named, "huge") for named in NAMED),
    *((named, "device") for named in NAMED if named not in ("statement", "workbook")),
    *((named, "folder") for named in ("profile", "columns", "faults", "buyers")),
    *((named, "nested") for named in ("profile", "columns", "faults")), ("resolved", "folder"), ("profile", "standard input"), ("statement", "standard input"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("named", "kind"),
    [
        ("profile", "pipe"), ("statement", "device"), ("workbook", "device"),
        *MORE,
    ],
)  # fmt: skip
def test_what_never_ends_is_refused_at_once(desk: Any, tmp_path: Path, named: str, kind: str) -> None:
    (tmp_path / "other").mkdir()
    path = _kinds(tmp_path / "other")[kind]
    write_workbook(tmp_path / "t.xlsx", [{}])
    desk.profile("http://127.0.0.1:1", name="p.toml")
    read, write = os.pipe()
    begun = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "pipeline", *(part.format(path) for part in NAMED[named])],
        cwd=tmp_path, env={**os.environ, **KEYS, "HOME": str(tmp_path)}, stdin=read, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)),  # noqa: PLW1509
    )  # fmt: skip
    try:
        _, said = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        os.close(read)
        os.close(write)
    assert (process.returncode, len(said.splitlines())) == (2, 1), said
    assert said.startswith("voucher: ")
    assert len(said) <= 420
    assert time.monotonic() - begun < SECONDS


def test_a_long_text_makes_no_long_line(desk: Any, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(f"{'k' * 100_000} = 1")
    write_workbook(tmp_path / "t.xlsx", [{}])
    ran = desk.voucher("check", "t.xlsx", "--profile", "p.toml")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert ran.err.startswith("voucher: Profile p.toml: the profile.kkk")
    assert ran.err.endswith(" codes\n")
    assert len(ran.err) == 401
