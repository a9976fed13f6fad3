"""Folding the -wal into the ledger's own file, and knowing that it was done.

SQLite does not fold what a command that is still reading may need, and says so in a result that is easily
passed over. What is asked of a ledger's file alone (`files_match`) rests on these moments.
"""

import contextlib
import ctypes
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw

from pipeline.file_writing import sync
from pipeline.ledger.lock import PATIENCE
from pipeline.model.errors import LedgerProblem


def folded(
    connection: apsw.Connection,
    waiting: Callable[[], None] = lambda: None,
    *,
    empty: bool = False,
    patience: float | None = None,
) -> bool:
    """Bring all that is committed into the file itself, synced; False if another command kept it from that.

    `empty` leaves a -wal of no bytes; else its content stays and is written over later. `patience`: how many
    seconds another command is waited for, which `waiting` is told.
    """
    told = False
    until = time.monotonic() + (PATIENCE if patience is None else patience)
    mode = "TRUNCATE" if empty else "FULL"
    while True:
        # It waits by itself for as long as the connection's busy time-out says.
        busy, in_wal, in_file = next(iter(connection.execute(f"PRAGMA wal_checkpoint({mode})")))
        if not busy and in_wal == in_file:
            if empty:
                _sync_wal(connection)
            return True
        if time.monotonic() >= until:
            return False
        if not told:
            waiting()
            told = True


def _sync_wal(connection: apsw.Connection) -> None:
    """SQLite does not sync a -wal that it has made empty: after a power cut it might be full again."""
    wal = Path(f"{connection.filename}-wal")
    with contextlib.suppress(FileNotFoundError):
        sync(wal)


@contextlib.contextmanager
def unfolded(connection: apsw.Connection) -> Iterator[None]:
    """Nothing goes from the -wal into the file meanwhile, which SQLite else does at any commit."""
    pages = connection.pragma("wal_autocheckpoint")
    connection.wal_autocheckpoint(0)
    try:
        yield
    finally:
        connection.wal_autocheckpoint(pages)


def fold(
    connection: apsw.Connection, waiting: Callable[[], None] = lambda: None, *, empty: bool = False
) -> None:
    """The same, as something that must be. Raises LedgerProblem if another command keeps reading."""
    if not folded(connection, waiting, empty=empty):
        raise LedgerProblem(
            "{path}: another command has been reading this ledger for a minute (ledger check, ledger"
            " backup, or a program of somebody's own); let it end, or end it, then run the same"
            " command again",
            path=connection.filename,
        )


def keep_wal(connection: apsw.Connection, *, keep: bool) -> None:
    """Whether closing leaves the -wal file where it is, as it must while a run has not ended well."""
    flag = ctypes.c_int(int(keep))
    connection.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, ctypes.addressof(flag))
    # Nor may closing fold it into the ledger's own file, and leave one that calls the run ended and lacks the rest.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(keep))
