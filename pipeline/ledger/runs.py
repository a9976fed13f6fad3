"""Runs as the ledger has them; they begin and end in an order that leaves what can be told from a ledger's file alone true.

A run is in the file itself, and not only in its -wal, before it sends anything; and it is called ended only
after all else that it did is in the file too. So a ledger that was copied, moved or restored without its -wal
is known to lack something (`files_match`). The lock file notes the run, and when the file is being written: the
page that says so may be torn by a power cut at that moment.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from pipeline import __version__
from pipeline.ledger import clock, planning
from pipeline.ledger.checkpoint import fold, folded, keep_wal, unfolded
from pipeline.ledger.clock import utc_now
from pipeline.ledger.gaps import open_gap
from pipeline.ledger.lock import LastRun, Lock, Phase
from pipeline.model.errors import LedgerProblem

#: How much is recorded outside runs; of a table that only grows its last row says it.
_OUTSIDE_RUNS = """
SELECT (SELECT count(*) + count(closed_at) FROM gap) + (SELECT coalesce(max(move), 0) FROM carrier_move)
     + (SELECT coalesce(max(reversal), 0) FROM reversal) + (SELECT coalesce(max(withdrawal), 0) FROM withdrawal)
"""


@dataclass(frozen=True)
class PastRun:
    """A run as the ledger has it; times are UTC, ISO 8601.

    `ended_at` None: it is on, or was killed and nothing has run since; `exit_code` None: it was killed, or is on.
    """

    run: int
    command: str
    as_of: str
    files: tuple[str, ...]
    started_at: str
    ended_at: str | None
    exit_code: int | None


def latest(connection: apsw.Connection, most: int) -> list[PastRun]:
    """The last so many runs, the newest first."""
    rows: Any = connection.execute(
        "SELECT run, command, as_of, files, started_at, ended_at, exit_code FROM run ORDER BY run DESC LIMIT ?",
        (most,),
    )
    return [
        PastRun(run, command, as_of, tuple(json.loads(files)), *times)
        for run, command, as_of, files, *times in rows
    ]


def begun_and_not_ended(connection: apsw.Connection) -> str | None:
    """When the run began that has not ended, None where all have."""
    found: str | None = connection.execute("SELECT min(started_at) FROM run WHERE ended_at IS NULL").get
    return found


def known_until(connection: apsw.Connection) -> str | None:
    """Until when the ledger knows everything: the beginning of the run that has not ended, or else the last end of one.

    None where it knows no run; now, where a clock that was ahead wrote that time. A clock that is ahead now can't make it later.
    """
    ended: str | None = connection.execute("SELECT max(ended_at) FROM run").get
    known = begun_and_not_ended(connection) or ended
    return min(known, utc_now()) if known else None


def last_run(connection: apsw.Connection, phase: Phase) -> LastRun:
    """The last run that the ledger knows, to be noted beside it; where it knows none, run 0, its own beginning."""
    row: Any = connection.execute(
        "SELECT ledger_id, coalesce(run, 0), coalesce(started_at, created_at)"
        " FROM ledger LEFT JOIN run ON run = (SELECT max(run) FROM run)"
    ).get
    return LastRun(row[0], row[1], row[2], phase, changes_outside_runs(connection))


def changes_outside_runs(connection: apsw.Connection) -> int:
    """How many changes a ledger has that need no run: gaps marked and closed, moves, reversals, withdrawals.

    Such words are only ever added, so that an older copy has fewer of them, though its last run may be the same.
    """
    found: int = connection.execute(_OUTSIDE_RUNS).get
    return found


@dataclass(frozen=True)
class RunStart:
    """What a run is recorded with: its command, the day that the rules are judged on, and the names of its files."""

    command: str
    as_of: str
    files: Sequence[str] = ()
    version: str = __version__


def _begin_run(connection: apsw.Connection, start: RunStart) -> int:
    """Record a run; its number."""
    connection.execute(
        "INSERT INTO run (command, version, as_of, files, started_at) VALUES (?, ?, ?, ?, ?)",
        (
            start.command,
            start.version,
            start.as_of,
            json.dumps([*start.files], ensure_ascii=False),
            utc_now(),
        ),
    )
    return connection.last_insert_rowid()


def begin(
    connection: apsw.Connection, lock: Lock, start: RunStart, corrected: tuple[str, str] | None = None
) -> int:
    """Record a run and note it beside the ledger; its number.

    `corrected`: the last entry, which is later than the clock, and who says that the clock is right all the same.
    Raises LedgerProblem, with the run called ended, if another command keeps it out of the ledger's file, or a witness
    of it can't be kept.
    """
    keep_wal(connection, keep=True)
    before = last_run(connection, Phase.AT_REST)
    if (
        not before.run
    ):  # if this first run is killed before it is noted, the ledger is still known on this machine
        lock.note_outside(before)
    # Also where no run is noted yet: the ledger's file may have this one before it is.
    lock.run = last_run(connection, Phase.FOLDING)
    if corrected:
        clock.correct(connection, *corrected)
    run = _begin_run(connection, start)
    try:
        fold(connection, lock.waiting)
        lock.run = last_run(connection, Phase.ON)
    except LedgerProblem:
        _end_open_runs(connection)
        raise
    return run


def _end_run(connection: apsw.Connection, run: int, exit_code: int | None) -> None:
    """Record how a run ended."""
    connection.execute(
        "UPDATE run SET ended_at = ?, exit_code = ? WHERE run = ?", (utc_now(), exit_code, run)
    )


def end(connection: apsw.Connection, lock: Lock, run: int, exit_code: int) -> None:
    """Forget what was planned and not sent, and record how the run ended.

    If another command keeps what the run did out of the ledger's file, it is left for the next start to end.
    """
    planning.drop_planned(connection)
    if not folded(connection, lock.waiting):
        return
    with unfolded(connection):
        _end_run(connection, run, exit_code)
        lock.note(Phase.FOLDING)
    keep_wal(connection, keep=False)
    come_to_rest(connection, lock)


def _end_open_runs(connection: apsw.Connection) -> None:
    """Mark runs that were killed as ended; they have no exit code."""
    connection.execute("UPDATE run SET ended_at = ? WHERE ended_at IS NULL", (utc_now(),))


def end_open(connection: apsw.Connection, lock: Lock) -> None:
    """End the runs that were killed, once all that was found of them is recorded; they have no exit code.

    Raises LedgerProblem if another command keeps that out of the ledger's file.
    """
    if begun_and_not_ended(connection) is not None:
        fold(connection, lock.waiting)
        with unfolded(connection):
            _end_open_runs(connection)
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
            lock.run = last_run(connection, Phase.ON)
        return
    fold(connection, lock.waiting, empty=True)
    if open_gap(connection) is not None:
        # Nothing is sent meanwhile. Were closing it cut off, a note of a run that this ledger lacks would be left.
        lock.run = last_run(connection, Phase.AT_REST)
    lock.note(Phase.FOLDING)


def end_change(connection: apsw.Connection, lock: Lock) -> None:
    """After such a change: note the last run that the ledger knows."""
    if begun_and_not_ended(connection) is None:
        lock.run = last_run(connection, Phase.FOLDING)
        come_to_rest(connection, lock)
