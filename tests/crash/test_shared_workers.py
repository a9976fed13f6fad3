"""Workers of a shared ledger that are killed and stopped, and its server restarted: a short form, and that it says where it was cut off."""

import re
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.conftest import needs_tool
from tests.crash.shared_workers import Office, Size, Totals, run
from tests.postgresql_server import Server, programs, server

pytestmark = pytest.mark.slow


@pytest.fixture
def own() -> Iterator[Server]:
    found = programs()
    needs_tool("PostgreSQL's server", found)
    assert found is not None
    with server(found) as one:
        yield one


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_issued_twice_and_nothing_lost(seed: int, own: Server) -> None:
    totals = Totals()
    run(own, seed, Size(200, 3, 10), totals)
    assert totals.violations == []
    assert totals.tickets == 200
    assert totals.moves["stop_worker"] + totals.moves["kill_worker"] + totals.moves["drop"] > 2


def test_what_is_cut_off_says_its_seed_where_it_was_who_lives_and_what_the_ledger_has(
    own: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(Office(own, 7, Size(tickets=3, workers=1), Totals(), "")) as office:
        office.plan_anew()
        office.start_worker()
        (worker,) = (one.popen.pid for one in office.processes)
        with pytest.raises(SystemExit), office.standing(7):
            raise SystemExit(1)  # as SIGTERM has it end
        office.server.stop()
        with pytest.raises(KeyboardInterrupt), office.standing(8):
            raise KeyboardInterrupt
    first, second = capsys.readouterr().err.split("seed ")[1:]
    assert first.startswith("7, 0 s, cut off by SystemExit(1): test_what_is_cut_off_says_its_seed")
    assert f"processes: {worker} " in first
    assert all(word in first for word in ("workers: left 1", "claims: open", "waiting: "))
    (attempts,) = re.findall(r"attempts: (.*)", first)
    assert sum(map(int, re.findall(r"\d+", attempts))) == 3, "in whatever states"
    assert "the ledger does not say: OperationalError" in second
