"""The runs that the ledger has, the newest first, with who had a hand in each; a run may be on."""

from pipeline.ledger import run_people, runs
from pipeline.ledger.run_people import RunPerson
from pipeline.ledger.runs import PastRun
from pipeline.ledger.session import ledger_to_read
from pipeline.model.job import Job


def past_runs(job: Job, most: int) -> list[tuple[PastRun, list[RunPerson]]]:
    """The last so many; none where there is no ledger yet."""
    with ledger_to_read(job) as connection:
        if connection is None:
            return []
        connection.execute("BEGIN")
        found = runs.latest(connection, most)
        people = run_people.of_runs(connection, [one.run for one in found])
        return [(one, people.get(one.run, [])) for one in found]
