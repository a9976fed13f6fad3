"""`voucher sandbox`."""

import asyncio
from typing import Any

from pipeline.cli.stderr import teller
from pipeline.model.job import SandboxJob
from pipeline.profile_file import load_profile
from pipeline.run.sandbox_service import serve_until_ended
from pipeline.secret_keys import load_secrets


def sandbox(**given: Any) -> None:
    """Serve until it is ended."""
    profile, keys = load_profile(given["profile"]), load_secrets()
    as_of = given["as_of"].date() if given["as_of"] else None
    carrier = SandboxJob(
        profile,
        keys,
        given["tickets"],
        given["port"],
        given["faults"],
        given["statement"],
        as_of,
        given["columns"],
        given["deliver_to"],
    )
    tell = teller(given["lang"])
    tell(asyncio.run(serve_until_ended(carrier, tell)))
