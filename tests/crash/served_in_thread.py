"""A server on loopback in an event loop of a thread of its own, for carriers that outlive the programs they serve."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
T = TypeVar("T")


class ServedInThread:
    """Serves every connection by `talk` until it is ended; then nothing of it is open."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._open: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="carrier")
        self._thread.start()
        self._server = self._run(asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=512))
        self.port: int = self._server.sockets[0].getsockname()[1]

    def end(self) -> None:
        """Close every connection and wait for it; whoever connects after this has begun is not heeded."""
        # A last connection: what came before it is served by the time that it is. (A server that is closed leaves open what it is just taking.)
        with socket.create_connection(("127.0.0.1", self.port)) as last:
            self._run(self._close(last.getsockname()))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def settled(self) -> None:
        """Wait until every connection that was open has been served."""
        self._run(self.quiet())

    async def quiet(self, but: int = 0) -> None:
        """Come back when no more than so many connections are open."""
        while len(self._open) > but:  # noqa: ASYNC110 - but for a moment
            await asyncio.sleep(0.001)

    def _run(self, what: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(timeout=60)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            await self._talk(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has ended, or was killed: half a request is none
        finally:
            self._open.remove(writer)
            writer.close()

    async def _close(self, last: object) -> None:
        while last not in {writer.get_extra_info("peername") for writer in self._open}:  # noqa: ASYNC110 - but for a moment
            await asyncio.sleep(0.001)
        self._server.close()
        for writer in self._open:
            writer.transport.abort()
        await self.quiet()
        await asyncio.sleep(0.01)  # some turns of the loop: what is closed is closed in the next
