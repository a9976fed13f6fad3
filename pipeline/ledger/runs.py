"""A run's beginning and end, in an order that leaves what can be told from a ledger's file alone true.

A run is in the file itself, and not only in its -wal, before it sends anything; and it is called ended only
after all else that it did is in the file too. So a ledger that was copied, moved or restored without its -wal
is known to lack something (`files_match`). The lock file notes the run, and when the file is being written: the
page that says so may be torn by a power cut at that moment.
"""

from collections.abc import Sequence

import apsw

from pipeline import __version__
from pipeline.ledger import attempts, clock, planning
from pipeline.ledger.checkpoint import fold, folded, unfolded
from pipeline.ledger.gaps import begun_and_not_ended, open_gap
from pipeline.ledger.lock import Lock, Phase
from pipeline.ledger.opening import keep_wal
from pipeline.model.errors import LedgerProblem


def begin(  # noqa: PLR0913 - what a run is recorded with
    connection: apsw.Connection,
    lock: Lock,
    command: str,
    as_of: str,
    names: Sequence[str],
    corrected: tuple[str, str] | None = None,
) -> int:
    """Record a run and note it beside the ledger; its number.

    `corrected`: the last entry, which is later than the clock, and who says that the clock is right all the same.
    Raises LedgerProblem, with the run called ended, if another command keeps it out of the ledger's file, or a witness
    of it can't be kept.
    """
    keep_wal(connection, keep=True)
    before = attempts.last_run(connection, Phase.AT_REST)
    if (
        not before.run
    ):  # if this first run is killed before it is noted, the ledger is still known on this machine
        lock.note_outside(before)
    # Also where no run is noted yet: the ledger's file may have this one before it is.
    lock.run = attempts.last_run(connection, Phase.FOLDING)
    if corrected:
        clock.correct(connection, *corrected)
    run = attempts.begin_run(connection, command, __version__, as_of, names)
    try:
        fold(connection, lock.waiting)
        lock.run = attempts.last_run(connection, Phase.ON)
    except LedgerProblem:
        attempts.end_open_runs(connection)
        raise
    return run


def end(connection: apsw.Connection, lock: Lock, run: int, exit_code: int) -> None:
    """Forget what was planned and not sent, and record how the run ended.

    If another command keeps what the run did out of the ledger's file, it is left for the next start to end.
    """
    planning.drop_planned(connection)
    if not folded(connection, lock.waiting):
        return
    with unfolded(connection):
        attempts.end_run(connection, run, exit_code)
        lock.note(Phase.FOLDING)
    keep_wal(connection, keep=False)
    come_to_rest(connection, lock)


def end_open(connection: apsw.Connection, lock: Lock) -> None:
    """End the runs that were killed, once all that was found of them is recorded; they have no exit code.

    Raises LedgerProblem if another command keeps that out of the ledger's file.
    """
    if begun_and_not_ended(connection) is not None:
        fold(connection, lock.waiting)
        with unfolded(connection):
            attempts.end_open_runs(connection)
            lock.note(Phase.FOLDING)
        keep_wal(connection, keep=False)
    come_to_rest(connection, lock)


def come_to_rest(connection: apsw.Connection, lock: Lock) -> None:
    """Bring everything into the file and note that; where another command is in the way, the next start does."""
    phase = lock.run and lock.run.phase
    if phase is Phase.ON:
        lock.note(Phase.FOLDING)
    if folded(connection, empty=True, patience=0) and phase is not Phase.AT_REST:
        lock.note(Phase.AT_REST)


def begin_change(connection: apsw.Connection, lock: Lock, *, closes_gap: bool = False) -> None:
    """Before a change that is no run: nothing may be in the way of its coming into the file.

    `closes_gap`: from now on this is the ledger whose runs are noted outside its folder. Raises LedgerProblem, with nothing
    changed, if another command is in the way.
    """
    lock.noted_outside |= closes_gap
    if begun_and_not_ended(connection) is not None:  # its -wal stays what it is known by
        fold(connection, lock.waiting)
        if closes_gap:
            lock.run = attempts.last_run(connection, Phase.ON)
        return
    fold(connection, lock.waiting, empty=True)
    if open_gap(connection) is not None:
        # Nothing is sent meanwhile. Were closing it cut off, a note of a run that this ledger lacks would be left.
        lock.run = attempts.last_run(connection, Phase.AT_REST)
    lock.note(Phase.FOLDING)


def end_change(connection: apsw.Connection, lock: Lock) -> None:
    """After such a change: note the last run that the ledger knows."""
    if begun_and_not_ended(connection) is None:
        lock.run = attempts.last_run(connection, Phase.FOLDING)
        come_to_rest(connection, lock)
