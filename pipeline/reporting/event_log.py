"""The log of runs, for machines: one JSON object a line, in a file that logrotate may move away (`voucher help cron`).

    {"time": "2026-11-21T01:00:02.123Z", "process": 4711, "command": "reconcile", "run": 12, "event": "settled", …}

`run` is the ledger's number of the run, null until it has one; `process` holds a run's lines together before that.
The events and their facts are in events.py. Facts are counts, codes, states, IDs and files' bare names. What
stopped a run is named by its kind and exit code, and never quoted: a message may hold what stands in a cell.

A log that can't be written stops nothing: vouchers are issued whether it is kept or not.
"""

import contextlib
import datetime
import errno
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import replace
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import cast

from pipeline.file_writing import PRIVATE, taken
from pipeline.model.errors import InputProblem
from pipeline.model.exit_code import ExitCode
from pipeline.model.job import Watch
from pipeline.model.message import Note, message, system_error
from pipeline.reporting.output_paths import check_folder, unwritable

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
        log("stopped", error=type(stop).__name__, exit_code=getattr(stop, "exit_code", ExitCode.STOPPED))
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

    def __init__(self, path: Path, command: str, warn: Note) -> None:
        """Open the log. Raises InputProblem if it can't be written to."""
        self._command = command
        self._run: object = None
        try:
            self._file = _File(path, warn)
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


class _File(WatchedFileHandler):
    """The file: its owner's alone, and added to by whole lines; where it was moved away, a new one is begun."""

    def __init__(self, path: Path, warn: Note) -> None:
        self._warn: Note | None = warn
        self._cut = False
        super().__init__(path)

    def _open(self) -> TextIOWrapper:
        # Unbuffered: a line is one write, which other writers' lines can't fall into (write(2), O_APPEND).
        file = open(self.baseFilename, "ab", buffering=0, opener=_private)  # noqa: SIM115 - the handler closes it
        with contextlib.suppress(OSError):  # another's file keeps the mode that its owner gave it
            os.fchmod(file.fileno(), PRIVATE)
        return cast("TextIOWrapper", file)

    def emit(self, record: logging.LogRecord) -> None:
        """Add a line; if it can't be added, that is said once."""
        try:
            self.reopenIfNeeded()
            if self.stream is None:  # it could not be opened last time
                self.stream = self._open()
                self._statstream()
            line = ("\n" if self._cut else "") + self.format(record) + "\n"
            encoded = line.encode()
            self._cut = os.write(self.stream.fileno(), encoded) < len(encoded)
            if self._cut:
                self._say(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        except OSError as problem:
            self._say(problem)

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
