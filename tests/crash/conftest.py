"""What harnesses change in this process is put back after each test."""

import os

import pytest


@pytest.fixture(autouse=True)
def _put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder for notes of last runs: each life of a ledger has another one."""
    monkeypatch.setenv("XDG_STATE_HOME", os.environ["XDG_STATE_HOME"])
