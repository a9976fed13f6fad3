"""The process that reads a workbook, forked from the run instead of started: without its start-up, and the same otherwise.

It has the bounds, the pipe, the few variables of the environment and the end that `pipeline.reading.child_process` gives it. What it is
as a process of its own, from its start, is seen where the program is started as users start it, and in tests/unit/reading.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from pipeline.bounded_process import ENVIRONMENT
from pipeline.reading import bounded_child
from pipeline.reading.child_process import CHILD
from pipeline.signals import ENDING

#: The environment's name for a folder: where it has a pipe of a file's name, that file is read once the pipe was opened and closed.
HELD = "READING_HELD_IN"


class Reader:
    """What `subprocess.Popen` is to `pipeline.reading.child_process`."""

    def __init__(self, path: Path, *more: str, keeps: int, library: ctypes.CDLL | None) -> None:
        """Begin to read; of the run's open files it has the one named, and it fails no calls."""
        reading, writing = os.pipe()
        self._code: int | None = None
        self._pid = os.fork()
        if not self._pid:
            try:
                if (held := Path(os.environ.get(HELD, os.devnull)) / path.name).is_fifo():
                    held.read_bytes()
                _become(writing, keeps, library)
                sys.argv = [str(CHILD), str(path), *more]
                bounded_child.main()
            finally:  # its main ends the process; anything else is what ends a process with 1
                os._exit(1)
        os.close(writing)
        self.stdout = os.fdopen(reading, "rb")

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code once it has ended. Raises subprocess.TimeoutExpired after so many seconds."""
        if self._code is None:
            handle = os.pidfd_open(self._pid)
            try:
                if not select.select([handle], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired(str(CHILD), timeout or 0)
            finally:
                os.close(handle)
            self._code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self._code

    def kill(self) -> None:
        if self._code is None:
            os.kill(self._pid, signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stdout.close()
        self.wait()


def _become(writing: int, keeps: int, library: ctypes.CDLL | None) -> None:
    """What a process is that was started with this pipe as its standard output."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number, what in enumerate((nowhere, writing, nowhere)):
        os.dup2(what, number)
    os.closerange(3, keeps)
    os.closerange(keeps + 1, os.sysconf("SC_OPEN_MAX"))
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - the run's own may hold what it has not written
    kept = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    os.environ.clear()
    os.environ.update(kept)
    if library:
        library.failpoint_arm()  # from an environment that names no calls to fail
