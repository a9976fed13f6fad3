"""`voucher worker`."""

from dataclasses import replace
from typing import Any

from pipeline.cli.console import Terminal
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.profile_file import load_profile
from pipeline.secret_keys import load_secrets


def worker(**given: Any) -> None:
    """Take part until it is stopped."""
    try:
        from pipeline.run.worker import take_part  # noqa: PLC0415 - takes an extra
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("psycopg"):
            raise
        raise InputProblem(
            "a ledger on a PostgreSQL server takes the extra postgresql: pip install 'voucher-pipeline[postgresql]'"
        ) from None
    profile = load_profile(given["profile"])
    if given["concurrency"] is not None:
        submission = replace(profile.submission, concurrency=given["concurrency"])
        profile = replace(profile, submission=submission)
    job = Job((), profile, load_secrets(), ledger=given["ledger"], lang=given["lang"])
    terminal = Terminal(quiet=given["quiet"], verbose=False, lang=given["lang"])
    with terminal.watch(yes=True) as watch:
        take_part(job, watch, once=given["once"])
