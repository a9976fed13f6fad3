"""Where and how long the sandbox carrier listens: on loopback, and nowhere else."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator

from aiohttp import web

from pipeline.model.errors import InputProblem
from pipeline.model.message import Message
from pipeline.sandbox.carrier_settings import SandboxSettings
from pipeline.sandbox.endpoints import Counts, Service
from pipeline.sandbox.fault_file import Faults
from pipeline.sandbox.issued_vouchers import Issued
from pipeline.sandbox.mail_delivery import delivering
from pipeline.sandbox.mail_process import Delivered
from pipeline.sandbox.preconditions import Books
from pipeline.sandbox.sold_tickets import Registry

LOOPBACK = "127.0.0.1"

# How long the end waits for requests that a latency fault is still holding.
_GRACE_SECONDS = 0.5


@contextlib.asynccontextmanager
async def serve(
    settings: SandboxSettings,
    registry: Registry,
    faults: Faults | None = None,
    port: int = 0,
    *,
    counts: Counts | None = None,
) -> AsyncIterator[str]:
    """Run the carrier for as long as the context lasts; gives its base_url.

    Port 0 takes any free one. `counts` is counted up as requests come in, and may be asked at any
    time. InputProblem if the statement or the folder for mails can't be used or the port is taken.
    """
    counts = counts or Counts()

    def ended(delivered: Delivered) -> None:
        counts.delivered = delivered

    async with contextlib.AsyncExitStack() as stack:
        books = Books(settings, registry, stack.enter_context(Issued(settings.statement, settings.now)))
        delivery = await stack.enter_async_context(delivering(books, ended))
        service = Service(books, faults or Faults(), counts, delivery)
        runner = web.AppRunner(service.application(), access_log=None, shutdown_timeout=_GRACE_SECONDS)
        await runner.setup()
        try:
            site = web.TCPSite(runner, LOOPBACK, port)
            try:
                await site.start()
            except OSError as error:
                raise InputProblem(
                    "port {port} can't be used ({problem}): end what listens there, or choose another --port",
                    port=port,
                    problem=Message(os.strerror(error.errno or 0)),
                ) from None
            yield f"http://{LOOPBACK}:{site.port}"
        finally:
            await runner.cleanup()


async def run_forever(
    settings: SandboxSettings,
    registry: Registry,
    faults: Faults | None = None,
    port: int = 0,
    *,
    ready: Callable[[str], None] | None = None,
) -> Counts:
    """Serve until SIGINT or SIGTERM; `ready` is told the base_url once the carrier listens.

    Returns what was counted, for a closing line. Call it in the main thread: signals go there.
    """
    counts = Counts()
    with _stop_asked() as stop:
        async with serve(settings, registry, faults, port, counts=counts) as base_url:
            if ready is not None:
                ready(base_url)
            await stop.wait()
    return counts


@contextlib.contextmanager
def _stop_asked() -> Iterator[asyncio.Event]:
    """Give an event that the first SIGINT or SIGTERM sets; after it they do again what they do by default."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    caught = []
    for number in (signal.SIGINT, signal.SIGTERM):
        # Windows has no such handlers; there an interrupt cancels the task, which ends it as well.
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stop.set)
            caught.append(number)
    try:
        yield stop
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
