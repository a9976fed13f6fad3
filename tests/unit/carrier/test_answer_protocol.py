import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from pipeline.carrier.answer_protocol import AnswerProtocol
from pipeline.model.outcome import Answered


def _read(*pieces: bytes, awaited: bool = True) -> tuple[AnswerProtocol, list[Any]]:
    """A protocol that these pieces came to, and what it has for whoever reads it."""

    async def read() -> tuple[AnswerProtocol, list[Any]]:
        protocol = AnswerProtocol(asyncio.get_running_loop())
        first = protocol.awaited() if awaited else None
        for piece in pieces:
            protocol.data_received(piece)
        usual = [first.result()] if first and first.done() and first.result() else []
        return protocol, [*usual, *[await protocol.read() for _ in range(len(protocol))]]

    return asyncio.run(read())


def _http(*lines: str, status: str = "HTTP/1.1 200 OK", body: bytes = b"{}") -> bytes:
    return "\r\n".join((status, *lines, "", "")).encode() + body


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 2",),
        ("content-length:2",),
        ("Server: one", "Content-Type: application/json;charset=UTF-8", "Content-Length: 2", "Connection: keep-alive", "X: y"),
        ("Keep-Alive: timeout=60", "CONTENT-LENGTH: 2", "Set-Cookie: a=b; Path=/"),
    ],
)  # fmt: skip
def test_an_answer_of_the_usual_form_is_taken_as_it_came(lines: tuple[str, ...]) -> None:
    protocol, found = _read(_http(*lines))
    assert found == [Answered(200, b"{}")]
    assert not protocol.should_close


@pytest.mark.parametrize(
    "answer",
    [
        _http("Content-Length: 2", status="HTTP/1.1 201 Created"),
        _http("Content-Length: 2", status="HTTP/1.1 503 Busy"),
        _http("Content-Length: 2", status="HTTP/1.0 200 OK"),
        _http("Content-Length: 2", "Connection: close"),
        _http("Connection: keep-alive, close", "Content-Length: 2"),
        _http("Content-Length: 2", "Retry-After: 7"),
        _http("Content-Length: 2", "Upgrade: h2c"),
        _http("Content-Length: 2", "Content-Encoding: gzip"),
        _http("Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\n\r\n"),
        _http("Transfer-Encoding: chunked", "Content-Length: 12", body=b"2\r\n{}\r\n0\r\n\r\n"),
        _http("Content-Length: 2", "Content-Length: 2"),
        _http("Content-Length: 2", body=b"{"),
        _http("Content-Length: 2", body=b"{}{"),
        _http("Content-Length: 2") * 2,
        _http("Content-Length: 2", " folded: line"),
        _http("Content-Length: +2"),
        _http("X-Name: é", "Content-Length: 2"),
        _http("Content-Length: 12000", body=b"x" * 12000),
        _http(),
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}",
    ],
)
def test_an_answer_of_another_form_is_the_parsers(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []
    real: Any = AnswerProtocol.set_response_params
    monkeypatch.setattr(
        AnswerProtocol,
        "set_response_params",
        lambda protocol, **how: (parsed.append(how), real(protocol, **how))[1],
    )
    _, found = _read(answer)
    assert parsed == [{"read_until_eof": True}]
    assert not any(isinstance(one, Answered) for one in found)


@pytest.mark.parametrize("pieces", [(b"",), (_http("Content-Length: 2"),), (b"{",)])
def test_what_comes_when_no_answer_is_awaited_ends_the_connection(pieces: tuple[bytes, ...]) -> None:
    protocol, found = _read(*pieces, awaited=False)
    assert found == []
    assert protocol.should_close == (pieces != (b"",))


def test_a_second_answer_is_a_stray() -> None:
    protocol, found = _read(_http("Content-Length: 2"), _http("Content-Length: 2"))
    assert found == [Answered(200, b"{}")]
    assert protocol.should_close


@pytest.mark.parametrize(
    "end",
    [
        lambda protocol: protocol.give_up(),
        lambda protocol: protocol.connection_lost(None),
        lambda protocol: protocol.connection_lost(OSError("reset")),
    ],
)
@pytest.mark.parametrize(
    "begun", [b"", b"HTTP/1.1 2", _http("Content-Length: 3"), b"HTTP/1.1 100 Continue\r\n\r\n"]
)
def test_whoever_waits_for_an_answer_that_comes_no_more_is_told_so(
    begun: bytes, end: Callable[[AnswerProtocol], None]
) -> None:
    async def read() -> Answered | None:
        protocol = AnswerProtocol(asyncio.get_running_loop())
        first = protocol.awaited()
        if begun:
            protocol.data_received(begun)
        end(protocol)
        if usual := await asyncio.wait_for(first, 5):
            return usual
        content = b""
        while not content:
            _, reader = await asyncio.wait_for(protocol.read(), 5)
            content = await asyncio.wait_for(reader.read(), 5)
        return Answered(200, content)

    with pytest.raises(aiohttp.ClientError):
        asyncio.run(read())


def test_of_an_answer_that_nobody_waits_for_any_more_nothing_is_told() -> None:
    async def read() -> AnswerProtocol:
        protocol = AnswerProtocol(asyncio.get_running_loop())
        protocol.awaited().cancel()
        protocol.data_received(_http("Content-Length: 2"))
        return protocol

    assert len(asyncio.run(read())) == 0


def test_a_second_answer_is_a_stray_also_where_the_parser_read_one_before() -> None:
    async def read() -> tuple[bool, bool]:
        protocol = AnswerProtocol(asyncio.get_running_loop())
        protocol.awaited()
        protocol.data_received(_http("Content-Length: 2", "Retry-After: 7"))
        await protocol.read()
        protocol.over = True
        protocol.awaited()
        protocol.data_received(_http("Content-Length: 2"))
        before = protocol.should_close
        protocol.data_received(b"H")
        return before, protocol.should_close

    assert asyncio.run(read()) == (False, True)
