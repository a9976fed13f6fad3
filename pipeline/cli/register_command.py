"""`voucher register`."""

from pathlib import Path
from typing import Any

from pipeline.cli.job_options import ledger_job
from pipeline.cli.stderr import teller
from pipeline.model.columns import Lang
from pipeline.model.message import counted, message
from pipeline.run.register import Wanted, registered


def register(
    *, month: str | None, split_by: str | None, masked: bool, output: Path | None, lang: Lang, **given: Any
) -> None:
    """Write it, and say where it is."""
    job = ledger_job(given)
    zone = job.profile.carrier.time_zone if given["profile"] else "UTC"
    tell = teller(lang)
    wanted = Wanted(month or "", zone, output, bool(split_by), masked)
    written, charges = registered(job, wanted, lang, tell)
    if not charges:
        empty = message("The ledger has no voucher of {month}.", month=month) if month else None
        tell(empty or message("The ledger has no voucher."))
    if split_by and written:
        tell(
            counted(
                "Register: {count} workbook, {charges} charges, in {folder}",
                "Register: {count} workbooks, {charges} charges, in {folder}",
                len(written), charges=charges, folder=str(written[0].parent),
            )
        )  # fmt: skip
    elif written:
        tell(
            counted(
                "Register: {path} ({count} charge)",
                "Register: {path} ({count} charges)",
                charges,
                path=str(written[0]),
            )
        )
