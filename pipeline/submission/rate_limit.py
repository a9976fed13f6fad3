"""The carrier's rate: when the next request may leave.

Turns are handed out ahead, each a period after the one before, so that one which is taken a little late makes no
later one late: what the rate allows is used, all but some one part in eighty. And where turns were taken so late that
requests would leave close together, the last of them wait. (A leaky bucket counts a period from when its turn was
taken, so that every lateness is lost; or it lets several through at once.)
"""

from collections import deque

#: Turns come this much slower than the rate allows, so that what was late is made up for within the rate.
_SPARE = 1.013
#: Requests do not take equally long to reach the carrier: seconds more than one that as many as allowed are spread over.
_JITTER = 0.011


class Pace:
    """At most `rate` requests in any second (a rate below one: so many seconds between them).

    >>> pace = Pace(100)
    >>> [round(pace.turn(now=5.0), 4) for _ in range(3)]
    [0.0, 0.0101, 0.0203]
    >>> round(pace.turn(now=5.025), 4)
    0.0054
    >>> pace.turn(now=60.0)
    0.0
    """

    def __init__(self, rate: float) -> None:
        together = max(1, int(rate))
        self._period = _SPARE / rate
        self._next = 0.0
        self._spread = together / rate + _JITTER
        self._left: deque[float] = deque(maxlen=together)

    def turn(self, now: float) -> float:
        """Take the next turn; the seconds from `now`, on a clock that only goes forward, until it has come."""
        at = max(self._next, now)
        self._next = at + self._period
        return at - now

    def leave(self, now: float) -> float:
        """Leave now, on a turn that came: 0, or the seconds to wait before asking again, because others left late."""
        if len(self._left) == self._left.maxlen and (wait := self._left[0] + self._spread - now) > 0:
            return wait
        self._left.append(now)
        return 0.0
