"""Evidence weighed, and what it settles recorded in the ledger."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pipeline.ledger.read_ledger import ReadLedger
from pipeline.ledger.settlements import NotSettled, Settlement
from pipeline.model.evidence import Answer, Evidence, StatementLine, Unsettled, attempt_name
from pipeline.model.message import Fact, message
from pipeline.model.request import wire_text
from pipeline.model.settled import Decided, Settled, Trouble
from pipeline.reconciliation.reversals_on_statements import (
    record_reversals,
    reversal_notes,
    without_reversed,
)
from pipeline.reconciliation.usable_answers import unclear, usable, was_withdrawn
from pipeline.settlement.decide import InLedger, decide
from pipeline.submission.sending_run import Run


def settle(run: Run, evidence: Evidence) -> Decided:
    """Weigh the evidence and record what it settles, and what the carrier issued elsewhere."""
    ledger, wire = run.ledger, run.job.profile.wire
    blue = {line.number for line in evidence.lines}
    before = record_reversals(ledger, run.number, evidence.reversals, evidence.by, blue)
    evidence, under_red = without_reversed(ledger, evidence)
    answers, stale = usable(ledger, evidence.answers)
    unsettled = ledger.unsettled()
    odd = evidence.set_aside if ledger.lacking() else ()
    weighed = replace(evidence, answers=tuple(answers), unclear=unclear(evidence.answers, stale))
    known = _in_ledger(ledger, weighed, unsettled, odd, _given_to_others(evidence.answers, answers))
    decided = decide(unsettled, weighed, known)
    # What the ledger lacks may be what the carrier lists under numbers that nobody here has seen.
    elsewhere = (line for line in decided.elsewhere if line.content not in evidence.passing)
    shown = (*elsewhere, *(line for line in odd if line.identity not in known.held))
    coded = [(line, wire_text(wire(line.charge, line.product))) for line in shown]
    # First, so that whatever is let go below is held already where the carrier has issued it.
    ledger.hold_elsewhere(run.number, coded, evidence.by)
    usable_now, withdrawn = _without_withdrawn(ledger, decided.settled)
    settled, refused = _recorded(run, usable_now)
    # Of what was settled just now.
    after = record_reversals(ledger, run.number, before.left, evidence.by, blue)
    unsaid = {trouble.place for trouble in stale if trouble.code == "withdrawn"}
    return replace(
        decided,
        settled=tuple(settled),
        troubles=(*stale, *withdrawn, *refused, *after.troubles, *under_red, *decided.troubles),
        notes=(*reversal_notes(ledger, (*before.recorded, *after.recorded)), *decided.notes),
        answers=tuple(answer for answer in evidence.answers if answer.place not in unsaid),
    )


def _in_ledger(
    ledger: ReadLedger,
    evidence: Evidence,
    unsettled: Sequence[Unsettled],
    odd: Sequence[StatementLine],
    given: Mapping[str, Fact],
) -> InLedger:
    """What the ledger knows that this evidence is weighed against; `odd` are lines that may be held all the same, `given` has numbers
    that are somebody else's by the same evidence.
    """
    in_doubt = {identity.ticket_no for one in unsettled for identity, _, _ in one.charges}
    tickets = in_doubt | {line.ticket_no for line in (*evidence.lines, *odd)}
    # What earlier statements showed of what is in doubt is weighed again, with all that stands under its numbers.
    lines = (*evidence.lines, *ledger.shown_elsewhere(in_doubt))
    listed = {line.number for line in lines}  # which says whose they are
    numbers = listed | {answer.number for answer in evidence.answers if answer.number}
    taken: dict[str, Fact] = {number: of for number, of in given.items() if number not in listed} | {
        red.number: message("a red line ({place})", place=red.place)
        for red in evidence.reversals
        if red.number
    }
    taken |= ledger.numbers_taken(numbers)
    return InLedger(
        ledger.holdings(sorted(tickets)).held,
        taken,
        ledger.shown_elsewhere(numbers),
        [*ledger.issued_between(*evidence.claimed).values()] if evidence.claimed else [],
        {of: (one.number, one.at) for of, one in ledger.reversed_charges().items()},
        ledger.with_files() | evidence.filed,
    )


def _given_to_others(answers: Sequence[Answer], usable: Sequence[Answer]) -> dict[str, Fact]:
    """The numbers that answers give which settle nothing, with the request that each is about: no other request's then."""
    settling = {(answer.request_id, answer.attempt) for answer in usable}
    return {
        answer.number: message("another request ({request_id})", request_id=answer.request_id)
        for answer in answers
        if answer.number and (answer.request_id, answer.attempt) not in settling
    }


def _without_withdrawn(ledger: ReadLedger, settled: Sequence[Settled]) -> tuple[list[Settled], list[Trouble]]:
    """What is settled by evidence that nobody has withdrawn of that attempt; and what is not."""
    kept, troubles = [], []
    for one in settled:
        if entry := ledger.withdrawn_before(one.attempt.attempt_id, _settlement(one)):
            troubles.append(was_withdrawn(one.evidence, one.attempt, entry))
        else:
            kept.append(one)
    return kept, troubles


def _recorded(run: Run, settled: Sequence[Settled]) -> tuple[list[Settled], list[Trouble]]:
    """What the ledger takes for settled; and what it does not, now: a request may still be on its way, or somebody else was quicker."""
    kept, troubles = [], []
    for one in settled:
        try:
            run.ledger.settle(one.attempt.attempt_id, _settlement(one))
        except NotSettled as why:
            troubles.append(Trouble("not_settled", attempt_name(one.attempt), why.message))
            continue
        run.watch.log("settled", request=one.attempt.request_id, attempt=one.attempt.attempt, state=one.state)
        kept.append(one)
    return kept, troubles


def _settlement(one: Settled) -> Settlement:
    return Settlement(one.state, one.number, one.settled_by, one.evidence, one.answered, one.as_of)
