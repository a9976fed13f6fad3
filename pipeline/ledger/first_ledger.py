"""Whether a ledger that is not there ever was, and when a first one may be begun: where it is asked for, or on loopback where none of this
agency is there already, under whatever name.

A second one would issue again what that one holds.

A carrier that is reached through loopback (a tunnel, a TLS sidecar) has another address by another port or another
name, and is the same carrier.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import apsw

from pipeline.ledger import last_run_witness
from pipeline.ledger.backup import read_alone
from pipeline.ledger.files_match import check_nothing_left
from pipeline.ledger.ledger_path import default_path
from pipeline.ledger.lock import noted_run
from pipeline.ledger.opening import APPLICATION_ID, SQLITE, owner_of
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.model.message import message
from pipeline.model.profile import Owner, is_loopback, sandbox_owner


def may_begin_first(job: Job, path: Path) -> bool:
    """Whether a first ledger may be begun there. Raises InputProblem if, on loopback, this agency has one already."""
    if job.sandbox or job.new_ledger:
        return True
    if not is_loopback(job.profile.carrier.base_url):
        return False
    if job.ledger is not None and not path.resolve().parent.is_dir():  # a disk that is not mounted, say
        return False
    if not path.exists():
        check_first(path, job.owner)
    return True


def check_never_was(job: Job, path: Path) -> None:
    """Raise InputProblem if a ledger lay under this path: that it is missing is no sign that nothing was issued."""
    path = path.resolve()
    try:
        check_nothing_left(path, noted_run(path))
        if not job.new_ledger:
            _check_none_noted(path)
    except InputProblem:
        if not path.exists():  # else its first run has begun meanwhile
            raise


def _check_none_noted(path: Path) -> None:
    # Of a disk that is not mounted, say, the folder that it is mounted at is there, and empty.
    if noted := last_run_witness.of_path(path):
        raise InputProblem(
            "{path}: there is no ledger any more, though one lay there ({noted} notes its last run), and a second one would issue again what"
            " that one holds. Put it back, or mount its disk, then run again; if it has another place now, name it with --ledger; for a trial:"
            " --new-ledger",
            path=str(path),
            noted=str(noted),
        )


def check_first(path: Path, owner: Owner) -> None:
    """Raise InputProblem if a ledger lay under this path, or one of that agency lies in its folder, or in the default one."""
    path = path.resolve()
    _check_none_noted(path)
    folders = {path.parent}
    with contextlib.suppress(InputProblem):  # this user has no home
        folders.add(default_path(owner).parent.resolve())
    for folder in sorted(folders):
        for found in _ledgers(folder):
            if found == path:  # another run has begun it meanwhile
                continue
            whose = _owner(found)
            if whose is None or (
                whose.agency.strip().casefold() == owner.agency.strip().casefold()
                and whose != sandbox_owner(whose.agency)
            ):
                raise InputProblem(
                    "{path}: there is no ledger, but {found} may be of the same carrier ({owner}), and a"
                    " second one would issue again what that one holds. Name it with --ledger; if the carrier"
                    " has another address now: voucher ledger move-carrier --ledger with it; for another"
                    " carrier, or a trial: --new-ledger",
                    path=str(path),
                    found=str(found),
                    owner=whose.told if whose else message("it is damaged"),
                )


def _ledgers(folder: Path) -> Iterator[Path]:
    """The ledgers in a folder but for one that is still being made, by what they begin with."""
    with contextlib.suppress(OSError):
        for found in sorted(folder.iterdir()):
            if not found.name.startswith(".") and found.is_file():
                with found.open("rb") as file:
                    start = file.read(100)
                if start.startswith(SQLITE) and start[68:72] == APPLICATION_ID.to_bytes(4, "big"):
                    yield found


def _owner(ledger: Path) -> Owner | None:
    try:
        with read_alone(ledger) as connection:
            return owner_of(connection)
    except (apsw.Error, TypeError):
        return None
