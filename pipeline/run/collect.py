"""`voucher collect`: find, read, keep, weigh, match; then which itineraries have not come.

    files, mails ─find─▶ FoundFiles ─read─▶ CheckedFiles ─weigh, match─▶ CollectedFiles ─write─▶ workbook, report
                                               │keep        settle ▼  │note
                                             archive              ledger ─▶ issued, not received

A file is in the archive before the ledger knows of it, and the ledger has it before a mailbox counts as read.
"""

import contextlib
import datetime
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from pipeline.beside_ledger import beside_ledger
from pipeline.itinerary_files import archive
from pipeline.itinerary_files.find_files import found_files
from pipeline.itinerary_files.mailbox import NewMails, fetch_new_mails, mailbox_at
from pipeline.ledger.ledger_path import path_for
from pipeline.ledger.run_people import people_of
from pipeline.model.errors import InputProblem
from pipeline.model.exit_code import ExitCode
from pipeline.model.itinerary_file import FoundFile
from pipeline.model.job import Job, Watch
from pipeline.model.message import Note, message
from pipeline.model.profile import Secrets
from pipeline.model.server_address import is_server
from pipeline.open_ledger import existing_ledger, ledger_to_write
from pipeline.reconciliation.given_evidence import month_of
from pipeline.reconciliation.itinerary_collection import (
    MAILBOXES,
    Weighed,
    archive_folder,
    checked_files,
    seal_roots,
    weigh_files,
)
from pipeline.reporting.collection_files import write_collection
from pipeline.reporting.output_paths import check_report_path, free_path
from pipeline.secret_keys import load_mailbox_password
from pipeline.settlement.collection_result import Collected, Collection
from pipeline.settlement.compare import Period
from pipeline.submission.recovered_answers import meaning
from pipeline.submission.sending_run import Run


@dataclass(frozen=True)
class Collecting:
    """What is collected: where from, where to, which itineraries count as missing, and who says so.

    `archive` None: beside the ledger. `mailbox`: an address, "" for none. `month` "" and `since` None: every itinerary that the ledger ever
    issued counts.
    """

    paths: tuple[Path, ...]
    by: str
    archive: Path | None = None
    month: str = ""
    since: datetime.date | None = None
    mailbox: str = ""


def collect(job: Job, asked: Collecting, watch: Watch) -> Collected:
    """Collect the files; safe to be repeated, and to be killed."""
    period, roots = _period(asked, job.terms.as_of), seal_roots(job)
    target = free_path(job.output) if job.output else None
    if job.report:
        check_report_path(job.report)
    if not (job.throw_away or is_server(job.ledger or "") or path_for(job).exists()):
        raise InputProblem(
            "{ledger}: there is no ledger, so no itinerary is known; name the one that issued them with --ledger",
            ledger=str(path_for(job)),
        )
    folder = archive_folder(job, asked.archive)
    archive.check_folder(folder)
    with ledger_to_write(job, watch, meaning(job, job.secrets)) as ledger:
        number = ledger.begin("collect", job.terms, asked.paths)
        ledger.note_people(number, people_of("collect", job))
        run = Run("collect", job, ledger, number, job.secrets or _NO_KEYS, watch)
        watch.note(message("Archive: {folder}", folder=str(folder)))
        try:
            with files_of(job, asked) as (found, mails):
                weighed = weigh_files(run, asked.by, checked_files(run, found, folder, roots), roots)
                if mails:
                    mails.dealt_with()
        except InputProblem:  # such as a path that is not there: the run has ended, and was not killed
            ledger.end(number, ExitCode.WRONG_USAGE)
            raise
        said = replace(
            _collection(run, weighed, period), archive=str(folder), remaining=mails.remaining if mails else 0
        )
        finished = write_collection(said, target, job.report)
        ledger.end(number, finished.exit_code)
    return finished


#: Where no keys are set: nothing is sent.
_NO_KEYS = Secrets("", "")


@contextlib.contextmanager
def files_of(job: Job, asked: Collecting) -> Iterator[tuple[Iterator[FoundFile], NewMails | None]]:
    """The files that are asked for, and the mails that are new in the mailbox, where one is named."""
    if not asked.mailbox:
        yield found_files(asked.paths), None
        return
    mailbox, password = mailbox_at(asked.mailbox), load_mailbox_password()
    with tempfile.TemporaryDirectory(prefix="voucher-") as scratch:
        mails = fetch_new_mails(
            mailbox, password, beside_ledger(job, MAILBOXES), Path(scratch), job.profile.carrier.ca_file
        )
        yield chain(found_files((*asked.paths, *mails.files), mails.names), mails.passed_over), mails


def _period(asked: Collecting, today: datetime.date) -> Period | None:
    """The days whose itineraries count; None for all."""
    if asked.month and asked.since:
        raise InputProblem("--month and --since: say one of them")
    if asked.since:
        return Period(asked.since, max(asked.since, today))
    return month_of(asked.month)


def _collection(run: Run, weighed: Weighed, period: Period | None) -> Collection:
    """All of it, with the itineraries of that time that were not received."""
    job, ledger, zone = run.job, run.ledger, run.job.profile.carrier.time_zone
    issued, waiting = ledger.not_received(period, job.terms.as_of, zone)
    return Collection(
        weighed.files, issued, tuple(waiting), weighed.decided, period, job.terms.as_of, job.lang,
        ledger.name, ledger.ledger_id, replace(job.origin, run=run.number),
    )  # fmt: skip


def verified(job: Job, folder: Path, note: Note) -> archive.Verification:
    """An archive beside what the ledger knows of it; a run may be on. Raises InputProblem where there is no such folder or ledger."""
    with existing_ledger(job, None if job.ledger else job.owner) as ledger:
        ledger.note_doubt(note)
        noted = ledger.archived_files()
    return archive.verify(folder, noted)
