"""A ledger in a run."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.ledger import opening, runs
from pipeline.ledger.lock import Named
from pipeline.ledger.session import OpenLedger
from pipeline.model.profile import Owner
from tests.committing import in_a_thread
from tests.unit.reconciliation.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    path = tmp_path / "o.ledger"
    connection, lock = opening.open_for_run(path, Owner("http://127.0.0.1:1", "A"), may_create=True)
    with contextlib.closing(lock), contextlib.closing(connection):
        run = runs.begin(connection, lock, runs.RunStart("reconcile", "2026-11-20"))
        yield Desk(OpenLedger(path, connection, lock, Named(path), None), run)


@pytest.fixture(autouse=True)
def committing_in_a_thread() -> Iterator[None]:
    """As a process of its own it is tried in tests/unit/ledger, and by whatever runs the program."""
    with in_a_thread():
        yield
