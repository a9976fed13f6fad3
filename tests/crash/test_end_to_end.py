"""A few lives of the end-to-end harness, and that it sees what is wrong."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.crash.end_to_end import sweep

pytestmark = pytest.mark.xdist_group("end_to_end")


@pytest.mark.parametrize("seeds", [range(2), range(2, 4)], ids=str)
def test_whatever_people_honestly_say_nothing_is_issued_twice_and_nothing_is_lost(
    tmp_path: Path, needs_tool: Any, seeds: range
) -> None:
    needs_tool("a C compiler", shutil.which("cc"))
    said: list[str] = []
    assert sweep(seeds, tmp_path, said.append) == [], "\n".join(said)
