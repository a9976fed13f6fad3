"""The runs that the ledger has, the newest first, with who had a hand in each; a run may be on."""

from pipeline.ledger.run_people import RunPerson
from pipeline.ledger.runs import PastRun
from pipeline.model.job import Job
from pipeline.open_ledger import ledger_to_read


def past_runs(job: Job, most: int) -> list[tuple[PastRun, list[RunPerson]]]:
    """The last so many; none where there is no ledger yet."""
    with ledger_to_read(job) as ledger:
        if ledger is None:
            return []
        ledger.as_of_now()
        return ledger.past_runs(most)
