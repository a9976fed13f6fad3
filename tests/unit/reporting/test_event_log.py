"""The log of runs: whole lines, its owner's alone, and never in the way of a run.

Seen to catch: one opened with the umask's mode; a second command that goes on writing
to a file that was moved away; a line glued to one that a full disk had cut; a complaint at every line.
"""

import contextlib
import json
import multiprocessing
import os
import resource
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from pipeline.model.errors import InputProblem
from pipeline.model.job import Watch
from pipeline.reporting.event_log import LogFile, logged


def log_at(path: Path, said: list[str] | None = None) -> LogFile:
    heard = said if said is not None else []
    return LogFile(path, "issue", lambda line: heard.append(str(line)))


def lines(*paths: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_line_says_when_which_process_which_command_which_run_and_what(tmp_path: Path) -> None:
    log = log_at(tmp_path / "log")
    log("read", file="十月\n.xlsx", rows=3)
    log("ledger_taken", run=7)
    log("settled", request="R1")
    log.close()
    first, second, third = lines(tmp_path / "log")
    assert list(first) == ["time", "process", "command", "run", "event", "file", "rows"]
    assert first["time"].endswith("Z")
    assert (first["process"], first["command"], first["run"]) == (os.getpid(), "issue", None)
    assert first["file"] == "十月\n.xlsx"
    assert (second["run"], third["run"]) == (7, 7)


def test_half_a_character_in_a_files_name_costs_no_line(tmp_path: Path) -> None:
    log = log_at(tmp_path / "log")
    log("read", file="\udce5.xlsx")
    log.close()
    assert lines(tmp_path / "log")[0]["file"] == "?.xlsx"


@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_the_log_is_its_owners_alone(tmp_path: Path, mask: int) -> None:
    (tmp_path / "log").touch()
    (tmp_path / "log").chmod(0o644)
    before = os.umask(mask)
    try:
        log = log_at(tmp_path / "log")
        assert stat.S_IMODE((tmp_path / "log").stat().st_mode) == 0o600
        (tmp_path / "log").rename(tmp_path / "log.1")
        log("read")
        log.close()
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    assert len(list(tmp_path.iterdir())) == 2


def _write(path: Path, name: str) -> None:
    log = log_at(path)
    for number in range(200):
        log("read", name=name, number=number)
    log.close()


def test_two_commands_at_once_lose_no_line_of_one_log(tmp_path: Path) -> None:
    both = [
        multiprocessing.get_context("fork").Process(target=_write, args=(tmp_path / "log", name))
        for name in "ab"
    ]
    for process in both:
        process.start()
    for number in range(5):  # as logrotate does
        time.sleep(0.01)
        with contextlib.suppress(FileNotFoundError):
            (tmp_path / "log").rename(tmp_path / f"log.{number}")
    for process in both:
        process.join(60)
        assert process.exitcode == 0
    found = lines(*tmp_path.iterdir())
    assert sorted((line["name"], line["number"]) for line in found) == [
        (n, i) for n in "ab" for i in range(200)
    ]


def test_a_log_that_was_moved_away_is_begun_anew(tmp_path: Path) -> None:
    log = log_at(tmp_path / "log")
    log("read")
    (tmp_path / "log").rename(tmp_path / "log.1")
    log("settled")
    log.close()
    assert [[line["event"] for line in lines(tmp_path / name)] for name in ("log.1", "log")] == [
        ["read"],
        ["settled"],
    ]


def test_a_log_that_goes_away_is_said_once_and_raises_nothing(tmp_path: Path) -> None:
    said: list[str] = []
    folder = tmp_path / "logs"
    folder.mkdir()
    log = log_at(folder / "log", said)
    log("read")
    (folder / "log").unlink()
    folder.rmdir()
    for _ in range(3):
        log("read")
    assert said == [
        f"{folder / 'log'}: the log can't be written (No such file or directory); the run goes on without it"
    ]
    folder.mkdir()
    log("settled")
    log.close()
    assert [line["event"] for line in lines(folder / "log")] == ["settled"]


def test_a_line_that_a_full_disk_cut_does_not_spoil_the_next(tmp_path: Path) -> None:
    said: list[str] = []
    log = log_at(tmp_path / "log", said)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, before[1]))  # no file grows over 200 bytes
    try:
        for _ in range(4):
            log("read", file="october.xlsx")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    log("settled", request="R1")
    log.close()
    whole, cut, after = (tmp_path / "log").read_text().splitlines()
    assert json.loads(whole)["event"] == "read"
    with pytest.raises(json.JSONDecodeError):
        json.loads(cut)
    assert json.loads(after)["event"] == "settled"
    assert len(said) == 1


@pytest.mark.parametrize("content", [b"PK\3\4 a workbook", b"SQLite format 3\0", b'{"version": 1}', b"x"])
def test_nothing_but_an_earlier_log_is_added_to(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(InputProblem, match="no earlier log"), logged(path, "check", watching()):
        pass
    assert path.read_bytes() == content


def test_an_earlier_log_or_an_empty_file_is_added_to(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()
    for _ in range(2):
        with logged(path, "check", watching()) as watch:
            watch.log("read")
    assert len(lines(path)) == 2


@pytest.mark.parametrize("name", ["none/log", "folder", "pipe"])
def test_a_place_where_no_log_can_be_is_refused_at_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputProblem), logged(tmp_path / name, "check", watching()):
        pass


def test_what_stops_a_run_is_named_by_its_kind_alone(tmp_path: Path) -> None:
    for stop in (InputProblem("cell B2 “ZHANG/WEI” is wrong"), ValueError("ZHANG/WEI"), KeyboardInterrupt()):
        with pytest.raises(type(stop)), logged(tmp_path / "log", "issue", watching()):
            raise stop
    found = [(line["event"], line["error"], line["exit_code"]) for line in lines(tmp_path / "log")]
    assert found == [
        ("stopped", "InputProblem", 2),
        ("stopped", "ValueError", 3),
        ("stopped", "KeyboardInterrupt", 3),
    ]
    assert "ZHANG" not in (tmp_path / "log").read_text()


def watching() -> Watch:
    return Watch(lambda _: None, lambda _: None, lambda _: True, lambda _: None)
