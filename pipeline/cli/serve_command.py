"""`voucher serve`."""

import asyncio
import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.cli.options import login
from pipeline.cli.stderr import asking, teller
from pipeline.cli.user_command import first_administrator
from pipeline.ledger.ledger_path import path_for
from pipeline.model.errors import InputProblem
from pipeline.model.job import NO_CARRIER, Job
from pipeline.model.server_address import is_server
from pipeline.page import accounts, demonstration, page_server
from pipeline.page.serve_settings import ServeSettings, page_folder
from pipeline.profile_file import load_profile
from pipeline.secret_keys import load_secrets


def serve(*, open_browser: bool, **given: Any) -> None:
    """Serve until it is ended."""
    tell = teller(given["lang"])
    with _settings(given) as settings:
        if not settings.loopback and asking() and settings.tls and not accounts.any_account(settings.folder):
            first_administrator(settings.folder, tell)
        asyncio.run(page_server.serve(settings, tell, open_browser=open_browser))


@contextlib.contextmanager
def _settings(given: dict[str, Any]) -> Iterator[ServeSettings]:
    """What the options ask for. A sandbox without a ledger has one that is thrown away at the end."""
    sandbox = given["sandbox"]
    if given["as_of"] and not sandbox:
        raise InputProblem("--as-of goes with --sandbox: a real month is judged on the day of today")
    as_of = given["as_of"].date() if given["as_of"] else None
    if sandbox and given["profile"] is None:
        given["profile"], as_of = demonstration.profile(), as_of or demonstration.DAY
    profile = load_profile(given["profile"])
    if not sandbox and not profile.carrier.base_url:
        raise InputProblem(NO_CARRIER)
    host, port = listen(given["listen"])
    with contextlib.ExitStack() as stack:
        if sandbox and given["ledger"] is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="voucher-page-"))
            given["ledger"] = str(Path(folder, "sandbox.ledger"))
        job = Job((), profile, None, ledger=given["ledger"], sandbox=sandbox)
        shared = is_server(given["ledger"] or "")
        yield ServeSettings(
            profile=profile,
            secrets=None if sandbox else load_secrets(),
            ledger=given["ledger"] if shared else str(path_for(job).absolute()),
            folder=page_folder(job),
            sandbox=sandbox,
            new_ledger=given["new_ledger"],
            as_of=as_of,
            keep_days=given["keep_days"],
            lang=given["lang"],
            login=login() or "voucher serve",
            host=host,
            port=port,
            certificate=given["certificate"],
            key=given["key"],
            names=tuple(
                name.strip().lower() for name in (given["behind_proxy"] or "").split(",") if name.strip()
            ),
        )


def listen(text: str) -> tuple[str, int]:
    """The host and the port of HOST:PORT. Raises InputProblem for anything else.

    >>> listen("0.0.0.0:8443"), listen("[::1]:80")
    (('0.0.0.0', 8443), ('::1', 80))
    """
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise InputProblem("--listen {text}: must be a host and a port, such as 127.0.0.1:8750", text=text)
    return host, int(port)
