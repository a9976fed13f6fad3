"""When failures in a row, of whatever requests, mean that no other would fare better, so that the run stops sending."""

from collections import Counter

from pipeline.model.message import NOTHING, Message, message, without_names
from pipeline.model.outcome import Outcome

#: So many unknown outcomes in a row, and the carrier is in no state to be sent anything.
UNKNOWN_IN_A_ROW = 10


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
            return NOTHING
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
