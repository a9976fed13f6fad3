"""Whoever finds a ledger locked is told who has it, and nothing that is not so."""

import datetime
import os
import re
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.ledger import in_use
from pipeline.ledger.in_use import InUse, in_use_path
from pipeline.ledger.lock import Lock
from pipeline.model.errors import LedgerProblem

SINCE = datetime.datetime(2026, 11, 20, 9, 30, 15, tzinfo=datetime.UTC)
RUN = InUse("Wang", SINCE.isoformat(), on_page=True, process=os.getpid())
LOCAL = f"{SINCE.astimezone():%Y-%m-%d %H:%M}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def refused(path: Path) -> str:
    with pytest.raises(LedgerProblem) as problem:
        Lock(path)
    return str(problem.value)


def test_who_has_it_is_told_while_they_have_it(path: Path) -> None:
    with closing(Lock(path)) as lock:
        assert (
            refused(path) == f"{path}: another run is using this ledger; wait until it ends, then run again"
        )
        lock.used_by(RUN)
        assert refused(path) == (
            f"{path}: another run is using this ledger (by Wang, on the page, since {LOCAL}; process {os.getpid()});"
            " wait until it ends, then run again"
        )
        assert in_use_path(path).stat().st_mode & 0o777 == 0o600
        assert not in_use.was_killed(path)
        lock.used_by(replace(RUN, person="", on_page=False))
        assert f" (by somebody, on the command line, since {LOCAL}; process " in refused(path)
    assert not in_use_path(path).exists()
    with closing(Lock(path)):
        assert "ledger; wait" in refused(path)


def test_what_a_killed_run_had_said_is_not_told_of_the_next(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.ledger.lock._LAST_COMMIT", 0.1)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    in_use.note(path, replace(RUN, process=ended.pid))
    with closing(Lock(path)):
        assert "ledger; wait" in refused(path)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "[]",
        "{}",
        "\xff",
        '{"person": 1}',
        '{"person": "x", "since": "?", "on_page": true, "process": 1}',
        '{"person": "x", "since": "2026-11-20", "on_page": true, "process": "1"}',
        f'{{"person": "x", "since": "2026-11-20", "on_page": true, "process": {10**30}}}',
    ],
)
def test_what_can_not_be_read_is_not_told(path: Path, said: str) -> None:
    in_use_path(path).write_bytes(said.encode("latin-1"))
    with closing(Lock(path)):
        assert "ledger; wait" in refused(path)


def test_a_name_stays_on_its_line(path: Path) -> None:
    with closing(Lock(path)) as lock:
        lock.used_by(replace(RUN, person="Wang\n\x1b[31mLi"))
        assert re.search(r" \(by Wang [^\n\x1b]*Li, on the page", refused(path))


def test_where_it_can_not_be_said_the_run_goes_on(path: Path) -> None:
    in_use_path(path).mkdir()
    with closing(Lock(path)) as lock:
        lock.used_by(RUN)
        assert "ledger; wait" in refused(path)
    in_use_path(path).rmdir()
    in_use_path(path).symlink_to(path.with_name("else"))
    with closing(Lock(path)) as lock:
        lock.used_by(RUN)
    assert not path.with_name("else").exists()
