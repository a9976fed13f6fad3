"""Where the sandbox listens, how it ends, and what it counted."""

import asyncio
import os
import signal
import socket
from typing import Any

import aiohttp
import pytest

from pipeline.model.errors import InputProblem
from pipeline.sandbox.server import run_forever, serve
from pipeline.sandbox.sold_tickets import Registry


@pytest.fixture
def registry(kit: Any) -> Registry:
    return Registry.from_table(kit.table(kit.fare()))


def _start(carrier: Any, registry: Registry, **where: Any) -> str:
    async def life() -> str:
        async with serve(carrier.settings(), registry, **where) as base_url:
            return base_url

    return asyncio.run(life())


def test_it_takes_a_free_port_of_loopback(carrier: Any, registry: Registry) -> None:
    base_url = _start(carrier, registry)
    assert base_url.startswith("http://127.0.0.1:")
    assert int(base_url.rpartition(":")[2]) > 0


def test_a_taken_port_is_said_to_be_taken(carrier: Any, registry: Registry, tmp_path: Any) -> None:
    carrier.changed = {"statement": tmp_path / "statement.csv"}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputProblem, match=rf"port {port} .*another --port"):
            _start(carrier, registry, port=port)
    assert _start(carrier, registry, port=port).endswith(f":{port}")


def test_it_listens_no_longer_than_its_context(carrier: Any, registry: Registry) -> None:
    base_url = _start(carrier, registry)

    async def ask() -> None:
        async with aiohttp.ClientSession() as session:
            await session.post(base_url)

    with pytest.raises(aiohttp.ClientConnectorError):
        asyncio.run(ask())


def test_it_counts(carrier: Any, kit: Any) -> None:
    carrier.rows = [kit.fare("9990000000001"), kit.fare("9990000000002")]
    one, two = map(kit.invoice, carrier.rows)
    carrier.answers(one, one, two, ("/invoice/issueInvoice", {}))
    assert (
        carrier.counts.received,
        carrier.counts.issued,
        carrier.counts.refused,
        carrier.counts.malformed,
    ) == (4, 2, 1, 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_stop(carrier: Any, registry: Registry, number: signal.Signals) -> None:
    by_default = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    heard: list[str] = []

    def ready(base_url: str) -> None:
        heard.append(base_url)
        asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), number)

    async def life() -> tuple[Any, Any]:
        return await run_forever(carrier.settings(), registry, ready=ready), signal.getsignal(number)

    counts, handler = asyncio.run(life())
    assert heard[0].startswith("http://127.0.0.1:")
    assert counts.received == 0
    assert handler is by_default[number]


@pytest.mark.slow
def test_it_stops_soon_even_while_requests_wait(carrier: Any, kit: Any, tmp_path: Any) -> None:
    carrier.fault_file(tmp_path / "faults.toml", '[[fault]]\nkind = "latency"\nseconds = 60')

    async def abandon(caller: Any) -> None:
        waiting = asyncio.ensure_future(caller.ask(kit.itinerary()))
        while not carrier.counts.received:  # noqa: ASYNC110 - but for a moment
            await asyncio.sleep(0.01)
        waiting.cancel()

    async def hurried() -> None:
        await asyncio.wait_for(asyncio.to_thread(carrier.talk, abandon), 5)

    asyncio.run(hurried())
    assert carrier.counts.received == 1
    assert carrier.counts.issued == 0
