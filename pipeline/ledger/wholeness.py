"""Whether a ledger's file and those beside it belong together.

A -wal bears no name of its own, and SQLite reads any that lies beside a file. So these questions are asked
before SQLite opens the file as a whole, and by looking alone, which must leave everything as it is: a run
may begin at any moment.
"""

import contextlib
import glob
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import apsw

from pipeline.errors import InputProblem
from pipeline.ledger.gaps import begun_and_not_ended
from pipeline.ledger.lock import RunId
from pipeline.ledger.spill import spill_path


def wal_path(ledger: Path) -> Path:
    """Where SQLite keeps a ledger's -wal."""
    return ledger.with_name(ledger.name + "-wal")


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[apsw.Connection]:
    """The ledger's own file without its -wal; nothing is made beside it."""
    connection = apsw.Connection(
        f"file:{quote(str(path))}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    try:
        yield connection
    finally:
        connection.close()


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
            f"{path}: the ledger has a second name (a hard link); delete the other name, then run again"
        )


def check_nothing_left(path: Path) -> None:
    """Refuse a new ledger beside what belongs to one that is missing: SQLite would take the -wal for its own."""
    for left in (wal_path(path), spill_path(path)):
        if left.exists():
            raise InputProblem(
                f"{path}: there is no ledger, but {left.name}, which belongs to one, is there: put the ledger back"
                " beside it. If it is lost for good, keep that file elsewhere for comparing with the carrier's statement"
            )


def check_own_wal(path: Path, run: RunId | None) -> None:
    """Refuse a -wal that belongs to another ledger, or to a later state of this one: SQLite would mix them.

    `run` is the one that wrote the -wal and did not end, as the lock file has it. It was begun in the
    ledger's own file, which is looked at here without the -wal, before anything else was written.
    """
    wal = wal_path(path)
    if run is None or not wal.exists() or wal.stat().st_size == 0:
        return
    try:
        with _alone(path) as connection:
            found = connection.execute(
                "SELECT ledger_id FROM ledger, run WHERE run = ? AND started_at = ?"
                " AND NOT EXISTS (SELECT 1 FROM gap WHERE found_at >= started_at)",  # it is a copy made since
                (run.run, run.started_at),
            ).get
    except apsw.Error:
        return  # a checkpoint was cut off; with its -wal the file will be whole
    if found != run.ledger_id:
        raise InputProblem(
            f"{path}: {wal.name} beside it was written by a run (begun {run.started_at}) that this ledger does not know:"
            " the ledger is another, or older. Put the right one back; to go on with this one, first keep"
            f" {wal.name} elsewhere for comparing with the carrier's statement"
        )


def check_whole(path: Path) -> None:
    """Refuse a ledger whose last run did not end and whose -wal, which holds that run, is not there.

    A run is marked as begun in the file itself before anything is sent, and its -wal stays until it has
    ended well; so a ledger that was renamed, copied or restored without it is told from a whole one.
    """
    if wal_path(path).exists():
        return
    try:
        with _alone(path) as connection:
            begun = begun_and_not_ended(connection)
    except apsw.Error:
        return  # no ledger, or a damaged one: opening it will tell
    if begun is not None and not wal_path(path).exists():  # a run that began while we looked has one by now
        raise InputProblem(
            f"{path}: the last run on this ledger did not end, and {path.name}-wal, which holds what that run issued,"
            " is not beside it: without it everything would be issued again. Put it back under that name; if it is lost"
            " for good: voucher ledger mark-gap"
        )
