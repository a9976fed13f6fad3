"""Which requests are tried again, and how long is waited before."""

import pytest

from pipeline.model.outcome import Outcome
from pipeline.submission.retry import TRIES, may_be_tried_again, pause


def test_pauses_double_up_to_a_bound_and_the_carriers_wish_is_kept_up_to_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spread: list[tuple[float, float]] = []

    def uniform(least: float, most: float) -> float:
        spread.append((least, most))
        return 1.25

    monkeypatch.setattr("random.uniform", uniform)
    pauses = [pause(tries, None) for tries in range(1, 8)]
    assert pauses == [0.625, 1.25, 2.5, 5.0, 10.0, 10.0, 10.0]
    assert spread == [(0.5, 1.5)] * 7
    assert [pause(3, wish) for wish in (0.0, 7.0, 30.0, 31.0)] == [
        0.0,
        7.0,
        30.0,
        30.0,
    ]


def test_only_what_reached_nobody_is_tried_again_and_nothing_that_no_other_try_would_better() -> None:
    busy = Outcome("not_sent", "carrier_busy")
    assert [may_be_tried_again(busy, tries) for tries in (1, TRIES - 1, TRIES)] == [True, True, False]
    assert not may_be_tried_again(Outcome("not_sent", "key_refused", stop=True), 1)
    assert not may_be_tried_again(Outcome("unknown", "no_answer"), 1)
