"""Whether a ledger's file and those beside it belong together.

A -wal bears no name of its own, and SQLite reads any that lies beside a file. So these questions are asked
before SQLite opens the file as a whole, and by looking alone, which must leave everything as it is: a run
may begin at any moment.
"""

import contextlib
import glob
from dataclasses import dataclass
from pathlib import Path

import apsw

from pipeline.ledger.backup import read_alone
from pipeline.ledger.clock import FORM
from pipeline.ledger.lock import LastRun, Phase
from pipeline.ledger.runs import begun_and_not_ended, changes_outside_runs
from pipeline.ledger.spill import spill_path
from pipeline.model.errors import InputProblem
from pipeline.model.message import Message, message

#: Rows of which some sectors are older than the others: SQLite finds nothing amiss in them, but their times are none.
#: Of the runs only those are asked that may have been being written: the last one that is noted, and what came after it.
_GARBLED = """
SELECT EXISTS (SELECT 1 FROM run WHERE (run >= ?1 OR run < 1) AND (started_at NOT GLOB ?2 OR ended_at NOT GLOB ?2))
    OR EXISTS (SELECT 1 FROM ledger WHERE created_at NOT GLOB ?2)
"""


def wal_path(ledger: Path) -> Path:
    """Where SQLite keeps a ledger's -wal."""
    return ledger.with_name(ledger.name + "-wal")


def wal_filled(ledger: Path) -> bool:
    """Whether a ledger's -wal is there and holds anything."""
    wal = wal_path(ledger)
    return wal.exists() and wal.stat().st_size > 0


def check_single_name(path: Path) -> None:
    """A second name (hard link) would have a lock and a -wal of its own, and so two runs at once.

    The name that it was made under is one, if the run that made it was killed at that very moment.
    """
    for made in path.parent.glob(f".{glob.escape(path.name)}.*.new"):
        with contextlib.suppress(FileNotFoundError):  # another command's, gone meanwhile
            if made.samefile(path):
                made.unlink()
    if path.stat().st_nlink > 1:
        raise InputProblem(
            "{path}: the ledger has a second name (a hard link); delete the other name, then run again",
            path=str(path),
        )


def check_nothing_left(path: Path, last: LastRun | None) -> None:
    """Refuse a new ledger beside what belongs to one that is missing: SQLite would take the -wal for its own.

    `last` is the last run that the lock file names: a ledger had this name.
    """
    if last is not None:
        raise InputProblem(
            "{path}: there is no ledger, though one had this name (its last run began {begun}):"
            " without its memory everything would be issued again. Put it back, or restore its"
            " backup. To begin a new one all the same, which is right for trials alone: delete"
            " {name}.lock",
            path=str(path),
            begun=last.started_at,
            name=path.name,
        )
    for left in (wal_path(path), spill_path(path)):
        if left.exists():
            raise InputProblem(
                "{path}: there is no ledger, but {file}, which belongs to one, is there: put the ledger"
                " back beside it. If it is lost for good, keep that file elsewhere for comparing with the"
                " carrier's statement",
                path=str(path),
                file=left.name,
            )


@dataclass(frozen=True)
class _Said:
    """What the ledger's own file says without its -wal.

    `begun`: when the run began that has not ended. `knows`: whether it knows the last run that is noted.
    `copied`: whether it calls that run ended, as a backup made meanwhile does. `settled`: whether somebody has still to settle
    what it may lack (with that settled, its own last run is noted). `torn`: whether a power cut may have left what is
    asked here half written.
    """

    begun: str | None
    knows: bool
    copied: bool
    settled: bool
    torn: bool


def check_memory(path: Path, last: LastRun | None, *, may_lack: bool = False) -> None:
    """Refuse a ledger that lacks what was done with it, or whose -wal is not its own.

    `last` is the last run that the lock file names. `may_lack`: what it lacks is about to be recorded. Every
    run is in the file itself before it sends anything, and is called ended there after all else that it did.
    While a -wal is being folded into it, a power cut may leave what it says by itself torn.
    """
    wal = wal_path(path)
    filled = wal_filled(path)
    try:
        said = _said_alone(path, last)
    except apsw.Error:
        return  # damaged, which opening will tell; or a fold was cut off, and with its -wal it will be whole
    torn = filled and last is not None and last.phase is Phase.FOLDING and said.torn
    if last is not None and not torn and not said.knows and not said.settled and not may_lack:
        raise InputProblem(
            "{path}: does not know the last run on this ledger (begun {begun}), or what was recorded"
            " after it: it is another one, or an older copy, and what was issued since would be"
            " issued again. Put the right one back. {cure}",
            path=str(path),
            begun=last.started_at,
            cure=_if_lost(filled, wal),
        )
    at_rest = last is not None and last.phase is Phase.AT_REST
    if at_rest and said.begun is not None and not said.settled and not may_lack:
        raise InputProblem(
            "{path}: is a copy made while a run was on, which has ended since: what it issued after"
            " that would be issued again. Put the right one back. {cure}",
            path=str(path),
            cure=_if_lost(filled, wal),
        )
    if at_rest and filled:
        raise InputProblem(
            "{path}: {wal} beside it is not its own: everything was in the ledger's own file. Another"
            " program has written to the ledger, or an old {wal} was put back. Close that program, or"
            " keep {wal} elsewhere, then run again",
            path=str(path),
            wal=wal.name,
        )
    if last is not None and filled and last.phase is Phase.ON and (said.copied or not said.knows):
        raise InputProblem(
            "{path}: {wal} beside it was written by a run (begun {begun}) on another ledger, or a"
            " later state of this one. Put the right one back. {cure}",
            path=str(path),
            wal=wal.name,
            begun=last.started_at,
            cure=_if_lost(filled, wal),
        )
    if said.begun is not None and not filled and not may_lack:
        raise InputProblem(
            "{path}: the last run on this ledger did not end, and {wal}, which holds what that run"
            " issued, is not beside it (or is empty): without it everything would be issued again."
            " Put it back under that name. {cure}, also where another program has opened the ledger"
            " since, which takes that file away",
            path=str(path),
            wal=wal.name,
            cure=_if_lost(filled, wal),
        )


def _if_lost(filled: bool, wal: Path) -> Message:
    if filled:
        return message(
            "If it is lost for good: keep {wal} elsewhere, then voucher ledger mark-gap", wal=wal.name
        )
    return message("If it is lost for good: voucher ledger mark-gap")


def _said_alone(path: Path, last: LastRun | None) -> _Said:
    with read_alone(path) as connection:
        begun = begun_and_not_ended(connection)
        torn = _is_torn(connection, last)
        if last is None:
            return _Said(begun, knows=False, copied=False, settled=False, torn=torn)
        knows: bool = connection.execute(
            "SELECT EXISTS (SELECT 1 FROM ledger WHERE ledger_id = ?1 AND (?2 = 0 OR EXISTS"
            " (SELECT 1 FROM run WHERE run = ?2 AND started_at = ?3)))",
            (last.ledger_id, last.run, last.started_at),
        ).get
        if last.phase is Phase.AT_REST:  # else the last of them may be in the -wal alone
            knows = knows and changes_outside_runs(connection) >= last.changes
        copied, settled = next(
            connection.execute(
                "SELECT EXISTS (SELECT 1 FROM run WHERE run = ? AND ended_at IS NOT NULL),"
                " EXISTS (SELECT 1 FROM gap WHERE closed_at IS NULL)",
                (last.run,),
            )
        )
    return _Said(begun, bool(knows), bool(copied), bool(settled), torn)


def _is_torn(connection: apsw.Connection, last: LastRun | None) -> bool:
    """Whether what is asked of the file alone is no whole answer."""
    if any(connection.pragma("quick_check", table) != "ok" for table in ("ledger", "run")):
        return True
    return last is not None and bool(connection.execute(_GARBLED, (last.run, FORM)).get)
