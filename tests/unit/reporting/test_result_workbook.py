"""The result workbook appears whole or not at all, and never over anything."""

import gc
import stat
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from xlsxwriter.worksheet import Worksheet

from pipeline import file_writing
from pipeline.model.columns import RESULT_SHEETS
from pipeline.model.errors import Stop
from pipeline.model.result import RunResult
from pipeline.reporting import result_workbook as under_test
from pipeline.reporting.result_workbook import write_workbook


def test_it_is_private_and_nothing_is_left_beside_it(mixed: RunResult, tmp_path: Path) -> None:
    path = write_workbook(mixed, tmp_path / "r.xlsx")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(found.name for found in tmp_path.iterdir()) == ["r.xlsx", "tickets.xlsx"]


def test_a_name_taken_meanwhile_is_left_alone(mixed: RunResult, tmp_path: Path) -> None:
    for name in ("r.result.xlsx", "r.2.result.xlsx"):
        (tmp_path / name).write_text("somebody's answers")
    path = write_workbook(mixed, tmp_path / "r.result.xlsx")
    assert path.name == "r.3.result.xlsx"
    assert (tmp_path / "r.result.xlsx").read_text() == "somebody's answers"
    assert openpyxl.load_workbook(path).sheetnames


def test_a_folder_without_hard_links_will_do(
    mixed: RunResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(file_writing.os, "link", refuse)
    (tmp_path / "r.xlsx").write_text("mine")
    path = write_workbook(mixed, tmp_path / "r.xlsx")
    assert path.name == "r.2.xlsx"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (tmp_path / "r.xlsx").read_text() == "mine"


def no_workbook(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("xl/x.xml", "<a>\x01</a>")


def cut_short(path: Path) -> None:
    full(path)
    path.write_bytes(path.read_bytes()[:-2000])


def changed(path: Path) -> None:
    full(path)
    content = path.read_bytes()
    start = content.index(b"xl/worksheets/sheet6.xml") + 300
    path.write_bytes(content[:start] + bytes([content[start] ^ 0x55]) + content[start + 1 :])


def lacking(path: Path) -> None:
    full(path, RESULT_SHEETS[:-1])


def full(path: Path, names: Sequence[str] = RESULT_SHEETS) -> None:
    book = openpyxl.Workbook()
    book.active.title = names[0]
    for name in names[1:]:
        book.create_sheet(name).append([name * count for count in range(1, 99)])
    book.save(path)


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (no_workbook, "does not open"),
        (cut_short, "does not open"),
        (changed, "sheet6|decompress"),
        (lacking, "is damaged"),
    ],
)
def test_a_file_that_does_not_open_gets_no_name(
    broken: Callable[[Path], None],
    why: str,
    mixed: RunResult,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(under_test, "_write", lambda path, *_: broken(path))
    with pytest.raises(Stop, match=why):
        write_workbook(mixed, tmp_path / "r.xlsx")
    assert [found.name for found in tmp_path.iterdir()] == ["tickets.xlsx"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["write_number", "autofilter", "data_validation"])
def test_a_full_disk_stops_with_the_cause_and_leaves_nothing(
    method: str, mixed: RunResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Worksheet, method, no_space)
    with pytest.raises(Stop, match=r"r\.xlsx: .*No space left on device.*the ledger has it all") as stopped:
        write_workbook(mixed, tmp_path / "r.xlsx")
    assert stopped.value.exit_code == 3
    assert [found.name for found in tmp_path.iterdir()] == ["tickets.xlsx"]
    gc.collect()  # a file left open would warn now
