"""The pace: never more than allowed within any second, and next to nothing less."""

import heapq
from bisect import bisect_left
from random import Random

import pytest

from pipeline.submission.rate_limit import Pace


def when_it_leaves(pace: Pace, at: float) -> float:
    while wait := pace.leave(at):
        at += wait + 0.001  # a timer is never early
    return at


def departures(
    rate: float, count: int, in_flight: int, busy: float, seed: int, late: float = 0.005
) -> list[float]:
    """When so many requests leave that each keep one of `in_flight` places busy, each somewhat late for its turn."""
    chance, pace, left = Random(seed), Pace(rate), []
    free = [0.0] * in_flight
    for _ in range(count):
        now = heapq.heappop(free)
        at = now + pace.turn(now) + chance.uniform(0, late)
        at = when_it_leaves(pace, at)
        left.append(at)
        heapq.heappush(free, at + busy)
    return sorted(left)


def most_in_a_second(times: list[float]) -> int:
    return max(bisect_left(times, at + 1) - i for i, at in enumerate(times))


@pytest.mark.parametrize(("rate", "in_flight"), [(100, 64), (20, 64), (3, 2), (250, 64)])
@pytest.mark.parametrize("seed", range(3))
def test_the_rate_is_used_and_never_exceeded(rate: int, in_flight: int, seed: int) -> None:
    times = departures(rate, rate * 60, in_flight, 0.2, seed)
    assert most_in_a_second(times) <= rate
    assert 0.98 <= (len(times) - 1) / (times[-1] - times[0]) / rate <= 1.0


@pytest.mark.parametrize("seed", range(3))
def test_the_rate_is_not_exceeded_where_the_requests_arrive_either(seed: int) -> None:
    """Some take longer to the carrier than others: a busy machine, a network, a new connection."""
    chance = Random(seed)
    times = departures(100, 6_000, 64, 0.2, seed)
    assert most_in_a_second(sorted(at + chance.uniform(0, 0.011) for at in times)) <= 100


def test_turns_that_are_taken_late_together_do_not_leave_together() -> None:
    """The program is held up for a quarter of a second every two seconds, and all that became due leaves at once."""
    pace, left, stalled = Pace(100), [], 0
    for _ in range(3_000):
        at = pace.turn(0.0)
        if at % 2 > 1.75:
            at = at - at % 2 + 2
            stalled += 1
        left.append(when_it_leaves(pace, at))
    assert stalled > 300
    assert most_in_a_second(left) <= 100
    assert len(left) / left[-1] > 97


def test_where_answers_are_what_is_waited_for_nothing_is_made_up_for_afterwards() -> None:
    """Four in flight, each answered after 0.4 s, use a tenth of the rate; then answers come at once."""
    pace, left, now = Pace(100), [], 0.0
    for at in range(100):
        now = max(now, at * 0.1)
        left.append(now + pace.turn(now))
    left += [now + pace.turn(now) for _ in range(300)]
    assert most_in_a_second(left) <= 100


def test_a_rate_below_one_a_second_is_kept_too() -> None:
    pace = Pace(0.5)
    assert [pace.turn(10.0) for _ in range(3)] == pytest.approx([0.0, 2.026, 4.052])
