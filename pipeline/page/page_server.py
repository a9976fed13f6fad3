"""`voucher serve`, running: where it listens, with which certificate, how it is opened, and how it ends."""

import asyncio
import contextlib
import fcntl
import logging
import os
import shutil
import signal
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from aiohttp import web

from pipeline.file_writing import PRIVATE, private_folder
from pipeline.model.errors import InputProblem
from pipeline.model.message import Message, Note, message
from pipeline.page import accounts, demonstration, months, sessions, work
from pipeline.page.app import application
from pipeline.page.certificate import Certificate, certificate_of, keep_fresh
from pipeline.page.connection import Connection
from pipeline.page.host_check import host_of
from pipeline.page.serve_settings import ServeSettings
from pipeline.signals import ENDING, as_before

#: How long the end waits for answers that are under way.
_GRACE_SECONDS = 5
#: An idle connection, and one that does not say what it wants, is closed after so long.
_KEEPALIVE_SECONDS = 75
#: Bytes of a request's first line, and of each of its headers.
_LINE, _HEADER = 8190, 8190


def check(settings: ServeSettings) -> Certificate | None:
    """What the page is shown with. Raises InputProblem where it may not listen there, with the cure."""
    if bool(settings.certificate) != bool(settings.key):
        raise InputProblem("--certificate and --key go together: the one is of no use without the other")
    if settings.certificate and settings.names:
        raise InputProblem(
            "--behind-proxy and --certificate don't go together: behind a proxy it is the proxy that has the certificate"
        )
    for name in settings.names:
        if not host_of(name):
            raise InputProblem(
                "--behind-proxy {name}: is no host name; give names such as pay.office.example",
                name=name,
            )
    if not settings.loopback and not settings.tls:
        raise InputProblem(
            "{host} is reached from other machines, so the page is served there by https only: give --certificate and --key, or"
            " --behind-proxy with the names of the proxy that has them. On 127.0.0.1 it needs neither",
            host=settings.host,
        )
    found = (
        certificate_of(settings.certificate, settings.key) if settings.certificate and settings.key else None
    )
    someone = accounts.any_account(settings.folder)
    if settings.profile.approval.people > 1 and not someone:
        raise InputProblem(
            "[approval].people = 2 in the profile, so that what one person prepared another approves, and nobody has an account yet: make"
            " one for each of them with voucher user add NAME --role …, for the same ledger"
        )
    if not settings.loopback and not someone:
        raise InputProblem(
            "Nobody has an account yet, and without accounts the page is served to this machine alone: make the first with"
            " voucher user add NAME --role administrator, for the same ledger"
        )
    return found


async def serve(settings: ServeSettings, note: Note, *, open_browser: bool = False) -> None:
    """Serve until SIGINT, SIGTERM or a closed terminal. Raises InputProblem where it can't listen."""
    certificate = check(settings)
    with _alone(settings.folder), _stop_asked() as stop:
        # What was being uploaded when a server was killed.
        await asyncio.to_thread(shutil.rmtree, settings.folder / "coming", ignore_errors=True)
        try:
            await asyncio.to_thread(work.resume, settings)
            await asyncio.to_thread(demonstration.begin, settings)
            async with (
                listening(settings, certificate, note) as address,
                _meanwhile(_tidied(settings, note)),
            ):
                if open_browser:
                    # One on the terminal goes on until somebody ends it, which nothing here waits for.
                    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
                await stop.wait()
                note(message("Ending; what is being sent stops in good order"))
                await asyncio.to_thread(work.stop_all, settings)
        finally:  # also where it can't listen: what was begun for a demonstration writes into a folder that is thrown away
            await asyncio.to_thread(work.stop_all, settings)


@contextlib.asynccontextmanager
async def listening(
    settings: ServeSettings, certificate: Certificate | None, note: Note
) -> AsyncIterator[str]:
    """The page for as long as the context lasts; gives the address by which it is opened, which it has told as well."""
    link = sessions.OneTimeLink()
    with _listening_socket(settings) as listener:
        settings = replace(settings, port=listener.getsockname()[1])
        address = _address(settings, certificate)

        def tell_link(token: str) -> str:
            opened = f"{address}/open?token={token}"
            note(message("Open the page by this link, once: {link}", link=opened))
            return opened

        app = application(settings, link, certificate.names if certificate else ())
        app[sessions.TELL_LINK] = tell_link
        runner = web.AppRunner(app, shutdown_timeout=_GRACE_SECONDS)
        await runner.setup()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: Connection(
                cast("web.Server", runner.server), loop=loop, access_log=_silent(), logger=_silent(),
                keepalive_timeout=_KEEPALIVE_SECONDS, max_line_size=_LINE, max_field_size=_HEADER,
            ),
            sock=listener, ssl=certificate.context if certificate else None,
        )  # fmt: skip
        try:
            note(message("The page is served on {address}; Ctrl-C ends it", address=address))
            if settings.names:
                proxied = _address(replace(settings, names=()), None)
                note(message("It waits for the proxy on {address}", address=proxied))
            by_link = settings.loopback and not accounts.any_account(settings.folder)
            async with _meanwhile(_renewed(settings, certificate, note)):
                yield tell_link(link.fresh()) if by_link else address
        finally:
            server.close()
            await runner.cleanup()


@contextlib.asynccontextmanager
async def _meanwhile(does: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Do something beside, for as long as the context lasts."""
    task = asyncio.create_task(does)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _tidied(settings: ServeSettings, note: Note) -> None:
    """Take out what is older than is kept, now and once a day."""
    while True:
        for title in await asyncio.to_thread(months.forget_old, settings.folder, settings.keep_days):
            note(
                message(
                    "Taken out, as nobody has changed it for {days} days: {title}",
                    days=settings.keep_days,
                    title=title,
                )
            )
        await asyncio.to_thread(work.forget_old, settings.folder, settings.keep_days)
        await asyncio.sleep(_DAY)


async def _renewed(settings: ServeSettings, certificate: Certificate | None, note: Note) -> None:
    """Take a certificate that is renewed in its place."""
    if certificate and settings.certificate and settings.key:
        await keep_fresh(certificate, settings.certificate, settings.key, note)


_DAY = 24 * 60 * 60


def _listening_socket(settings: ServeSettings) -> socket.socket:
    host = "127.0.0.1" if settings.host.lower() == "localhost" else settings.host
    six = ":" in host
    try:
        return socket.create_server(
            (host, settings.port),
            family=socket.AF_INET6 if six else socket.AF_INET,
            dualstack_ipv6=host == "::",
        )
    except (OSError, OverflowError) as error:
        problem = (
            message("no such name or address")
            if isinstance(error, socket.gaierror)
            else Message(os.strerror(getattr(error, "errno", 0) or 0))
        )
        raise InputProblem(
            "{host}:{port} can't be listened on ({problem}): end what listens there, or choose another --listen",
            host=host,
            port=settings.port,
            problem=problem,
        ) from None


def _address(settings: ServeSettings, certificate: Certificate | None) -> str:
    """The address to call the page by: a name of its certificate or its proxy, where it listens on more than one address."""
    if settings.names:
        return f"https://{settings.names[0]}"
    host = settings.host
    if certificate and certificate.names and (host in {"0.0.0.0", "::"} or host not in certificate.names):  # noqa: S104 - compared
        host = certificate.names[0]
    if ":" in host:
        host = f"[{host}]"
    return f"{'https' if settings.tls else 'http'}://{host}:{settings.port}"


def _silent() -> logging.Logger:
    """What aiohttp logs is about what strangers send, which is nobody's business; what is ours is logged by `defects`."""
    logger = logging.getLogger("voucher.serve")
    logger.disabled = True
    return logger


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which dies with the process. Raises InputProblem where another server has it."""
    private_folder(folder)
    handle = os.open(folder / "serve.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputProblem(
                "{folder}: another voucher serve serves this ledger's page already; use that one, or end it first",
                folder=str(folder),
            ) from None
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def _stop_asked() -> Iterator[asyncio.Event]:
    """Give an event that the first SIGINT, SIGTERM or SIGHUP sets; what was ignored on purpose (`nohup`) stays ignored."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    caught = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    with as_before():
        for number in caught:
            loop.add_signal_handler(number, stop.set)
        try:
            yield stop
        finally:
            for number in caught:
                loop.remove_signal_handler(number)
