"""A carrier that is a raw socket, and what a client that talks to it gets."""

import asyncio
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pipeline.carrier.client import connected
from pipeline.model.outcome import Reply
from pipeline.model.profile import Carrier, Profile, Submission

Answer = Callable[[socket.socket], None]


class Carrying:
    """A server that reads whole requests and answers each as told; `requests` is what it read, `connections` where from."""

    def __init__(self, answer: Answer) -> None:
        self.requests: list[bytes] = []
        self.connections: list[object] = []
        outer = self

        class Talk(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                while (request := read_request(self.request)) is not None:
                    outer.requests.append(request)
                    outer.connections.append(self.client_address)
                    answer(self.request)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, *_: object) -> None:
                """The client's going away is part of the test."""

        self.server = Server(("127.0.0.1", 0), Talk)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


def read_request(connection: socket.socket) -> bytes | None:
    data = b""
    while b"\r\n\r\n" not in data:
        try:
            more = connection.recv(65536)
        except OSError:
            return None
        if not more:
            return None
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
    )
    while len(body) < length:
        if not (more := connection.recv(65536)):
            return None
        body += more
    return head + b"\r\n\r\n" + body


@contextmanager
def carrying(answer: Answer) -> Iterator[Carrying]:
    carrier = Carrying(answer)
    thread = threading.Thread(target=carrier.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield carrier
    finally:
        carrier.server.shutdown()
        carrier.server.server_close()
        thread.join()


def raw(data: bytes, *, then_close: bool = False) -> Answer:
    def answer(connection: socket.socket) -> None:
        connection.sendall(data)
        if then_close:
            connection.shutdown(socket.SHUT_RDWR)

    return answer


def http(status: str, body: bytes = b"", *headers: bytes) -> bytes:
    lines = [b"HTTP/1.1 " + status.encode(), b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def post(url: str, times: int = 1, *, keep: bool = True, **submission: float) -> list[Reply]:
    settings = {"connect_timeout_seconds": 2, "response_timeout_seconds": 1, **submission}
    profile = Profile(carrier=Carrier(agency="AGENCY"), submission=Submission(concurrency=1, **settings))

    async def run() -> list[Reply]:
        async with connected(profile, url, "the-api-key") as client:
            replies = []
            for _ in range(times):
                reply, line = await client.post("/invoice/issueInvoice", b'"body"')
                line.give_back() if keep else line.close()
                replies.append(reply)
            return replies

    return asyncio.run(run())
