"""The one way in to a ledger, wherever it lies: which one a job is about, opened for what it is to be used for."""

import contextlib
from collections.abc import Iterator

from pipeline.ledger.ledger_file import existing_file, file_to_read
from pipeline.ledger.ledger_path import path_for
from pipeline.ledger.ledger_to_change import file_to_change
from pipeline.ledger.opening import OpenOptions
from pipeline.ledger.operations import LedgerToChange, RunLedger
from pipeline.ledger.read_ledger import ReadLedger
from pipeline.ledger.recovery import Meaning
from pipeline.ledger.session import file_to_write
from pipeline.model.job import Job, Watch
from pipeline.model.profile import Owner


@contextlib.contextmanager
def ledger_to_read(job: Job) -> Iterator[ReadLedger | None]:
    """The ledger for looking, None where there is none; a sandbox of its own has none."""
    if job.throw_away or not (job.names_carrier or job.ledger):
        yield None
        return
    with file_to_read(path_for(job), job.owner if job.names_carrier else None) as ledger:
        yield ledger


@contextlib.contextmanager
def existing_ledger(job: Job, owner: Owner | None = None) -> Iterator[ReadLedger]:
    """The ledger for looking; `owner` None: whosever it is. Raises InputProblem where there is none."""
    with existing_file(path_for(job), owner) as ledger:
        yield ledger


@contextlib.contextmanager
def ledger_to_write(job: Job, watch: Watch, meaning: Meaning) -> Iterator[RunLedger]:
    """The ledger for a run: put in order; a sandbox run's own one is thrown away.

    `meaning` interprets the answers that an earlier run recorded and did not come to interpret.
    """
    with file_to_write(job, watch, meaning) as ledger:
        yield ledger


@contextlib.contextmanager
def ledger_to_change(job: Job, options: OpenOptions) -> Iterator[LedgerToChange]:
    """The ledger, whosever it is, for a change outside any run; a missing one is an error."""
    with file_to_change(job, options) as ledger:
        yield ledger
