"""The run that options ask for: options, then environment, then profile."""

from dataclasses import replace
from typing import Any

from pipeline.cli.options import login
from pipeline.model.errors import InputProblem
from pipeline.model.job import NO_CARRIER, Job
from pipeline.model.profile import Secrets
from pipeline.profile_file import load_profile
from pipeline.secret_keys import load_secrets


def job_from(given: dict[str, Any], *, needs_keys: bool | None) -> Job:
    """The run that the options ask for: options, then environment, then profile; `needs_keys` as in `_secrets`."""
    profile = load_profile(given["profile"])
    if needs_keys is not None and not given["sandbox"] and not profile.carrier.base_url:
        raise InputProblem(NO_CARRIER)
    submission = profile.submission
    if given["concurrency"] is not None:
        submission = replace(submission, concurrency=given["concurrency"])
    if given["rate"] is not None:
        submission = replace(submission, rate_per_second=given["rate"])
    if given["sandbox_statement"] and not given["sandbox"]:
        raise InputProblem("--sandbox-statement goes with --sandbox")
    if given.get("deliver_to") and not given["sandbox"]:
        raise InputProblem("--deliver-to goes with --sandbox")
    return Job(
        inputs=given["workbooks"],
        profile=replace(profile, submission=submission),
        secrets=None if needs_keys is None or given["sandbox"] else _secrets(needed=needs_keys),
        ledger=given["ledger"],
        new_ledger=given["new_ledger"],
        as_of=given["as_of"].date() if given["as_of"] else None,
        buyers=given["buyers"],
        columns=given["columns"],
        output=given["output"],
        report=given["report"],
        lang=given["lang"],
        sandbox=given["sandbox"],
        statement=given["sandbox_statement"],
        deliver_to=given.get("deliver_to"),
        clock_right_by=(given.get("by") or login() or "--clock-is-right")
        if given.get("clock_is_right")
        else "",
        operator=given.get("by") or login(),
    )


def ledger_job(given: dict[str, Any]) -> Job:
    """What a command is about that is about a ledger alone; one that several machines share is no sandbox's."""
    return Job(
        (), load_profile(given["profile"]), None, ledger=given["ledger"], sandbox=given.get("sandbox", False)
    )


def _secrets(*, needed: bool) -> Secrets | None:
    """The keys; None where they are not set and nothing is sent. What a killed run left may take them to be read."""
    try:
        return load_secrets()
    except InputProblem:
        if needed:
            raise
        return None
