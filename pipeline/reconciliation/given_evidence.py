"""The evidence that is named on the command line, read whole and checked before anything is changed."""

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from zoneinfo import ZoneInfo

from pipeline.ledger import clock
from pipeline.ledger.read_ledger import ReadLedger
from pipeline.model.errors import InputProblem
from pipeline.model.evidence import Answer, Complete, Statement
from pipeline.model.job import Task, today
from pipeline.model.known_charges import KnownCharge
from pipeline.model.message import message
from pipeline.model.request import Identity
from pipeline.reading.statement import read_statement
from pipeline.reading.unknown_answers import read_answers
from pipeline.settlement.compare import Period
from pipeline.settlement.voucher_numbers import check_kinds

_KINDS = {"invoice": "invoice", "发票": "invoice", "itinerary": "itinerary", "行程单": "itinerary"}


@dataclass(frozen=True)
class Named:
    """The evidence that was named on the command line, read whole."""

    statements: tuple[Statement, ...]
    answers: tuple[Answer, ...]
    complete: tuple[Complete, ...]


def named_evidence(task: Task) -> Named:
    """Read the statements and answers that were named, beside the answers that were given. Raises InputProblem; nothing was changed then."""
    job = task.job
    month_of(task.month)
    made = _said_made(task)
    read = (read_statement(path, job.profile) for path in _each_once(task.statements))
    statements = tuple(
        replace(one, said_made=min(filter(None, (one.said_made, made)), default=None)) for one in read
    )
    answers = tuple(answer for path in _each_once(task.resolved) for answer in read_answers(path))
    return Named(
        statements, (*answers, *task.answers), tuple(_complete(task, text) for text in task.complete)
    )


def month_of(text: str) -> Period | None:
    """A month as its days. Raises InputProblem for what is no month."""
    if not text:
        return None
    try:
        first = datetime.date.fromisoformat(f"{text}-01") if re.fullmatch(r"20\d{2}-\d{2}", text) else None
    except ValueError:
        first = None
    if first is None:
        raise InputProblem("--month {text}: is not a month; write it like 2026-10", text=text)
    following = (first + datetime.timedelta(days=31)).replace(day=1)
    return Period(first, following - datetime.timedelta(days=1))


def _each_once(paths: Sequence[Path]) -> list[Path]:
    return list({path.resolve(): path for path in paths}.values())


def _said_made(task: Task) -> datetime.datetime | None:
    """When the statements were made, as whoever brings them says it: a time without a zone is the carrier's."""
    if not task.made:
        return None
    if not task.statements:
        raise InputProblem(
            "--statement-made goes with --statement: it is said of the statements that are named"
        )
    try:
        made = datetime.datetime.fromisoformat(task.made) if re.match(r"20.*\d[T ]\d", task.made) else None
    except ValueError:
        made = None
    if made is None:
        raise InputProblem(
            "--statement-made {made}: is not a time; write it like 2026-11-01T09:30 (where the carrier is), or with its"
            " time zone like 2026-11-01T09:30+08:00",
            made=task.made,
        )
    made = made if made.tzinfo else made.replace(tzinfo=ZoneInfo(task.job.profile.carrier.time_zone))
    if made - datetime.datetime.now(datetime.UTC) > clock.MAY_SLIP:
        raise InputProblem(
            "--statement-made {made}: is still to come by this machine's clock; set the clock right, or say when they were made",
            made=task.made,
        )
    return made


def _complete(task: Task, text: str) -> Complete:
    """The kind and time that the statements are said to be complete for, as times of the carrier's days."""
    if not task.statements:
        raise InputProblem(
            "--statement-complete goes with --statement: it is said of a statement that is named"
        )
    kind, colon, days = text.rpartition(":")
    found = re.fullmatch(r"(20\d{2}-\d{2}-\d{2})\.\.(20\d{2}-\d{2}-\d{2})", days)
    try:
        spoken = [datetime.date.fromisoformat(day) for day in found.groups()] if found else []
    except ValueError:
        spoken = []
    if not spoken:
        raise InputProblem(
            "--statement-complete {text}: is not a time [KIND:]FROM..TO; write it like invoice:2026-10-01..2026-10-31",
            text=text,
        )
    first, last = spoken
    if first > last:
        raise InputProblem(
            "--statement-complete {text}: its two days are swapped; write the earlier one first, like"
            " invoice:2026-10-01..2026-10-31",
            text=text,
        )
    if colon and kind.strip().casefold() not in _KINDS:
        raise InputProblem(
            "--statement-complete {text}: is of no kind of voucher that is known; write invoice (发票) or itinerary (行程单)",
            text=text,
        )
    profile = task.job.profile
    if last > today(profile):
        raise InputProblem(
            "--statement-complete {text}: no statement is complete for days to come; today is {today}",
            text=text,
            today=str(today(profile)),
        )
    since, until = Period(first, last).times(profile.carrier.time_zone)
    return Complete(since, until, text, _KINDS[kind.strip().casefold()] if colon else "")


def check_evidence(ledger: ReadLedger, named: Named) -> None:
    """Refuse what can't be evidence about this ledger. Raises InputProblem; nothing was changed then."""
    for statement in named.statements:
        check_statement(statement, ledger)
    check_ledger(ledger, named.answers)


def check_statement(statement: Statement, ledger: ReadLedger) -> None:
    """Refuse a statement that is not what it says it is. Raises InputProblem; nothing was recorded then.

    One from the future would prove too much by what it does not list; one that calls invoices itineraries, or the other
    way round, would hold charges under the wrong kind for good.
    """
    check_kinds(statement, listed_holdings(statement, ledger))
    made = max(filter(None, (statement.written, statement.said_made))).astimezone(datetime.UTC)
    if made - datetime.datetime.now(datetime.UTC) > clock.MAY_SLIP:
        raise InputProblem(
            "{file}: was made at {made} UTC, which is still to come by this machine's clock; set the clock right, or save the"
            " statement again",
            file=statement.name,
            made=f"{made:%Y-%m-%d %H:%M}",
        )


def listed_holdings(statement: Statement, ledger: ReadLedger) -> Mapping[Identity, KnownCharge]:
    """What the ledger holds of the tickets that a statement lists."""
    return ledger.holdings(sorted({line.ticket_no for line in statement.lines})).held


def check_ledger(ledger: ReadLedger, answers: Sequence[Answer]) -> None:
    """Refuse answers about another ledger: about none of this one's epochs. Raises InputProblem."""
    known = ledger.epochs
    for answer in answers:
        if answer.ledger_id not in known:
            raise InputProblem(
                "{place}: is an answer about another ledger ({other}), not about this one ({this}); nothing was changed. Name that"
                " ledger with --ledger. If it was lost and this one restored in its place, what it asked is compared by the"
                " carrier's statement",
                place=answer.place,
                other=answer.ledger_id or message("not named"),
                this=known[-1],
            )
