"""The process that commits, as a thread of the test's own: by a connection that the test has its hands on, with a hook or a recorder.

What goes over the channel, and both its ends, are the program's own. As a process of its own it is tried in
tests/unit/ledger/test_commit_process.py, and by whatever runs the program.
"""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, closing, contextmanager
from pathlib import Path
from unittest import mock

import apsw

from pipeline.ledger import commit_process, opening
from pipeline.ledger.commit_process import packed, serve
from pipeline.ledger.group_commit import Writer, group_commit
from pipeline.ledger.lock import Lock, Named
from pipeline.ledger.spill import Spill

#: The thread's name.
LEDGER = "ledger"


@contextmanager
def channel_to(connection: apsw.Connection) -> Iterator[socket.socket]:
    """A channel to what commits by this connection, for as long as the context lasts."""
    ours, its = socket.socketpair()
    ours.sendall(packed(Named(Path(connection.filename))))
    thread = threading.Thread(target=serve, args=(its, lambda _: connection), name=LEDGER)
    thread.start()
    try:
        with ours:
            yield ours
    finally:
        thread.join()


@asynccontextmanager
async def writer_by(connection: apsw.Connection, spill: Spill, in_flight: int) -> AsyncIterator[Writer]:
    """A writer whose groups are committed by this connection; when it is left, all is on disk or spilled."""
    with channel_to(connection) as channel:
        async with group_commit(channel, Named(Path(connection.filename)), spill, in_flight) as writer:
            yield writer
        await asyncio.sleep(0)  # for the channel to be closed, which the thread waits for


@contextmanager
def in_a_thread(*, keeps: bool = True) -> Iterator[None]:
    """Meanwhile a thread commits for whoever sends, by a connection of its own; it takes nothing unless it `keeps` what it is handed."""

    @contextmanager
    def committing(named: Named, _: Lock) -> Iterator[socket.socket]:
        with closing(opening.open_beside(named.path)) as connection:
            if not keeps:
                connection.set_commit_hook(lambda: True)
            with channel_to(connection) as channel:
                yield channel

    with mock.patch.object(commit_process, "committing", committing):
        yield


def nothing_is_kept() -> AbstractContextManager[None]:
    """Meanwhile no ledger takes anything of what is sent."""
    return in_a_thread(keeps=False)
