"""How long is waited before a request is tried again."""

import pytest

from pipeline.submission.retry import pause


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
