"""When failures in a row, of whatever requests, mean that no other would fare better, so that the run stops sending."""

from collections import Counter
from collections.abc import Mapping

from pipeline.model.message import NOTHING, Message, message, without_names
from pipeline.model.outcome import Outcome

#: So many unknown outcomes in a row, and the carrier is in no state to be sent anything.
UNKNOWN_IN_A_ROW = 10


def why_stop(in_a_row: Mapping[str, int], concurrency: int, last: Outcome) -> Message:
    """Why every further request would fare as the last did, by how many were unknown or not_sent in a row; NOTHING while others may fare
    better.

    `concurrency` is how many are in flight at once.
    """
    detail: Message = without_names(last.detail)
    if in_a_row["unknown"] >= UNKNOWN_IN_A_ROW:
        return message(
            "{count} outcomes in a row are unknown ({detail})", count=UNKNOWN_IN_A_ROW, detail=detail
        )
    # Enough for every request in flight to have failed more than once.
    most = max(20, 3 * concurrency)
    if in_a_row["not_sent"] >= most:
        return message("{count} attempts in a row reached nobody ({detail})", count=most, detail=detail)
    return NOTHING


class FailuresInARow:
    """Counts a run's failures, of all requests together; `concurrency` is how many are in flight at once."""

    def __init__(self, concurrency: int) -> None:
        self._count: Counter[str] = Counter()
        self._concurrency = concurrency

    def after(self, outcome: Outcome) -> Message:
        """Why every further request would fare the same after this outcome; NOTHING while others may fare better."""
        if outcome.state in ("issued", "rejected"):
            self._count.clear()
            return NOTHING
        self._count[outcome.state] += 1
        if outcome.stop:
            stopped: Message = without_names(outcome.detail)
            return stopped
        return why_stop(self._count, self._concurrency, outcome)
