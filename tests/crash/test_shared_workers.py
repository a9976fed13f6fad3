"""Workers of a shared ledger that are killed and stopped, and its server restarted: a short form, and that the check sees what is wrong."""

import pytest

from tests.conftest import needs_tool
from tests.crash.shared_workers import Size, Totals, run
from tests.postgresql_server import programs, server


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_issued_twice_and_nothing_lost(seed: int) -> None:
    found = programs()
    needs_tool("PostgreSQL's server", found)
    assert found is not None
    totals = Totals()
    with server(found) as own:
        run(own, seed, Size(200, 3, 10), totals)
    assert totals.violations == []
    assert totals.tickets == 200
    assert totals.moves["stop_worker"] + totals.moves["kill_worker"] + totals.moves["drop"] > 2
