"""What is done with a ledger that several machines share; `shared_ledger_subcommands` has arguments, options and help."""

import sys
from collections.abc import Callable
from typing import Any

import click

from pipeline.cli.job_options import ledger_job
from pipeline.cli.stderr import asking, teller
from pipeline.cli.stdout import print_lines
from pipeline.messages.translate import rendered
from pipeline.model.columns import Lang
from pipeline.model.errors import InputProblem
from pipeline.model.exit_code import ExitCode
from pipeline.model.message import Message, message
from pipeline.run import shared_ledger
from pipeline.run.shared_ledger import Times
from pipeline.run.worker_lines import worker_lines


def prepare(*, sql: bool, lang: Lang, **given: Any) -> None:
    """Make a new ledger, or print what makes it."""
    times = Times(given["send_within"], given["lease"], given["settle_after_hours"])
    job, tell = ledger_job(given), teller(lang)
    bounds = shared_ledger.bounds_for(job.profile, times)
    if sql:
        print_lines([shared_ledger.script(job, bounds)])
        tell(
            message(
                "Run it once in an empty database, as whoever is to own the ledger: psql -f FILE DATABASE"
            )
        )
        lines = shared_ledger.next_steps()
    else:
        lines = shared_ledger.prepared(job, bounds)
    for line in lines:
        tell(line)


def workers(*, everybody: bool, lang: Lang, **given: Any) -> None:
    """Print a line for each."""
    job = ledger_job(given)
    known, shut = shared_ledger.workers(job)
    zone = job.profile.carrier.time_zone if given["profile"] else "UTC"
    print_lines(worker_lines(known, lang, zone, ended=everybody))
    if shut:
        teller(lang)(shut)


def declare_dead(worker: str, *, by: str, how: str, yes: bool, lang: Lang, **given: Any) -> None:
    """Say that a worker was seen dead."""
    question = message("Is it dead?")
    done = shared_ledger.declared_dead(
        ledger_job(given), worker, (by, how), _confirmed(question, lang, yes=yes)
    )
    teller(lang)(done or message("Nothing was changed."))
    sys.exit(ExitCode.STOPPED.where(not done))


def vouch(workers: tuple[str, ...], *, by: str, why: str, yes: bool, lang: Lang, **given: Any) -> None:
    """Say for silent workers that nothing is missing; without any, how it stands."""
    tell, job = teller(lang), ledger_job(given)
    if not workers:
        is_open, lines = shared_ledger.vouching(job)
        for line in lines:
            tell(line)
        sys.exit(ExitCode.STOPPED.where(not is_open))
    if not why.strip():
        raise InputProblem("--why is missing: from what do you know that nothing is missing?")
    question = message("Is nothing missing?")
    is_open, done = shared_ledger.vouched(job, workers, (by, why), _confirmed(question, lang, yes=yes))
    tell(done or message("Nothing was changed."))
    sys.exit(ExitCode.STOPPED.where(not is_open))


def _confirmed(question: Message, lang: Lang, *, yes: bool) -> Callable[[Message], bool]:
    """Says what something means, and asks whether it is so; without a terminal it is so only where --yes says it."""

    def confirmed(meaning: Message) -> bool:
        if not yes and not asking():
            raise InputProblem(
                "{meaning}. Nothing was changed; if it is so, say it with --yes", meaning=meaning
            )
        teller(lang)(meaning)
        return yes or click.confirm(rendered(question, lang), err=True)

    return confirmed
