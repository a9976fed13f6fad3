"""What tests of the page's parts share."""

import argon2
import pytest

from pipeline.page import accounts


@pytest.fixture
def light_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are hashed with next to no work, where what is tried is anything but how they are hashed."""
    hasher = argon2.PasswordHasher(time_cost=1, memory_cost=64)
    monkeypatch.setattr(accounts, "_hasher", lambda: hasher)
