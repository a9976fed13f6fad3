"""Many runs of the program for the price of one start: a process that has imported it forks one child a run.

The failing system calls (failpoint.c) are preloaded into the parent, which is not under test; each child
takes the run's settings into its environment, arms them, and from there on is the program: the same
`main`, SQLite, event loop and threads as in `python -m pipeline`.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pipeline import cli

REPOSITORY = Path(__file__).parents[2]
LONGEST = 60  # seconds of one run; beyond them it hangs


@dataclass(frozen=True)
class Ran:
    """How a run ended: its exit code, or the signal that ended it as a negative number."""

    code: int
    said: str


def base_environment() -> dict[str, str]:
    """The environment of every process of a sweep; none of them needs more than one thread for numbers."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), "OPENBLAS_NUM_THREADS": "1"}


class Forking:
    """The parent of runs, used as a context."""

    def __init__(self, library: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.kill_forking", str(library)],
            cwd=REPOSITORY,
            env={**base_environment(), "LD_PRELOAD": str(library), "FAILPOINT_FOLDER": ""},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, arguments: Sequence[str], folder: Path, said: Path, environment: Mapping[str, str]) -> Ran:
        """Run a command in a folder, its words going to a file."""
        job = {"arguments": arguments, "folder": str(folder), "said": str(said), "environment": environment}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return Ran(int(self._process.stdout.readline()), said.read_text(encoding="utf-8"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


def plain(arguments: Sequence[str], folder: Path, said: Path, environment: Mapping[str, str]) -> Ran:
    """The same as a process of its own, as users start it."""
    with said.open("wb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "pipeline", *arguments],
            cwd=folder,
            env={**base_environment(), **environment},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            timeout=LONGEST,
            check=False,
        )
    return Ran(done.returncode, said.read_text(encoding="utf-8"))


def _child(job: dict[str, Any], library: str, loaded: int) -> None:
    """Be the program, in a process that has its imports behind it."""
    said = os.open(job["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.close(said)
    signal.alarm(LONGEST)
    os.chdir(job["folder"])
    os.environ.update({name: value for name, value in job["environment"].items() if name != "LD_PRELOAD"})
    ctypes.CDLL(library).failpoint_arm()
    try:
        cli.main(job["arguments"])
    except SystemExit as ended:
        with contextlib.suppress(OSError):
            os.write(loaded, "\n".join(sys.modules).encode())
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(ended.code or 0))
    os._exit(70)  # not a way that the program ends


def serve(library: str) -> None:
    """Fork a child for each job that comes in; what a child had to import, the parent then imports for the next."""
    for line in sys.stdin:
        reading, writing = os.pipe()
        gc.collect()
        gc.freeze()
        child = os.fork()
        if not child:
            os.close(reading)
            _child(json.loads(line), library, writing)
        os.close(writing)
        with os.fdopen(reading) as file:
            loaded = file.read().split()
        _, status = os.waitpid(child, 0)
        for name in loaded:
            if name not in sys.modules:
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
