"""One fault: what the carrier's side does, and what the design says that the request comes to."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pipeline.model.profile import Answers
from tests.crash.wire_answers import number_of
from tests.crash.wire_server import Asked, Line, Talk, answer_bytes

BOTH = ("invoice", "itinerary")
UNREADABLE, UNEXPLAINED, NO_ANSWER = ("answer_unreadable",), ("answer_unexplained",), ("no_answer",)
#: Where bytes came and no more did, either code tells a person the truth.
BROKEN_OFF = ("no_answer", "answer_unreadable")


@dataclass(frozen=True)
class Fault:
    """One row of the table. `state` and `reason` are what the design's "promise", point 4, gives."""

    name: str
    play: Talk
    state: str
    reason: tuple[str, ...] = ()
    lenient: bool = False  # a lenient reader understands it: `unknown` is right too
    stops: bool = False  # every further request would fare the same: the run ends
    whole: bool = False  # it is an HTTP answer from end to end: the ledger must have it as it was sent
    number: Callable[[Asked], str] = (
        number_of  # where it is issued under another number than the request's usual one
    )
    vouchers: tuple[str, ...] = ("itinerary",)
    reused: tuple[bool, ...] = (False, True)
    idle: bool = False  # it happens between requests, not to one
    stray: bool = (
        False  # afterwards something comes that nobody asked for: the next request may be unknown too
    )
    stalls: bool = False  # it costs a time-out, so that the time-outs are short
    ahead: bool = False  # the next request may leave before this one is tried again: it plays what each is told, by what is asked
    big: bool = False  # the request is larger than what the sockets hold
    answers: Answers = field(default_factory=Answers)

    @property
    def expected(self) -> tuple[str, ...]:
        """The states that are right."""
        return (self.state, "unknown") if self.lenient else (self.state,)


def says(
    name: str,
    make: Callable[[Asked], bytes],
    state: str,
    reason: tuple[str, ...] = (),
    *,
    status: int = 200,
    headers: tuple[str, ...] = (),
    vouchers: tuple[str, ...] = BOTH,
    **more: Any,
) -> Fault:
    """A whole answer with this body. The carrier issued, unless its answer means that it did not."""

    def play(line: Line) -> None:
        asked = line.read()
        if state in ("issued", "unknown"):
            line.issue(asked, more.get("number", number_of)(asked))
        line.answer(status, make(asked), *headers)

    return Fault(name, play, state, reason, whole=True, vouchers=vouchers, **more)


def sends(
    name: str,
    make: Callable[[Asked], bytes],
    state: str,
    reason: tuple[str, ...] = (),
    *,
    end: Callable[[Line], None] | None = Line.fin,
    **more: Any,
) -> Fault:
    """These bytes after the request was read and its voucher issued, then `end` (None: the line stays)."""

    def play(line: Line) -> None:
        asked = line.read()
        line.issue(asked, number_of(asked))
        line.send(make(asked))
        if end is not None:
            end(line)

    return Fault(name, play, state, reason, **more)


def http(asked_body: Callable[[Asked], bytes], *headers: str, status: int = 200) -> Callable[[Asked], bytes]:
    """A well-formed answer around a body."""
    return lambda asked: answer_bytes(status, asked_body(asked), *headers)
