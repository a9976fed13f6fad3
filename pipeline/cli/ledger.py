"""`voucher ledger ...`: what a team does with its one ledger beside issuing."""

import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli.notice import asking
from pipeline.cli.options import (
    LEDGER,
    PATH,
    PROFILE,
    SANDBOX_LEDGER,
    by,
    filled,
    options,
)
from pipeline.cli.stderr import LANG, teller
from pipeline.messages.chinese import in_language
from pipeline.messages.reasons import status_word
from pipeline.model.columns import Lang

if TYPE_CHECKING:
    from pipeline.ledger.integrity_check import Looked
    from pipeline.model.job import Job

_WHERE = options(PROFILE, LEDGER, SANDBOX_LEDGER, LANG)
_TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"]


@click.group(name="ledger")
def ledger_commands() -> None:
    """Look the ledger over, back it up, export it for auditors, move it with its carrier, mend its memory."""


@ledger_commands.command(epilog="Example: voucher ledger check --profile carrier.toml")
@_WHERE
def check(*, lang: Lang, **given: Any) -> None:
    """Look at all of the ledger.

    Exit code 3 if anything is wrong with it, or it may lack something: a gap is open, or it may be an older copy. A run may be on.
    """
    from pipeline import maintenance  # noqa: PLC0415 - start-up
    from pipeline.ledger.opening import path_for  # noqa: PLC0415 - likewise

    job = _job(given)
    looked, doubted, spilled = maintenance.looked_over(job)
    if doubted:
        teller(lang)(doubted)
    sound = not (looked.wrong or doubted)
    for line in _lines(path_for(job), looked, _states(looked.states, lang), spilled=spilled, sound=sound):
        click.echo("".join(c if c.isprintable() else " " for c in in_language(line, lang)))
    sys.exit(0 if sound and not looked.gap else 3)


@ledger_commands.command(epilog="Example: voucher ledger backup /backups --profile carrier.toml")
@click.argument("path", type=PATH, metavar="PATH")
@_WHERE
def backup(path: Path, *, lang: Lang, **given: Any) -> None:
    """Copy the ledger to a file or into a folder.

    In a folder its name has the time. A run may be on.

    The copy knows that it lacks what is issued from now on: after restoring it nothing is sent until
    `voucher ledger close-gap`.
    """
    from pipeline import maintenance  # noqa: PLC0415 - start-up

    teller(lang)(f"Backup: {maintenance.backed_up(_job(given), path)}")


@ledger_commands.command(
    epilog="Example: voucher ledger export audit-2026.xlsx --profile carrier.toml --lang zh"
)
@click.argument("path", type=PATH, metavar="OUT.xlsx")
@_WHERE
def export(path: Path, *, lang: Lang, **given: Any) -> None:
    """Write all requests with their evidence to a workbook, for auditors.

    Nothing is overwritten: where the name is taken, a number is added. Times are the carrier's (the profile's time_zone), or
    UTC where no profile is given. The workbook names buyers; keep it as the ledger is kept. A run may be on.
    """
    from pipeline import maintenance  # noqa: PLC0415 - start-up

    job = _job(given)
    zone = job.profile.carrier.time_zone if given["profile"] else "UTC"
    teller(lang)(f"Export: {maintenance.exported(job, path, lang, zone)}")


@ledger_commands.command(
    name="move-carrier",
    epilog='Example: voucher ledger move-carrier --profile carrier.toml --ledger october.ledger --why "new host name"',
)
@_WHERE
@by("Who says so")
@click.option("--why", required=True, callback=filled, help="Why, for whoever audits the ledger.")
@click.option("-y", "--yes", is_flag=True, help="Move without asking; without a terminal it never asks.")
def move_carrier(*, by: str, why: str, yes: bool, lang: Lang, **given: Any) -> None:
    """Follow the carrier to its new address.

    The new address is the profile's (base_url, agency); the move is recorded in the ledger.
    Name the ledger with --ledger. One in its default place is renamed to the new address's default.
    """
    from pipeline import maintenance  # noqa: PLC0415 - start-up

    def confirmed(text: str) -> bool:
        return yes or not asking() or click.confirm(in_language(f"{text}. Move it?", lang), err=True)

    tell = teller(lang)
    done = maintenance.moved(_job(given), tell, why, by, confirmed)
    tell(done or "Nothing was changed.")
    sys.exit(0 if done else 3)


@ledger_commands.command(
    name="mark-gap",
    epilog='Example: voucher ledger mark-gap --ledger restored.ledger --since 2026-11-20 --why "restored copy"',
)
@_WHERE
@by("Who says so")
@click.option(
    "--since",
    type=click.DateTime(_TIMES),
    help="From when on vouchers may be missing, your local time; default: the start of a run whose -wal is lost.",
)
@click.option(
    "--nothing-missing",
    is_flag=True,
    help="Say that nothing is missing: the ledger was moved, it is used nowhere else, and this is its latest state.",
)
@click.option("--why", required=True, callback=filled, help="Why, for whoever audits the ledger.")
def mark_gap(
    *, since: datetime | None, by: str, why: str, lang: Lang, nothing_missing: bool, **given: Any
) -> None:
    """Say that the ledger may lack something.

    Nothing is sent until close-gap.
    For a ledger that was restored from a plain copy, whose -wal is lost for good, or that was moved without its .lock.
    """
    from pipeline import maintenance  # noqa: PLC0415 - start-up

    if nothing_missing and since:
        raise click.UsageError(
            in_language("--since says what is missing, --nothing-missing that nothing is", lang)
        )
    tell = teller(lang)
    if nothing_missing:
        tell(maintenance.nothing_missing(_job(given), tell, by, why))
    else:
        tell(maintenance.gap_marked(_job(given), tell, since, why))


@ledger_commands.command(
    name="close-gap",
    epilog='Example: voucher ledger close-gap --ledger restored.ledger --evidence "statement of 21 Nov: nothing after the 20th"',
)
@_WHERE
@by("Who compared")
@click.option(
    "--evidence",
    required=True,
    callback=filled,
    help="What the carrier's complete statement over that time showed.",
)
@click.option("-y", "--yes", is_flag=True, help="Close it without asking; without a terminal it never asks.")
def close_gap(*, by: str, evidence: str, yes: bool, lang: Lang, **given: Any) -> None:
    """Say that the ledger lacks nothing after all.

    The carrier's complete statement over the time showed that; it is recorded in the ledger.
    If the statement shows vouchers that `voucher history` does not, don't: they would be issued again.
    Where no statement that voucher reconcile was given since has shown anything that the ledger lacked, it says so, and asks.
    """
    from pipeline import maintenance  # noqa: PLC0415 - start-up

    def confirmed(text: str) -> bool:
        return yes or not asking() or click.confirm(in_language(f"{text}. Close it?", lang), err=True)

    tell = teller(lang)
    done = maintenance.gap_closed(_job(given), tell, by, evidence, confirmed)
    tell(done or "Nothing was changed.")
    sys.exit(0 if done else 3)


@ledger_commands.command(
    epilog='Example: voucher ledger withdraw S12 --profile carrier.toml --why "the statement of the wrong month"'
)
@click.argument("entry", metavar="ENTRY")
@_WHERE
@by("Who says so")
@click.option("--why", required=True, callback=filled, help="Why, for whoever audits the ledger.")
def withdraw(entry: str, *, by: str, why: str, lang: Lang, **given: Any) -> None:
    """Say that evidence was given by mistake.

    ENTRY is its name in `voucher history`: a settlement (S12), what a statement showed (E7), a reversal (R3). It stays in
    the ledger, marked. A request whose settlement is withdrawn is unknown again, and takes other evidence.
    """
    from pipeline import maintenance  # noqa: PLC0415 - start-up

    tell = teller(lang)
    for line in maintenance.withdrawn(_job(given), tell, entry, by, why):
        tell(line)


@ledger_commands.command(
    epilog='Example: voucher ledger reverse 26110000000000000001 --profile carrier.toml --evidence "red invoice of 3 Dec"'
)
@click.argument("number", metavar="NUMBER")
@_WHERE
@by("Who says so")
@click.option(
    "--evidence", required=True, callback=filled, help="What shows that the carrier has reversed it."
)
@click.option(
    "--red-number", default="", metavar="NUMBER", help="The number of what reversed it, where it is known."
)
@click.option(
    "--voucher", type=click.Choice(["invoice", "itinerary"]), default=None,
    help="The kind of voucher, where both have that number.",
)  # fmt: skip
def reverse(  # noqa: PLR0913 - what a reversal is made of
    number: str, *, by: str, evidence: str, red_number: str, voucher: str | None, lang: Lang, **given: Any
) -> None:
    """Say that the carrier has reversed a voucher (red invoice).

    Its charges may then be issued again, by `voucher issue`, under a new number. If it was not reversed, they would be
    issued twice: ask the carrier first.
    """
    from pipeline import maintenance  # noqa: PLC0415 - start-up

    tell = teller(lang)
    for line in maintenance.voucher_reversed(
        _job(given), tell, number.strip(), by, evidence, voucher or "", red_number.strip()
    ):
        tell(line)


def _job(given: dict[str, Any]) -> "Job":
    from pipeline.model.job import Job  # noqa: PLC0415 - start-up
    from pipeline.settings import load_profile  # noqa: PLC0415 - likewise

    return Job((), load_profile(given["profile"]), None, ledger=given["ledger"], sandbox=given["sandbox"])


#: States in which an attempt does not end: all others are statuses of rows too.
_UNDER_WAY = {"planned": "已计划", "sending": "发送中"}


def _states(states: Mapping[str, int], lang: Lang) -> str:
    """How many attempts are in which state, in words."""
    if lang == "en":
        return ", ".join(f"{count} {state}" for state, count in states.items())
    words = {state: _UNDER_WAY.get(state) or status_word(state, lang) for state in states}
    return "、".join(f"{count} 次{words[state]}" for state, count in states.items())


def _lines(path: Path, looked: "Looked", states: str, *, spilled: bool, sound: bool) -> Iterator[str]:
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
