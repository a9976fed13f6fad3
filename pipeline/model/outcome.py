"""What came back for one attempt, and what it came to: a reply as it was seen, an outcome as it was understood."""

from dataclasses import dataclass
from typing import Literal

from pipeline.model.message import NOTHING, Message
from pipeline.model.request import Request


@dataclass(slots=True)  # not frozen, as that takes several times as long, for each request
class Answered:
    """A whole HTTP answer, as it came. `retry_after` is the header's text, "" where there is none."""

    http_status: int
    body: bytes
    retry_after: str = ""


@dataclass(frozen=True)
class NotSent:
    """Nothing reached the carrier: no connection, or not one byte of the request written.

    `too_late`: it was not written because the time for it was over (`carrier.client`), which says nothing of the carrier.
    """

    detail: Message
    too_late: bool = False


@dataclass(frozen=True)
class Lost:
    """Something was sent, and no whole answer came back."""

    detail: Message
    readable: bool = True  # False: bytes came, but they are no HTTP answer, or more than the bound


Reply = Answered | NotSent | Lost

State = Literal["issued", "rejected", "not_sent", "unknown"]


@dataclass(slots=True)  # not frozen, as that takes several times as long, for each request
class Outcome:
    """What one attempt came to.

    `reason` is a reason code ("" for issued); `stop` says that every further request would fare the
    same, so the run ends; `retry_after` is in seconds, None where the carrier names no time.
    """

    state: State
    reason: str = ""
    number: str = ""
    trace_id: str = ""
    detail: Message = NOTHING
    stop: bool = False
    retry_after: float | None = None


@dataclass(slots=True)  # not frozen, as that takes several times as long, for each request
class Result:
    """What sending one request came to: its last attempt and that attempt's outcome."""

    request: Request
    attempt: int
    outcome: Outcome
