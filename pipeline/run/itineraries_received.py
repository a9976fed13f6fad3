"""Which of the issued itineraries have come as files, and which have not, as it stands; a run may be on."""

from pipeline.model.job import Job
from pipeline.model.settled import Decided
from pipeline.open_ledger import ledger_to_read
from pipeline.reconciliation.given_evidence import month_of
from pipeline.settlement.collection_result import Collection


def itineraries_received(job: Job, month: str = "") -> Collection | None:
    """What collecting no file would say of a month's itineraries, or of all; None where there is no ledger yet.

    Raises InputProblem for what is no month.
    """
    period, zone, today = month_of(month), job.profile.carrier.time_zone, job.terms.as_of
    with ledger_to_read(job) as ledger:
        if ledger is None:
            return None
        ledger.as_of_now()
        issued, waiting = ledger.not_received(period, today, zone)
        return Collection(
            (), issued, tuple(waiting), Decided(), period, today, job.lang,
            ledger.name, ledger.ledger_id, job.origin,
        )  # fmt: skip
