"""`voucher history`: everything that the ledger knows of some tickets."""

import contextlib
from collections.abc import Sequence

from pipeline.ledger import opening, run_people, ticket_rows
from pipeline.ledger.ledger_path import path_for
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
                ticket_rows.attempts(connection, ticket),
                ticket_rows.judgements(connection, ticket),
                ticket_rows.issued_elsewhere(connection, ticket),
                ticket_rows.settlements(connection, ticket),
                ticket_rows.reversals(connection, ticket),
                ticket_rows.received_files(connection, ticket),
                run_people.of_ticket(connection, ticket),
            )
            for ticket in tickets
        }
