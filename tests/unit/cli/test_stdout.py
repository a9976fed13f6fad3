"""What is printed goes to whoever reads it, for as long as they do."""

import contextlib
import os
from collections.abc import Iterator

import pytest

from pipeline.cli.stdout import print_lines


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
