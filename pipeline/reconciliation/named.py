"""The evidence that is named on the command line, read whole and checked before anything is changed."""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from pipeline.bookkeeping import OpenLedger, as_problem
from pipeline.errors import InputProblem
from pipeline.evidence import Answer, Complete, Statement
from pipeline.job import Task, today
from pipeline.ledger import issued
from pipeline.reading.resolved import read_answers
from pipeline.reading.statements import read_statement
from pipeline.reconciliation.month import month_of

#: What a clock may be put back by without anybody's doing.
_CLOCK_MAY_SLIP = datetime.timedelta(minutes=5)


@dataclass(frozen=True)
class Named:
    """The evidence that was named on the command line, read whole."""

    statements: tuple[Statement, ...]
    answers: tuple[Answer, ...]
    complete: Complete | None


def named_evidence(task: Task) -> Named:
    """Read the statements and answers that were named. Raises InputProblem; nothing was changed then."""
    job = task.job
    month_of(task.month)
    statements = tuple(read_statement(path, job.profile.codes) for path in _each_once(task.statements))
    answers = tuple(answer for path in _each_once(task.resolved) for answer in read_answers(path))
    return Named(statements, answers, _complete(task, statements))


def _each_once(paths: Sequence[Path]) -> list[Path]:
    return list({path.resolve(): path for path in paths}.values())


def _complete(task: Task, statements: Sequence[Statement]) -> Complete | None:
    """The time that the statements are said to be complete for, as times of the carrier's days."""
    if not task.complete:
        return None
    if not statements:
        raise InputProblem(
            "--statement-complete goes with --statement: it is said of a statement that is named"
        )
    found = re.fullmatch(r"(20\d{2}-\d{2}-\d{2})\.\.(20\d{2}-\d{2}-\d{2})", task.complete)
    try:
        first, last = (datetime.date.fromisoformat(day) for day in found.groups()) if found else (None, None)
    except ValueError:
        first = last = None
    if first is None or last is None or first > last:
        raise InputProblem(
            f"--statement-complete {task.complete}: is not a time FROM..TO; write it like 2026-10-01..2026-10-31"
        )
    profile = task.job.profile
    if last > today(profile):
        raise InputProblem(
            f"--statement-complete {task.complete}: no statement is complete for days to come; today is {today(profile)}"
        )
    zone = ZoneInfo(profile.carrier.time_zone)
    since = datetime.datetime.combine(first, datetime.time(), zone)
    until = datetime.datetime.combine(last + datetime.timedelta(days=1), datetime.time(), zone)
    return Complete(since, until, task.complete)


def check_evidence(task: Task, ledger: OpenLedger, named: Named) -> None:
    """Refuse what can't be evidence about this ledger. Raises InputProblem; nothing was changed then."""
    with as_problem(ledger.path):
        latest = issued.latest_time(ledger.connection)
    now = datetime.datetime.now(datetime.UTC)
    if not task.clock_is_right and latest and datetime.datetime.fromisoformat(latest) - now > _CLOCK_MAY_SLIP:
        raise InputProblem(
            f"This machine's clock says {now:%Y-%m-%d %H:%M} UTC, and the ledger's last entry is of {latest[:16].replace('T', ' ')}"
            " UTC; nothing was changed. Set the clock right, or say --clock-is-right if that entry was made by a wrong one"
        )
    for statement in named.statements:
        check_made(statement)
    check_ledger(ledger, named.answers)


def check_made(statement: Statement) -> None:
    """Refuse a statement from the future: of what it does not list it would prove too much. Raises InputProblem."""
    if statement.made - datetime.datetime.now(datetime.UTC) > _CLOCK_MAY_SLIP:
        raise InputProblem(
            f"{statement.name}: was made at {statement.made:%Y-%m-%d %H:%M} UTC, which is still to come by this machine's"
            " clock; set the clock right, or save the statement again"
        )


def check_ledger(ledger: OpenLedger, answers: Sequence[Answer]) -> None:
    """Refuse answers about another ledger. Raises InputProblem."""
    for answer in answers:
        if answer.ledger_id != ledger.ledger_id:
            raise InputProblem(
                f"{answer.place}: is an answer about another ledger ({answer.ledger_id or 'not named'}), not about this one"
                f" ({ledger.ledger_id}); nothing was changed. Name that ledger with --ledger"
            )
