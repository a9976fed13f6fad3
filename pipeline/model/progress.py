"""How far a submission is, for whoever follows it."""

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a submission is: requests by state, and how many there are."""

    total: int
    states: Counter[str]

    @property
    def done(self) -> int:
        """Requests that have their final outcome of this run."""
        return self.states.total()
