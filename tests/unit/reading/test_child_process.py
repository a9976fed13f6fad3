"""A child process that is started ahead: used where its file is read, ended where it is not."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import xlsxwriter

from pipeline.model.errors import InputProblem
from pipeline.reading import bounded_child, child_process
from pipeline.reading.child_process import Opening, ahead
from pipeline.reading.input_files import read_sheets
from pipeline.reading.tickets import read_table

TEXT = "ticket_no,passenger_name,amount\n9991234567890,A,12.50\n"


def written(path: Path) -> Path:
    path.write_text(TEXT)
    return path


def test_a_file_that_is_being_read_is_not_opened_again(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv")
    with ahead([path]) as begun:
        assert begun
        begun._process.wait(60)
        path.unlink()
        assert read_table([path], begun=begun).frame["amount"].tolist() == [1250]
    with pytest.raises(InputProblem):
        read_table([path])


def test_another_file_s_child_is_not_taken_for_its_own(tmp_path: Path) -> None:
    path, other = written(tmp_path / "t.csv"), tmp_path / "other.csv"
    other.write_text(TEXT.replace("12.50", "99"))
    with ahead([other]) as begun:
        assert read_table([path], begun=begun).frame["amount"].tolist() == [1250]


def test_a_child_that_nobody_asks_is_ended(tmp_path: Path) -> None:
    with pytest.raises(InputProblem), ahead([written(tmp_path / "t.csv")]) as begun:
        raise InputProblem("the profile can't be read")
    assert begun
    assert begun._process.returncode is not None


def test_what_is_no_file_of_a_known_kind_is_not_opened_ahead(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.xlsx")
    written(tmp_path / "t.pdf")
    for path in (
        tmp_path,
        tmp_path / "gone.xlsx",
        tmp_path / "pipe.xlsx",
        tmp_path / "t.pdf",
        Path("\0.xlsx"),
    ):
        with ahead([path]) as begun:
            assert begun is None


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_while_the_child_is_started_leaves_none_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: signal.Signals
) -> None:
    real, made = child_process._started, []

    def interrupted(path: Path, *more: str) -> subprocess.Popen[bytes]:
        os.kill(os.getpid(), stop)
        made.append(real(path, *more))
        return made[0]

    monkeypatch.setattr(child_process, "_started", interrupted)
    before = signal.signal(stop, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            Opening(written(tmp_path / "t.csv"))
        assert signal.getsignal(stop) is signal.default_int_handler
    finally:
        signal.signal(stop, before)
    assert made[0].returncode == -signal.SIGKILL


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="/proc is Linux's")
def test_a_file_is_read_within_bounds(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "ticket_no,passenger_name\n" + "9990000000001,ZHANG/WEI\n" * 400_000
    )  # time to look at it
    opened = Opening(path)
    try:
        limits = ""
        for _ in range(100_000):
            limits = Path(f"/proc/{opened._process.pid}/limits").read_text()
            if str(bounded_child.MEMORY_BYTES) in limits:
                break
    finally:
        opened.end()
    assert str(bounded_child.CPU_SECONDS) in limits


@pytest.mark.parametrize("error", [pytest.param("", marks=pytest.mark.slow), "#N/A"])
def test_a_long_sheet_is_the_same_read_by_pieces_and_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str
) -> None:
    path, pieces = tmp_path / "t.xlsx", list[bytes]()
    with xlsxwriter.Workbook(path) as book:
        for name in ("S", "T"):
            sheet = book.add_worksheet(name)
            for row in range(25_000):
                sheet.write_row(row, 0, [f"999{row:010}", row % 7, *(["late"] if row > 15_000 else [])])
            if error:  # in the first piece, and put in its place when all rows are taken in
                sheet.write_formula(1, 1, "=NA()", value=error)
    real = Opening.said

    def said(self: Opening) -> Iterator[bytes]:
        for one in real(self):
            pieces.append(one)
            yield one

    monkeypatch.setattr(Opening, "said", said)
    sheets = read_sheets(path)
    assert len(pieces) == (1 if error else 5)
    for sheet in sheets:
        rows = [[f"999{row:010}", float(row % 7), "late" if row > 15_000 else ""] for row in range(25_000)]
        rows[1][1] = error.encode() or rows[1][1]
        assert list(sheet.rows) == rows
