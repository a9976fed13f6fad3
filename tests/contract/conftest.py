from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline.ledger_postgresql.server_schema import Bounds
from tests.conftest import needs_tool
from tests.contract.ledgers import PATIENT, Ledger, Shared, one_file, shared
from tests.postgresql_server import Server, programs, server

Begin = Callable[..., Shared]


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A server for all tests of this process."""
    found = programs()
    needs_tool("PostgreSQL's server", found)
    assert found is not None
    with server(found) as one:
        yield one


@pytest.fixture(scope="session")
def database(postgresql: Server) -> str:
    """One for all tests, as a new one for each would take longer than they do."""
    return postgresql.new_database()


@pytest.fixture
def begin_shared(postgresql: Server, database: str) -> Iterator[Begin]:
    """Begins a new shared ledger."""
    opened = []

    def begin(bounds: Bounds = PATIENT) -> Shared:
        context = shared(lambda role: postgresql.url(database, role), bounds)
        opened.append(context)
        return context.__enter__()

    yield begin
    for context in opened:
        context.__exit__(None, None, None)


@pytest.fixture(params=["one file", pytest.param("shared", marks=pytest.mark.slow)])
def ledger(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Ledger]:
    """Each ledger, with a run that is on."""
    monkeypatch.delenv("VOUCHER_WITNESS", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    if request.param == "shared":
        yield request.getfixturevalue("begin_shared")()
        return
    with one_file(tmp_path / "a.ledger") as opened:
        yield opened
