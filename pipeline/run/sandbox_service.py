"""`voucher sandbox`: the sandbox carrier as a service of its own."""

from dataclasses import replace

from pipeline.model.errors import InputProblem
from pipeline.model.job import SandboxJob, today
from pipeline.model.message import Message, Note, message
from pipeline.reading.columns_file import load_map
from pipeline.reading.input_files import workbook_files
from pipeline.reading.tickets import ReadOptions, read_table
from pipeline.sandbox.fault_file import Faults
from pipeline.sandbox.mail_delivery import delivered_note
from pipeline.sandbox.server import run_forever
from pipeline.sandbox.sold_tickets import Registry
from pipeline.submission.sandbox_carrier import sandbox_settings


async def serve_until_ended(job: SandboxJob, note: Note) -> Message:
    """Serve until Ctrl-C or SIGTERM; a closing line with what was counted."""
    options = ReadOptions(load_map(job.columns), job.profile.carrier.currency)
    registry = (
        Registry.from_table(read_table(workbook_files(job.tickets), None, options))
        if job.tickets
        else Registry([])
    )
    settings = replace(
        sandbox_settings(job.profile, job.keys, lambda: job.as_of or today(job.profile), job.statement),
        deliver_to=job.deliver_to,
    )
    faults = Faults.load(job.faults) if job.faults else Faults()
    if faults.first_of_files and not job.deliver_to:
        raise InputProblem(
            "{file}: kind {kind} is about mailed files, and none are mailed: name the folder for them with --deliver-to",
            file=str(job.faults),
            kind=faults.first_of_files,
        )
    if not job.tickets:
        note(
            message(
                "The sandbox carrier knows no tickets and refuses every request; name some with --tickets"
            )
        )

    def ready(base_url: str) -> None:
        note(
            message(
                "Sandbox carrier on {address} as agency {agency}; Ctrl-C ends it",
                address=base_url,
                agency=job.profile.carrier.agency,
            )
        )

    counts = await run_forever(settings, registry, faults, job.port, ready=ready)
    if counts.delivered and job.deliver_to:
        note(delivered_note(counts.delivered, job.deliver_to))
    return message(
        "Requests: {received} received, {issued} issued, {refused} refused",
        received=counts.received,
        issued=counts.issued,
        refused=counts.refused,
    )
