"""When a request is tried again, how long to wait before, and when failures in a row mean that no other would fare better.

The policy alone: only what reached nobody is tried again (`request_sender`), and nothing here calls anybody.
"""

import random
from collections import Counter

from pipeline.model.message import NOTHING, Message, message, without_names
from pipeline.model.outcome import Outcome

#: Attempts at one request within a run, all of them `not_sent` but the last.
TRIES = 4
_FIRST_PAUSE, _LONGEST_PAUSE, _LONGEST_RETRY_AFTER = 0.5, 8.0, 30.0  # seconds
#: So many unknown outcomes in a row, and the carrier is in no state to be sent anything.
UNKNOWN_IN_A_ROW = 10


def may_be_tried_again(outcome: Outcome, tries: int) -> bool:
    """Whether a request may leave once more within this run, after so many tries."""
    return outcome.state == "not_sent" and not outcome.stop and tries < TRIES


def pause(tries: int, retry_after: float | None) -> float:
    """Seconds until the next attempt: the carrier's own wish (Retry-After) up to a bound, else doubling with jitter."""
    if retry_after is not None:
        return min(retry_after, _LONGEST_RETRY_AFTER)
    doubled: float = min(_FIRST_PAUSE * 2 ** (tries - 1), _LONGEST_PAUSE)
    return doubled * random.uniform(0.5, 1.5)  # noqa: S311 - spreads load, protects nothing


class FailuresInARow:
    """Counts a run's failures, of all requests together; `concurrency` is how many are in flight at once."""

    def __init__(self, concurrency: int) -> None:
        self._count: Counter[str] = Counter()
        # Enough for every request in flight to have failed more than once.
        self._not_sent = max(20, 3 * concurrency)

    def after(self, outcome: Outcome) -> Message:
        """Why every further request would fare the same after this outcome; NOTHING while others may fare better."""
        if outcome.state in ("issued", "rejected"):
            self._count.clear()
        else:
            self._count[outcome.state] += 1
        detail: Message = without_names(outcome.detail)
        if outcome.stop:
            return detail
        if self._count["unknown"] >= UNKNOWN_IN_A_ROW:
            return message(
                "{count} outcomes in a row are unknown ({detail})", count=UNKNOWN_IN_A_ROW, detail=detail
            )
        if self._count["not_sent"] >= self._not_sent:
            return message(
                "{count} attempts in a row reached nobody ({detail})", count=self._not_sent, detail=detail
            )
        return NOTHING
