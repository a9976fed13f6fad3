"""The ledger against a plain model, for a few seconds; the long form is in ledger_machine.py."""

from tests.crash.ledger_machine import live
from tests.crash.machine_life import DONE


def test_a_ledger_lives_as_the_promise_says() -> None:
    live(examples=60, number=1, shorten=False)  # told in words as it was found: making it short takes minutes
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
        assert DONE[what] >= 15, f"{what}: {DONE[what]}, too few to show anything"
