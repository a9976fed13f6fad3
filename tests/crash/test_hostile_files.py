"""The short form of hostile_files, and that it sees what it is there for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pipeline.reading import bounded_child
from pipeline.reading.formats import zip_workbook
from tests.crash import hostile_files
from tests.crash.hostile_bases import bases


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    """The kinds of files that need no other program."""
    return bases(tmp_path_factory.mktemp("bases"), converted=False)


@pytest.mark.slow
def test_the_files_that_are_spoilt_are_sound(tmp_path: Path, found: Mapping[str, bytes]) -> None:
    for name, content in found.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert hostile_files.tried(path, tmp_path).said == "", name


@pytest.mark.slow
def test_what_the_tests_take_is_not_the_readers(tmp_path: Path, found: Mapping[str, bytes]) -> None:
    taken = b"x" * (2 * bounded_child.SMALLEST_DATA)
    (tmp_path / "t.xlsx").write_bytes(found["openpyxl.xlsx"])
    assert hostile_files.tried(tmp_path / "t.xlsx", tmp_path).wrong == []
    assert len(taken) == 2 * bounded_child.SMALLEST_DATA


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 60), marks=pytest.mark.slow)])
def test_spoilt_files_are_one_clear_line_each(
    tmp_path: Path, found: Mapping[str, bytes], seeds: range
) -> None:
    assert hostile_files.run(seeds, tmp_path, found) == []


@pytest.mark.slow
def test_spoilt_files_that_are_taken_out_by_column_are_one_clear_line_each(
    tmp_path: Path, found: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zip_workbook, "LONG", 0)
    workbooks = {name: content for name, content in found.items() if name.endswith(".xlsx")}
    assert hostile_files.run(range(20), tmp_path, workbooks) == []


@pytest.mark.parametrize(
    ("read", "seen"),
    [
        (lambda *_: 1 / 0, "ZeroDivisionError"),
        (lambda *_: bytearray(bounded_child.MEMORY_BYTES), "MemoryError"),
        (lambda *_: {"problem": "damaged", "detail": "{"}, None),
        (lambda *_: {"problem": "unheard of", "detail": ""}, None),  # told as a damaged file
        (lambda *_: {"readings": [[]], "certain": True, "detail": ""}, None),
    ],
)
def test_a_reader_that_fails_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Any, seen: str | None
) -> None:
    monkeypatch.setattr(bounded_child, "read", read)
    path = tmp_path / "t.csv"
    path.write_text("x")
    wrong = hostile_files.tried(path, tmp_path).wrong
    assert seen in " ".join(wrong) if seen else wrong == []


@pytest.mark.slow
def test_a_reader_that_hangs_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(bounded_child, "read", hangs)
    monkeypatch.setattr(hostile_files, "SECONDS", 1)
    path = tmp_path / "t.csv"
    path.write_text("x")
    assert any("ended with -" in line for line in hostile_files.tried(path, tmp_path).wrong)
