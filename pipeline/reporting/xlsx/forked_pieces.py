"""A long sheet's pieces made by a copy of this process, while this one makes those of the other sheets and compresses them all.

The copy (fork(2)) has whatever they are made of already. It writes them into a file without a name, and says how long each is once it is
whole. What it has not come to, whatever ended it, this process makes itself: the same pieces come out.

A copy has none of the other threads, and would wait for ever for what one of them has locked: so there is none while Python has others, nor
where fork is not at home.
"""

import contextlib
import os
import select
import signal
import struct
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import IO, NoReturn

from pipeline.signals import ENDING, put_off

_LENGTH = struct.Struct("!Q")
_END = 0  # said in place of a length when all are there
_PATIENCE = 120_000  # milliseconds, for a piece that takes some fifty

#: Makes all pieces anew; none is empty.
Pieces = Callable[[], Iterator[bytes]]


@contextlib.contextmanager
def made_beside(pieces: Pieces, folder: str) -> Iterator[Iterator[bytes]]:
    """The pieces, each as soon as it is there. The copy ends with the context; its file is in that folder. Raises OSError."""
    if sys.platform != "linux" or threading.active_count() > 1:
        yield pieces()
        return
    with tempfile.TemporaryFile(dir=folder) as file:
        told, telling = os.pipe()
        with os.fdopen(told, "rb", buffering=0) as said:
            copy = 0
            try:
                with put_off():  # it would be left behind
                    copy = _copied(pieces, file, said, telling)
                yield _taken(pieces, file, said)
            finally:
                if copy:
                    os.kill(copy, signal.SIGKILL)
                    os.waitpid(copy, 0)


def _copied(pieces: Pieces, file: IO[bytes], said: IO[bytes], telling: int) -> int:
    """The number of the copy, which has begun to make them; 0 where the system has no room for one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # Python 3.12 warns of libraries' own threads too
            copy = os.fork()
        if not copy:
            _make(pieces, file, said, telling)
    except OSError:
        return 0
    finally:
        os.close(telling)
    return copy


def _make(pieces: Pieces, file: IO[bytes], said: IO[bytes], telling: int) -> NoReturn:
    """What the copy does, and nothing else: whatever else is to be done at an end is the other's to do."""
    try:
        said.close()  # so that it ends too where the other has ended
        for number in ENDING:  # the other is told as well, and ends it
            signal.signal(number, signal.SIG_IGN)
        for piece in pieces():
            file.write(piece)
            file.flush()
            os.write(telling, _LENGTH.pack(len(piece)))
        os.write(telling, _LENGTH.pack(_END))
    finally:
        os._exit(0)


def _taken(pieces: Pieces, file: IO[bytes], said: IO[bytes]) -> Iterator[bytes]:
    count = at = 0
    while (length := _told(said)) and len(piece := os.pread(file.fileno(), length, at)) == length:
        yield piece
        count, at = count + 1, at + length
    if length != _END:
        yield from islice(pieces(), count, None)


def _told(said: IO[bytes]) -> int | None:
    """How long the next piece is, _END behind the last one; None where no more will come."""
    waiting = select.poll()
    waiting.register(said, select.POLLIN)
    length = said.read(_LENGTH.size) if waiting.poll(_PATIENCE) else b""
    return int(_LENGTH.unpack(length)[0]) if length else None
