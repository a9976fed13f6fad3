"""The sandbox carrier inside a run."""

import contextlib
import datetime
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

from pipeline.ledger.ledger_path import path_for
from pipeline.model.job import Job
from pipeline.model.message import Note
from pipeline.model.profile import Profile, Secrets
from pipeline.model.table import Table
from pipeline.sandbox.carrier_settings import SandboxSettings
from pipeline.sandbox.sold_tickets import Registry


def made_up_keys() -> Secrets:
    """Keys for a run with its own sandbox: shared by its two sides, and gone afterwards."""
    return Secrets(secrets.token_urlsafe(24), secrets.token_urlsafe(24))


@contextlib.asynccontextmanager
async def inside(job: Job, table: Table, keys: Secrets, note: Note) -> AsyncIterator[str]:
    """The base_url of a sandbox that lasts as long as this run and knows the run's tickets. `note` is told what it mailed.

    With a ledger to keep it keeps its statement beside it, so that it remembers what it issued.
    """
    from pipeline.sandbox.endpoints import Counts  # noqa: PLC0415 - slow to import, and a run that asks the carrier itself needs none
    from pipeline.sandbox.mail_delivery import delivered_note  # noqa: PLC0415 - likewise
    from pipeline.sandbox.server import serve  # noqa: PLC0415 - likewise

    beside = None if job.throw_away else statement_beside(path_for(job))
    as_of = job.terms.as_of
    settings = sandbox_settings(job.profile, keys, lambda: as_of, job.statement or beside)
    counts = Counts()
    async with serve(
        replace(settings, deliver_to=job.deliver_to), Registry.from_table(table), counts=counts
    ) as base_url:
        yield base_url
    if counts.delivered and job.deliver_to:
        note(delivered_note(counts.delivered, job.deliver_to))


def sandbox_settings(
    profile: Profile, keys: Secrets, as_of: Callable[[], datetime.date], statement: Path | None
) -> SandboxSettings:
    """The sandbox's answers to what the interface leaves open: those of the profile."""
    return SandboxSettings(
        agency=profile.carrier.agency,
        api_key=keys.api_key,
        encryption_key=keys.encryption_key,
        as_of=as_of,
        fee_type=profile.codes.fee_type,
        product_type=profile.codes.product_type,
        header_type=profile.codes.header_type,
        domestic_invoice_max=profile.limits.domestic_invoice_max,
        international_invoice_max=profile.limits.international_invoice_max,
        statement=statement,
        zone=ZoneInfo(profile.carrier.time_zone),
    )


def statement_beside(ledger: Path) -> Path:
    """Where the sandbox carrier of a ledger that is kept has its statement."""
    return ledger.with_name(f"{ledger.name}.statement.csv")
