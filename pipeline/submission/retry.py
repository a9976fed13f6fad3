"""When a request is tried again, and how long to wait before.

The policy alone: only what reached nobody is tried again (`request_sender`), and nothing here calls anybody.
"""

import random

from pipeline.model.outcome import Outcome

#: Attempts at one request within a run, all of them `not_sent` but the last.
TRIES = 4
_FIRST_PAUSE, _LONGEST_PAUSE, _LONGEST_RETRY_AFTER = 0.5, 8.0, 30.0  # seconds


def may_be_tried_again(outcome: Outcome, tries: int) -> bool:
    """Whether a request may leave once more within this run, after so many tries."""
    return outcome.state == "not_sent" and not outcome.stop and tries < TRIES


def pause(tries: int, retry_after: float | None) -> float:
    """Seconds until the next attempt: the carrier's own wish (Retry-After) up to a bound, else doubling with jitter."""
    if retry_after is not None:
        return min(retry_after, _LONGEST_RETRY_AFTER)
    doubled: float = min(_FIRST_PAUSE * 2 ** (tries - 1), _LONGEST_PAUSE)
    return doubled * random.uniform(0.5, 1.5)  # noqa: S311 - spreads load, protects nothing
