"""The result workbook appears whole or not at all, and never over anything."""

import stat
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pipeline.account import Account
from pipeline.errors import Stop
from pipeline.results import placing, sheets
from pipeline.results import workbook as under_test
from pipeline.results.workbook import write_workbook


def test_it_is_private_and_nothing_is_left_beside_it(mixed: Account, tmp_path: Path) -> None:
    path = write_workbook(mixed, tmp_path / "r.xlsx")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(found.name for found in tmp_path.iterdir()) == ["r.xlsx", "tickets.xlsx"]


def test_a_name_taken_meanwhile_is_left_alone(mixed: Account, tmp_path: Path) -> None:
    for name in ("r.result.xlsx", "r.2.result.xlsx"):
        (tmp_path / name).write_text("somebody's answers")
    path = write_workbook(mixed, tmp_path / "r.result.xlsx")
    assert path.name == "r.3.result.xlsx"
    assert (tmp_path / "r.result.xlsx").read_text() == "somebody's answers"
    assert openpyxl.load_workbook(path).sheetnames


def test_a_folder_without_hard_links_will_do(
    mixed: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(placing.os, "link", refuse)
    (tmp_path / "r.xlsx").write_text("mine")
    path = write_workbook(mixed, tmp_path / "r.xlsx")
    assert path.name == "r.2.xlsx"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (tmp_path / "r.xlsx").read_text() == "mine"


def test_a_file_that_does_not_open_gets_no_name(
    mixed: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "_write", lambda _account, path, _folder: broken(path))
    with pytest.raises(Stop, match=r"xl/x\.xml is damaged"):
        write_workbook(mixed, tmp_path / "r.xlsx")
    assert [found.name for found in tmp_path.iterdir()] == ["tickets.xlsx"]


def broken(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("xl/x.xml", "<a>\x01</a>")


def test_a_full_disk_stops_with_the_cause_and_leaves_nothing(
    mixed: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sheets.StreamedSheet, "add_row", full)
    with pytest.raises(Stop, match=r"r\.xlsx: .*No space left on device.*the ledger has it all") as stopped:
        write_workbook(mixed, tmp_path / "r.xlsx")
    assert stopped.value.exit_code == 3
    assert [found.name for found in tmp_path.iterdir()] == ["tickets.xlsx"]
