"""The one way in to a ledger, wherever it lies: which one a job is about, opened for what it is to be used for."""

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import Literal

from pipeline.ledger.first_ledger import check_never_was
from pipeline.ledger.ledger_file import existing_file, file_to_read
from pipeline.ledger.ledger_path import path_for, path_given
from pipeline.ledger.ledger_to_change import file_to_change
from pipeline.ledger.opening import OpenOptions
from pipeline.ledger.operations import LedgerToChange, RunLedger
from pipeline.ledger.read_ledger import ReadLedger
from pipeline.ledger.recovery import Meaning
from pipeline.ledger.session import file_to_write
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job, Watch
from pipeline.model.message import Message, Note
from pipeline.model.profile import Owner
from pipeline.model.server_address import checked_ledger, is_server


@contextlib.contextmanager
def ledger_to_read(job: Job) -> Iterator[ReadLedger | None]:
    """The ledger for looking, None where there never was one; a sandbox of its own has none. A shared one that is not there is an error."""
    if job.throw_away or not (job.names_carrier or job.ledger):
        yield None
        return
    owner = job.owner if job.names_carrier else None
    address = _address(job)
    with _shared_to_read(address, owner) if address else file_to_read(path_for(job), owner) as ledger:
        if ledger is None:
            check_never_was(job, path_for(job))
        yield ledger


@contextlib.contextmanager
def existing_ledger(job: Job, owner: Owner | None = None) -> Iterator[ReadLedger]:
    """The ledger for looking; `owner` None: whosever it is. Raises InputProblem where there is none."""
    address = _address(job)
    with _shared_to_read(address, owner) if address else existing_file(path_for(job), owner) as ledger:
        yield ledger


def shared_ledger_answers(job: Job) -> str:
    """The name of the shared ledger that a job names, which is there and its carrier's; for whoever has any right in it. Raises
    InputProblem.
    """
    with _shared_to_read(_address(job), job.owner, "know") as ledger:
        return ledger.name


@contextlib.contextmanager
def ledger_to_write(job: Job, watch: Watch, meaning: Meaning) -> Iterator[RunLedger]:
    """The ledger for a run: put in order; a sandbox run's own one is thrown away.

    `meaning` interprets the answers that were recorded and nobody came to interpret.
    """
    address = _address(job)
    opened = _shared_to_write(address, job, watch, meaning) if address else file_to_write(job, watch, meaning)
    with opened as ledger:
        yield ledger


@contextlib.contextmanager
def ledger_to_change(job: Job, options: OpenOptions) -> Iterator[LedgerToChange]:
    """The ledger, whosever it is, for a change outside any run; a missing one is an error."""
    address = _address(job)
    with _shared_to_change(address) if address else file_to_change(job, options) as ledger:
        yield ledger


def copy_ledger(job: Job, to: str, note: Note) -> Message:
    """Copy the whole ledger to where it goes on, from a file to a server or back, and close it for good; what was done.

    Raises InputProblem, with nothing closed, where that can't be.
    """
    address = _address(job)
    if bool(address) == is_server(to):
        raise InputProblem(
            "copy-to leads from a file to a ledger that several machines share (postgresql://host/database), or back to a new file; one file is"
            " copied to another by voucher ledger backup"
        )
    _check_extra()
    from pipeline.ledger_postgresql import ledger_copying  # noqa: PLC0415 - see above

    if address:
        return ledger_copying.copy_to_file(address, path_given(to))
    return ledger_copying.copy_to_server(job, checked_ledger(to), note)


def _address(job: Job) -> str:
    """The address of a shared ledger, "" for a file. Raises InputProblem for a sandbox on one, and for what is no address."""
    if not is_server(job.ledger or ""):
        return ""
    if job.sandbox:
        raise InputProblem(
            "--sandbox goes with a ledger of its own, or with one in a file: machines that share a ledger could not reach a sandbox inside this"
            " run. Run voucher sandbox by itself, and name its address as base_url in a profile"
        )
    return checked_ledger(job.ledger or "")


def _check_extra() -> None:
    """Raise InputProblem where what shared ledgers take is not installed, which is asked of nobody else."""
    if find_spec("psycopg") is None:
        raise InputProblem(
            "a ledger on a PostgreSQL server takes the extra postgresql: pip install 'voucher-pipeline[postgresql]'"
        )


def _shared_to_read(
    address: str, owner: Owner | None, right: Literal["know", "look"] = "look"
) -> AbstractContextManager[ReadLedger]:
    _check_extra()
    from pipeline.ledger_postgresql.opening_shared import shared_to_read  # noqa: PLC0415 - see above

    return shared_to_read(address, owner, right)


def _shared_to_write(
    address: str, job: Job, watch: Watch, meaning: Meaning
) -> AbstractContextManager[RunLedger]:
    _check_extra()
    from pipeline.ledger_postgresql.opening_shared import shared_to_write  # noqa: PLC0415 - likewise

    return shared_to_write(address, job, watch, meaning)


def _shared_to_change(address: str) -> AbstractContextManager[LedgerToChange]:
    _check_extra()
    from pipeline.ledger_postgresql.opening_shared import shared_to_change  # noqa: PLC0415 - likewise

    return shared_to_change(address)
