"""The client against a raw socket: what was sent is told from what was not, and nothing is sent twice."""

import asyncio
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from pipeline.carrier.client import LARGEST_ANSWER, connected
from pipeline.carrier.replies import Answered, Lost, NotSent, Reply
from pipeline.profile import Carrier, Profile, Submission

Answer = Callable[[socket.socket], None]


class Carrying:
    """A server that reads whole requests and answers each as told; `requests` is what it read."""

    def __init__(self, answer: Answer) -> None:
        self.requests: list[bytes] = []
        outer = self

        class Talk(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                while (request := read_request(self.request)) is not None:
                    outer.requests.append(request)
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


def post(url: str, times: int = 1, **submission: float) -> list[Reply]:
    settings = {"connect_timeout_seconds": 2, "response_timeout_seconds": 1, **submission}
    profile = Profile(carrier=Carrier(agency="AGENCY"), submission=Submission(concurrency=1, **settings))

    async def run() -> list[Reply]:
        async with connected(profile, url, "the-api-key") as client:
            return [await client.post("/invoice/issueInvoice", b'"body"') for _ in range(times)]

    return asyncio.run(run())


def test_a_request_carries_the_three_headers_and_the_body() -> None:
    with carrying(raw(http("200 OK", b"{}", b"Retry-After: 5"))) as carrier:
        assert post(carrier.url) == [Answered(200, b"{}", "5")]
    head, body = carrier.requests[0].split(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"POST /invoice/issueInvoice HTTP/1.1"
    assert {b"Content-Type: application/json", b"agency: AGENCY", b"APIKEY: the-api-key"} <= set(lines)
    assert body == b'"body"'


def test_a_connection_is_reused_and_not_after_its_keepalive() -> None:
    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        assert post(carrier.url, times=3) == [Answered(200, b"{}")] * 3
    assert len(carrier.requests) == 3


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"]
)
def test_redirects_are_not_followed(status: str) -> None:
    with carrying(raw(http(status, b"", b"Location: /elsewhere"))) as carrier:
        (reply,) = post(carrier.url)
    assert isinstance(reply, Answered)
    assert reply.http_status == int(status[:3])
    assert len(carrier.requests) == 1


LOST = {
    "closed without an answer": raw(b"", then_close=True),
    "reset": reset,
    "closed within the headers": raw(b"HTTP/1.1 200 OK\r\nConte", then_close=True),
    "closed within the body": raw(http("200 OK", b"{}")[:-1], then_close=True),
    "no HTTP": raw(b"hello there\r\n\r\n", then_close=True),
    "two lengths": raw(http("200 OK", b"{}", b"Content-Length: 7"), then_close=True),
    "chunks that are none": raw(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", then_close=True
    ),
    "not the encoding it says": raw(http("200 OK", b"{}", b"Content-Encoding: gzip")),
    "silence": lambda _connection: threading.Event().wait(1.5),
    "silence within the body": raw(http("200 OK", b"{}")[:-1]),
    "more than the bound": raw(http("200 OK", b"x" * (LARGEST_ANSWER + 1))),
    "only a 100": raw(b"HTTP/1.1 100 Continue\r\n\r\n", then_close=True),
}


@pytest.mark.parametrize("answer", LOST.values(), ids=LOST)
@pytest.mark.parametrize("reused", [False, True])
def test_what_was_sent_and_not_answered_is_lost_and_never_sent_again(answer: Answer, reused: bool) -> None:
    first = [raw(http("200 OK", b"{}"))] if reused else []

    def one_after_the_other(connection: socket.socket) -> None:
        (first.pop() if first else answer)(connection)

    with carrying(one_after_the_other) as carrier:
        replies = post(carrier.url, times=2 if reused else 1)
    assert isinstance(replies[-1], Lost)
    assert len(carrier.requests) == len(replies)


def test_an_answer_at_the_bound_is_whole() -> None:
    body = b"x" * LARGEST_ANSWER
    with carrying(raw(http("200 OK", body))) as carrier:
        assert post(carrier.url) == [Answered(200, body)]


def test_a_refused_connection_sent_nothing() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        (reply,) = post(f"http://127.0.0.1:{free.getsockname()[1]}")
    assert reply == NotSent("the connection was refused or could not be made")


def test_a_name_that_does_not_resolve_sent_nothing() -> None:
    assert post("http://carrier.invalid") == [NotSent("the carrier's name could not be resolved")]


def test_a_connection_not_made_in_time_sent_nothing() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:  # fill the backlog, so that no further connection completes
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        (reply,) = post(f"http://127.0.0.1:{full.getsockname()[1]}", connect_timeout_seconds=0.3)
        for one in waiting:
            one.close()
    assert reply == NotSent("the connection was not made in time")


def test_tls_that_fails_sent_nothing() -> None:
    with socket.socket() as plain:
        plain.bind(("127.0.0.1", 0))
        plain.listen()

        def hang_up() -> None:
            plain.accept()[0].close()

        threading.Thread(target=hang_up, daemon=True).start()
        (reply,) = post(f"https://127.0.0.1:{plain.getsockname()[1]}")
    assert isinstance(reply, NotSent)


def test_the_key_is_in_no_reply() -> None:
    for answer in LOST.values():
        with carrying(answer) as carrier:
            assert "the-api-key" not in repr(post(carrier.url))
