"""Many runs of the real program without its start-up: a parent has it imported and forks a child a run.

The parent is started with the library of `failpoint.c` preloaded, so that every child is the real program
with failing system calls; the child takes the run's environment, arms the library and ends as a process of
its own, the interpreter's end included.

`python -m tests.crash.forked LIBRARY` is the parent: a line of JSON in for each run, one out when it ended.
"""

import contextlib
import ctypes
import gc
import io
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

REPOSITORY = Path(__file__).parents[2]
#: What `run` says of a child that had to be killed because it did not end.
HUNG = -1000


@dataclass(frozen=True)
class Ran:
    """A run that has ended: its exit code (negative: the signal that ended it) and what it said."""

    code: int
    out: str
    err: str
    seconds: float


class Forks:
    """The parent, seen from the process that wants runs; runs are one after another."""

    def __init__(self, library: Path, environment: Mapping[str, str], inside: Sequence[str] = ()) -> None:
        """Start the parent, `inside` another command if given (`unshare`, for mounts of its own)."""
        self._parent = subprocess.Popen(
            [*inside, sys.executable, "-m", "tests.crash.forked", str(library)],
            cwd=REPOSITORY,
            # one thread in the parent, so that a fork is a whole copy
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment, "LD_PRELOAD": str(library)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self,
        folder: Path,
        arguments: Sequence[str | Path],
        environment: Mapping[str, str],
        seconds: float = 60,
    ) -> Ran:
        """Run `voucher ARGUMENTS` in a folder; one that does not end in time is killed (HUNG)."""
        given = dict(environment)
        given.pop("LD_PRELOAD", None)  # it is in the parent already
        out, err = folder.parent / "stdout", folder.parent / "stderr"
        order = {
            "folder": str(folder),
            "arguments": [str(argument) for argument in arguments],
            "environment": given,
            "out": str(out),
            "err": str(err),
            "seconds": seconds,
        }
        begun = time.monotonic()
        code = self._asked(order)
        return Ran(code, out.read_text(), err.read_text(), time.monotonic() - begun)

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
        code: int = json.loads(answer)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream in (self._parent.stdin, self._parent.stdout):
            if stream is not None:
                stream.close()
        self._parent.wait(timeout=60)


def _warm_up() -> None:
    """Import what a run imports, early or late, by a run that sends nothing; its files are gone afterwards."""
    import aiohttp.web  # noqa: F401, PLC0415 - imported for the children
    import openpyxl  # noqa: F401, PLC0415 - likewise
    import uvloop  # noqa: F401, PLC0415 - likewise

    import pipeline.sandbox.server  # noqa: F401, PLC0415 - likewise
    from pipeline.cli import main  # noqa: PLC0415 - likewise

    sample = REPOSITORY / "sample_data"
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(SystemExit):
        given = [
            "check",
            str(sample / "tickets-2026-10.xlsx"),
            "--profile",
            str(sample / "sandbox.toml"),
            "--quiet",
        ]
        written = ["-o", f"{folder}/x.xlsx", "--report", f"{folder}/x.json", "--ledger", f"{folder}/x.ledger"]
        with contextlib.redirect_stderr(io.StringIO()):
            main([*given, *written])
    threads = len(list(Path("/proc/self/task").iterdir()))
    if threads != 1:
        raise RuntimeError(f"a parent of {threads} threads can't be forked")
    gc.collect()
    gc.freeze()  # what is there already stays shared with the children


def _become(order: Mapping[str, Any], library: ctypes.CDLL) -> NoReturn:
    """The child: the program with this run's streams, environment and failing calls."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(order["folder"])
    os.environ.update(order["environment"])
    for number, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, order["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, order["err"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    library.failpoint_arm()
    from pipeline.cli import main  # noqa: PLC0415 - in the child

    try:
        main(order["arguments"])
    except SystemExit as end:
        if order["environment"].get("FAILPOINT_FOLDER"):
            raise
        # A run that nothing disturbs needs no tidying up by the interpreter.
        sys.stderr.flush()
        sys.stdout.flush()
        os._exit(int(end.code or 0))


def _ended(child: int, seconds: float) -> int:
    """Wait for a child; its exit code, or minus the signal that ended it."""
    handle = os.pidfd_open(child)
    try:
        in_time = select.select([handle], [], [], seconds)[0]
    finally:
        os.close(handle)
    if not in_time:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if in_time else HUNG


def _serve(library: ctypes.CDLL) -> None:
    # Ctrl-C is for whoever asked; the parent ends when its input does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while line := sys.stdin.readline():
        order = json.loads(line)
        if "command" in order:
            code = subprocess.run(order["command"], check=False).returncode
        else:
            child = os.fork()
            if not child:
                _become(order, library)
            code = _ended(child, order["seconds"])
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(f"{json.dumps(code)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    _warm_up()
    _serve(ctypes.CDLL(sys.argv[1]))
