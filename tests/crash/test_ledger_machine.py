"""The ledger against a plain model, for a few seconds; the long form is in ledger_machine.py."""

import pytest

from tests.crash.ledger_machine import live
from tests.crash.machine_life import DONE

#: What a seed's lives bring by chance, 39 times or more in most sets of 60, and 12 in one; with far fewer it would not be tried any more.
_TRIED = (
    "kills",
    "runs ended",
    "settlements",
    "moves by hand",
    "illegal changes",
    "claims refused",
    "writes spilled",
)


@pytest.mark.parametrize(("lives", "least"), [(15, 2), pytest.param(60, 15, marks=pytest.mark.slow)])
def test_a_ledger_lives_as_the_promise_says(lives: int, least: int) -> None:
    DONE.clear()
    for number in (1, 2, 3):
        # Told in words as it was found: making it short takes minutes.
        live(examples=lives, number=number, shorten=False)
        if all(DONE[what] >= least for what in _TRIED):
            return
    pytest.fail(f"too little was tried to show anything: {DONE}")
