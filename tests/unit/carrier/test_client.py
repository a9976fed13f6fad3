"""The client against a raw socket: what was sent is told from what was not, and nothing is sent twice."""

import asyncio
import contextlib
import os
import resource
import socket
import threading
import time
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from aiohttp.client_proto import ResponseHandler

from pipeline.boot_time import boot_time
from pipeline.carrier import client
from pipeline.carrier.answer_protocol import AnswerProtocol
from pipeline.carrier.client import LARGEST_ANSWER, connected
from pipeline.model.errors import InputProblem
from pipeline.model.message import Message, message
from pipeline.model.outcome import Answered, Lost, NotSent, Reply
from pipeline.model.profile import Carrier, Profile, Submission
from tests.crash.wire_unreached import certificate, secured
from tests.unit.carrier.raw_socket import Answer, carrying, http, post, raw, reset


def test_a_request_carries_the_three_headers_and_the_body() -> None:
    with carrying(raw(http("200 OK", b"{}", b"Retry-After: 5"))) as carrier:
        assert post(carrier.url) == [Answered(200, b"{}", "5")]
    head, body = carrier.requests[0].split(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"POST /invoice/issueInvoice HTTP/1.1"
    assert {b"Content-Type: application/json", b"agency: AGENCY", b"APIKEY: the-api-key"} <= set(lines)
    assert body == b'"body"'
    # Twice the same header with two values is two requests to whoever reads it that way.
    assert [line for line in lines if line.lower().startswith(b"content-length")] == [b"Content-Length: 6"]


def test_nothing_but_the_profile_says_where_a_request_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        assert post(carrier.url) == [Answered(200, b"{}")]


def test_a_request_goes_by_the_proxy_of_the_profile_unless_it_goes_directly() -> None:
    with carrying(raw(http("200 OK", b"{}"))) as proxy, carrying(raw(http("200 OK", b"{}"))) as carrier:
        profile = Profile(carrier=Carrier(proxy=proxy.url))

        async def run(*, direct: bool) -> None:
            async with connected(profile, carrier.url, "the-api-key", direct=direct) as client:
                _, line = await client.post("/", b"1")
                line.close()

        asyncio.run(run(direct=False))
        assert (len(proxy.requests), len(carrier.requests)) == (1, 0)
        assert proxy.requests[0].startswith(f"POST {carrier.url}/ HTTP/1.1".encode())
        asyncio.run(run(direct=True))
    assert (len(proxy.requests), len(carrier.requests)) == (1, 1)


def test_a_proxy_is_told_who_asks_with_every_request_whatever_its_path_and_connection() -> None:
    with carrying(raw(http("200 OK", b"{}"))) as proxy:
        profile = Profile(carrier=Carrier(proxy=proxy.url.replace("//", "//name:word@")))

        async def run() -> None:
            async with connected(profile, "http://carrier.invalid", "the-api-key") as client:
                for path in ("/invoice", "/itinerary", "/invoice", "/itinerary"):
                    _, line = await client.post(path, b"1")
                    line.give_back()

        asyncio.run(run())
    said = [b"proxy-authorization: basic bmftztp3b3jk" in request.lower() for request in proxy.requests]
    assert said == [True] * 4


@pytest.mark.parametrize(
    "header", [b"x" * 101, b"\xe4\xba\x94", b"5\t5"], ids=["too long", "not ASCII", "not printable"]
)
def test_a_wish_to_wait_that_is_no_plain_text_is_none(header: bytes) -> None:
    with carrying(raw(http("200 OK", b"{}", b"Retry-After: " + header))) as carrier:
        assert post(carrier.url) == [Answered(200, b"{}", "")]


@pytest.mark.parametrize("sent", [b"", http("200 OK", b"{}")[:-1]], ids=["silence", "half an answer"])
def test_a_connection_whose_answer_nobody_waits_for_any_more_is_closed(sent: bytes) -> None:
    """There may be no more than one: the next request could not be sent."""

    async def run(url: str) -> Reply:
        profile = Profile(submission=Submission(concurrency=1, connect_timeout_seconds=2))
        async with connected(profile, url, "the-api-key") as client:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(client.post("/", b"1"), 0.3)
            answers.append(http("200 OK", b"{}"))
            reply, line = await client.post("/", b"2")
            line.close()
            return reply

    answers = [sent]
    with carrying(lambda connection: connection.sendall(answers[-1])) as carrier:
        assert asyncio.run(run(carrier.url)) == Answered(200, b"{}")


def test_a_cookie_is_not_sent_back() -> None:
    with carrying(raw(http("200 OK", b"{}", b"Set-Cookie: who=we"))) as carrier:
        post(carrier.url.replace("127.0.0.1", "localhost"), times=2)
    assert len(carrier.requests) == 2
    assert not any(b"who=we" in request for request in carrier.requests)


@pytest.mark.slow
@pytest.mark.usefixtures("openssl")
@pytest.mark.parametrize("keepalive", [0, 60])
def test_a_certificate_that_the_profile_names_is_trusted_and_no_other(
    tmp_path: Path, keepalive: float
) -> None:
    for name in ("ours", "other"):
        (tmp_path / name).mkdir()
    ours, other = (certificate(tmp_path / name, "IP:127.0.0.1") for name in ("ours", "other"))
    for trusted, expected in ((ours, Answered(200, b"{}")), (other, ANY)):
        settings = Submission(concurrency=1, keepalive_seconds=keepalive)
        profile = Profile(carrier=Carrier(ca_file=f"{trusted}.crt"), submission=settings)

        async def run(url: str, profile: Profile = profile) -> Reply:
            async with connected(profile, url, "the-api-key") as client:
                reply, line = await client.post("/", b"1")
                line.close()
            await asyncio.sleep(0.25)  # TLS says good-bye, which the end of the loop would cut off
            return reply

        with carrying(raw(http("200 OK", b"{}"))) as carrier:
            carrier.server.socket = secured(ours).wrap_socket(carrier.server.socket, server_side=True)
            reply = asyncio.run(run(carrier.url.replace("http:", "https:")))
        assert reply == expected
        assert isinstance(reply, Answered) is (trusted is ours)


def test_an_answer_without_an_end_is_not_waited_for() -> None:
    def endless(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                connection.sendall(b"x" * 1000)

    with carrying(endless) as carrier:
        assert post(carrier.url) == [_TOO_LONG]


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"]
)
def test_redirects_are_not_followed(status: str) -> None:
    with carrying(raw(http(status, b"", b"Location: /elsewhere"))) as carrier:
        (reply,) = post(carrier.url)
    assert isinstance(reply, Answered)
    assert reply.http_status == int(status[:3])
    assert len(carrier.requests) == 1


_HUNG_UP = Lost(Message("the carrier closed the connection without an answer"))
_LATE = Lost(Message("no answer in time"))
_BROKE_OFF, _NOT_HTTP = Lost(Message("the answer broke off"), readable=False), Lost(Message("the answer is not HTTP"), readable=False)  # fmt: skip
_TOO_LONG = Lost(
    message("HTTP {status} with more than {bytes} bytes", status=200, bytes=LARGEST_ANSWER), readable=False
)
LOST: dict[str, tuple[Answer, Lost]] = {
    "closed without an answer": (raw(b"", then_close=True), _HUNG_UP),
    "reset": (reset, Lost(Message("the connection broke"))),
    "closed within the headers": (raw(b"HTTP/1.1 200 OK\r\nConte", then_close=True), _HUNG_UP),
    "closed within the body": (raw(http("200 OK", b"{}")[:-1], then_close=True), _BROKE_OFF),
    "no HTTP": (raw(b"hello there\r\n\r\n", then_close=True), _NOT_HTTP),
    "two lengths": (raw(http("200 OK", b"{}", b"Content-Length: 7"), then_close=True), _NOT_HTTP),
    "chunks that are none": (
        raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", then_close=True),
        _NOT_HTTP,
    ),
    "not the encoding it says": (raw(http("200 OK", b"{}", b"Content-Encoding: gzip")), _BROKE_OFF),
    "silence": (lambda _connection: threading.Event().wait(1.5), _LATE),
    "silence within the body": (raw(http("200 OK", b"{}")[:-1]), _LATE),
    "more than the bound": (raw(http("200 OK", b"x" * (LARGEST_ANSWER + 1))), _TOO_LONG),
    "only a 100": (raw(b"HTTP/1.1 100 Continue\r\n\r\n", then_close=True), _HUNG_UP),
}


def patience(lost: Lost) -> dict[str, float]:
    """Settings that wait no longer than a busy machine takes for what never comes."""
    return {"response_timeout_seconds": 0.4} if lost == _LATE else {}


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "lost"), LOST.values(), ids=LOST)
@pytest.mark.parametrize("reused", [False, True])
def test_what_was_sent_and_not_answered_is_lost_and_never_sent_again(
    answer: Answer, lost: Lost, reused: bool
) -> None:
    first = [raw(http("200 OK", b"{}"))] if reused else []

    def one_after_the_other(connection: socket.socket) -> None:
        (first.pop() if first else answer)(connection)

    with carrying(one_after_the_other) as carrier:
        replies = post(carrier.url, times=2 if reused else 1, **patience(lost))
    assert replies[-1] == lost
    assert len(carrier.requests) == len(replies)


def dripping(connection: socket.socket) -> None:
    connection.sendall(http("200 OK", b" " * 100)[:-100])
    with contextlib.suppress(OSError):
        for _ in range(100):
            connection.sendall(b" ")
            time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "connect", "response"),
    [(lambda _connection: time.sleep(3), 60, 0.3), (dripping, 0.3, 0.5)],
    ids=["silence", "an answer that comes in drops"],
)
def test_an_answer_is_waited_for_as_long_as_the_profile_says(
    answer: Answer, connect: float, response: float
) -> None:
    begun = time.monotonic()
    with carrying(answer) as carrier:
        (reply,) = post(carrier.url, connect_timeout_seconds=connect, response_timeout_seconds=response)
    assert reply == _LATE
    assert time.monotonic() - begun < 30


@pytest.mark.slow
def test_the_patience_with_one_answer_is_not_that_with_the_next_over_its_connection() -> None:
    """1.2 s after the first request, and 0.6 s after its own."""
    pauses = [0.0, 0.6]

    def answer(connection: socket.socket) -> None:
        time.sleep(pauses.pop(0))
        connection.sendall(http("200 OK", b"{}"))

    async def run(url: str) -> Reply:
        settings = Submission(concurrency=1, response_timeout_seconds=1, keepalive_seconds=60)
        async with connected(Profile(submission=settings), url, "the-api-key") as client:
            _, line = await client.post("/", b"1")
            line.give_back()
            await asyncio.sleep(0.6)
            reply, line = await client.post("/", b"2")
            line.close()
            return reply

    with carrying(answer) as carrier:
        assert asyncio.run(run(carrier.url)) == Answered(200, b"{}")
    assert len(set(carrier.connections)) == 1


def test_time_that_is_up_just_as_an_answer_begins_is_up_for_the_rest_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its head has come, and time is up before whoever waits for it goes on; the rest never comes."""
    read = AnswerProtocol.read

    async def read_late(self: AnswerProtocol) -> Any:
        came = await read(self)
        await asyncio.sleep(0.2)
        return came

    async def run(url: str) -> Reply:
        settings = Submission(concurrency=1, response_timeout_seconds=0.1)
        async with connected(Profile(submission=settings), url, "the-api-key") as client:
            monkeypatch.setattr(AnswerProtocol, "read", read_late)
            reply, _ = await asyncio.wait_for(client.post("/", b"1"), 10)
            return reply

    with carrying(raw(http("200 OK", b"{}")[:-1])) as carrier:
        assert asyncio.run(run(carrier.url)) == _LATE


def test_an_answer_at_the_bound_is_whole() -> None:
    body = b"x" * LARGEST_ANSWER
    with carrying(raw(http("200 OK", body))) as carrier:
        assert post(carrier.url) == [Answered(200, body)]


def test_a_refused_connection_sent_nothing() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        (reply,) = post(f"http://127.0.0.1:{free.getsockname()[1]}")
    assert reply == NotSent(Message("the connection was refused or could not be made"))


def test_no_more_files_to_open_is_told_as_what_it_is() -> None:
    async def run(url: str) -> Reply:
        async with connected(Profile(), url, "key") as client:
            before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
            with open(os.devnull) as last:  # noqa: ASYNC230, PTH123 - for its number
                resource.setrlimit(resource.RLIMIT_NOFILE, (last.fileno(), most))
            try:
                return (await client.post("/path", b""))[0]
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))

    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        reply = asyncio.run(run(carrier.url))
    assert isinstance(reply, NotSent)
    assert "no more files and connections: raise ulimit -n" in str(reply.detail)


def test_a_name_that_does_not_resolve_sent_nothing() -> None:
    assert post("http://carrier.invalid") == [NotSent(Message("the carrier's name could not be resolved"))]


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
    assert reply == NotSent(Message("the connection was not made in time"))


def test_tls_that_fails_sent_nothing() -> None:
    with socket.socket() as plain:
        plain.bind(("127.0.0.1", 0))
        plain.listen()

        def hang_up() -> None:
            plain.accept()[0].close()

        threading.Thread(target=hang_up, daemon=True).start()
        (reply,) = post(f"https://127.0.0.1:{plain.getsockname()[1]}")
    assert isinstance(reply, NotSent)


@pytest.mark.slow
def test_the_key_is_in_no_reply() -> None:
    for answer, lost in LOST.values():
        with carrying(answer) as carrier:
            assert "the-api-key" not in repr(post(carrier.url, **patience(lost)))


def test_where_aiohttp_is_another_one_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a version that reads answers in another way: a trial shows it, before the carrier hears of anything."""

    async def read(_protocol: ResponseHandler) -> None:
        raise AttributeError

    monkeypatch.setattr(ResponseHandler, "read", read)
    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        with pytest.raises(InputProblem, match="can't send with aiohttp"):
            post(carrier.url)
        assert carrier.connections == []


def test_where_aiohttp_makes_a_protocol_of_its_own_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    made = client.connector

    def connector(profile: Profile) -> Any:
        connections: Any = made(profile)
        connections._factory = lambda: ResponseHandler(asyncio.get_running_loop())
        return connections

    monkeypatch.setattr(client, "connector", connector)
    with carrying(raw(http("200 OK", b"{}"))) as carrier, pytest.raises(InputProblem, match="aiohttp"):
        post(carrier.url)
    assert carrier.requests == []


def test_a_version_of_aiohttp_that_gets_no_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def read(_protocol: ResponseHandler) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(ResponseHandler, "read", read)
    monkeypatch.setattr(client, "_TRIAL", 0.05)
    with pytest.raises(InputProblem):
        post("http://127.0.0.1:9")


def test_a_request_that_closes_its_connection_says_so() -> None:
    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        assert post(carrier.url, keepalive_seconds=0, times=2) == [Answered(200, b"{}")] * 2
    assert all(b"\r\nConnection: close\r\n" in request for request in carrier.requests)
    assert len(set(carrier.connections)) == 2


def test_an_answer_that_is_announced_by_another_is_waited_for() -> None:
    with carrying(raw(b"HTTP/1.1 100 Continue\r\n\r\n" + http("200 OK", b"{}"))) as carrier:
        assert post(carrier.url) == [Answered(200, b"{}")]


@pytest.mark.parametrize(("handshake", "patience", "written"), [(0.0, 5.0, True), (0.4, 0.2, False)])
def test_what_can_be_written_too_late_alone_is_not_written(
    tmp_path: Path, handshake: float, patience: float, written: bool
) -> None:
    """The carrier takes its time for the secure connection: when that is made, the request's time is over."""
    own = certificate(tmp_path, "IP:127.0.0.1")
    read: list[bytes] = []

    def carry(door: socket.socket) -> None:
        line, _ = door.accept()
        time.sleep(handshake)
        # Who gives up may reset the connection, too, which is as well nothing to read.
        nothing = contextlib.suppress(ConnectionError)
        with nothing, secured(own).wrap_socket(line, server_side=True) as talk:
            read.append(talk.recv(65536))
            if read[0]:
                talk.sendall(http("200 OK", b"{}"))

    async def posted(port: int) -> Reply:
        profile = Profile(carrier=Carrier(ca_file=f"{own}.crt"))
        async with connected(profile, f"https://127.0.0.1:{port}", "the-api-key") as one:
            reply, line = await one.post("/", b'"body"', boot_time() + patience)
            line.close()
            # A secure connection is closed when the other side has heard of it; else it would be left open here.
            await asyncio.to_thread(carrier.join)
            await asyncio.sleep(0.05)
            return reply

    with socket.create_server(("127.0.0.1", 0)) as door:
        carrier = threading.Thread(target=carry, args=(door,))
        carrier.start()
        reply = asyncio.run(posted(door.getsockname()[1]))
    late = NotSent(Message("it could not be written in time after it was claimed"), too_late=True)
    assert reply == (Answered(200, b"{}") if written else late)
    assert any(read) is written
