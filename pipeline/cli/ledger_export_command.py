"""What `voucher ledger export` does, which alone of what is done with a ledger needs to write a workbook."""

from pathlib import Path
from typing import Any

from pipeline.cli.job_options import ledger_job
from pipeline.cli.stderr import teller
from pipeline.model.columns import Lang
from pipeline.model.message import message
from pipeline.run.ledger_export import exported


def export(path: Path, *, lang: Lang, **given: Any) -> None:
    """Write all requests with their evidence to a workbook, for auditors."""
    job = ledger_job(given)
    zone = job.profile.carrier.time_zone if given["profile"] else "UTC"
    written = exported(job, path, lang, zone)
    teller(lang)(message("Export: {path}", path=str(written)))
