"""A ledger in a run, and signals as the program has them."""

import signal
from collections.abc import Iterator

import pytest

from pipeline.signals import ENDING, heed
from tests.committing import in_a_thread
from tests.unit.reconciliation.conftest import desk

__all__ = ["desk"]


@pytest.fixture
def own_signals() -> Iterator[None]:
    """Signals as the program has them, whatever started the tests; afterwards as they were."""
    before = {number: signal.getsignal(number) for number in ENDING}
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    heed()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def committing_in_a_thread() -> Iterator[None]:
    """As a process of its own it is tried in tests/unit/ledger, and by whatever runs the program."""
    with in_a_thread():
        yield
