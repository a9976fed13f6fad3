"""Rows that may be sent by now, judged anew and sent."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.account import Account
from pipeline.bookkeeping import OpenLedger
from pipeline.errors import InputProblem
from pipeline.inbox import Batch
from pipeline.issuing import judged, submitted
from pipeline.job import Task, Watch
from pipeline.settings import Secrets
from pipeline.settlement import Evidence

#: Row statuses after which a workbook has nothing more to come by itself.
_SETTLED_STATUSES = frozenset({"issued", "already_issued", "invalid", "ineligible", "rejected"})
#: Reasons that a day, or an answer of the carrier's in the profile, takes away.
_PASSING = frozenset({"date_in_future", "code_not_configured", "amount_over_limit", "not_a_carrier_ticket"})


@dataclass(frozen=True)
class Again:
    """One batch tried again: its account, and whether the ledger failed meanwhile."""

    batch: Batch
    account: Account
    ledger_failed: bool


def again(  # noqa: PLR0913 - where the flow's parts meet
    task: Task,
    ledger: OpenLedger,
    run: int,
    batches: Sequence[Batch],
    evidence: Evidence,
    keys: Secrets | None,
    watch: Watch,
) -> list[Again]:
    """Judge every batch anew and send what may be sent now; what stops the sending of one stops that of all after it."""
    done: list[Again] = []
    held_up = ledger.lacking()
    unclear = frozenset(misread.ticket_no for misread in evidence.misread if misread.ticket_no)
    for batch in batches:
        rows = judged(ledger, batch.table, task.job, by_itself=True)
        if rows.requests and keys is None:
            raise InputProblem(
                "VOUCHER_API_KEY and VOUCHER_ENCRYPTION_KEY are needed to send; set them as for voucher issue"
            )
        account, sent = submitted(
            task.job, ledger, run, rows, keys or Secrets("", ""), watch, "reconcile", held_up, unclear
        )
        done.append(Again(batch, account, sent.ledger_failed))
        held_up = held_up or account.stopped
        if sent.ledger_failed:  # nothing that it says can be relied on, and nothing be written to it
            break
    return done


def fates(account: Account) -> str:
    """A digest of what became of every row, so that a night in which nothing changed writes no new workbook."""
    said = [
        (row.row, row.sheet, row.status, row.numbers, [reason.code for reason in row.reasons])
        for row in account.rows
    ]
    return hashlib.sha256(repr(said).encode()).hexdigest()[:20]


def unfinished(account: Account) -> bool:
    """Whether rows may come to another end without anybody's changing them: by time, by evidence, by the profile."""
    return any(
        charge.status not in _SETTLED_STATUSES or any(reason.code in _PASSING for reason in charge.reasons)
        for row in account.rows
        for charge in row.charges
    )
