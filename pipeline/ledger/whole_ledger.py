"""All rows of a ledger's file, for a ledger of another kind that is made of them; and a file that is made of another ledger's rows."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from pipeline.file_writing import PRIVATE, appear, private_folder, sync
from pipeline.ledger import handover, last_run_witness
from pipeline.ledger.carrier_move import free_name
from pipeline.ledger.fetched_ledger import FetchedLedger
from pipeline.ledger.ledger_file import as_problem
from pipeline.ledger.local_disk import check_local
from pipeline.ledger.lock import Lock, Phase
from pipeline.ledger.opening import APPLICATION_ID
from pipeline.ledger.runs import last_run
from pipeline.model.errors import InputProblem


def rows(
    connection: apsw.Connection, table: str, columns: Sequence[str], key: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """All rows of a table in the order of its key, but for the gap that says that the ledger was copied."""
    cursor = connection.execute(
        f"SELECT {', '.join(columns)} FROM {table} ORDER BY {', '.join(key)}"  # noqa: S608 - names of ours
    )
    if table != "gap":
        return cursor
    at = columns.index("why")
    return (row for row in cursor if not handover.successor([row[at]]))


class NewFile:
    """A ledger's file that is made of another ledger's rows; nobody sees it until it is finished.

    Killed before that, it is made anew the next time.
    """

    def __init__(self, path: Path, lock: Lock) -> None:
        self.path = path
        self._lock = lock
        self._fresh = path.with_name(f".{path.name}.copying")
        self._remove()
        os.close(os.open(self._fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))
        self._connection = apsw.Connection(str(self._fresh))
        self._rows = FetchedLedger(self._connection, checked=True)

    def put(self, table: str, columns: Sequence[str], rows: Iterator[Sequence[Any]]) -> None:
        """Put rows into a table."""
        with as_problem(self.path):
            self._rows.put(table, columns, rows)

    def complete(self) -> None:
        """Everything is in it: it gets its indexes and rules, and is on disk when this returns. Raises LedgerProblem."""
        with as_problem(self.path):
            self._rows.complete(whole=True)
            self._connection.pragma("application_id", APPLICATION_ID)
            if (found := self._connection.pragma("integrity_check")) != "ok":
                raise apsw.CorruptError(f"the copy is damaged: {found}")
            sync(self._fresh)

    def rows(self, table: str, columns: Sequence[str], key: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """What it holds now."""
        with as_problem(self.path):
            yield from rows(self._connection, table, columns, key)

    def appear(self) -> None:
        """Let it be the ledger: its last run is noted, and it has its name. Raises LedgerProblem."""
        with as_problem(self.path):
            self._connection.pragma("journal_mode", "wal")
            self._lock.run = last_run(self._connection, Phase.AT_REST)
            self._connection.close()
            sync(self._fresh)
            appear(self._fresh, self.path)
            self._remove()
            sync(self.path.parent)

    def close(self) -> None:
        """Leave nothing behind that is not the ledger."""
        self._connection.close()
        self._remove()

    def _remove(self) -> None:
        for end in ("", "-journal", "-wal", "-shm"):
            self._fresh.with_name(self._fresh.name + end).unlink(missing_ok=True)


@contextlib.contextmanager
def new_file(path: Path, ledger_id: str) -> Iterator[NewFile]:
    """A new file of that name for a ledger, which must have none; it is locked meanwhile. Raises InputProblem and LedgerProblem."""
    path = path.resolve()
    witnesses = last_run_witness.places()
    with as_problem(path):
        if path.exists():
            raise InputProblem(
                "{path}: exists already and is left as it is; name a new file for the copy", path=str(path)
            )
        private_folder(path.parent)
        check_local(path)
        with (
            free_name(path, ledger_id, partial(last_run_witness.note, witnesses, path)) as lock,
            contextlib.closing(NewFile(path, lock)) as made,
        ):
            yield made
