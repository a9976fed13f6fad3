"""Outcomes, and the raw answers that say them, in a language of these tests' own."""

import json

from pipeline.model.message import from_text, to_text, verbatim
from pipeline.model.outcome import Answered, Outcome
from tests.crash.machine_pool import NUMBERS


def outcome_of(what: int, code: int) -> Outcome:
    """An outcome as `interpret` gives them."""
    trace = f"t{code % 3}"
    match what:
        case 0 | 1:
            return Outcome("issued", number=NUMBERS[code % len(NUMBERS)], trace_id=trace)
        case 2 | 3 | 4:
            return Outcome(
                "rejected", "carrier_rejected", trace_id=trace, detail=verbatim("not on this ticket")
            )
        case 5 | 6 | 7:
            return Outcome("not_sent", "carrier_busy", detail=verbatim("HTTP 429"))
        case _:
            return Outcome("unknown", "no_answer", detail=verbatim("nothing within 60 s"))


def answer_of(outcome: Outcome) -> Answered:
    """A raw answer that says so."""
    text = json.dumps(
        [outcome.state, outcome.reason, outcome.number, outcome.trace_id, to_text(outcome.detail)]
    )
    return Answered(
        200 if outcome.state in ("issued", "rejected") else 503, text.encode(), "7" if outcome.detail else ""
    )


def read(answer: Answered, *, doubted: bool) -> Outcome:
    """What such an answer means; a no is no proof where it may mean "issued already"."""
    state, reason, number, trace_id, detail = json.loads(answer.body)
    if state == "rejected" and doubted:
        return Outcome(
            "unknown", "answer_unexplained", trace_id=trace_id, detail=verbatim("refused, but doubted")
        )
    return Outcome(state, reason, number, trace_id, from_text(detail))
