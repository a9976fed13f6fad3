"""Opening a ledger: whose it is, whether it is whole, and one run at a time.

SQLite in WAL mode with synchronous=FULL: an acknowledged commit survives a power cut. What is looked at
here takes the same time in a ledger of ten years as in a new one; `integrity_check` looks at everything.
"""

import contextlib
import os
import time
import uuid
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

import apsw

from pipeline.file_writing import PRIVATE, appear, private_folder, sync
from pipeline.ledger import last_run_witness, schema
from pipeline.ledger.backup import copied
from pipeline.ledger.checkpoint import keep_wal
from pipeline.ledger.clock import utc_now
from pipeline.ledger.files_match import (
    check_memory,
    check_nothing_left,
    check_single_name,
    wal_filled,
)
from pipeline.ledger.gaps import (
    mark_gap,
    open_gap,
)
from pipeline.ledger.handover import check_goes_on, successor_of
from pipeline.ledger.local_disk import check_local
from pipeline.ledger.lock import (
    BUSY,
    Lock,
    Phase,
    noted_run,
)
from pipeline.ledger.older_copy import check_latest
from pipeline.ledger.runs import begun_and_not_ended, known_until
from pipeline.ledger.schema import STEPS, Steps
from pipeline.model.errors import InputProblem, LedgerProblem
from pipeline.model.message import Note, message, system_error
from pipeline.model.profile import Owner

APPLICATION_ID = 0x766F7563  # "vouc", so that a ledger is told from any other SQLite file
SQLITE = b"SQLite format 3\0"  # sqlite.org/fileformat.html, 1.3
_A_MOMENT = 0.3  # seconds
#: What to do about a damaged ledger.
RESTORE = message(
    "If it is damaged, restore its backup; what was issued since is not in that, so nothing is sent until it was"
    " compared with the carrier's statement (`voucher help ledger`)"
)


def _connect(path: Path, flags: int, steps: Steps) -> apsw.Connection:
    name = str(path)
    if (
        not flags & apsw.SQLITE_OPEN_READWRITE
        and not os.access(path.parent, os.W_OK)
        and not wal_filled(path)
    ):
        # SQLite makes files beside it even to read; where it can't, as on a medium that nobody writes to, the file is all there is.
        name, flags = f"{path.as_uri()}?immutable=1", flags | apsw.SQLITE_OPEN_URI
    try:
        connection = apsw.Connection(name, flags=flags)
        connection.set_busy_timeout(BUSY)
        if flags & apsw.SQLITE_OPEN_READWRITE:
            # Before the first read, and until recovery has put an open run in order: its -wal stays, and is not
            # folded into the file by closing.
            keep_wal(connection, keep=True)
        for pragma in (
            "synchronous = FULL",
            "foreign_keys = ON",
            "fullfsync = ON",
            "checkpoint_fullfsync = ON",
            # Pages, 32 MB of them: folding the -wal into the file takes two syncs more, for which every request waits.
            "wal_autocheckpoint = 8000",
            "cache_size = -65536",  # KiB: what a plan has written is not written and read again before it is committed
        ):
            connection.execute(f"PRAGMA {pragma}")
        if connection.pragma("application_id") != APPLICATION_ID:
            raise InputProblem("{path}: is not a ledger; check --ledger", path=str(path))
        _check_version(path, connection, steps)
        if flags & apsw.SQLITE_OPEN_READWRITE and connection.pragma("journal_mode") != "wal":
            connection.pragma("journal_mode", "wal")  # another program had taken it away
    except apsw.NotADBError:
        raise InputProblem(
            "{path}: is not a ledger, or is damaged; check --ledger. {cure}", path=str(path), cure=RESTORE
        ) from None
    except apsw.CorruptError as error:
        raise LedgerProblem(
            "{path}: the ledger is damaged ({why}). {cure}",
            path=str(path),
            why=system_error(error),
            cure=RESTORE,
        ) from None
    except apsw.Error as error:
        raise LedgerProblem(
            "{path}: the ledger can't be opened ({why}); check the disk and permissions",
            path=str(path),
            why=system_error(error),
        ) from None
    return connection


def _check_kind(path: Path) -> None:
    """Refuse another kind of file before anything is made beside it."""
    if not path.exists() or wal_filled(path):  # with its -wal a file that a power cut tore is whole
        return
    with path.open("rb") as file:
        start = file.read(len(SQLITE))
    if not start:
        raise InputProblem("{path}: is an empty file; check --ledger. {cure}", path=str(path), cure=RESTORE)
    if start != SQLITE:
        raise InputProblem(
            "{path}: is not a ledger, or is damaged; check --ledger. {cure}", path=str(path), cure=RESTORE
        )


def _check_version(path: Path, connection: apsw.Connection, steps: Steps) -> None:
    """Refuse a newer ledger, and one whose tables and rules are not those of its version."""
    found = connection.pragma("user_version")
    if not 0 < found <= len(steps):
        raise InputProblem(
            "{path}: the ledger's version is {found}, this program's {ours}; update the program",
            path=str(path),
            found=found,
            ours=len(steps),
        )
    if differences := schema.differences(connection, steps=steps):
        raise LedgerProblem(
            "{path}: the ledger's rules were changed ({what}), so it can't be trusted to keep"
            " anything from being issued twice. {cure}",
            path=str(path),
            what=", ".join(differences),
            cure=RESTORE,
        )


def _upgrade(path: Path, connection: apsw.Connection, steps: Steps, note: Note) -> None:
    """Bring an older ledger up to this program's version, after a copy of it as it was, which is marked as a copy."""
    found: int = connection.pragma("user_version")

    def finish(copy: apsw.Connection) -> None:
        mark_gap(copy, known_until(copy) or utc_now(), message("it is a copy made before an upgrade"))

    try:
        for number in count(1):
            before = path.with_name(f"{path.name}.version-{found}" + (f".{number}" if number > 1 else ""))
            with contextlib.suppress(FileExistsError):
                copied(connection, before, finish)
                break
    except (OSError, apsw.FullError, apsw.IOError) as error:
        raise LedgerProblem(
            "{path}: the ledger is to be brought from version {found} to {ours}, after a copy of it, and the copy can't be"
            " written beside it ({why}); see that its folder can be written and has room for a second file of its size, then run"
            " again. The ledger is as it was",
            path=str(path),
            found=found,
            ours=len(steps),
            why=system_error(error),
        ) from None
    schema.bring_up_to_date(connection, steps)
    note(
        message(
            "The ledger was upgraded from version {found} to {ours}; as it was before: {before}",
            found=found,
            ours=len(steps),
            before=str(before),
        )
    )


def ledger_id(connection: apsw.Connection) -> str:
    """The ledger's own ID."""
    found: str = connection.execute("SELECT ledger_id FROM ledger").get
    return found


def owner_of(connection: apsw.Connection) -> Owner:
    """The carrier that an open ledger belongs to."""
    return Owner(*connection.execute("SELECT base_url, agency FROM ledger").get)


def check_owner(name: str, found: Owner, owner: Owner) -> None:
    """Raise InputProblem where a ledger of this name, which belongs to `found`, is not that of `owner`."""
    if found == owner:
        return
    if found.is_sandbox and not owner.is_sandbox:
        raise InputProblem(
            "{path}: this is a sandbox's ledger, in which nothing was issued by a real carrier: add"
            " --sandbox, or name your own ledger with --ledger",
            path=name,
        )
    if owner.is_sandbox and not found.is_sandbox:
        raise InputProblem(
            "{path}: this is the ledger of {found}, a real carrier, and not to be used for a sandbox:"
            " name no ledger, neither by --ledger nor by VOUCHER_LEDGER, and the sandbox has one of its own",
            path=name,
            found=found.told,
        )
    raise InputProblem(
        "{path}: this ledger belongs to {found}, not to {owner}; use that carrier's profile, or"
        " another --ledger. If the carrier itself has moved: voucher ledger move-carrier",
        path=name,
        found=found.told,
        owner=owner.told,
    )


def _check_owner(path: Path, connection: apsw.Connection, owner: Owner | None) -> None:
    if owner is None:
        return
    try:
        check_owner(str(path), owner_of(connection), owner)
    except InputProblem:
        connection.close()
        raise


def _create(path: Path, owner: Owner, steps: Steps) -> None:
    """A new, empty ledger, complete under its name or not at all."""
    fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
    try:
        connection = apsw.Connection(str(fresh))
        with connection:
            schema.bring_up_to_date(connection, steps)
            connection.execute(
                "INSERT INTO ledger VALUES (1, ?, ?, ?, ?)",
                (uuid.uuid4().hex, owner.base_url, owner.agency, utc_now()),
            )
            connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("journal_mode", "wal")
        connection.close()
        sync(fresh)
        appear(fresh, path)
    finally:
        for end in ("", "-journal", "-wal", "-shm"):
            fresh.with_name(fresh.name + end).unlink(missing_ok=True)
    sync(path.parent)


def open_for_reading(path: Path, owner: Owner | None, steps: Steps = STEPS) -> apsw.Connection | None:
    """The ledger for looking only, None where there is none; `owner` None: whosever it is.

    `steps`: those of the program's version; an older ledger is shown like one of it.
    """
    try:
        if not path.exists():
            return None
        if path.is_dir():
            raise InputProblem(
                "{path}: is a folder; name the ledger's file in it with --ledger", path=str(path)
            )
    except OSError as error:
        raise LedgerProblem(
            "{path}: the ledger can't be read ({why}); check the path",
            path=str(path),
            why=system_error(error),
        ) from None
    check_local(path)
    try:
        check_memory(path.resolve(), noted_run(path.resolve()))
    except InputProblem:
        time.sleep(_A_MOMENT)  # a run may have begun or ended while we looked
        check_memory(path.resolve(), noted_run(path.resolve()))
    connection = _connect(path.resolve(), apsw.SQLITE_OPEN_READONLY, steps)
    _check_owner(path, connection, owner)
    schema.show_as_current(connection, steps=steps)
    return connection


def open_beside(path: Path, *, steps: Steps = STEPS) -> apsw.Connection:
    """A further connection for changing a ledger that a run has opened and locked already."""
    connection = _connect(path, apsw.SQLITE_OPEN_READWRITE, steps)
    connection.pragma("temp_store", "memory")  # what a statement would put back: a file for each otherwise
    return connection


def open_existing(path: Path, owner: Owner | None) -> apsw.Connection:
    """The ledger for looking only. Raises InputProblem where there is none."""
    connection = open_for_reading(path, owner)
    if connection is None:
        raise InputProblem("{path}: there is no ledger; name one with --ledger", path=str(path))
    return connection


@dataclass(frozen=True)
class OpenOptions:
    """How a ledger is opened for changing it.

    `may_lack`: that something is missing in it is about to be recorded; `unnoted`: likewise, that nothing is missing though its last run is
    not noted beside it or on this machine. `handed_over`: it may have been copied to where it goes on. `kept`: it is to outlast the run, so
    that its runs are noted outside its folder too. `note` is told what takes time, and that an older one is upgraded.
    """

    may_lack: bool = False
    unnoted: bool = False
    handed_over: bool = False
    kept: bool = True
    note: Note = lambda _: None


def open_for_run(
    path: Path,
    owner: Owner | None,
    options: OpenOptions = OpenOptions(),
    *,
    may_create: bool,
    steps: Steps = STEPS,
) -> tuple[apsw.Connection, Lock]:
    """The ledger for changing it, locked; `owner` None: whosever it is.

    One of an older version is brought to that of `steps`, the program's. Raises InputProblem where it is missing and may not be made, and
    where it may be an older copy of itself.
    """
    path, note = path.resolve(), options.note
    witnesses = last_run_witness.places() if options.kept else ()
    try:
        if path.is_dir():
            raise InputProblem(
                "{path}: is a folder; name the ledger's file in it with --ledger", path=str(path)
            )
        if not path.exists() and not (may_create and owner):
            raise InputProblem(
                "{path}: there is no ledger, though one is expected: without its memory everything would"
                " be issued again. Find it, or restore it from its backup; if the carrier has a new"
                " address: voucher ledger move-carrier with the old ledger; for the very first run with"
                " this carrier say --new-ledger",
                path=str(path),
            )
        check_local(path)
        _check_kind(path)
        private_folder(path.parent)
        lock = Lock(
            path,
            lambda: note(message("Waiting for another command that reads the ledger; a minute at most")),
            partial(last_run_witness.note, witnesses, path),
        )
        try:
            if owner and not path.exists():
                check_nothing_left(path, lock.run)
                _create(path, owner, steps)
            check_single_name(path)
            lock.hold()
            check_memory(path, lock.run, may_lack=options.may_lack)
            connection = _connect(path, apsw.SQLITE_OPEN_READWRITE, steps)
            _check_owner(path, connection, owner)
            if not options.handed_over:
                check_goes_on(str(path), successor_of(connection))
            last_run_witness.hold(lock, witnesses, ledger_id(connection))
            lock.noted_outside = open_gap(connection) is None
            if not options.may_lack:
                check_latest(path, connection, witnesses, unnoted=options.unnoted)
            if connection.pragma("user_version") != len(steps):
                lock.note(Phase.FOLDING)
                _upgrade(path, connection, steps, note)
            if begun_and_not_ended(connection) is None:
                keep_wal(connection, keep=False)
        except BaseException:
            lock.close()
            raise
    except (OSError, apsw.Error) as error:
        raise LedgerProblem(
            "{path}: the ledger can't be opened ({why}); check the disk and permissions",
            path=str(path),
            why=str(error.__context__ or error),
        ) from None
    return connection, lock
