"""A ledger's export for auditors: apart from what else a team does with its ledger, which needs no workbook."""

from pathlib import Path

from pipeline import __version__
from pipeline.file_writing import scratch_folder
from pipeline.ledger import export
from pipeline.ledger.clock import utc_now
from pipeline.messages.translate import rendered
from pipeline.model.columns import Lang
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.message import Message
from pipeline.model.profile import Owner
from pipeline.open_ledger import existing_ledger
from pipeline.reporting.audit_workbook import Audited, write_audit
from pipeline.reporting.output_paths import check_folder
from pipeline.reporting.words_audit import tell
from pipeline.reporting.words_history import word


def exported(job: Job, wanted: Path, lang: Lang, time_zone: str) -> Path:
    """Write all that the ledger holds to a new workbook, with times of that zone; its path, numbered where it was taken.

    A run may be on: it is read from a copy as of one moment, so that a run that begins or ends need not wait.
    """
    if wanted.suffix.lower() != ".xlsx":
        raise InputProblem(
            "{wanted}: the export is an Excel workbook; give it a name that ends in .xlsx", wanted=str(wanted)
        )
    check_folder(wanted)
    with (
        scratch_folder(wanted.parent) as folder,
        existing_ledger(job) as ledger,
        ledger.as_copy(folder, wanted) as copied,
    ):
        about = copied.about
        owner = Owner(about.base_url, about.agency)
        facts = _facts(ledger.name, about, owner.told, lang)
        audited = Audited(facts, copied.count, copied.rows, time_zone, owner.is_sandbox)
        return write_audit(audited, wanted, lang)


def _facts(name: str, about: export.About, carrier: Message, lang: Lang) -> list[tuple[str, str]]:
    """What the export says of the ledger itself."""
    facts = [
        ("ledger", name),
        ("ledger_id", about.ledger_id),
        ("carrier", rendered(carrier, lang)),
        ("version", str(about.version)),
        ("created", about.created_at),
        ("exported", utc_now()),
        ("by_program", f"voucher-pipeline {__version__}"),
        ("attempts", ", ".join(f"{count} {word(state, lang)}" for state, count in about.states.items())),
    ]
    if about.gap is not None:
        facts.append(
            ("gap", tell("may_lack", lang).format(since=about.gap.since, why=rendered(about.gap.why, lang)))
        )
    return facts
