"""What `voucher ledger copy-to` does; `copy_subcommand` has its argument, options and help."""

from typing import Any

from pipeline.cli.stderr import teller
from pipeline.model.columns import Lang
from pipeline.model.job import Job
from pipeline.open_ledger import copy_ledger
from pipeline.profile_file import load_profile


def copy_to(target: str, *, lang: Lang, **given: Any) -> None:
    """Copy the whole ledger, and close it for good."""
    job = Job((), load_profile(given["profile"]), None, ledger=given["ledger"], sandbox=given["sandbox"])
    tell = teller(lang)
    tell(copy_ledger(job, target, tell))
