"""A ledger in a run, and signals as the program has them."""

import signal
from collections.abc import Iterator

import pytest

from pipeline.signals import ENDING, heed
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
