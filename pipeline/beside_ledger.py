"""Where what belongs to a ledger and is no part of it lies: beside its file, under its name; of a shared one in the user's data folder,
under its ID.
"""

from pathlib import Path

from pipeline.ledger.ledger_path import data_folder, path_for
from pipeline.model.job import Job
from pipeline.model.server_address import is_server
from pipeline.open_ledger import existing_ledger


def beside_ledger(job: Job, ending: str) -> Path:
    """The absolute path of a file or folder with that ending. Raises InputProblem, or LedgerProblem, for a shared ledger that is not there."""
    if is_server(job.ledger or ""):
        with existing_ledger(job) as ledger:
            return data_folder() / f"{ledger.ledger_id}{ending}"
    path = path_for(job).absolute()
    return path.with_name(f"{path.name}{ending}")
