"""The sandbox carrier as a service of its own."""

from collections.abc import Callable

from pipeline.model.job import SandboxJob, today
from pipeline.reading.input_files import workbook_files
from pipeline.reading.team_mapping import load_map
from pipeline.reading.tickets import read_table
from pipeline.sandbox.faults import Faults
from pipeline.sandbox.registry import Registry
from pipeline.sandbox.server import run_forever
from pipeline.submission.sandbox_carrier import sandbox_settings


async def serve_until_ended(job: SandboxJob, note: Callable[[str], None]) -> str:
    """Serve until Ctrl-C or SIGTERM; a closing line with what was counted."""
    mapping = load_map(job.columns)
    registry = (
        Registry.from_table(
            read_table(workbook_files(job.tickets), None, mapping, currency=job.profile.carrier.currency)
        )
        if job.tickets
        else Registry([])
    )
    settings = sandbox_settings(job.profile, job.keys, lambda: job.as_of or today(job.profile), job.statement)
    faults = Faults.load(job.faults) if job.faults else Faults()
    if not job.tickets:
        note("The sandbox carrier knows no tickets and refuses every request; name some with --tickets")

    def ready(base_url: str) -> None:
        note(f"Sandbox carrier on {base_url} as agency {job.profile.carrier.agency}; Ctrl-C ends it")

    counts = await run_forever(settings, registry, faults, port=job.port, ready=ready)
    return f"Requests: {counts.received} received, {counts.issued} issued, {counts.refused} refused"
