"""Where a run's ledger lies: where `--ledger` says, else in the user's data folder, a file a carrier and agency."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs

from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.profile import Owner


def default_path(owner: Owner) -> Path:
    """The per-user ledger of that carrier."""
    place = urlsplit(owner.base_url)
    name = re.sub(r"[^A-Za-z0-9.-]+", "_", f"{place.netloc or owner.base_url}{place.path}-{owner.agency}")
    return data_folder() / f"{name}.ledger"


def data_folder() -> Path:
    """The folder of this user's ledgers. Raises InputProblem where there can be none."""
    try:
        return platformdirs.user_data_path("voucher-pipeline", appauthor=False)
    except RuntimeError:
        raise InputProblem("This user has no home folder for a ledger; name one with --ledger") from None


def path_for(job: Job) -> Path:
    """Where the ledger of a run lies, unless it is thrown away."""
    return default_path(job.owner) if job.ledger is None else path_given(job.ledger)


def path_given(given: str) -> Path:
    """A ledger's path from `--ledger PATH_OR_URL`. Raises InputProblem for what is no SQLite file."""
    if not given.removeprefix("sqlite:///").strip():
        raise InputProblem("--ledger is empty; name the ledger's file, or leave the option out")
    if given.startswith("sqlite:///"):
        return Path(given.removeprefix("sqlite:///"))
    if "://" in given:
        raise InputProblem(
            "--ledger {kind}://…: only a file (a path or sqlite:///PATH) can be used",
            kind=given.split("://", 1)[0],
        )
    return Path(given)
