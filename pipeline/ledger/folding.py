"""Folding the -wal into the ledger's own file, and knowing that it was done.

SQLite does not fold what a command that is still reading may need, and says so in a result that is easily
passed over. What is asked of a ledger's file alone (`wholeness`) rests on these moments.
"""

import time

import apsw

from pipeline.errors import LedgerProblem

#: Seconds that a command which reads the ledger (check, backup) is waited for.
PATIENCE = 60.0


def folded(connection: apsw.Connection, *, empty: bool = False) -> bool:
    """Bring all that is committed into the file itself, synced; False if another command kept it from that.

    `empty` leaves a -wal of no bytes; else its content stays and is written over later.
    """
    until = time.monotonic() + PATIENCE
    mode = "TRUNCATE" if empty else "FULL"
    while True:
        # It waits by itself for as long as the connection's busy time-out says.
        busy, in_wal, in_file = next(iter(connection.execute(f"PRAGMA wal_checkpoint({mode})")))
        if not busy and in_wal == in_file:
            return True
        if time.monotonic() >= until:
            return False


def fold(connection: apsw.Connection, *, empty: bool = False) -> None:
    """The same, as something that must be. Raises LedgerProblem if another command keeps reading."""
    if not folded(connection, empty=empty):
        raise LedgerProblem(
            f"{connection.filename}: another command has been reading this ledger for a minute (ledger check, ledger"
            " backup, or a program of somebody's own); let it end, or end it, then run the same command again"
        )
