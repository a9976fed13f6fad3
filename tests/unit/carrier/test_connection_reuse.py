"""The connection of an answer: whose it is, and when further requests may have it."""

import asyncio
import contextlib
import resource
import socket
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.carrier.client import connected
from pipeline.carrier.connection_check import Reached, reach
from pipeline.carrier.connection_reuse import connector
from pipeline.model.message import Message
from pipeline.model.outcome import Answered, NotSent, Outcome, Reply
from pipeline.model.profile import Carrier, Profile, Submission
from pipeline.submission.event_loop import loop_factory
from tests.crash.wire_unreached import certificate, secured
from tests.unit.carrier.raw_socket import Answer, carrying, http, post, raw

#: An answer of the usual form, and one that aiohttp's parser reads.
USUAL = http("200 OK", b"{}")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"


def and_then(over: threading.Event, more: bytes, first: bytes = USUAL) -> Answer:
    """An answer, and when it is over something more that nobody asked for, or nothing more ever."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(first)
        over.wait(5)
        if more:
            connection.sendall(more)
        else:
            connection.shutdown(socket.SHUT_WR)

    return answer


def test_a_connection_that_is_given_back_is_used_again() -> None:
    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        assert post(carrier.url, times=3) == [Answered(200, b"{}")] * 3
    assert len(carrier.requests) == 3
    assert len(set(carrier.connections)) == 1


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_it_is_used_again_at_once_and_turns_of_the_event_loop_later(turns: int) -> None:
    async def run(url: str) -> None:
        async with connected(Profile(submission=Submission(concurrency=2)), url, "key") as client:
            for _ in range(3):
                came = [await client.post("/path", b"1"), await client.post("/path", b"2")]
                for _, connection in came:
                    connection.give_back()
                for _ in range(turns):
                    await asyncio.sleep(0)

    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        asyncio.run(run(carrier.url))
    assert len(carrier.requests) == 6
    assert len(set(carrier.connections)) == 2


@pytest.mark.parametrize("answer", [USUAL, CHUNKED], ids=["usual", "chunked"])
@pytest.mark.parametrize(
    "more",
    [b"", http("200 OK", b'"stray"'), b"\r\n", b"H"],
    ids=["closed", "stray", "line", "begun"],
)
def test_one_that_is_not_as_it_was_when_it_is_given_back_is_not_used_again(
    more: bytes, answer: bytes
) -> None:
    async def run(url: str) -> tuple[Reply, Reply]:
        async with connected(Profile(submission=Submission(concurrency=1)), url, "key") as client:
            first, connection = await client.post("/path", b"1")
            over.set()
            await asyncio.sleep(0.2)
            connection.give_back()
            second, connection = await client.post("/path", b"2")
            connection.close()
            return first, second

    over = threading.Event()
    with carrying(and_then(over, more, answer)) as carrier:
        assert asyncio.run(run(carrier.url)) == (Answered(200, b"{}"), Answered(200, b"{}"))
    assert len(set(carrier.connections)) == 2


def test_one_that_is_closed_after_it_was_given_back_and_before_it_is_taken_is_passed_over() -> None:
    """Whoever takes it was called before it was given back, and runs after the event loop has looked for what came."""

    async def run(url: str) -> tuple[Reply, Reply]:
        async with connected(Profile(submission=Submission(concurrency=1)), url, "key") as client:
            first, before = await client.post("/path", b"1")
            over.set()
            time.sleep(0.2)  # noqa: ASYNC251 - the event loop sees it later
            await asyncio.sleep(0)
            next_one = asyncio.create_task(client.post("/path", b"2"))
            before.give_back()
            second, connection = await next_one
            connection.close()
            return first, second

    over = threading.Event()
    with carrying(and_then(over, b"")) as carrier:
        assert asyncio.run(run(carrier.url)) == (Answered(200, b"{}"), Answered(200, b"{}"))
    assert len(set(carrier.connections)) == 2


def test_one_that_was_idle_for_too_long_within_a_turn_is_not_used_again() -> None:
    async def run(url: str) -> None:
        profile = Profile(submission=Submission(concurrency=1, keepalive_seconds=0.05))
        async with connected(profile, url, "key") as client:
            for _ in range(2):
                _, connection = await client.post("/path", b"1")
                connection.give_back()
                time.sleep(0.2)  # noqa: ASYNC251 - the machine stood still

    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        asyncio.run(run(carrier.url))
    assert len(set(carrier.connections)) == 2


def test_who_has_given_a_connection_back_can_end_it_no_more() -> None:
    async def run(url: str) -> Reply:
        async with connected(Profile(submission=Submission(concurrency=1)), url, "key") as client:
            _, before = await client.post("/path", b"1")
            under_way = asyncio.create_task(client.post("/path", b"2"))
            before.give_back()
            await asyncio.sleep(0)  # it has left, over that connection
            before.close()
            reply, connection = await under_way
            connection.close()
            return reply

    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        assert asyncio.run(run(carrier.url)) == Answered(200, b"{}")


def test_a_connection_that_is_closed_is_not() -> None:
    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        assert post(carrier.url, times=3, keep=False) == [Answered(200, b"{}")] * 3
    assert len(set(carrier.connections)) == 3


def test_without_keepalive_each_request_has_a_connection_of_its_own() -> None:
    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        post(carrier.url, times=3, keepalive_seconds=0)
    assert len(set(carrier.connections)) == 3


@pytest.mark.slow
@pytest.mark.parametrize(("kept", "connections"), [(0.2, 2), (60, 1)])
def test_a_connection_is_kept_as_long_as_the_profile_says(kept: float, connections: int) -> None:
    async def run(url: str) -> None:
        profile = Profile(submission=Submission(concurrency=1, keepalive_seconds=kept))
        async with connected(profile, url, "the-api-key") as client:
            for pause in (0.5, 0):
                _, connection = await client.post("/", b"1")
                connection.give_back()
                await asyncio.sleep(pause)

    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        asyncio.run(run(carrier.url))
    assert len(set(carrier.connections)) == connections


@pytest.mark.parametrize("seen", [True, False], ids=["seen", "not seen yet"])
@pytest.mark.parametrize("more", [b"", http("200 OK", b'"stray"')], ids=["closed", "stray"])
def test_one_that_is_kept_and_not_as_it_was_is_passed_over(more: bytes, seen: bool) -> None:
    """A second answer is no answer to the next request; which has another connection, and is not counted as a try that failed."""

    async def run(url: str) -> tuple[Reply, Reply]:
        async with connected(Profile(submission=Submission(concurrency=1)), url, "key") as client:
            first, connection = await client.post("/path", b"1")
            connection.give_back()
            await asyncio.sleep(0)  # nobody has taken it in that turn, so that aiohttp keeps it
            over.set()
            if seen:
                await asyncio.sleep(0.2)
            else:
                time.sleep(0.2)  # noqa: ASYNC251 - the event loop sees it later
            second, connection = await client.post("/path", b"2")
            connection.close()
            return first, second

    over = threading.Event()
    with carrying(and_then(over, more)) as carrier:
        assert asyncio.run(run(carrier.url)) == (Answered(200, b"{}"), Answered(200, b"{}"))
    assert len(set(carrier.connections)) == 2
    assert [request[-1:] for request in carrier.requests] == [b"1", b"2"]


@pytest.mark.parametrize("first", [USUAL, http("429 Busy", b""), CHUNKED], ids=["usual", "429", "chunked"])
@pytest.mark.parametrize(
    ("more", "pause", "comes"),
    [(USUAL, 0.1, True), (USUAL, 0, True), (b"H", 0.1, True), (b"", 0.1, False), (b"", 60, False)],
    ids=["an answer", "an answer at once", "a byte", "the end", "nothing"],
)
def test_whether_anything_else_comes_is_seen_for_a_while(
    first: bytes, more: bytes, pause: float, comes: bool
) -> None:
    async def run(url: str) -> tuple[bool, float]:
        async with connected(Profile(), url, "key") as client:
            _, connection = await client.post("/path", b"")
            begun = time.monotonic()
            seen = await connection.stray_within(1)
            connection.close()
            return seen, time.monotonic() - begun

    def answer(connection: socket.socket) -> None:
        connection.sendall(first + (b"" if pause else more))
        if pause:
            over.wait(pause)
            connection.sendall(more)
        if not more:
            connection.shutdown(socket.SHUT_WR)

    over = threading.Event()
    with carrying(answer) as carrier:
        seen, took = asyncio.run(run(carrier.url))
        over.set()
    assert seen is comes
    assert (took >= 1) is (pause == 60)


def _carries_with_its_handshake(
    more_said: Callable[[ssl.SSLObject], object], listening: socket.socket, pem: Path, heard: list[bytes]
) -> None:
    """Two connections by TLS 1.2, whose last bytes of the handshake and what is said then go out at once; what comes after it is heard."""
    for _ in range(2):
        connection, _ = listening.accept()
        come, gone = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = secured(pem, newest=ssl.TLSVersion.TLSv1_2).wrap_bio(come, gone, server_side=True)
        with connection, contextlib.suppress(OSError):
            done = False
            while not done:
                try:
                    tls.do_handshake()
                    done = True
                    more_said(tls)
                except ssl.SSLWantReadError:
                    pass
                connection.sendall(gone.read())
                come.write(b"" if done else connection.recv(65536))
            while more := connection.recv(65536):
                come.write(more)
                with contextlib.suppress(ssl.SSLWantReadError):
                    heard.append(tls.read())


@pytest.mark.usefixtures("openssl")
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning"
)  # of a connection that is left open, where the test fails
@pytest.mark.parametrize("loop", [loop_factory(), asyncio.new_event_loop])
@pytest.mark.parametrize(
    ("more_said", "why"),
    [
        (lambda tls: tls.write(http("200 OK", b"{}")), "an answer came that nobody had asked for"),
        (ssl.SSLObject.unwrap, "the connection broke"),
    ],
)
def test_what_came_with_the_end_of_the_handshake_is_no_answer_to_the_first_request(
    tmp_path: Path,
    more_said: Callable[[ssl.SSLObject], object],
    why: str,
    loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    """Uvloop gives a connection before it reads what is there already. Whoever only tries the connection is told the same."""

    async def run(url: str) -> tuple[Reached, Reply, bool]:
        profile = Profile(carrier=Carrier(base_url=url, ca_file=f"{pem}.crt"))
        tried = await reach(profile)
        async with connected(profile, url, "key") as client:
            reply, _ = await client.post("/path", b"")
            await asyncio.to_thread(carrier.join, 3)
            return tried, reply, carrier.is_alive()

    pem, heard = certificate(tmp_path, "IP:127.0.0.1"), list[bytes]()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        carrier = threading.Thread(
            target=_carries_with_its_handshake, args=(more_said, listening, pem, heard), daemon=True
        )
        carrier.start()
        with asyncio.Runner(loop_factory=loop) as runner:
            tried, reply, is_open = runner.run(run(f"https://127.0.0.1:{listening.getsockname()[1]}"))
    assert tried == Reached(problem=Message(why))
    assert reply == NotSent(Message(why))
    assert not any(b"POST" in each for each in heard)
    assert not is_open, "it is closed, though TLS has not said good-bye"


@pytest.mark.parametrize("loop", [loop_factory(), asyncio.new_event_loop])
def test_whoever_is_abandoned_just_as_his_connection_is_made_leaves_none_behind(
    loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def run(url: str) -> list[object]:
        complaints: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        async with connected(Profile(), url, "key") as client:
            asked = asyncio.create_task(client.post("/path", b""))
            while not any(one.transport for one in client._connections._acquired):  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0)
            asked.cancel()
            await asyncio.wait({asked})
            assert asked.cancelled()
            complaints += client._connections._acquired
        return complaints

    with carrying(raw(USUAL)) as carrier, asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(run(carrier.url)) == []
    assert carrier.requests == []


def test_a_connection_is_nobody_elses_before_it_is_given_back() -> None:
    """The answer's last byte has come, and nobody has said what it means."""

    async def run(url: str) -> None:
        profile = Profile(submission=Submission(concurrency=2))
        async with connected(profile, url, "the-api-key") as client:
            _, first = await client.post("/", b"1")
            _, second = await client.post("/", b"2")
            _, third = await client.post("/", b"3")
            second.give_back()
            _, fourth = await client.post("/", b"4")
            first.close()
            _, fifth = await client.post("/", b"5")
            for connection in (third, fourth, fifth):
                connection.close()

    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        asyncio.run(run(carrier.url))
    one, two, three, four, five = carrier.connections
    assert two == four
    assert len({one, two, three, five}) == 4


def test_a_connection_is_idle_since_its_answer_came() -> None:
    """What it means may be known long after, on a slow disk."""

    async def run(url: str) -> None:
        async with connected(Profile(submission=Submission(keepalive_seconds=0.2)), url, "key") as client:
            for pause in (0.3, 0):
                _, connection = await client.post("/", b"1")
                await asyncio.sleep(pause)
                connection.give_back()

    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        asyncio.run(run(carrier.url))
    one, two = carrier.connections
    assert one != two


def test_a_connection_that_is_given_back_when_all_is_over_is_closed() -> None:
    async def run(url: str) -> bool:
        async with connected(Profile(), url, "key") as client:
            _, connection = await client.post("/", b"1")
            spare = connection._spare
        assert spare is not None
        connection.give_back()
        return spare._fresh == spare._kept == []

    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        assert asyncio.run(run(carrier.url))


@pytest.mark.parametrize(
    ("limits", "set_to"),
    [
        ((1024, 4096), []),
        ((300, 4096), [(1000, 4096)]),
        ((300, 900), [(900, 900)]),
        ((300, resource.RLIM_INFINITY), [(1000, resource.RLIM_INFINITY)]),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), []),
    ],
)
def test_as_many_connections_are_allowed_as_there_may_be(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int], set_to: list[tuple[int, int]]
) -> None:
    """A process may have 1,024 files open on many systems, until it asks for more."""
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, wanted: asked.append(wanted))

    async def run() -> None:
        await connector(Profile(submission=Submission(concurrency=400))).close()

    asyncio.run(run())
    assert asked == set_to


ISSUED, UNKNOWN = Outcome("issued", number="1"), Outcome("unknown", "no_answer")


@pytest.mark.parametrize(
    ("understood", "recorded", "connections"),
    [
        (ISSUED, ISSUED, 1),
        (ISSUED, UNKNOWN, 2),  # its number is another request's already
        (ISSUED, None, 2),  # the ledger could not take it
        (UNKNOWN, ISSUED, 2),  # closed as soon as it was understood
    ],
)
def test_further_requests_have_a_connection_after_a_clear_yes_that_the_ledger_took_and_no_other(
    understood: Outcome, recorded: Outcome | None, connections: int
) -> None:
    async def run(url: str) -> None:
        async with connected(Profile(submission=Submission(concurrency=1)), url, "the-api-key") as client:
            for _ in range(2):
                _, connection = await client.post("/", b"1")
                connection.understood(understood)
                connection.recorded(recorded)

    with carrying(raw(http("200 OK", b"{}"))) as carrier:
        asyncio.run(run(carrier.url))
    assert len(set(carrier.connections)) == connections
