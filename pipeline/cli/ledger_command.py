"""What each `voucher ledger ...` does; `ledger_subcommands` has their arguments, options and help."""

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from pipeline.cli.job_options import ledger_job
from pipeline.cli.stderr import asking, teller
from pipeline.cli.stdout import print_lines
from pipeline.ledger.reversals import SaidReversed
from pipeline.messages.translate import rendered
from pipeline.model.columns import Lang
from pipeline.model.errors import InputProblem
from pipeline.model.exit_code import ExitCode
from pipeline.model.message import Message, message
from pipeline.run import ledger_maintenance
from pipeline.run.ledger_check_text import check_lines


def check(*, lang: Lang, **given: Any) -> None:
    """Look at all of the ledger."""
    found = ledger_maintenance.looked_over(ledger_job(given))
    if found.doubted:
        teller(lang)(found.doubted)
    print_lines(rendered(line, lang) for line in check_lines(found))
    sys.exit(ExitCode.STOPPED.where(found.looked.gap or not found.sound))


def backup(path: Path, *, lang: Lang, **given: Any) -> None:
    """Copy the ledger to a file or into a folder."""
    copy = ledger_maintenance.backed_up(ledger_job(given), path)
    teller(lang)(message("Backup: {path}", path=str(copy)))


def move_carrier(*, by: str, why: str, yes: bool, lang: Lang, **given: Any) -> None:
    """Follow the carrier to its new address."""

    def confirmed(text: Message) -> bool:
        question = rendered(message("{text}. Move it?", text=text), lang)
        return yes or not asking() or click.confirm(question, err=True)

    tell = teller(lang)
    done = ledger_maintenance.moved(ledger_job(given), tell, why, by, confirmed)
    tell(done or message("Nothing was changed."))
    sys.exit(ExitCode.STOPPED.where(not done))


def mark_gap(
    *, since: datetime | None, by: str, why: str, lang: Lang, nothing_missing: bool, **given: Any
) -> None:
    """Say that the ledger may lack something."""
    if nothing_missing and since:
        raise click.UsageError(
            rendered(message("--since says what is missing, --nothing-missing that nothing is"), lang)
        )
    tell = teller(lang)
    if nothing_missing:
        tell(ledger_maintenance.nothing_missing(ledger_job(given), tell, by, why))
    else:
        tell(ledger_maintenance.gap_marked(ledger_job(given), tell, since, why))


def close_gap(*, by: str, evidence: str, yes: bool, lang: Lang, **given: Any) -> None:
    """Say that the ledger lacks nothing after all."""

    def confirmed(text: Message) -> bool:
        if not yes and not asking():
            raise InputProblem(
                "{text}, and nothing was changed; to close it all the same, say --yes", text=text
            )
        return yes or click.confirm(rendered(message("{text}. Close it?", text=text), lang), err=True)

    tell = teller(lang)
    done = ledger_maintenance.gap_closed(ledger_job(given), tell, by, evidence, confirmed)
    tell(done or message("Nothing was changed."))
    sys.exit(ExitCode.STOPPED.where(not done))


def withdraw(entry: str, *, by: str, why: str, lang: Lang, **given: Any) -> None:
    """Say that evidence was given by mistake."""
    tell = teller(lang)
    for line in ledger_maintenance.withdrawn(ledger_job(given), tell, entry, by, why):
        tell(line)


def reverse(number: str, *, lang: Lang, **given: Any) -> None:
    """Say that the carrier has reversed a voucher (red invoice)."""
    tell, voucher, red = teller(lang), given["voucher"] or "", given["red_number"].strip()
    said = SaidReversed(number.strip(), given["by"], given["evidence"], voucher, red)
    for line in ledger_maintenance.voucher_reversed(ledger_job(given), tell, said):
        tell(line)
