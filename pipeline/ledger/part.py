"""What part of a ledger a question is about, for a ledger that is fetched from elsewhere before it is asked.

A ledger in a file is there as a whole, and needs no such word. Of one on a server only the part is fetched that a question asks about, with
all that has to do with it, so that the answer is the one that the whole ledger would give. What there is little of (the ledger itself,
its epochs, gaps, moves, and corrections of the clock) is in every part.
"""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """What a question names; all of that is in the part, beside what has to do with it.

    `attempts` are (request, attempt) pairs, `attempt_ids` their IDs in the ledger; `numbers` are those of vouchers, issued or reversing;
    `contents` are SHA-256 of files, those of an inbox and itinerary files. `unknown`: every attempt that is unknown or being sent.
    `issued_between`: from one time on and before the other (UTC, ISO 8601; "" and "~": at any time). `runs`: so many of the last ones.

    `history`: of the tickets also how they were judged, and of runs who had a hand in them. `files`: of the attempts also the itinerary
    files that are about them. `times`: of their runs also what tells whether a wrong clock wrote some of it. Others stand for all there is
    of one kind: `reversals`, `shown` (what statements showed), `archived` (itinerary files that are kept), `buyers` (a request of each),
    `statements` (those that a reconciliation was given). `everything` is all of the ledger.
    """

    tickets: Collection[str] = ()
    attempts: Collection[tuple[str, int]] = ()
    attempt_ids: Collection[int] = ()
    numbers: Collection[str] = ()
    contents: Collection[str] = ()
    unknown: bool = False
    issued_between: tuple[str, str] | None = None
    runs: int = 0
    history: bool = False
    files: bool = False
    times: bool = False
    reversals: bool = False
    shown: bool = False
    archived: bool = False
    buyers: bool = False
    statements: bool = False
    everything: bool = False


#: What is in every part.
LITTLE = Part()
EVERYTHING = Part(everything=True)
