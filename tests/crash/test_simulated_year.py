"""Two months of the simulated year, small."""

from pathlib import Path

import pytest

from tests.crash.simulated_year import live
from tests.moved_clock import needs_compiler

pytestmark = [needs_compiler, pytest.mark.slow]


def test_two_months_of_faults_and_kills_issue_everything_once_and_lose_nothing(tmp_path: Path) -> None:
    year = live(tmp_path / "office", months=2, tickets=40, seed=1)
    assert year.wrong == []
    assert year.killed >= 2
    assert year.settled.total() >= 1
    assert len(year.months) == 2
