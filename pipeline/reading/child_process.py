"""The child process of one file: started, waited for, and what it says of the file.

It may be started ahead, so that it reads while this process loads what comes after the reading; so nothing here loads
more than it must.
"""

import contextlib
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.bounded_process import Said, end, started
from pipeline.file_reading import WORKBOOK_SUFFIXES
from pipeline.model.message import Message
from pipeline.process_bounds import OUT_OF_MEMORY
from pipeline.reading.formats.refusal import EXACTLY, Seen
from pipeline.signals import put_off

#: A million rows take some 40 seconds; a slow machine has the rest.
TIME_SECONDS = 300
#: What it may say of a file; a million rows of 30 columns are half of it.
LARGEST_ANSWER = 2 * 1024**3
#: What it runs.
CHILD = Path(__file__).with_name("bounded_child.py")


class Opening:
    """A file that is being read by its own process."""

    def __init__(self, path: Path, *more: str) -> None:
        self.path, self._more = path, more
        try:
            with put_off():  # it would be left behind, reading
                self._process = _started(path, *more)
        except KeyboardInterrupt:
            self.end()
            raise

    def said(self) -> Iterator[bytes]:
        """What it says of the file, each thing as it comes, as bytes (`formats.serialize`). Raises Ended."""
        try:
            yield from self._each()
            code = self._process.wait(TIME_SECONDS)
        except (TimeoutError, subprocess.TimeoutExpired):
            raise Ended("too_large", Seen.TIME, seconds=f"{TIME_SECONDS}") from None
        finally:
            self.end()
        if code == -signal.SIGABRT and not self._more:  # it ran out of memory: for what?
            yield from Opening(self.path, EXACTLY).said()
        elif code in (-signal.SIGABRT, OUT_OF_MEMORY):
            raise Ended("too_large", Seen.MEMORY)
        elif code != 0:
            raise Ended("too_large" if code < 0 else "damaged", Seen.ENDED, code=code)

    def _each(self) -> Iterator[bytes]:
        """Each thing that it says, until it ends. Raises TimeoutError; what says too much is ended."""
        said, deadline, room = Said(self._process), time.monotonic() + TIME_SECONDS, LARGEST_ANSWER
        while one := said.next(deadline, room):
            yield one
            room -= len(one)

    def end(self) -> None:
        """End it, whether anybody has asked for its answer or not."""
        end(self._process)


def _started(path: Path, *more: str) -> subprocess.Popen[bytes]:
    return started(CHILD, str(path), *more)


class Ended(Exception):
    """The process ended without an answer; `problem` is why the file is not read."""

    def __init__(self, code: str, seen: Seen, /, **facts: str | int) -> None:
        super().__init__(code, seen, facts)
        self.problem = problem(code, seen, **facts)


def problem(code: str, seen: Seen, /, **facts: str | int) -> dict[str, Any]:
    """Why a file is not read, as `deserialize` gives what the child says of it."""
    return {"problem": code, "detail": Message(seen, facts)}


def opened(path: Path) -> Opening | None:
    """A file, being read from now on; None where it is none that would be read as it is."""
    with contextlib.suppress(OSError, ValueError, RuntimeError):  # no path, or one in a circle
        whole = path.resolve()
        if whole.suffix.lower() in WORKBOOK_SUFFIXES and whole.is_file():
            return Opening(whole)
    return None


@contextlib.contextmanager
def ahead(inputs: Sequence[Path], begun: Opening | None = None) -> Iterator[Opening | None]:
    """The first of some inputs, being read already, as it may be since before (`begun`); None where it would not be read as it is."""
    begun = begun or opened(inputs[0])
    try:
        yield begun
    finally:
        if begun:
            begun.end()
