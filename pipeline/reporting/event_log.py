"""The log of runs, for machines: one JSON object a line, in a file that is kept bounded.

    {"time": "2026-11-21T01:00:02.123Z", "process": 4711, "command": "reconcile", "run": 12, "event": "settled", …}

`run` is the ledger's number of the run, null until it has one; `process` holds a run's lines together before that.
The events and their facts are in happenings.py. Facts are counts, codes, states, IDs and files' bare names. What
stopped a run is named by its kind and exit code, and never quoted: a message may hold what stands in a cell.

A log that can't be written stops nothing: vouchers are issued whether it is kept or not.
"""

import contextlib
import datetime
import errno
import fcntl
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import replace
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import cast

from pipeline.files import PRIVATE, taken
from pipeline.model.errors import InputProblem
from pipeline.model.job import Watch
from pipeline.model.message import Note, message, system_error
from pipeline.reporting.output_paths import check_folder, unwritable

#: Bytes after which a new file is begun, and how many earlier ones are kept beside it: NAME.1 is the latest.
_LARGEST, _KEPT = 10_000_000, 5
_BEGINS = b'{"time": "'


@contextlib.contextmanager
def logged(path: Path | None, command: str, watch: Watch) -> Iterator[Watch]:
    """A watch that keeps a log too, where one is asked for; what stops the run is its last line.

    Raises InputProblem, before anything is done, where no log can be kept.
    """
    if path is None:
        yield watch
        return
    _check(path)
    log = LogFile(path, command, watch.warn)
    try:
        yield replace(watch, log=log)
    except BaseException as stop:
        log("stopped", error=type(stop).__name__, exit_code=getattr(stop, "exit_code", 3))
        raise
    finally:
        log.close()


def _check(path: Path) -> None:
    """Raise InputProblem for what is no place for a log: nothing but an earlier log is ever added to."""
    if taken(path) and not path.is_file():
        raise InputProblem(
            "{file}: is not a file that a log could be written to; give the name of a file", file=str(path)
        )
    check_folder(path)
    try:
        begins = path.read_bytes()[: len(_BEGINS)] if path.stat().st_size < 100 else _beginning(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputProblem(
            "{file}: can't be read ({problem}); check its permissions",
            file=str(path),
            problem=system_error(error),
        ) from None
    if begins not in (b"", _BEGINS):
        raise InputProblem(
            "{file}: is no earlier log and is left as it is; give the log another name", file=str(path)
        )


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_BEGINS))


class LogFile:
    """The log of one command."""

    def __init__(
        self,
        path: Path,
        command: str,
        warn: Note,
        largest: int = _LARGEST,
        kept: int = _KEPT,
    ) -> None:
        """Open the log. Raises InputProblem if it can't be written to."""
        self._command = command
        self._run: object = None
        try:
            self._file = _Rotated(path, largest, kept, warn)
        except OSError as error:
            raise unwritable(path, error) from None

    def __call__(self, event: str, **facts: object) -> None:
        """Note an event. A `run` among the facts is the run's number, and stands in every line from then on."""
        self._run = facts.pop("run", self._run)
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        line = {
            "time": now.replace("+00:00", "Z"),
            "process": os.getpid(),
            "command": self._command,
            "run": self._run,
            "event": event,
        }
        text = json.dumps(line | facts, ensure_ascii=False).encode("utf-8", "replace").decode()
        self._file.handle(logging.makeLogRecord({"msg": text}))

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, PRIVATE)


class _Rotated(RotatingFileHandler):
    """The file: its owner's alone, added to by whole lines, and begun anew when it is large.

    Two commands may share it: each looks whether the other has begun a new one.
    """

    def __init__(self, path: Path, largest: int, kept: int, warn: Note) -> None:
        self._warn: Note | None = warn
        self._cut = False
        super().__init__(path, maxBytes=largest, backupCount=kept)

    def _open(self) -> TextIOWrapper:
        # Unbuffered: a line is one write, which other writers' lines can't fall into (write(2), O_APPEND).
        file = open(self.baseFilename, "ab", buffering=0, opener=_private)  # noqa: SIM115 - the handler closes it
        with contextlib.suppress(OSError):  # another's file keeps the mode that its owner gave it
            os.fchmod(file.fileno(), PRIVATE)
        return cast("TextIOWrapper", file)

    def emit(self, record: logging.LogRecord) -> None:
        """Add a line; if it can't be added, that is said once."""
        try:
            file = self._with_room(record).fileno()
            line = ("\n" if self._cut else "") + self.format(record) + "\n"
            encoded = line.encode()
            self._cut = os.write(file, encoded) < len(encoded)
            if self._cut:
                self._say(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        except OSError as problem:
            self._say(problem)

    def _with_room(self, record: logging.LogRecord) -> TextIOWrapper:
        """The file with room for this line: a new one where it is large, or the one that another command has begun."""
        if self.stream is not None and not self._in_place():
            self.stream.close()
            self.stream = None
        self.stream = self.stream or self._open()
        if self.shouldRollover(record):
            # Where another command is just beginning a new one, this line may still go to the earlier one.
            # (and for a moment there is none under the name).
            with (
                contextlib.suppress(BlockingIOError, FileNotFoundError),
                open(self.baseFilename, "rb") as whole,  # noqa: PTH123 - a text
            ):
                fcntl.flock(whole, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._in_place():
                    self._begin_anew()
        return self.stream

    def _begin_anew(self) -> None:
        try:
            self.doRollover()
        except OSError as problem:  # it grows on: better than no log
            self._say(problem)
            self.stream = self.stream or self._open()

    def _in_place(self) -> bool:
        """Whether what is written goes to the file under the log's name."""
        try:
            return self.stream is not None and os.path.samestat(
                os.fstat(self.stream.fileno()),
                os.stat(self.baseFilename),  # noqa: PTH116 - likewise
            )
        except OSError:
            return False

    def _say(self, problem: OSError) -> None:
        if self._warn is not None:
            warn, self._warn = self._warn, None
            warn(
                message(
                    "{file}: the log can't be written ({problem}); the run goes on without it",
                    file=self.baseFilename,
                    problem=system_error(problem),
                )
            )
