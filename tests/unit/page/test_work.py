"""Work of the page's that is long past: what it wrote is taken out with it, and nothing else."""

import time
from pathlib import Path

from pipeline.page import work
from pipeline.page.page_database import transaction

_DAY = 24 * 60 * 60


def _done(folder: Path, kind: str, days_ago: float | None) -> int:
    """A piece of work that ended so long ago, None: it is on; with a file that it wrote."""
    now = time.time()
    with transaction(folder) as connection:
        number = int(
            connection.execute(
                "INSERT INTO work (kind, asked, by, begun_at, ended_at) VALUES (?, '{}', 'anna', ?, ?) RETURNING id",
                (kind, now, None if days_ago is None else now - days_ago * _DAY),
            ).get
        )
    written = work.results(folder, number)
    written.mkdir(parents=True)
    (written / "register.xlsx").touch()
    return number


def test_what_was_done_long_ago_is_taken_out_with_its_files(tmp_path: Path) -> None:
    old, recent = _done(tmp_path, "register", 401), _done(tmp_path, "backup", 399)
    on = _done(tmp_path, "reconcile", None)
    work.forget_old(tmp_path, 400)
    assert sorted(one.id for one in work.latest(tmp_path)) == [recent, on]
    assert [work.results(tmp_path, number).exists() for number in (old, recent, on)] == [False, True, True]
