"""The child process of one file: started, waited for, and what it says of the file.

It may be started ahead, so that it reads while this process loads what comes after the reading; so nothing here loads
more than it must.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.interruption import put_off
from pipeline.reading import child

#: A million rows take some 40 seconds; a slow machine has the rest.
TIME_SECONDS = 300
SUFFIXES = (".xlsx", ".xls", ".xlsb", ".ods", ".csv", ".tsv")


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

    def answer(self) -> dict[str, Any]:
        """What it says of the file; see `child`."""
        try:
            said, _ = self._process.communicate(timeout=TIME_SECONDS)
        except subprocess.TimeoutExpired:
            return _problem("too_large", f"it took longer than {TIME_SECONDS} seconds")
        finally:
            self.end()
        code = self._process.returncode
        if code == -signal.SIGABRT and not self._more:  # it ran out of memory: for what?
            return Opening(self.path, child.EXACTLY).answer()
        if code != 0:
            return _problem("too_large" if code < 0 else "damaged", f"the reader ended with {code}")
        answer: dict[str, Any] = pickle.loads(said)  # noqa: S301 - written by our own child process
        return answer

    def end(self) -> None:
        """End it, whether anybody has asked for its answer or not."""
        self._process.kill()
        with self._process:
            pass


def _started(path: Path, *more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own interpreter and script, no shell
        [sys.executable, "-P", child.__file__, str(path), *more],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # It reads files of unknown origin, so it knows no keys.
        env={name: value for name, value in os.environ.items() if not name.startswith("VOUCHER_")},
    )


def _problem(code: str, detail: str) -> dict[str, Any]:
    return {"problem": code, "detail": detail}


@contextlib.contextmanager
def ahead(inputs: Sequence[Path]) -> Iterator[Opening | None]:
    """The first of some inputs, being read already; None where it is no file that would be read as it is."""
    begun = None
    with contextlib.suppress(OSError, ValueError, RuntimeError):  # no path, or one in a circle
        first = inputs[0].resolve()
        if first.suffix.lower() in SUFFIXES and first.is_file():
            begun = Opening(first)
    try:
        yield begun
    finally:
        if begun:
            begun.end()
