"""A few of the points of `disk_errors.py`, chosen by what fails there; the long form has them all."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import needs_tool
from tests.crash.counting_carrier import Carrier
from tests.crash.disk_harness import FRESH, UNSHARE, Before, Harness, Point, SmallDisk, beginning
from tests.crash.failpoint import compiled
from tests.crash.forked import Forks, plain


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs_tool("cc", shutil.which("cc"))
    return compiled(tmp_path_factory.mktemp("failpoint"))


@pytest.fixture(scope="module")
def carrier() -> Iterator[Carrier]:
    with Carrier() as running:
        yield running


@pytest.fixture(scope="module")
def forks(library: Path) -> Iterator[Forks]:
    with Forks(library) as running:
        yield running


@pytest.fixture(scope="module")
def harness(
    tmp_path_factory: pytest.TempPathFactory, library: Path, forks: Forks, carrier: Carrier
) -> Harness:
    return Harness(tmp_path_factory.mktemp("disk"), library, forks.run, carrier)


@pytest.fixture(scope="module")
def spilled(harness: Harness) -> Before:
    return beginning(harness, "spilled")


@pytest.fixture(scope="module")
def calls(harness: Harness) -> list[str]:
    """The calls of a run that nothing disturbs, in order."""
    harness.count(FRESH, "all")
    return harness.log.read_text().splitlines()


def nth(calls: list[str], which: float, *words: str) -> int:
    """The number of the call that is so far (0: the first, 1: the last) among those with these words."""
    found = [number for number, call in enumerate(calls, 1) if all(word in call for word in words)]
    return found[round(which * (len(found) - 1))]


@pytest.mark.parametrize(
    ("which", "words", "what", "forever"),
    [
        (0.5, (".new",), "ENOSPC", True),  # while the ledger is made
        (0.0, ("fsync", ".spill"), "EIO", False),  # before anything is sent
        (0.4, ("pwrite64", "-wal"), "ENOSPC", False),
        (0.5, ("pwrite64", "-wal"), "EIO", True),  # the spill file fails as well
        (0.6, ("fdatasync", "-wal"), "EIO", False),  # the commit may be in the file
    ],
)
def test_a_disk_that_fails_loses_nothing_and_issues_nothing_twice(
    harness: Harness, calls: list[str], which: float, words: tuple[str, ...], what: str, forever: bool
) -> None:
    tried = harness.tried(Point("all", what, forever, nth(calls, which, *words)), FRESH)
    assert tried.wrong == ()
    assert tried.reached


@pytest.mark.parametrize(("at", "what", "forever"), [(3, "ENOSPC", True), (20, "EIO", False)])
def test_a_result_that_can_not_be_written_is_no_reason_to_issue_again(
    harness: Harness, at: int, what: str, forever: bool
) -> None:
    tried = harness.tried(Point("results", what, forever, at), FRESH)
    assert tried.wrong == ()
    assert (tried.reached, tried.disturbed.code) == (True, 3)


def test_what_is_known_when_the_ledger_fails_for_good_comes_back_from_the_spill_file(
    harness: Harness, calls: list[str]
) -> None:
    wal = [call for call in calls if "x.ledger-" in call]
    tried = harness.tried(Point("wal", "EIO", True, len(wal) // 2), FRESH)
    assert tried.wrong == ()
    assert not tried.kept_by_hand


@pytest.mark.slow
def test_a_disk_that_fails_while_an_earlier_failure_is_put_in_order(
    harness: Harness, spilled: Before
) -> None:
    harness.count(spilled, "ledger")
    recovery = harness.log.read_text().splitlines()
    # the first read of the ledger, and what was spilled on its way into it
    for at in (1, nth(recovery, 0.1, "pwrite64", "-wal")):
        tried = harness.tried(Point("ledger", "EIO", False, at), spilled)
        assert tried.wrong == ()
        assert tried.reached


@pytest.mark.slow
@pytest.mark.parametrize("begins", ["spilled", "fresh"])
def test_a_lock_file_that_can_not_be_written_leaves_a_ledger_that_opens(
    harness: Harness, spilled: Before, begins: str
) -> None:
    """When an earlier run is put in order, and when a run ends."""
    before = spilled if begins == "spilled" else FRESH
    at = 1 if begins == "spilled" else harness.count(before, "lock")
    tried = harness.tried(Point("lock", "EIO", False, at), before)
    assert tried.wrong == ()
    assert tried.reached


@pytest.mark.slow
def test_the_program_itself_stops_and_goes_on_like_that(
    tmp_path: Path, library: Path, carrier: Carrier
) -> None:
    """Without the fork server: two runs from their start to their end; the process that commits is not disturbed in them."""
    harness = Harness(tmp_path, library, plain, carrier)
    harness.count(FRESH, "all")
    calls = harness.log.read_text().splitlines()
    tried = harness.tried(Point("all", "ENOSPC", False, nth(calls, 0.5, "fdatasync", "-wal")), FRESH)
    assert tried.wrong == ()
    assert (tried.reached, tried.disturbed.code) == (True, 3)


def test_an_outcome_that_no_file_can_take_is_said_even_to_whoever_wants_quiet(
    tmp_path: Path, library: Path, forks: Forks, carrier: Carrier, calls: list[str]
) -> None:
    harness = Harness(tmp_path, library, forks.run, carrier, 3, "--quiet")
    middle = nth(calls, 0.5, "fdatasync", "-wal")
    for at in range(middle, middle + 12, 3):
        tried = harness.tried(Point("all", "EIO", True, at), FRESH)
        assert tried.wrong == ()
        if tried.kept_by_hand:
            return
    pytest.fail("no answer was under way")


@pytest.mark.slow
def test_a_disk_that_is_really_full(tmp_path: Path, library: Path, carrier: Carrier) -> None:
    try_out = [*UNSHARE, "mount", "-t", "tmpfs", "none", str(tmp_path)]
    needs_tool("unshare", shutil.which("unshare"))
    if subprocess.run(try_out, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    with Forks(library, UNSHARE) as forks:
        for kilobytes in (250, 400):  # full before anything is sent, and in the middle of it
            tried = SmallDisk(tmp_path, library, forks, carrier, kilobytes).filled()
            assert tried.wrong == ()
            assert tried.disturbed.code == 3
