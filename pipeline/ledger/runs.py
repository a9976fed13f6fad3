"""A run's beginning and end, in an order that leaves what can be told from a ledger's file alone true.

A run is in the file itself, and not only in its -wal, before it sends anything; and it is called ended only
after all else that it did is in the file too. So a ledger that was copied, moved or restored without its -wal
is known to lack something (`wholeness`).
"""

from collections.abc import Sequence

import apsw

from pipeline import __version__
from pipeline.errors import LedgerProblem
from pipeline.ledger import records
from pipeline.ledger.folding import fold, folded
from pipeline.ledger.lock import Lock
from pipeline.ledger.opening import keep_wal


def begin(connection: apsw.Connection, lock: Lock, command: str, as_of: str, names: Sequence[str]) -> int:
    """Record a run and note it beside the ledger; its number.

    Raises LedgerProblem, with the run called ended, if another command keeps it out of the ledger's file.
    """
    keep_wal(connection, keep=True)
    run = records.begin_run(connection, command, __version__, as_of, names)
    try:
        fold(connection)
    except LedgerProblem:
        records.end_open_runs(connection)
        raise
    lock.run = records.last_run(connection)
    return run


def end(connection: apsw.Connection, run: int, exit_code: int) -> None:
    """Forget what was planned and not sent, and record how the run ended.

    If another command keeps what the run did out of the ledger's file, it is left for the next start to end.
    """
    records.drop_planned(connection)
    if folded(connection):
        records.end_run(connection, run, exit_code)
        keep_wal(connection, keep=False)


def end_open(connection: apsw.Connection) -> None:
    """End the runs that were killed, once all that was found of them is recorded; they have no exit code.

    Raises LedgerProblem if another command keeps that out of the ledger's file.
    """
    fold(connection)
    records.end_open_runs(connection)
    keep_wal(connection, keep=False)
