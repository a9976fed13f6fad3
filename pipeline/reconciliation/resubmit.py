"""Rows that may be sent by now, judged anew and sent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipeline.ledger.read_ledger import ReadLedger
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Answer, Evidence, Misread, Reversal
from pipeline.model.message import Message, message
from pipeline.model.result import RunResult
from pipeline.model.result_values import UnknownAttempt
from pipeline.model.settled import Decided
from pipeline.reconciliation.inbox import Batch
from pipeline.reconciliation.usable_answers import is_denied
from pipeline.submission.batch import judged, submitted
from pipeline.submission.sending_run import Run


@dataclass(frozen=True)
class Again:
    """One batch tried again: its result, and whether the ledger failed meanwhile."""

    batch: Batch
    result: RunResult
    ledger_failed: bool


def again(run: Run, batches: Sequence[Batch], evidence: Evidence, decided: Decided) -> list[Again]:
    """Judge every batch anew and send what may be sent now; what stops the sending of one stops that of all after it.

    Raises InputProblem if there is something to send, and no keys for it.
    """
    done: list[Again] = []
    held_up = run.ledger.lacking()
    if run.job.needs_two:
        held_up = held_up or message(
            "what one person prepared another approves ([approval].people = 2 in the profile), and both do so on the page, which"
            " sends it then: voucher serve"
        )
    unclear = _unclear(run.ledger, evidence)
    for batch in batches:
        rows = judged(run.ledger, batch.table, run.job, by_itself=True)
        may_need_keys = rows.requests and not (run.job.needs_two or run.job.sandbox)
        if may_need_keys and run.job.secrets is None:
            raise InputProblem(
                "VOUCHER_API_KEY and VOUCHER_ENCRYPTION_KEY are needed to send; set them as for voucher issue"
            )
        result, sent = submitted(run, rows, held_up, unclear)
        result = replace(result, doubts=with_answers(result.doubts, decided.answers))
        done.append(Again(batch, result, sent.ledger_failed))
        held_up = held_up or result.stopped
        if sent.ledger_failed:  # nothing that it says can be relied on, and nothing be written to it
            break
    return done


def _unclear(ledger: ReadLedger, evidence: Evidence) -> dict[str, Message]:
    """The tickets of which nothing is sent by itself, and why."""
    found = {
        of.ticket_no: message(
            "a voucher of ticket {ticket_no} was reversed by the carrier ({number}); start voucher issue to issue it again",
            ticket_no=of.ticket_no,
            number=one.number,
        )
        for of, one in ledger.reversed_charges().items()
    }
    denied = [
        (one.request_id, one.attempt)
        for one in evidence.answers
        if (known := ledger.known(one.request_id, one.attempt)) and is_denied(one, known)
    ]
    found |= {
        identity.ticket_no: message(
            "an answer says that a voucher of ticket {ticket_no} was issued, which was settled as not issued; see first which is right",
            ticket_no=identity.ticket_no,
        )
        for of in (ledger.contents(denied) if denied else ())
        for identity, _, _ in of.charges
    }
    lines: tuple[Misread | Reversal, ...] = (*evidence.misread, *evidence.reversals)
    return found | {
        line.ticket_no: message(
            "the statement has a line about ticket {ticket_no} that can't be read; correct the statement first",
            ticket_no=line.ticket_no,
        )
        for line in lines
        if line.ticket_no not in found
    }


def with_answers(doubts: Sequence[UnknownAttempt], answers: Sequence[Answer]) -> tuple[UnknownAttempt, ...]:
    """Outcomes that are still unknown, with the answers that were given to them and settled nothing."""
    typed = {answer.about: answer.typed for answer in answers}
    return tuple(
        replace(one, typed=typed.get((one.epoch, one.request_id, one.attempt), one.typed)) for one in doubts
    )
