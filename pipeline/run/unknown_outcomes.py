"""Every request of the ledger whose outcome is unknown, for whoever asks the carrier about it; a run may be on."""

from dataclasses import dataclass

from pipeline.model.evidence import Unsettled
from pipeline.model.job import Job
from pipeline.model.message import Note
from pipeline.open_ledger import ledger_to_read


@dataclass(frozen=True)
class UnknownOutcomes:
    """The attempts whose outcome is unknown, in the order in which they were made.

    `in_flight`: how many are being sent, or were when a run was killed: the next run that writes to the ledger calls those unknown.
    """

    attempts: tuple[Unsettled, ...] = ()
    in_flight: int = 0


def unknown_outcomes(job: Job, note: Note) -> UnknownOutcomes:
    """What the ledger has of them as of one moment; none where there is no ledger yet."""
    with ledger_to_read(job) as ledger:
        if ledger is None:
            return UnknownOutcomes()
        ledger.note_gap(note)
        ledger.note_doubt(note)
        ledger.as_of_now()
        return UnknownOutcomes(tuple(ledger.unsettled()), ledger.in_flight())
