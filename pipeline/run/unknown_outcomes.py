"""Every request of the ledger whose outcome is unknown, for whoever asks the carrier about it; a run may be on."""

from dataclasses import dataclass

from pipeline.ledger import settlements
from pipeline.ledger.ledger_path import path_for
from pipeline.ledger.session import ledger_to_read, note_doubt, note_gap
from pipeline.model.evidence import Unsettled
from pipeline.model.job import Job
from pipeline.model.message import Note


@dataclass(frozen=True)
class UnknownOutcomes:
    """The attempts whose outcome is unknown, in the order in which they were made.

    `in_flight`: how many are being sent, or were when a run was killed: the next run that writes to the ledger calls those unknown.
    """

    attempts: tuple[Unsettled, ...] = ()
    in_flight: int = 0


def unknown_outcomes(job: Job, note: Note) -> UnknownOutcomes:
    """What the ledger has of them as of one moment; none where there is no ledger yet."""
    with ledger_to_read(job) as connection:
        if connection is None:
            return UnknownOutcomes()
        note_gap(connection, note)
        note_doubt(connection, path_for(job), note)
        connection.execute("BEGIN")
        return UnknownOutcomes(tuple(settlements.unsettled(connection)), settlements.in_flight(connection))
