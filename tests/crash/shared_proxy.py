"""A way to the ledger's server that breaks: connections are cut, stand still, or are dropped with what they had sent arriving later.

    python -m tests.crash.shared_proxy PORT SERVER_PORT DISTANCE

What the server says is under way for DISTANCE seconds. It listens on PORT and ends with its standard input, of which each line is a command: `cut`; `drop SECONDS`: as `cut`, but what comes in and has
not been passed on arrives so much later; `stall SECONDS`: nothing passes, and everything does afterwards.
"""

import asyncio
import contextlib
import random
import sys

_CHUNK = 1 << 16


class Way:
    """One connection's two directions."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter, distance: float) -> None:
        self.client, self.server, self.distance = client, server, distance
        self.late = -1.0  # seconds, once it is dropped

    async def to_the_server(self, come: asyncio.StreamReader, open_again: asyncio.Event) -> None:
        with contextlib.suppress(OSError):
            while data := await come.read(_CHUNK):
                await open_again.wait()
                if self.late >= 0:
                    break
                self.server.write(data)
                await self.server.drain()
        if self.late < 0:
            self.server.transport.abort()

    async def to_the_client(self, come: asyncio.StreamReader, open_again: asyncio.Event) -> None:
        with contextlib.suppress(OSError):
            while data := await come.read(_CHUNK):
                await asyncio.sleep(self.distance)
                await open_again.wait()
                if self.late < 0:
                    self.client.write(data)
                    await self.client.drain()
        self.client.transport.abort()

    def cut(self) -> None:
        self.client.transport.abort()
        self.server.transport.abort()

    async def drop(self, come: asyncio.StreamReader, seconds: float) -> None:
        """The client is told at once; what it says next, or was saying, comes to the server afterwards."""
        self.late = seconds
        with contextlib.suppress(OSError, TimeoutError):
            data = await asyncio.wait_for(come.read(_CHUNK), 0.2)  # what it says before it knows
            self.client.transport.abort()
            await asyncio.sleep(seconds)
            self.server.write(data)
            await self.server.drain()
            await asyncio.sleep(0.2)
        self.cut()


class Proxy:
    """All connections through it."""

    def __init__(self, server_port: int, distance: float) -> None:
        self.server_port, self.distance = server_port, distance
        self.open_again = asyncio.Event()
        self.open_again.set()
        self.ways: dict[Way, tuple[asyncio.StreamReader, asyncio.Task[None]]] = {}

    async def passed_on(self, come: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.server_port)
        except OSError:
            client.transport.abort()
            return
        way = Way(client, writer, self.distance)
        forth = asyncio.create_task(way.to_the_server(come, self.open_again))
        self.ways[way] = come, forth
        await way.to_the_client(reader, self.open_again)
        if way.late < 0:
            forth.cancel()
            way.cut()
        self.ways.pop(way, None)

    async def stall(self, seconds: float) -> None:
        self.open_again.clear()
        await asyncio.sleep(seconds)
        self.open_again.set()

    async def commands(self) -> None:
        loop, commands = asyncio.get_running_loop(), asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
        tasks = set()  # else one might be collected while it is on
        while line := (await commands.readline()).split():
            seconds = float(line[1]) if len(line) > 1 else 0.0
            one = random.choice([*self.ways]) if self.ways else None
            if line[0] == b"stall":
                tasks.add(asyncio.create_task(self.stall(seconds)))
            elif line[0] == b"cut" and one:
                one.cut()
            elif one and one.late < 0:
                come, forth = self.ways[one]
                forth.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await forth
                tasks.add(asyncio.create_task(one.drop(come, seconds)))


async def main(port: int, server_port: int, distance: float) -> None:
    proxy = Proxy(server_port, distance)
    async with await asyncio.start_server(proxy.passed_on, "127.0.0.1", port):
        sys.stdout.write("on\n")
        sys.stdout.flush()
        await proxy.commands()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
