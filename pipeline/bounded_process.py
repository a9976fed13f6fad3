"""A child process that reads what comes from anywhere: started with next to no environment, and what it says, piece by piece.

Its bounds it sets itself (`process_bounds.py`). It is given no keys, so that whoever takes it over by a file finds none.
"""

import contextlib
import os
import selectors
import subprocess
import sys
import time
from pathlib import Path

from pipeline.process_bounds import LENGTH_BYTES

_PIECE = 1 << 20
#: Where it finds the package; that all its threads take memory from one place (glibc): laying out a workbook is 4 % quicker; and that
#: numpy's linear algebra, which nobody needs here, takes no memory for threads of its own.
_SETTINGS = {
    "PYTHONPATH": str(Path(__file__).parents[1]),
    "MALLOC_ARENA_MAX": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
#: All that it needs of the environment: where Python and its libraries are, where to unpack to, and how names are encoded. No keys of
#: anybody's.
ENVIRONMENT = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LD_LIBRARY_PATH",
    "TMPDIR",
    "PYTHONHOME",
    "PYTHONUTF8",
    "PYTHONPYCACHEPREFIX",
    "PYTHONDONTWRITEBYTECODE",
)


def started(script: Path, *arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """A script of ours, running; what it says on standard output is to be read."""
    return subprocess.Popen(  # noqa: S603 - our own interpreter and script, no shell
        [sys.executable, "-P", str(script), *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process, whatever it is at."""
    process.kill()
    with contextlib.suppress(BrokenPipeError), process:
        pass


def environment() -> dict[str, str]:
    """All that a process which reads files of others is given of the environment."""
    return {name: os.environ[name] for name in ENVIRONMENT if name in os.environ} | _SETTINGS


class Said:
    """What a process says on its standard output: things, each with its length in bytes before it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout  # noqa: S101 - it is a pipe
        self._out, self._process, self._rest = process.stdout.fileno(), process, bytearray()

    def next(self, deadline: float, most: int) -> bytes:
        """The next thing; b"" where the process has ended, and what there was of the last thing, with its length, where that is cut off.

        Raises TimeoutError at the deadline (of time.monotonic). A process that has said more than `most` bytes and is not done is killed.
        """
        rest = self._rest
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._out, selectors.EVENT_READ)
            while (end := LENGTH_BYTES + int.from_bytes(rest[:LENGTH_BYTES], "little")) > len(rest):
                if not waiting.select(deadline - time.monotonic()) or time.monotonic() > deadline:
                    raise TimeoutError
                some = os.read(self._out, _PIECE)
                if not some:
                    said = bytes(rest)
                    rest.clear()
                    return said
                rest += some
                if len(rest) > most:
                    self._process.kill()
        said = bytes(rest[LENGTH_BYTES:end])
        del rest[:end]
        return said
