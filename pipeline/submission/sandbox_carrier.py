"""The sandbox carrier started from here: as a service of its own, or inside a run."""

import contextlib
import datetime
import secrets
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from pipeline.ledger.opening import path_for
from pipeline.model.job import Job, SandboxJob, today
from pipeline.model.profile import Profile, Secrets
from pipeline.model.table import Table
from pipeline.reading.input_files import workbook_files
from pipeline.reading.team_mapping import load_map
from pipeline.reading.tickets import read_table
from pipeline.sandbox.carrier_settings import SandboxSettings
from pipeline.sandbox.faults import Faults
from pipeline.sandbox.registry import Registry


def made_up_keys() -> Secrets:
    """Keys for a run with its own sandbox: shared by its two sides, and gone afterwards."""
    return Secrets(secrets.token_urlsafe(24), secrets.token_urlsafe(24))


@contextlib.asynccontextmanager
async def inside(job: Job, table: Table, keys: Secrets) -> AsyncIterator[str]:
    """The base_url of a sandbox that lasts as long as this run and knows the run's tickets.

    With a ledger to keep it keeps its statement beside it, so that it remembers what it issued.
    """
    from pipeline.sandbox.server import serve  # noqa: PLC0415 - start-up: a run that asks the carrier itself needs none

    beside = None if job.throw_away else Path(f"{path_for(job)}.statement.csv")
    as_of = job.terms.as_of
    settings = _settings(job.profile, keys, lambda: as_of, job.statement or beside)
    async with serve(settings, Registry.from_table(table)) as base_url:
        yield base_url


async def sandbox(job: SandboxJob, note: Callable[[str], None]) -> str:
    """Serve until Ctrl-C or SIGTERM; a closing line with what was counted."""
    from pipeline.sandbox.server import run_forever  # noqa: PLC0415 - likewise

    mapping = load_map(job.columns)
    registry = (
        Registry.from_table(
            read_table(workbook_files(job.tickets), None, mapping, currency=job.profile.carrier.currency)
        )
        if job.tickets
        else Registry([])
    )
    settings = _settings(job.profile, job.keys, lambda: job.as_of or today(job.profile), job.statement)
    faults = Faults.load(job.faults) if job.faults else Faults()
    if not job.tickets:
        note("The sandbox carrier knows no tickets and refuses every request; name some with --tickets")

    def ready(base_url: str) -> None:
        note(f"Sandbox carrier on {base_url} as agency {job.profile.carrier.agency}; Ctrl-C ends it")

    counts = await run_forever(settings, registry, faults, port=job.port, ready=ready)
    return f"Requests: {counts.received} received, {counts.issued} issued, {counts.refused} refused"


def _settings(
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
    )
