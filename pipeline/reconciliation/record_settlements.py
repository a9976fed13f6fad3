"""Evidence weighed, and what it settles recorded in the ledger."""

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pipeline.ledger import (
    held_charges,
    issued_elsewhere,
    reversals,
    settlements,
)
from pipeline.ledger.session import OpenLedger, as_problem
from pipeline.ledger.settlements import Known
from pipeline.model.evidence import Answer, Evidence, Unsettled, attempt_name
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import N_, NOTHING, Fact, Message, Private, joined, message, terms
from pipeline.model.request import Identity, wire_text
from pipeline.model.settled import Decided, Settled, Trouble
from pipeline.reconciliation.record_reversals import but_for_reversed, record_reversals
from pipeline.settlement.decide import InLedger, decide
from pipeline.submission.sending import Run

#: What an attempt that is not unknown nor issued is, for a message.
_STATES = {
    "planned": N_("not sent yet"),
    "sending": N_("being sent"),
    "rejected": N_("refused by the carrier"),
    "not_sent": N_("not issued"),
}


def settle(run: Run, evidence: Evidence) -> Decided:
    """Weigh the evidence and record what it settles, and what the carrier issued elsewhere."""
    ledger, wire = run.ledger, run.job.profile.wire
    with as_problem(ledger.path):
        blue = {line.number for line in evidence.lines}
        before = record_reversals(ledger, run.number, evidence.reversals, evidence.by, blue)
        evidence, under_red = but_for_reversed(ledger, evidence)
        answers, stale = _usable(ledger, evidence.answers)
        unsettled = settlements.unsettled(ledger.connection)
        in_doubt = {identity.ticket_no for one in unsettled for identity, _, _ in one.charges}
        odd = evidence.set_aside if ledger.lacking() else ()
        tickets = {line.ticket_no for line in (*evidence.lines, *odd)}
        held = ledger.holdings(sorted(tickets | in_doubt)).held
        # What earlier statements showed of what is in doubt is weighed again, with all that stands under its numbers.
        lines = (*evidence.lines, *issued_elsewhere.lines_of(ledger.connection, in_doubt))
        numbers = {line.number for line in lines} | {answer.number for answer in answers if answer.number}
        taken: dict[str, Fact] = {
            red.number: message("a red line ({place})", place=red.place)
            for red in evidence.reversals
            if red.number
        }
        taken |= {
            number: holder
            for number in numbers
            if (holder := settlements.number_taken(ledger.connection, number))
        }
        earlier = issued_elsewhere.lines_of(ledger.connection, numbers)
        weighed = replace(evidence, answers=tuple(answers), unclear=_unclear(evidence.answers, stale))
        claimed = _issued_in_claimed_days(ledger, evidence)
        gone = {of: (one.number, one.at) for of, one in reversals.by_charge(ledger.connection).items()}
        decided = decide(unsettled, weighed, InLedger(held, taken, earlier, claimed, gone))
        # What the ledger lacks may be what the carrier lists under numbers that nobody here has seen.
        shown = [
            *decided.elsewhere,
            *(line for line in odd if Identity(line.ticket_no, line.charge, line.product) not in held),
        ]
        coded = [(line, wire_text(wire(line.charge, line.product))) for line in shown]
        # First, so that whatever is let go below is held already where the carrier has issued it.
        issued_elsewhere.record(ledger.connection, run.number, coded, evidence.by)
        settled, withdrawn = _but_for_withdrawn(ledger, decided.settled)
        for one in settled:
            settlements.settle(
                ledger.connection, one.attempt.attempt_id, one.state, one.number, one.settled_by,
                one.evidence, one.answered,
            )  # fmt: skip
            run.watch.log(
                "settled", request=one.attempt.request_id, attempt=one.attempt.attempt, state=one.state
            )
        after = record_reversals(
            ledger, run.number, before.left, evidence.by, blue
        )  # of what was settled just now
    unsaid = {trouble.place for trouble in stale if trouble.code == "withdrawn"}
    return replace(
        decided,
        settled=tuple(settled),
        troubles=(*stale, *withdrawn, *after.troubles, *under_red, *decided.troubles),
        notes=(*before.notes, *after.notes, *decided.notes),
        answers=tuple(answer for answer in evidence.answers if answer.place not in unsaid),
    )


def _but_for_withdrawn(ledger: OpenLedger, settled: Sequence[Settled]) -> tuple[list[Settled], list[Trouble]]:
    """What is settled by evidence that nobody has withdrawn of that attempt; and what is not."""
    kept, troubles = [], []
    for one in settled:
        entry = settlements.withdrawn_before(
            ledger.connection, one.attempt.attempt_id, one.state, one.number, one.settled_by, one.answered
        )
        if entry:
            troubles.append(_withdrawn(one.evidence, one.attempt, entry))
        else:
            kept.append(one)
    return kept, troubles


def _withdrawn(place: Message, about: Unsettled | Answer, entry: str) -> Trouble:
    problem = message(
        "{attempt}: this evidence was withdrawn ({entry}) and settles it no more; it takes an answer on the sheet Unknown with other"
        " evidence",
        attempt=attempt_name(about),
        entry=entry,
    )
    return Trouble("withdrawn", place, problem)


def _issued_in_claimed_days(ledger: OpenLedger, evidence: Evidence) -> list[KnownCharge]:
    """What this ledger issued in the days for which the statements are said to be complete."""
    if not evidence.complete:
        return []
    since, until = (
        moment.astimezone(datetime.UTC).isoformat(timespec="milliseconds")
        for moment in (
            min(claim.since for claim in evidence.complete),
            max(claim.until for claim in evidence.complete),
        )
    )
    return list(held_charges.issued_between(ledger.connection, since, until).values())


def _usable(ledger: OpenLedger, answers: Sequence[Answer]) -> tuple[list[Answer], list[Trouble]]:
    """The answers that say all that a settlement needs, about attempts that are unknown; and what is wrong with others."""
    usable, troubles = [], []
    for answer in answers:
        known = settlements.known(ledger.connection, answer.request_id, answer.attempt)
        if known and known.epoch != answer.ledger_id:
            problem = message(
                "{attempt}: the answer is about an attempt of that number that was lost when this ledger was restored, and settles"
                " nothing here. If it says issued, compare the carrier's statement (--statement) before more is sent",
                attempt=attempt_name(answer),
            )
            troubles.append(Trouble("stale", answer.place, problem))
        elif known and known.state != "unknown":
            if not _says_the_same(answer, known):
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
            troubles.append(_withdrawn(answer.place, answer, entry))
        else:
            usable.append(answer)
    return usable, troubles


def _unclear(answers: Iterable[Answer], troubles: Iterable[Trouble]) -> frozenset[tuple[str, int]]:
    """The attempts about which somebody has answered, though not all that it takes to settle them."""
    places = {trouble.place for trouble in troubles if trouble.code == "incomplete"}
    return frozenset((answer.request_id, answer.attempt) for answer in answers if answer.place in places)


def _withdrawn_before(ledger: OpenLedger, answer: Answer, known: Known) -> str:
    said = (answer.state, answer.number, answer.resolved_by, answer.evidence)
    return settlements.withdrawn_before(ledger.connection, known.attempt_id, *said)


def _says_the_same(answer: Answer, known: Known) -> bool:
    """Whether an answer repeats what an attempt was settled as."""
    number = answer.number if answer.state == "issued" else ""
    return known.settled and (known.state, known.number) == (answer.state, number)


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
