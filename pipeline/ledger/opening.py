"""Opening a ledger: where it lies, whose it is, and one run at a time.

SQLite in WAL mode with synchronous=FULL: an acknowledged commit survives a power cut. The lock is the
kernel's (flock) and dies with the process.
"""

import ctypes
import datetime
import errno
import fcntl
import os
import re
import uuid
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import apsw
import platformdirs

from pipeline.errors import InputProblem, LedgerProblem

SCHEMA_VERSION = 1
_APPLICATION_ID = 0x766F7563  # "vouc", so that a ledger is told from any other SQLite file


@dataclass(frozen=True)
class Owner:
    """The one carrier that a ledger belongs to."""

    base_url: str
    agency: str

    def __str__(self) -> str:
        return f"{self.base_url} as agency {self.agency}"


def sandbox_owner(agency: str) -> Owner:
    """The owner of ledgers of `--sandbox` runs: one carrier, though its port is another each time."""
    return Owner("sandbox", agency)


def utc_now() -> str:
    """The time for the ledger, UTC with milliseconds."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def default_path(owner: Owner) -> Path:
    """The per-user ledger of that carrier."""
    place = urlsplit(owner.base_url)
    name = re.sub(r"[^A-Za-z0-9.-]+", "_", f"{place.netloc or owner.base_url}{place.path}-{owner.agency}")
    try:
        folder = platformdirs.user_data_path("voucher-pipeline", appauthor=False)
    except RuntimeError:
        raise InputProblem("This user has no home folder for a ledger; name one with --ledger") from None
    return folder / f"{name}.ledger"


def ledger_path(given: str) -> Path:
    """A ledger's path from `--ledger PATH_OR_URL`. Raises InputProblem for what is no SQLite file."""
    if not given.removeprefix("sqlite:///").strip():
        raise InputProblem("--ledger is empty; name the ledger's file, or leave the option out")
    if given.startswith("sqlite:///"):
        return Path(given.removeprefix("sqlite:///"))
    if "://" in given:
        raise InputProblem(
            f"--ledger {given.split('://', 1)[0]}://…: only a file (a path or sqlite:///PATH) can be used"
        )
    return Path(given)


def _connect(path: Path, flags: int) -> apsw.Connection:
    try:
        connection = apsw.Connection(str(path), flags=flags)
        connection.set_busy_timeout(5000)
        for pragma in (
            "synchronous = FULL",
            "foreign_keys = ON",
            "fullfsync = ON",
            "checkpoint_fullfsync = ON",
        ):
            connection.execute(f"PRAGMA {pragma}")
        if connection.pragma("application_id") != _APPLICATION_ID:
            raise InputProblem(f"{path}: is not a ledger; check --ledger")
        version = connection.pragma("user_version")
    except (apsw.NotADBError, apsw.CorruptError):
        raise InputProblem(
            f"{path}: is not a ledger, or is damaged; check --ledger. A backup lacks what was issued since: before"
            " anything is issued with it, compare it with the carrier's statement"
        ) from None
    except apsw.Error as error:
        raise LedgerProblem(
            f"{path}: the ledger can't be opened ({error}); check the disk and permissions"
        ) from None
    if version != SCHEMA_VERSION:
        raise InputProblem(
            f"{path}: the ledger's version is {version}, this program's {SCHEMA_VERSION}; update the program"
        )
    return connection


def _check_owner(path: Path, connection: apsw.Connection, owner: Owner) -> None:
    found = Owner(*connection.execute("SELECT base_url, agency FROM ledger").get)
    if found != owner:
        connection.close()
        raise InputProblem(
            f"{path}: this ledger belongs to {found}, not to {owner}; use that carrier's profile, or another --ledger"
        )


def _check_single_name(path: Path) -> None:
    """A second name (hard link) would have a lock and a -wal of its own, and so two runs at once."""
    if path.stat().st_nlink > 1:
        raise InputProblem(
            f"{path}: the ledger has a second name (a hard link); delete the other name, then run again"
        )


def _create(path: Path, owner: Owner) -> None:
    """A new, empty ledger, complete under its name or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        connection = apsw.Connection(str(fresh))
        connection.pragma("journal_mode", "delete")
        with connection:
            connection.execute(files("pipeline.ledger").joinpath("schema.sql").read_text(encoding="utf-8"))
            connection.execute(
                "INSERT INTO ledger VALUES (1, ?, ?, ?, ?)",
                (uuid.uuid4().hex, owner.base_url, owner.agency, utc_now()),
            )
            connection.pragma("application_id", _APPLICATION_ID)
            connection.pragma("user_version", SCHEMA_VERSION)
        connection.pragma("journal_mode", "wal")
        connection.close()
        os.link(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class Lock:
    """One run at a time on a ledger. Held until closed, or until the process dies."""

    def __init__(self, path: Path) -> None:
        """Take the lock beside the ledger's path. Raises LedgerProblem if another run has it."""
        self._file = os.open(
            path.with_name(path.name + ".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600
        )
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            raise LedgerProblem(
                f"{path}: another run is using this ledger; wait until it ends, then run again"
            ) from None

    def close(self) -> None:
        """Let the next run in."""
        os.close(self._file)


def keep_wal(connection: apsw.Connection, *, keep: bool) -> None:
    """Whether closing leaves the -wal file where it is, as it must while a run has not ended well."""
    flag = ctypes.c_int(int(keep))
    connection.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, ctypes.addressof(flag))


def _wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _check_whole(path: Path, connection: apsw.Connection, *, had_wal: bool) -> None:
    """Refuse a ledger whose last run did not end and whose -wal, which holds that run, is not there.

    A run is marked as begun in the file itself before anything is sent, and its -wal stays until it has
    ended well; so a ledger that was renamed, copied or restored without it is told from a whole one.
    """
    begun: bool = connection.execute("SELECT EXISTS (SELECT 1 FROM run WHERE ended_at IS NULL)").get
    if begun and not had_wal:
        connection.close()
        # Looking alone makes an empty one, which must not pass for the one that is missing.
        if _wal(path).exists() and _wal(path).stat().st_size == 0:
            _wal(path).unlink()
        raise InputProblem(
            f"{path}: the last run on this ledger did not end, and {path.name}-wal, which holds what that run issued,"
            " is not beside it: without it everything would be issued again. Put it back under that name"
        )


def open_for_reading(path: Path, owner: Owner | None) -> apsw.Connection | None:
    """The ledger for looking only, None where there is none; `owner` None: whosever it is."""
    try:
        if not path.exists():
            return None
    except OSError as error:
        raise LedgerProblem(f"{path}: the ledger can't be read ({error.strerror}); check the path") from None
    had_wal = _wal(path.resolve()).exists()
    connection = _connect(path.resolve(), apsw.SQLITE_OPEN_READONLY)
    if owner is not None:
        _check_owner(path, connection, owner)
    _check_whole(path.resolve(), connection, had_wal=had_wal)
    return connection


def open_for_run(path: Path, owner: Owner, *, may_create: bool) -> tuple[apsw.Connection, Lock]:
    """The ledger for a run, locked. Raises InputProblem where it is missing and may not be made."""
    path = path.resolve()
    try:
        if not path.exists() and not may_create:
            raise InputProblem(
                f"{path}: there is no ledger, though one is expected: without its memory everything would be issued"
                " again. Find it, or restore it from its backup; for the very first run with this carrier say --new-ledger"
            )
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = Lock(path)
        try:
            if not path.exists():
                _create(path, owner)
            _check_single_name(path)
            had_wal = _wal(path).exists()
            connection = _connect(path, apsw.SQLITE_OPEN_READWRITE)
            _check_owner(path, connection, owner)
            _check_whole(path, connection, had_wal=had_wal)
        except BaseException:
            lock.close()
            raise
    except (OSError, apsw.Error) as error:
        raise LedgerProblem(
            f"{path}: the ledger can't be opened ({error}); check the disk and permissions"
        ) from None
    return connection, lock
