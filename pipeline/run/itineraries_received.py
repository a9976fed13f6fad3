"""Which of the issued itineraries have come as files, and which have not, as it stands; a run may be on."""

from pipeline.ledger.ledger_path import path_for
from pipeline.ledger.opening import ledger_id
from pipeline.ledger.received_files import bounds, not_received
from pipeline.ledger.session import ledger_to_read
from pipeline.model.job import Job
from pipeline.model.settled import Decided
from pipeline.reconciliation.given_evidence import month_of
from pipeline.settlement.collection_result import Collection


def itineraries_received(job: Job, month: str = "") -> Collection | None:
    """What collecting no file would say of a month's itineraries, or of all; None where there is no ledger yet.

    Raises InputProblem for what is no month.
    """
    period, zone, today = month_of(month), job.profile.carrier.time_zone, job.terms.as_of
    first, last = (period.first, period.last) if period else (None, None)
    with ledger_to_read(job) as connection:
        if connection is None:
            return None
        connection.execute("BEGIN")
        issued, waiting = not_received(connection, *bounds(first, last, zone), (today, zone))
        return Collection(
            (), issued, tuple(waiting), Decided(), period, today, job.lang, job.profile.carrier.currency,
            str(path_for(job)), ledger_id(connection), job.origin,
        )  # fmt: skip
