"""`voucher history`: everything that the ledger knows of some tickets."""

from collections.abc import Sequence

from pipeline.model.job import Job
from pipeline.model.message import Note
from pipeline.open_ledger import existing_ledger
from pipeline.reporting.history import Recorded


def history(job: Job, tickets: Sequence[str], note: Note) -> dict[str, Recorded]:
    """Everything the ledger knows of these tickets, by ticket, as of one moment; a run may be on."""
    with existing_ledger(job, None if job.ledger else job.owner) as ledger:
        ledger.note_doubt(note)
        ledger.as_of_now()
        return {ticket: Recorded(*ledger.ticket_rows(ticket)) for ticket in tickets}
