"""The child process of one file: started, waited for, and what it says of the file.

It may be started ahead, so that it reads while this process loads what comes after the reading; so nothing here loads
more than it must.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.file_reading import WORKBOOK_SUFFIXES
from pipeline.model.message import Message
from pipeline.reading.formats.refusal import EXACTLY, LENGTH_BYTES, OUT_OF_MEMORY, Seen
from pipeline.signals import put_off

#: A million rows take some 40 seconds; a slow machine has the rest.
TIME_SECONDS = 300
#: What it may say of a file; a million rows of 30 columns are half of it.
LARGEST_ANSWER = 2 * 1024**3
_PIECE = 1 << 20
#: What it runs, where that finds the package, and that all its threads take memory from one place (glibc): laying out is 4 % quicker.
CHILD = Path(__file__).with_name("bounded_child.py")
_SETTINGS = {"PYTHONPATH": str(Path(__file__).parents[2]), "MALLOC_ARENA_MAX": "1"}
#: All that it needs of the environment: where Python and its libraries are, and how names are encoded. No keys of anybody's.
_ENVIRONMENT = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LD_LIBRARY_PATH",
    "PYTHONHOME",
    "PYTHONUTF8",
    "PYTHONPYCACHEPREFIX",
    "PYTHONDONTWRITEBYTECODE",
)


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
        except subprocess.TimeoutExpired:
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
        """Each thing that it says, until it ends. Raises subprocess.TimeoutExpired; what says too much is ended."""
        assert self._process.stdout  # noqa: S101 - it is a pipe
        out, said, deadline = self._process.stdout.fileno(), bytearray(), time.monotonic() + TIME_SECONDS
        room = LARGEST_ANSWER
        with selectors.DefaultSelector() as waiting:
            waiting.register(out, selectors.EVENT_READ)
            while True:
                if not waiting.select(deadline - time.monotonic()) or time.monotonic() > deadline:
                    raise subprocess.TimeoutExpired(CHILD, TIME_SECONDS)
                some = os.read(out, _PIECE)
                said, room = said + some, room - len(some)
                if room < 0:
                    self._process.kill()
                while (end := LENGTH_BYTES + int.from_bytes(said[:LENGTH_BYTES], "little")) <= len(said):
                    yield bytes(said[LENGTH_BYTES:end])
                    del said[:end]
                if not some:
                    break
        if said:  # it was cut off, so that it will not be understood
            yield bytes(said)

    def end(self) -> None:
        """End it, whether anybody has asked for its answer or not."""
        self._process.kill()
        with self._process:
            pass


def _started(path: Path, *more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own interpreter and script, no shell
        [sys.executable, "-P", str(CHILD), str(path), *more],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )


def environment() -> dict[str, str]:
    """All that a process which reads files of others is given of the environment."""
    return {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ} | _SETTINGS


class Ended(Exception):
    """The process ended without an answer; `problem` is why the file is not read."""

    def __init__(self, code: str, seen: Seen, /, **facts: str | int) -> None:
        super().__init__(code, seen, facts)
        self.problem = problem(code, seen, **facts)


def problem(code: str, seen: Seen, /, **facts: str | int) -> dict[str, Any]:
    """Why a file is not read, as `deserialize` gives what the child says of it."""
    return {"problem": code, "detail": Message(seen, facts)}


@contextlib.contextmanager
def ahead(inputs: Sequence[Path]) -> Iterator[Opening | None]:
    """The first of some inputs, being read already; None where it is no file that would be read as it is."""
    begun = None
    with contextlib.suppress(OSError, ValueError, RuntimeError):  # no path, or one in a circle
        first = inputs[0].resolve()
        if first.suffix.lower() in WORKBOOK_SUFFIXES and first.is_file():
            begun = Opening(first)
    try:
        yield begun
    finally:
        if begun:
            begun.end()
