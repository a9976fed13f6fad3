"""What is printed goes to whoever reads it, for as long as they do."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.cli.stdout import print_lines
from tests.unit.ledger.conftest import write_used_ledger


def test_lines_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines(["one", "开具"])
    assert capsys.readouterr() == ("one\n开具\n", "")


def test_whoever_reads_may_leave_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    read, ended = list[bytes](), False

    def lines() -> Iterator[str]:
        for number in range(10):
            if number == 2:
                read.append(os.read(reading, 100))
                os.close(reading)
            yield f"line {number}"

    with contextlib.suppress(BrokenPipeError), os.fdopen(writing, "w") as stdout:
        monkeypatch.setattr("sys.stdout", stdout)
        print_lines(lines())
        ended = True
    assert (read, ended) == ([b"line 0\nline 1\n"], True)


@pytest.mark.parametrize(
    ("command", "code"),
    [("history 9990000000001", 0), pytest.param("ledger check", 3, marks=pytest.mark.slow)],
)
def test_a_command_whose_reader_has_left_ends_with_its_own_code(
    tmp_path: Path, command: str, code: int
) -> None:
    write_used_ledger(tmp_path / "a.ledger")
    (tmp_path / "a.ledger.lock").unlink()  # of which check says that it may be an older copy
    reading, writing = os.pipe()
    os.close(reading)
    arguments = [*command.split(), "--ledger", str(tmp_path / "a.ledger"), "--lang", "en"]
    with os.fdopen(writing, "wb") as left:
        done = subprocess.run(
            [sys.executable, "-m", "pipeline", *arguments],
            stdout=left,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == code
    (told,) = done.stderr.splitlines()
    assert "its last run is not noted beside it" in told
