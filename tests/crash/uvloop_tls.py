"""Many connections whose TLS fails at once, on either event loop: why sockets are made by `connection_reuse`.

    python -m tests.crash.uvloop_tls uvloop
    python -m tests.crash.uvloop_tls asyncio
    python -m tests.crash.uvloop_tls uvloop --plain

posts 64 at a time to a server that closes, resets and answers in the midst of TLS, and counts what came of the posts: all of
them come to an end. With `--plain` the sockets are Python's own: uvloop 0.23 closes some by their file descriptor without Python's knowing,
which closes it again, as another connection's. The process is aborted (exit code 134) or stands still, or posts raise RuntimeError ("File
descriptor is used by transport"). The standard loop is well with either.
"""

import asyncio
import contextlib
import random
import socket
import ssl
import struct
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

import uvloop

from pipeline.carrier import connection_reuse
from pipeline.carrier.client import connected
from pipeline.model.outcome import Answered
from pipeline.model.profile import Carrier, Profile, Submission
from tests.crash.wire_unreached import certificate

_LANES, _EACH = 64, 60
POSTS = _LANES * _EACH
_BODY = b'"body"'


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def _answer(connection: socket.socket, context: ssl.SSLContext) -> None:
    """One connection's fate, by chance: closed or reset before, during or after the handshake and the answer."""
    fate = random.random()
    with contextlib.suppress(OSError):
        if fate < 0.2:
            connection.close()
        elif fate < 0.5:
            _reset(connection)
        elif fate < 0.6:
            connection.recv(100)
            _reset(connection)
        else:
            with context.wrap_socket(connection, server_side=True) as secure:
                while not secure.recv(65536).endswith(_BODY):
                    pass
                if fate < 0.75:
                    _reset(secure)
                secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")


def _serve(server: socket.socket, context: ssl.SSLContext) -> None:
    while True:
        connection, _ = server.accept()
        threading.Thread(target=_answer, args=(connection, context), daemon=True).start()


async def _post_all(url: str, authority: str) -> Counter[str]:
    settings = Submission(concurrency=_LANES, connect_timeout_seconds=3, response_timeout_seconds=1)
    profile = Profile(carrier=Carrier(ca_file=authority), submission=settings)
    came: Counter[str] = Counter()

    async def post() -> None:
        for _ in range(_EACH):
            reply, connection = await client.post("/", _BODY)
            connection.close() if random.random() < 0.5 else connection.give_back()
            came["answered" if isinstance(reply, Answered) else str(reply.detail)] += 1

    async with connected(profile, url, "the-api-key") as client, asyncio.TaskGroup() as lanes:
        for _ in range(_LANES):
            lanes.create_task(post())
    return came


def main() -> None:
    """Post on the loop that is named, and print what came of it."""
    if "--plain" in sys.argv:
        connection_reuse._Socket = socket.socket  # type: ignore[misc]
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0), backlog=512) as server,
    ):
        pem = certificate(Path(folder), "IP:127.0.0.1")
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(pem)
        threading.Thread(target=_serve, args=(server, context), daemon=True).start()
        run = uvloop.run if sys.argv[1] == "uvloop" else asyncio.run
        came = run(_post_all(f"https://127.0.0.1:{server.getsockname()[1]}", f"{pem}.crt"))
    for what, count in came.most_common():
        sys.stdout.write(f"{count:6,} {what}\n")


if __name__ == "__main__":
    main()
