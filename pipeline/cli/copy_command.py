"""What `voucher ledger copy-to` does; `copy_subcommand` has its argument, options and help."""

from typing import Any

from pipeline.cli.job_options import ledger_job
from pipeline.cli.stderr import teller
from pipeline.model.columns import Lang
from pipeline.open_ledger import copy_ledger


def copy_to(target: str, *, lang: Lang, **given: Any) -> None:
    """Copy the whole ledger, and close it for good."""
    tell = teller(lang)
    tell(copy_ledger(ledger_job(given), target, tell))
