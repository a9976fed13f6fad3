"""Notes of a ledger's last run that are kept outside its folder.

By them a whole folder that was put back from an earlier time, its lock file with it, is known for one: a witness
knows a run, or a run's end, that the ledger does not. One lies in the per-user state folder, a second one in the
folder that VOUCHER_WITNESS names. A note is written when the ledger's own file has the run (`runs`), so that no
crash leaves one that knows more than the ledger; and before that run sends anything.
"""

import contextlib
import json
import os
import re
import uuid
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import apsw
import platformdirs

from pipeline.file_writing import PRIVATE, private_folder, sync
from pipeline.ledger.clock import utc_now
from pipeline.ledger.lock import LastRun, Lock, Phase
from pipeline.ledger.runs import changes_outside_runs
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.message import message, system_error

_ENDING = ".last-run"


def places() -> tuple[Path, ...]:
    """The folders that the notes are kept in. Raises InputProblem where there is none, or a named one is missing."""
    found = []
    with contextlib.suppress(RuntimeError):  # this user has no home
        found.append(platformdirs.user_state_path("voucher-pipeline", appauthor=False))
    if named := os.environ.get("VOUCHER_WITNESS", "").strip():
        if not Path(named).is_dir():
            raise InputProblem(
                "VOUCHER_WITNESS: there is no folder {named}; make it, or mount its disk, then run again",
                named=named,
            )
        found.append(Path(named).resolve())
    if not found:
        raise InputProblem(
            "This user has no home folder to note a ledger's last run in; name a folder for that with"
            " the environment variable VOUCHER_WITNESS"
        )
    return tuple(found)


def hold(lock: Lock, folders: tuple[Path, ...], ledger_id: str) -> None:
    """Keep out runs on any copy of that ledger: two folders that know the same would both send what is new.

    Only in the first place, of this user on this machine: a second one may be where locks don't hold. Raises LedgerProblem.
    """
    for folder in folders[:1]:
        path = _path(folder, ledger_id).with_suffix(".lock")
        try:
            private_folder(folder)
            lock.hold_too(path)
        except OSError as error:
            raise _unwritable(path, error) from None


def note(folders: tuple[Path, ...], ledger: Path, last: LastRun) -> None:
    """Write a note of the run of the ledger that lies there into every folder; all are on disk when this returns. Raises LedgerProblem."""
    text = json.dumps(asdict(last) | {"ledger": str(ledger), "written_at": utc_now()}).encode()
    for folder in folders:
        path = _path(folder, last.ledger_id)
        fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
        try:
            private_folder(folder)
            _write(fresh, text)
            fresh.replace(path)
            sync(folder)
        except OSError as error:
            raise _unwritable(path, error) from None
        finally:
            with contextlib.suppress(OSError):
                fresh.unlink()


def _unwritable(path: Path, error: OSError) -> LedgerProblem:
    return LedgerProblem(
        "{path}: this note of the ledger's last run can't be written ({why}), and without it"
        " nothing is sent; make its folder writable, or name another (VOUCHER_WITNESS,"
        " XDG_STATE_HOME), then run again",
        path=str(path),
        why=system_error(error),
    )


def _write(path: Path, data: bytes) -> None:
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE)
    try:
        os.write(file, data)
        os.fsync(file)
    finally:
        os.close(file)


def noted(folders: tuple[Path, ...], ledger_id: str) -> Iterator[tuple[Path, LastRun]]:
    """The notes of that ledger's last run, each with its file. Raises LedgerProblem for one that can't be read."""
    for folder in folders:
        path = _path(folder, ledger_id)
        try:
            found = json.loads(path.read_bytes())
            yield (
                path,
                LastRun(
                    ledger_id,
                    found["run"],
                    found["started_at"],
                    Phase(found["phase"]),
                    found.get("changes", 0),
                ),
            )
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError, TypeError, KeyError) as error:
            seen = system_error(error) if isinstance(error, OSError) else message("it is damaged")
            raise LedgerProblem(
                "{path}: this note of the ledger's last run can't be read ({why}), so that the ledger may"
                " be an older copy; mend the disk or permissions. If the note is damaged: voucher ledger"
                " mark-gap",
                path=str(path),
                why=seen,
            ) from None


def of_path(ledger: Path) -> Path | None:
    """The note of the last run of a ledger that lay under this path, if there is one. Raises InputProblem, as `places`."""
    for folder in places():
        for path in sorted(folder.glob(f"*{_ENDING}")):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # one that says nothing of it
                if json.loads(path.read_bytes()).get("ledger") == str(ledger):
                    return path
    return None


def knows(connection: apsw.Connection, last: LastRun) -> bool:
    """Whether a ledger has that run, its end where the note knows of one, and what was recorded outside runs by then."""
    if changes_outside_runs(connection) < last.changes:
        return False
    found: bool = connection.execute(
        "SELECT ?1 = 0 OR EXISTS (SELECT 1 FROM run WHERE run = ?1 AND started_at = ?2 AND (ended_at IS NOT NULL OR ?3))",
        (last.run, last.started_at, last.phase is not Phase.AT_REST),
    ).get
    return bool(found)


def _path(folder: Path, ledger_id: str) -> Path:
    return folder / f"{re.sub('[^0-9A-Za-z-]', '_', ledger_id)}{_ENDING}"
