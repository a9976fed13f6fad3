"""`voucher history`: everything that the ledger knows of some tickets."""

import contextlib
from collections.abc import Sequence

from pipeline.ledger import attempts, issued_elsewhere, judgements, opening, reversals, settlements
from pipeline.ledger.opening import path_for
from pipeline.ledger.session import as_problem, note_doubt
from pipeline.model.job import Job
from pipeline.model.message import Note
from pipeline.reporting.history import Recorded


def history(job: Job, tickets: Sequence[str], note: Note) -> dict[str, Recorded]:
    """Everything the ledger knows of these tickets, by ticket, as of one moment; a run may be on."""
    connection = opening.open_existing(path_for(job), None if job.ledger else job.owner)
    with contextlib.closing(connection), as_problem(path_for(job)):
        note_doubt(connection, path_for(job), note)
        connection.execute("BEGIN")
        return {
            ticket: Recorded(
                attempts.history(connection, ticket),
                judgements.of_ticket(connection, ticket),
                issued_elsewhere.of_ticket(connection, ticket),
                settlements.of_ticket(connection, ticket),
                reversals.of_ticket(connection, ticket),
            )
            for ticket in tickets
        }
