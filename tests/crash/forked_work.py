"""The processes of the page's work, forked instead of started: without their start-up, and the same otherwise.

The server has threads and can't be forked itself. So what forks them is a process that was forked from it before it had any; it is
gone as soon as the server is. What a work is as a process of its own, from its start, is seen in tests/unit/page/test_work.py.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from pipeline.page import work_process


class Works:
    """What `subprocess` is to `pipeline.page.work`."""

    PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL

    def __init__(self, imported: int, leave: Callable[[int], NoReturn]) -> None:
        """Fork what forks; it has none of the open files of whoever calls but the standard ones."""
        self._asking, answering = socket.socketpair()
        if not os.fork():
            os._exit = leave
            self._asking.close()
            os.close(imported)
            _serve(answering)
        answering.close()

    def Popen(self, command: Sequence[Any], *, pass_fds: Sequence[int], **_: Any) -> "_Work":  # noqa: N802 - as it is called there
        """Begin the work that this command begins; the caller holds the lock of the page's database, so that one asks at a time."""
        reading, writing = os.pipe()
        order = json.dumps([str(part) for part in command[2:]]).encode()
        socket.send_fds(self._asking, [order], [reading, *pass_fds])
        os.close(reading)
        return _Work(int(self._asking.recv(32)), writing)


class _Work:
    def __init__(self, pid: int, writing: int) -> None:
        self.pid, self.stdin = pid, os.fdopen(writing, "wb")
        self._handle = os.pidfd_open(pid)

    def poll(self) -> int | None:
        return 0 if select.select([self._handle], [], [], 0)[0] else None


def _serve(answering: socket.socket) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    begun: list[int] = []
    while True:
        order, given, _, _ = socket.recv_fds(answering, 4096, 8)
        if not order:
            os._exit(0)
        if not (child := os.fork()):
            answering.close()
            _become(json.loads(order), given[0])
        for each in given:
            os.close(each)
        answering.send(str(child).encode())
        begun = [one for one in [*begun, child] if os.waitpid(one, os.WNOHANG)[0] == 0]


def _become(arguments: list[str], handed: int) -> None:
    """What a process is that was started with this pipe as its standard input."""
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(handed, 0)
        os.dup2(nowhere, 1)
        os.close(handed)
        os.close(nowhere)
        sys.argv = arguments
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - until the process ends
        work_process.main()
    finally:  # its main ends the process; anything else is what ends a process with 1
        os._exit(1)
