"""A few lives of the end-to-end harness, and that the bugs by which it is measured can still be planted."""

from pathlib import Path

import pytest

from tests.crash.end_to_end import sweep
from tests.crash.end_to_end_bugs import BUGS, Bug, planted


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(
    "seeds",
    [range(10, 11), range(2, 5), range(5, 6)],
    ids=str,
)
def test_whatever_people_honestly_say_nothing_is_issued_twice_and_nothing_is_lost(
    tmp_path: Path, seeds: range
) -> None:
    said: list[str] = []
    assert sweep(seeds, tmp_path, said.append) == [], "\n".join(said)


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_each_bug_that_lives_are_to_show_fits_the_program_as_it_is(bug: Bug) -> None:
    assert planted(bug, Path(__file__).parents[2] / "pipeline")
