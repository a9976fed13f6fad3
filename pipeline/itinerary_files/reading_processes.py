"""Itinerary files read by one or two bounded processes, one file after another, in the order in which they come.

A process that goes beyond its bounds over a file is ended, the file is unreadable, and another process goes on with the next.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from pipeline.bounded_process import Said, end, started
from pipeline.itinerary_files.read_answer import NotAnAnswer, read_file
from pipeline.itinerary_files.read_reasons import FILE_SECONDS, Reason
from pipeline.model.itinerary_file import FileStatus, FoundFile, ReadFile, SealStatus
from pipeline.model.message import Message
from pipeline.process_bounds import LENGTH_BYTES, OUT_OF_MEMORY, framed
from pipeline.signals import put_off

#: A file takes some milliseconds, and ten seconds of processor time at most; a slow or stopped machine has the rest.
TIME_SECONDS = 60
PROCESSES = min(2, os.cpu_count() or 1)
CHILD = Path(__file__).with_name("reader_child.py")
_LARGEST_ANSWER = 1 << 20
#: Files that are done, or need no reading, and wait for the first one to be done.
_MOST_WAITING = 64


def read_itinerary_files(
    found: Iterable[FoundFile], roots: tuple[bytes, ...] = ()
) -> Iterator[tuple[FoundFile, ReadFile]]:
    """Each file with what was read of it, in order, as they come; one with a problem already passes through.

    `roots` are pinned certificates in DER (`certificates.root_certificates` takes them out of files). At the end, or where the
    iterator is closed, its processes are ended.
    """
    waiting = deque[tuple[FoundFile, "_Reader | ReadFile"]]()
    readers, free = list[_Reader](), deque[_Reader]()

    def first() -> tuple[FoundFile, ReadFile]:
        one, reader = waiting.popleft()
        if isinstance(reader, ReadFile):
            return one, reader
        answer = reader.answer()
        free.append(reader)
        return one, answer

    try:
        for one in found:
            if one.problem:
                waiting.append((one, ReadFile(None, SealStatus.NONE, one.problem, (one.reason,))))
            else:
                if not free and len(readers) < PROCESSES:
                    free.append(_Reader(roots))
                    readers.append(free[0])
                while not free:
                    yield first()
                reader = free.popleft()
                reader.send(one.content)
                waiting.append((one, reader))
            while len(waiting) > _MOST_WAITING:
                yield first()
        while waiting:
            yield first()
    finally:
        for reader in readers:
            reader.end()


class _Reader:
    """A process that reads; another one after each file that ended it."""

    def __init__(self, roots: tuple[bytes, ...]) -> None:
        self._roots = roots
        self._process: subprocess.Popen[bytes] | None = None

    def send(self, content: bytes) -> None:
        """Give it a file."""
        process = self._running()
        self._deadline = time.monotonic() + TIME_SECONDS
        with contextlib.suppress(BrokenPipeError, TimeoutError):  # its answer will say what became of it
            self._write(process, framed(content))

    def answer(self) -> ReadFile:
        """What it says of the file that it was given."""
        process = self._running()
        try:
            said = self._said.next(self._deadline, _LARGEST_ANSWER)
            if said:
                return read_file(said)
            code = process.wait(TIME_SECONDS)
        except (TimeoutError, subprocess.TimeoutExpired):
            self.end()
            return _unreadable(Message(Reason.TIME, {"seconds": f"{TIME_SECONDS}"}))
        except NotAnAnswer:
            self.end()
            return _unreadable(Message(Reason.NO_ANSWER))
        self.end()
        return _unreadable(_ended(code))

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            with put_off():  # it would be left behind
                self._process = started(CHILD, stdin=subprocess.PIPE)
            assert self._process.stdin  # noqa: S101 - it is a pipe
            os.set_blocking(self._process.stdin.fileno(), False)
            self._said = Said(self._process)
            self._deadline = time.monotonic() + TIME_SECONDS
            roots = framed(len(self._roots).to_bytes(LENGTH_BYTES, "little")), *map(framed, self._roots)
            with contextlib.suppress(BrokenPipeError, TimeoutError):
                self._write(self._process, b"".join(roots))
        return self._process

    def _write(self, process: subprocess.Popen[bytes], content: bytes) -> None:
        """Write all of it. Raises TimeoutError at the deadline, and BrokenPipeError."""
        assert process.stdin  # noqa: S101 - it is a pipe
        to, rest = process.stdin.fileno(), memoryview(content)
        with selectors.DefaultSelector() as waiting:
            waiting.register(to, selectors.EVENT_WRITE)
            while rest:
                if not waiting.select(self._deadline - time.monotonic()):
                    raise TimeoutError
                rest = rest[os.write(to, rest) :]

    def end(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            end(self._process)
            self._process = None


def _ended(code: int) -> Message:
    """Why a process has ended."""
    if code == -signal.SIGPROF:
        return Message(Reason.TIME, {"seconds": f"{FILE_SECONDS}"})
    if code in (OUT_OF_MEMORY, -signal.SIGKILL, -signal.SIGABRT):
        return Message(Reason.MEMORY)
    return Message(Reason.ENDED, {"code": code})


def _unreadable(reason: Message) -> ReadFile:
    return ReadFile(None, SealStatus.NONE, FileStatus.UNREADABLE, (reason,))
