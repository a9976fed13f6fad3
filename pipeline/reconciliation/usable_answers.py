"""Answers on the sheet Unknown: which of them say all that a settlement needs, and what is wrong with the others.

One may lack something, be about an attempt that is known by now or lost, or be evidence that was withdrawn.
"""

import re
from collections.abc import Iterable, Sequence

from pipeline.ledger.read_ledger import ReadLedger
from pipeline.ledger.settlements import Known, Settlement
from pipeline.model.evidence import Answer, Unsettled, attempt_name
from pipeline.model.message import N_, NOTHING, Message, Private, joined, message, terms
from pipeline.model.settled import Trouble

#: What an attempt that is not unknown nor issued is, for a message.
_STATES = {
    "planned": N_("not sent yet"),
    "sending": N_("being sent"),
    "rejected": N_("refused by the carrier"),
    "not_sent": N_("not issued"),
}


def usable(ledger: ReadLedger, answers: Sequence[Answer]) -> tuple[list[Answer], list[Trouble]]:
    """The answers that say all that a settlement needs, about attempts that are unknown; and what is wrong with others."""
    usable, troubles = [], []
    for answer in answers:
        known = ledger.known(answer.request_id, answer.attempt)
        if known and known.epoch != answer.ledger_id:
            problem = message(
                "{attempt}: the answer is about an attempt of that number that was lost when this ledger was restored, and settles"
                " nothing here. If it says issued, compare the carrier's statement (--statement) before more is sent",
                attempt=attempt_name(answer),
            )
            troubles.append(Trouble("stale", answer.place, problem))
        elif known and known.state != "unknown":
            if is_denied(answer, known):
                problem = message(
                    "{attempt} is not unknown any more: it is not issued ({entry}); the answer changes nothing. If it was issued after all,"
                    " withdraw that before more is sent (voucher ledger withdraw {entry}), and give the answer again",
                    attempt=attempt_name(answer),
                    entry=known.entry,
                )
                troubles.append(Trouble("stale", answer.place, problem))
            elif not _says_the_same(answer, known):
                state = (
                    message("issued as {number}", number=known.number)
                    if known.state == "issued"
                    else Message(_STATES[known.state])
                )
                problem = message(
                    "{attempt} is not unknown any more: it is {state}; the answer changes nothing",
                    attempt=attempt_name(answer),
                    state=state,
                )
                troubles.append(Trouble("stale", answer.place, problem))
        elif objection := _objection(answer, known):
            troubles.append(Trouble("incomplete", answer.place, objection))
        elif known and (entry := _withdrawn_before(ledger, answer, known)):
            troubles.append(was_withdrawn(answer.place, answer, entry))
        else:
            usable.append(answer)
    return usable, troubles


def is_denied(answer: Answer, known: Known) -> bool:
    """Whether an answer says issued of an attempt that evidence has settled as not issued, so that its charges may be sent again."""
    standing = known.state == "not_sent" and known.epoch == answer.ledger_id and bool(known.entry)
    return standing and answer.state == "issued"


def unclear(answers: Iterable[Answer], troubles: Iterable[Trouble]) -> frozenset[tuple[str, int]]:
    """The attempts about which somebody has answered, though not all that it takes to settle them."""
    places = {trouble.place for trouble in troubles if trouble.code == "incomplete"}
    return frozenset((answer.request_id, answer.attempt) for answer in answers if answer.place in places)


def _withdrawn_before(ledger: ReadLedger, answer: Answer, known: Known) -> str:
    said = Settlement(answer.state, answer.number, answer.resolved_by, "", answer.evidence)
    return ledger.withdrawn_before(known.attempt_id, said)


def _says_the_same(answer: Answer, known: Known) -> bool:
    """Whether an answer repeats what an attempt was settled as."""
    number = answer.number if answer.state == "issued" else ""
    return bool(known.entry) and (known.state, known.number) == (answer.state, number)


def _objection(answer: Answer, known: Known | None) -> Message:  # noqa: PLR0911 - a line for each thing that may lack
    """What an answer lacks to settle its attempt; NOTHING if it is complete."""
    if answer.problem:
        return answer.problem
    if not answer.state:
        return message(
            "“{cell}” is no answer; enter “issued” or “not issued”", cell=Private(answer.resolution)
        )
    if known is None:
        return message("{attempt}: there is no such attempt in this ledger", attempt=attempt_name(answer))
    if answer.state == "issued" and not answer.number:
        return message("says issued, and the voucher's number is missing; enter it in the column number")
    if answer.state == "not_sent" and answer.number:
        return message(
            "says not issued, and gives a number ({number}); clear one of them", number=Private(answer.number)
        )
    if answer.number and not re.fullmatch(r"[0-9A-Za-z-]{4,40}", answer.number):
        return message(
            "“{cell}” is not a voucher's number; enter it as the carrier has it", cell=Private(answer.number)
        )
    given = (("resolved_by", answer.resolved_by), ("evidence", answer.evidence))
    if missing := [name for name, text in given if not text]:
        return message(
            "{columns} missing: say who found out, and how", columns=joined(terms(missing).parts, "and")
        )
    return NOTHING


def was_withdrawn(place: Message, about: Unsettled | Answer, entry: str) -> Trouble:
    """That evidence settles nothing, for it was withdrawn of that attempt."""
    problem = message(
        "{attempt}: this evidence was withdrawn ({entry}) and settles it no more; it takes an answer on the sheet Unknown with other"
        " evidence",
        attempt=attempt_name(about),
        entry=entry,
    )
    return Trouble("withdrawn", place, problem)
