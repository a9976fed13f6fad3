"""The processes that commit, forked instead of started: without their start-up, their calls counted with those of the run, and the same otherwise.

A run that has a ledger open can't be forked: SQLite does not survive that. So what forks them is a process that was forked from the run when it
began, and that is gone as soon as the run is. What one is as a process of its own, from its start, is seen where the program is started as users
start it, and in tests/unit/ledger.
"""

import ctypes
import os
import select
import signal
import socket
from collections.abc import Sequence
from typing import NoReturn

from pipeline.ledger import commit_process


class Committers:
    """What starts the processes of a run."""

    def __init__(self, library: ctypes.CDLL | None) -> None:
        self._asking, answering = socket.socketpair()
        if not os.fork():
            self._asking.close()
            _serve(answering, library)
        answering.close()

    def started(self, channel: socket.socket, lock: Sequence[int]) -> "Committer":
        """Have one serve this channel, and hold the lock as well."""
        socket.send_fds(self._asking, [b"."], [channel.fileno(), *lock])
        return Committer(int(self._asking.recv(32)))


class Committer:
    """What `subprocess.Popen` is to `pipeline.ledger.commit_process`."""

    def __init__(self, pid: int) -> None:
        self._handle = os.pidfd_open(pid)

    def wait(self) -> None:
        select.select([self._handle], [], [])


def _serve(answering: socket.socket, library: ctypes.CDLL | None) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    begun: list[int] = []
    while True:
        wanted, files, _, _ = socket.recv_fds(answering, 1, 16)
        if not wanted:
            os._exit(0)
        begun = [one for one in begun if os.waitpid(one, os.WNOHANG)[0] == 0]
        if not (child := os.fork()):
            answering.close()
            _become(files[0], library)
        for each in files:
            os.close(each)
        answering.send(str(child).encode())
        begun.append(child)


def _become(channel: int, library: ctypes.CDLL | None) -> NoReturn:
    """What a process is that was started with this channel as its standard input."""
    try:
        os.setsid()
        if library:
            library.failpoint_join()
        os.dup2(channel, 0)
        os.close(channel)
        commit_process.main()
    finally:
        os._exit(0)
