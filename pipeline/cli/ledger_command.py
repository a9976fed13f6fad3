"""`voucher ledger ...`: its commands, done."""

import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from pipeline import maintenance
from pipeline.cli.stderr import asking, teller
from pipeline.ledger.integrity_check import Looked
from pipeline.ledger.opening import path_for
from pipeline.messages.chinese import in_language
from pipeline.messages.translate import status_word
from pipeline.model.columns import Lang
from pipeline.model.errors import InputProblem
from pipeline.model.job import Job
from pipeline.settings import load_profile


def check(*, lang: Lang, **given: Any) -> None:
    """Look at all of the ledger."""
    job = _job(given)
    looked, doubted, spilled = maintenance.looked_over(job)
    if doubted:
        teller(lang)(doubted)
    sound = not (looked.wrong or doubted)
    for line in _lines(path_for(job), looked, _states(looked.states, lang), spilled=spilled, sound=sound):
        click.echo("".join(c if c.isprintable() else " " for c in in_language(line, lang)))
    sys.exit(0 if sound and not looked.gap else 3)


def backup(path: Path, *, lang: Lang, **given: Any) -> None:
    """Copy the ledger to a file or into a folder."""
    teller(lang)(f"Backup: {maintenance.backed_up(_job(given), path)}")


def export(path: Path, *, lang: Lang, **given: Any) -> None:
    """Write all requests with their evidence to a workbook, for auditors."""
    job = _job(given)
    zone = job.profile.carrier.time_zone if given["profile"] else "UTC"
    teller(lang)(f"Export: {maintenance.exported(job, path, lang, zone)}")


def move_carrier(*, by: str, why: str, yes: bool, lang: Lang, **given: Any) -> None:
    """Follow the carrier to its new address."""

    def confirmed(text: str) -> bool:
        return yes or not asking() or click.confirm(in_language(f"{text}. Move it?", lang), err=True)

    tell = teller(lang)
    done = maintenance.moved(_job(given), tell, why, by, confirmed)
    tell(done or "Nothing was changed.")
    sys.exit(0 if done else 3)


def mark_gap(
    *, since: datetime | None, by: str, why: str, lang: Lang, nothing_missing: bool, **given: Any
) -> None:
    """Say that the ledger may lack something."""
    if nothing_missing and since:
        raise click.UsageError(
            in_language("--since says what is missing, --nothing-missing that nothing is", lang)
        )
    tell = teller(lang)
    if nothing_missing:
        tell(maintenance.nothing_missing(_job(given), tell, by, why))
    else:
        tell(maintenance.gap_marked(_job(given), tell, since, why))


def close_gap(*, by: str, evidence: str, yes: bool, lang: Lang, **given: Any) -> None:
    """Say that the ledger lacks nothing after all."""

    def confirmed(text: str) -> bool:
        if not yes and not asking():
            raise InputProblem(f"{text}, and nothing was changed; to close it all the same, say --yes")
        return yes or click.confirm(in_language(f"{text}. Close it?", lang), err=True)

    tell = teller(lang)
    done = maintenance.gap_closed(_job(given), tell, by, evidence, confirmed)
    tell(done or "Nothing was changed.")
    sys.exit(0 if done else 3)


def withdraw(entry: str, *, by: str, why: str, lang: Lang, **given: Any) -> None:
    """Say that evidence was given by mistake."""
    tell = teller(lang)
    for line in maintenance.withdrawn(_job(given), tell, entry, by, why):
        tell(line)


def reverse(  # noqa: PLR0913 - what a reversal is made of
    number: str, *, by: str, evidence: str, red_number: str, voucher: str | None, lang: Lang, **given: Any
) -> None:
    """Say that the carrier has reversed a voucher (red invoice)."""
    tell = teller(lang)
    for line in maintenance.voucher_reversed(
        _job(given), tell, number.strip(), by, evidence, voucher or "", red_number.strip()
    ):
        tell(line)


def _job(given: dict[str, Any]) -> Job:
    return Job((), load_profile(given["profile"]), None, ledger=given["ledger"], sandbox=given["sandbox"])


#: States in which an attempt does not end: all others are statuses of rows too.
_UNDER_WAY = {"planned": "已计划", "sending": "发送中"}


def _states(states: Mapping[str, int], lang: Lang) -> str:
    """How many attempts are in which state, in words."""
    if lang == "en":
        return ", ".join(f"{count} {state}" for state, count in states.items())
    words = {state: _UNDER_WAY.get(state) or status_word(state, lang) for state in states}
    return "、".join(f"{count} 次{words[state]}" for state, count in states.items())


def _lines(path: Path, looked: Looked, states: str, *, spilled: bool, sound: bool) -> Iterator[str]:
    """What `check` prints."""
    yield f"Ledger: {path}"
    yield f"Carrier: {looked.base_url} as agency {looked.agency}; version {looked.version}; runs: {looked.runs}"
    yield f"Attempts: {states or 'none'}"
    if looked.open_since:
        yield f"A run that began at {looked.open_since} is on, or was killed; the next run puts it in order"
    elif spilled:
        yield f"Outcomes that the ledger could not take wait in {path.name}.spill; the next run takes them in"
    if looked.gap:
        yield (
            f"Gap: it may lack what was issued after {looked.gap.since} ({looked.gap.why}); nothing is sent until"
            " voucher ledger close-gap"
        )
    if sound:
        yield "Sound but for what it may lack" if looked.gap else "Sound: nothing is wrong with it"
    if not looked.wrong:
        return
    yield from (f"WRONG: {line}" for line in looked.wrong)
    yield "Send nothing with it. Restore its backup, and settle what was issued since (README, The ledger)"
