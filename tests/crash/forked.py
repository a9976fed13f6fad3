"""Many runs of the real program without its start-up: a process that has imported it forks a child a run.

Where there is a C compiler the parent is started with `moved_clock.c` preloaded, and if asked for `failpoint.c`, so that every
child is the real program - the same `main`, SQLite, event loop and threads - with failing system calls, or a clock that is wrong:
it takes the run's environment, arms the library and ends as a process of its own, the interpreter's end included.

`python -m tests.crash.forked [LIBRARY]` is the parent: a line of JSON in for each run that begins and for each that is waited
for, and for each of them one out: the child, and its exit code.
"""

import contextlib
import ctypes
import gc
import importlib
import itertools
import json
import os
import pkgutil
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

import pipeline
from pipeline.cli import main as way_in
from pipeline.ledger import commit_process
from pipeline.page import work
from pipeline.reading import child_process
from tests import moved_clock, next_version
from tests.crash.forked_committer import Committers
from tests.crash.forked_reader import Reader
from tests.crash.forked_work import Works

REPOSITORY = Path(__file__).parents[2]
#: What `run` says of a child that had to be killed because it did not end.
HUNG = -1000
_LONGEST = 60  # seconds of one run; beyond them it hangs
_NOT_SEEN = 70  # an exit code that the program has no use for


@dataclass(frozen=True)
class Ran:
    """A run that has ended: its exit code (negative: the signal that ended it) and what it said."""

    code: int
    out: str
    err: str


#: How to run `voucher` in a folder: with these arguments, and this added to the environment.
Run = Callable[[Path, Sequence[str], Mapping[str, str]], Ran]


@dataclass(frozen=True)
class Begun:
    """A run that may be on still."""

    forks: "Forks"
    pid: int
    out: Path
    err: Path

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> Ran:
        """Kill it; what it had said."""
        self.send_signal(signal.SIGKILL)
        return self.end()

    def told(self) -> str:
        """What it has said on stderr so far."""
        return self.err.read_text() if self.err.exists() else ""

    def has_ended(self) -> bool:
        handle = os.pidfd_open(self.pid)  # it is there until somebody waits for its end
        try:
            return bool(select.select([handle], [], [], 0)[0])
        finally:
            os.close(handle)

    def wait(self) -> int:
        """Its exit code once it has ended; one that does not end in time is killed (HUNG)."""
        return self.forks._asked({"wait": self.pid})

    def end(self) -> Ran:
        """Wait for its end, and see what it said."""
        return Ran(self.wait(), self.out.read_text(), self.err.read_text())


class Forks:
    """The parent, seen from the process that wants runs; it waits for one run at a time."""

    def __init__(self, library: Path | None = None, inside: Sequence[str] = ()) -> None:
        """Start the parent, `inside` another command if given (`unshare`, for mounts of its own)."""
        self._said = tempfile.TemporaryDirectory()
        self._numbers = itertools.count()
        failing = [str(library)] if library else []
        clock = [str(moved_clock.library())] if shutil.which("cc") else []
        self._parent = subprocess.Popen(
            [*inside, sys.executable, "-m", "tests.crash.forked", *failing],
            cwd=REPOSITORY,
            env={**_environment(), "LD_PRELOAD": ":".join(failing + clock)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, folder: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> Ran:
        """Run `voucher ARGUMENTS` in a folder until it ends."""
        return self.begin(folder, arguments, environment).end()

    def begin(
        self, folder: Path, arguments: Sequence[str], environment: Mapping[str, str], terminal: str = ""
    ) -> Begun:
        """Begin to run `voucher ARGUMENTS` in a folder, with this added to the environment; at a terminal if one is named."""
        given = dict(environment)
        given.pop("LD_PRELOAD", None)  # it is in the parent already
        said = Path(self._said.name) / str(next(self._numbers))
        out, err = said.with_suffix(".out"), said.with_suffix(".err")
        os.umask(mask := os.umask(0))
        order = {"folder": str(folder), "umask": mask, "arguments": arguments, "environment": given}
        streams = [terminal] * 3 if terminal else [os.devnull, str(out), str(err)]
        return Begun(self, self._asked({**order, "streams": streams}), out, err)

    def command(self, *command: str | Path) -> int:
        """Run another command where the parent is; its exit code."""
        return self._asked({"command": [str(part) for part in command]})

    def seen(self, path: Path) -> Path:
        """How this process sees a path of the parent's, whatever is mounted there for it."""
        return Path(f"/proc/{self._parent.pid}/root{path}")

    def _asked(self, order: Mapping[str, Any]) -> int:
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(json.dumps(order) + "\n")
        self._parent.stdin.flush()
        answer = self._parent.stdout.readline()
        if not answer:
            raise RuntimeError(f"the parent ended with {self._parent.wait()}")
        return int(answer)

    def end(self) -> None:
        self._parent.communicate(timeout=_LONGEST)
        self._said.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()


def plain(folder: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> Ran:
    """The same as a process of its own, as users start it."""
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", *arguments],
        cwd=folder, env={**_environment(), **environment}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=_LONGEST, check=False,
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr)


def _environment() -> dict[str, str]:
    # Numbers get no threads of their own: a parent of several can't be forked.
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), "OPENBLAS_NUM_THREADS": "1"}


def _become(order: Mapping[str, Any], library: ctypes.CDLL | None, imported: int) -> NoReturn:
    """The child: the program with this run's streams, environment and failing calls."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(order["folder"])
    os.umask(order["umask"])
    os.environ.update(order["environment"])
    time.tzset()
    known = set(sys.modules)
    for number, path in enumerate(order["streams"]):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOCTTY, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    leave = os._exit
    if order["arguments"][:1] == ["serve"]:
        work.subprocess = Works(imported, leave)  # type: ignore[assignment]

    def told(code: int) -> NoReturn:
        os.write(imported, "".join(f"{name} " for name in sys.modules if name not in known).encode())
        leave(code)

    os._exit = told  # type: ignore[assignment]  # how the program ends, and its reader
    child_process._started = partial(Reader, keeps=imported, library=library)
    with next_version.program(int(os.environ.get(next_version.LATER) or 0)):
        if library:
            library.failpoint_arm()
        commit_process._started = Committers(library).started  # type: ignore[assignment]
        way_in.main(order["arguments"])
    leave(_NOT_SEEN)


def _forked(order: Mapping[str, Any], library: ctypes.CDLL | None) -> tuple[int, int]:
    """Be a run in a child: its process, and where it says at its end what it had to import."""
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a parent of several threads can't be forked"
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _become(order, library, writing)
    os.close(writing)
    return child, reading


def _ended(child: int, imported: int) -> int:
    """Wait for a child; its exit code, or minus the signal that ended it. What it had to import, this parent imports for the next."""
    handle = os.pidfd_open(child)
    try:
        in_time = select.select([handle], [], [], _LONGEST)[0]
    finally:
        os.close(handle)
    if not in_time:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with os.fdopen(imported) as file:
        names = file.read().split()
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if names:
        gc.collect()
        gc.freeze()  # what is there already stays shared with the children
    return code if in_time else HUNG


def _answer(order: Mapping[str, Any], library: ctypes.CDLL | None, begun: dict[int, int]) -> int:
    """Do what is asked for, with the runs that were begun and not waited for."""
    if "command" in order:
        return subprocess.run(order["command"], check=False).returncode
    if "wait" in order:
        return _ended(order["wait"], begun.pop(order["wait"]))
    child, begun[child] = _forked(order, library)
    return child


def _serve(library: ctypes.CDLL | None) -> None:
    # Ctrl-C is for whoever asked; the parent ends when its input does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for module in pkgutil.walk_packages(pipeline.__path__, "pipeline."):
        importlib.import_module(module.name)
    gc.collect()
    gc.freeze()
    begun: dict[int, int] = {}
    while line := sys.stdin.readline():
        answer = _answer(json.loads(line), library, begun)
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(f"{answer}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    _serve(ctypes.CDLL(sys.argv[1]) if sys.argv[1:] else None)
