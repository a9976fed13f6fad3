"""What harnesses change in this process is put back after each test."""

import gc
import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder for notes of last runs: each life of a ledger has another one."""
    monkeypatch.setenv("XDG_STATE_HOME", os.environ["XDG_STATE_HOME"])


@pytest.fixture(scope="module", autouse=True)
def _leaves_nothing_open() -> Iterator[None]:
    """What a harness leaves open is told of that harness, and not of whatever test runs when it is collected."""
    yield
    gc.collect()
