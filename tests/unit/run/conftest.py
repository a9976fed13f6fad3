"""A home and a working folder of each test's own, where files are read in this process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.committing import in_a_thread


@pytest.fixture(autouse=True)
def _read_here(read_here: None) -> None:
    """None of these is about how a file is read."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where ledgers lie by default, and their last runs are noted."""
    for name in ("data", "state"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / "home" / name))
    monkeypatch.delenv("VOUCHER_WITNESS", raising=False)
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, which nothing else is in."""
    (tmp_path / "desk").mkdir()
    monkeypatch.chdir(tmp_path / "desk")
    return tmp_path / "desk"


@pytest.fixture(autouse=True)
def committing_in_a_thread() -> Iterator[None]:
    """As a process of its own it is tried in tests/unit/ledger, and by whatever runs the program."""
    with in_a_thread():
        yield
