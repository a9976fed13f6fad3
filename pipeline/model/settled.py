"""What evidence comes to, as values: what it settles, what it can't, and which charges its lines speak of."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.model.evidence import Answer, StatementLine, Unsettled
from pipeline.model.message import Fact, Message
from pipeline.model.request import Identity


@dataclass(frozen=True)
class Settled:
    """An unknown outcome that the evidence decides: issued under a number, or not_sent.

    `as_of` is the moment that it is about where that counts: when a statement was made that is silent. None: now, as an answer is.
    """

    attempt: Unsettled
    state: str
    number: str
    settled_by: str
    evidence: Message
    answered: str  # the evidence as a person typed it, without its place
    place: Message  # where it stands
    as_of: datetime.datetime | None = None


@dataclass(frozen=True)
class Trouble:
    """Evidence that settles nothing, and why: a person has to look at it."""

    code: str  # contradiction, stale, incomplete, misread, ambiguous, withdrawn, reversal, not_settled
    place: Fact  # where it stands, or the name of a statement
    message: Message


@dataclass(frozen=True)
class Decided:
    """What the evidence comes to. `found` says of each statement line which charge of ours it speaks of."""

    settled: tuple[Settled, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    warnings: tuple[Message, ...] = ()
    elsewhere: tuple[StatementLine, ...] = ()
    lines: tuple[StatementLine, ...] = ()
    found: Mapping[int, Identity | None] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()  # why silence proved nothing
    answers: tuple[Answer, ...] = ()  # all but those whose evidence was withdrawn
