"""A copy of a ledger as of one moment, safe while a run is on: SQLite's own online backup.

The copy is one whole file, without a -wal of its own, and appears under its name complete or not at all.
"""

import contextlib
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import apsw

from pipeline.file_writing import PRIVATE, appear, sync


@contextlib.contextmanager
def read_alone(path: Path) -> Iterator[apsw.Connection]:
    """A file that nobody writes to, for reading; nothing is made beside it, and it may lose its name meanwhile."""
    connection = apsw.Connection(
        f"file:{quote(str(path))}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    try:
        yield connection
    finally:
        connection.close()


def copied(
    source: apsw.Connection, path: Path, finish: Callable[[apsw.Connection], None] = lambda _: None
) -> None:
    """Copy everything that is committed by now to a new file; `finish` is the last change made in it.

    Raises FileExistsError, other OSErrors and apsw.Error; then there is no file.
    """
    fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
    try:
        copy = apsw.Connection(str(fresh))
        try:
            # Nobody else opens it, so that it needs no shared memory: a backup may go to a network disk.
            copy.pragma("locking_mode", "exclusive")
            # What fails in a step is "not an error" in SQLite's words; ending the backup raises it again, in better ones.
            failing = contextlib.suppress(apsw.FullError, apsw.IOError)
            with copy.backup("main", source, "main") as whole, failing:
                whole.step()
            copy.pragma("journal_mode", "delete")
            with copy:
                finish(copy)
            if (found := copy.pragma("integrity_check")) != "ok":
                raise apsw.CorruptError(f"the copy is damaged: {found}")
            copy.pragma("journal_mode", "wal")
        finally:
            copy.close()
        sync(fresh)
        appear(fresh, path)
        sync(path.parent)
    finally:
        for left in (fresh, *(fresh.with_name(fresh.name + end) for end in ("-wal", "-shm", "-journal"))):
            left.unlink(missing_ok=True)
