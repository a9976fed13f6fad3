"""A ledger in a file of this machine, for looking, and copies of it."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw

from pipeline.ledger import backup, export, gaps, last_run_witness, older_copy, opening, runs, schema
from pipeline.ledger.part import Part
from pipeline.ledger.read_ledger import LedgerCopy, ReadLedger
from pipeline.ledger.spill import spill_path
from pipeline.model.errors import InputProblem, LedgerProblem, Stop
from pipeline.model.message import Message, message, system_error
from pipeline.model.places import about
from pipeline.model.profile import Owner


@contextlib.contextmanager
def as_problem(name: Path | str) -> Iterator[None]:
    """Turn a failure of a ledger's file, or of what was fetched of one, into a message for a person."""
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise LedgerProblem(about(str(name), _failure(error))) from None


def _failure(error: apsw.Error | OSError) -> Message:
    match error:
        case apsw.CorruptError() | apsw.NotADBError():
            return message(
                "the ledger is damaged ({why}). {cure}", why=system_error(error), cure=opening.RESTORE
            )
        case apsw.BusyError() | apsw.LockedError():
            return message(
                "another program is using the ledger ({why}); let it end, then run again",
                why=system_error(error),
            )
        case apsw.ConstraintError():
            return message(
                "the ledger refuses what would break its rules ({why}); look it over: voucher ledger check",
                why=system_error(error),
            )
        case _:
            seen = error.__context__ or error
            return message(
                "the ledger can't be read or written ({why}); free disk space or mend the disk, then run"
                " again",
                why=system_error(seen),
            )


@dataclass(frozen=True)
class LedgerFile(ReadLedger):
    """An open file; every part of it is there as it is."""

    path: Path
    _connection: apsw.Connection

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    @contextlib.contextmanager
    def _part(self, part: Part) -> Iterator[apsw.Connection]:  # noqa: ARG002 - all of it is at hand
        with as_problem(self.path):
            yield self._connection

    def as_of_now(self) -> None:
        """What is asked from here on is answered as of one moment, whatever a run does meanwhile."""
        with as_problem(self.path):
            self._connection.execute("BEGIN")

    def doubt(self) -> Message:
        """Why one that is only read may be an older copy of itself, or why that can't be told; nothing where it is none."""
        with as_problem(self.path):
            try:
                return older_copy.doubt(self.path.resolve(), self._connection, last_run_witness.places())
            except Stop as problem:
                return problem.message

    @property
    def outcomes_wait(self) -> bool:
        """Whether a spill file lies beside it."""
        return spill_path(self.path.resolve()).exists()

    def back_up(self, path: Path, now: str) -> None:
        """Copy it to a new file that knows that it may lack what was issued after what it knows, or after `now`."""
        doubted = self.doubt()

        def finish(copy: apsw.Connection) -> None:
            if doubted:
                why = message("it is a backup of what may be an older copy")
            else:
                why = message("it is a backup")
            gaps.mark_gap(copy, runs.known_until(copy) or now, why)

        self._copy(path, path, finish)

    @contextlib.contextmanager
    def as_copy(self, scratch: Path, wanted: Path) -> Iterator[LedgerCopy]:
        """Its copy, which has lost its name by then, so that it is never taken for the ledger."""
        copy = scratch / "copy"
        self._copy(copy, wanted)
        with backup.read_alone(copy) as connection, as_problem(self.path):
            schema.show_as_current(connection)
            copy.unlink()  # it is read to the end by whoever has it open
            yield LedgerCopy(export.about(connection), connection)

    def _copy(
        self, path: Path, wanted: Path, finish: Callable[[apsw.Connection], None] = lambda _: None
    ) -> None:
        with as_problem(self.path):
            try:
                backup.copied(self._connection, path, finish)
            except FileExistsError:
                raise InputProblem(
                    "{wanted}: exists already and is left as it is; choose another name, or a folder",
                    wanted=str(wanted),
                ) from None
            except (OSError, apsw.FullError, apsw.IOError) as error:
                raise LedgerProblem(
                    "{wanted}: can't be written ({why}); choose a folder that exists and has room",
                    wanted=str(wanted),
                    why=system_error(error),
                ) from None


@contextlib.contextmanager
def file_to_read(path: Path, owner: Owner | None) -> Iterator[LedgerFile | None]:
    """A ledger's file for looking, None where there is none; `owner` None: whosever it is."""
    connection = opening.open_for_reading(path, owner)
    if connection is None:
        yield None
        return
    with contextlib.closing(connection), as_problem(path):
        yield LedgerFile(path, connection)


@contextlib.contextmanager
def existing_file(path: Path, owner: Owner | None) -> Iterator[LedgerFile]:
    """A ledger's file for looking. Raises InputProblem where there is none."""
    connection = opening.open_existing(path, owner)
    with contextlib.closing(connection), as_problem(path):
        yield LedgerFile(path, connection)
