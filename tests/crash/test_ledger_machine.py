"""The ledger against a plain model, for a few seconds; the long form is in ledger_machine.py."""

import pytest

from tests.crash.ledger_machine import live
from tests.crash.machine_life import DONE


@pytest.mark.parametrize(("lives", "least"), [(15, 2), pytest.param(60, 15, marks=pytest.mark.slow)])
def test_a_ledger_lives_as_the_promise_says(lives: int, least: int) -> None:
    DONE.clear()
    # Told in words as it was found: making it short takes minutes.
    live(examples=lives, number=1, shorten=False)
    # Any seed will do: of each of these, 60 lives bring 39 or more (seeds 1 and 7). With far fewer they would not be tried any more.
    for what in (
        "kills",
        "runs ended",
        "settlements",
        "moves by hand",
        "illegal changes",
        "claims refused",
        "writes spilled",
    ):
        assert DONE[what] >= least, f"{what}: {DONE[what]}, too few to show anything"
