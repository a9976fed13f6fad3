"""A year of an office that runs `voucher reconcile` from cron, against a carrier with faults, and with kills.

Each month workbooks come to the inbox; in some nights the run is killed (SIGKILL), in the midst of sending or at any
other time; at the month's end the carrier's statement settles what is unknown, and what was not issued is sent again.
Some tickets are still open at first; their workbook is changed a month later. At the year's end is checked:

- nothing is on the carrier's statement twice, and the carrier was never asked again for what it had issued;
- every charge on the statement is issued in the ledger, under the same number, and the other way round;
- every charge of every workbook is issued, no outcome is unknown, and `voucher ledger check` finds nothing wrong.

How long a night takes is printed month by month: one that issues, one that finds nothing new, and the month's closing,
which compares a statement of everything since the year began. Two hours lie between two nights (the commands' clock is moved), a
month is a day or two.

    python -m tests.crash.simulated_year --months 12 --tickets 5000 --seed 1 [--folder FOLDER]

A violation names its seed; a seed repeats the workbooks, the faults' chances and the kills' plan, not the microsecond.
"""

import argparse
import datetime
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import apsw

from tests.crash.year_office import Line, Night, Office, around, day, lines

_WORKBOOKS = 3  # a month
_CLOSINGS = 4  # at most, until nothing is unknown
#: Below all charges and invoices of the year, and above them: by market, and of invoices the most that is allowed.
_LOWEST = {"domestic": "100", "international": "100"}
_HIGHEST = {"domestic": "10000", "international": "100000"}


@dataclass
class Month:
    """How long its nights took, in seconds, and how large the ledger was at its end."""

    issuing: float
    quiet: float
    closing: float
    attempts: int
    megabytes: float


@dataclass
class Year:
    """What a year came to."""

    charges: int = 0
    killed: int = 0
    settled: Counter[str] = field(default_factory=Counter)
    months: list[Month] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def live(
    folder: Path, months: int, tickets: int, seed: int, tell: Callable[[Month], None] = lambda _: None
) -> Year:
    """A year, or a part of one, and what was wrong at its end."""
    office, rng, year = Office(folder), Random(f"{seed}"), Year()
    open_lines: list[Line] = []
    # What a statement does not list was not issued only where it lists others before and after it, below and above it.
    first, last = around("99900", _LOWEST), around("99999", _HIGHEST)
    expected = [*first, *last]
    office.put("first.csv", first)
    with office.carrier(1, 0):
        office.night(day(1, 4))
    for month in range(1, months + 1):
        found = lines(month, tickets, rng)
        expected += found
        open_lines = _deliver(office, month, found, open_lines)
        with office.carrier(month, rng.randrange(10**6), requests=tickets):
            year.months.append(_month(office, month, tickets, rng))
        tell(year.months[-1])
    _deliver(office, months + 1, [], open_lines)
    office.put("last.csv", last)
    with office.carrier(months + 1, 0):
        office.night(day(months + 1, 5))
        for at in range(_CLOSINGS):
            _close(office, day(months + 1, 6 + at))
            if not _states(office)["unknown"]:
                break
    year.charges = len(expected)
    year.killed = sum(night.code == -signal.SIGKILL for night in office.nights)
    year.settled = Counter(dict(_asked(office, "SELECT state, count(*) FROM settlement GROUP BY state")))
    year.wrong = [*_wrong_nights(office), *_wrong_books(office, expected)]
    return year


def _deliver(office: Office, month: int, found: list[Line], open_before: list[Line]) -> list[Line]:
    """The month's workbooks come, and last month's open tickets are used by now; this month's open ones."""
    if open_before:
        office.put(f"open-{month - 1:02}.csv", [line | {"ticket_status": "used"} for line in open_before])
    still_open = [line for line in found if line["ticket_status"] == "open"]
    closed = [line for line in found if line["ticket_status"] != "open"]
    for at in range(_WORKBOOKS):
        if part := closed[at::_WORKBOOKS]:
            office.put(f"month-{month:02}-{at}.csv", part)
    if still_open:
        office.put(f"open-{month:02}.csv", still_open)
    return still_open


def _month(office: Office, month: int, tickets: int, rng: Random) -> Month:
    """A month's nights; those that are timed are not killed."""
    for night in (5, 6):
        office.night(day(month, night), kill=_killing(rng, tickets))
    issuing = office.night(day(month, 12))
    killed = True
    while killed:
        closing = _close(office, day(month, 20), _killing(rng, tickets) if rng.random() < 0.3 else None)
        killed = closing.code == -signal.SIGKILL
    quiet = office.night(day(month, 27))
    attempts = sum(_states(office).values())
    size = sum(path.stat().st_size for path in office.folder.glob(f"{office.ledger.name}*"))
    return Month(issuing.seconds, quiet.seconds, closing.seconds, attempts, size / 1e6)


def _killing(rng: Random, tickets: int) -> Callable[[float, int], bool]:
    """When a run is killed: after so many charges, or so many seconds."""
    charges, seconds = rng.randrange(1, max(tickets // 2, 2)), rng.uniform(0.2, 6.0)
    return (
        (lambda _, issued: issued >= charges) if rng.random() < 0.7 else (lambda passed, _: passed >= seconds)
    )


def _close(office: Office, as_of: str, kill: Callable[[float, int], bool] | None = None) -> Night:
    """The carrier's statement of everything until now, said to be complete and of now."""
    statement = office.folder / "statement.csv"
    shutil.copyfile(office.statement, statement)
    now = datetime.datetime.fromtimestamp(office.now, ZoneInfo("Asia/Shanghai"))
    os.utime(statement, (office.now, office.now))
    period = f"{now.date() - datetime.timedelta(days=60)}..{now.date()}"
    said = ("--statement-complete", period, "--statement-made", f"{now:%Y-%m-%dT%H:%M:%S}")
    return office.night(as_of, "--statement", str(statement), *said, kill=kill)


# --- what must be so at the end ------------------------------------------------------------------------


def _asked(office: Office, sql: str) -> list[tuple[str, int]]:
    connection = apsw.Connection(str(office.ledger), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return list(connection.execute(sql))
    finally:
        connection.close()


def _states(office: Office) -> Counter[str]:
    return Counter(dict(_asked(office, "SELECT state, count(*) FROM attempt GROUP BY state")))


def _wrong_nights(office: Office) -> list[str]:
    """Nights that ended as none may, and what the last one said."""
    odd = [
        night
        for night in office.nights
        if night.code not in (0, 1, 3, 4, -signal.SIGKILL) or "defect" in night.said
    ]
    wrong = [f"a night ended with {night.code}: {night.said[-500:]}" for night in odd]
    last = office.nights[-1]
    if last.code != 0 or last.said:
        wrong.append(f"the last night ended with {last.code}: {last.said[-500:]}")
    return wrong


def _wrong_books(office: Office, expected: list[Line]) -> list[str]:
    """How the carrier's statement, the ledger and the workbooks disagree."""
    wrong = []
    statement = [((line["ticket_no"], line["charge"]), line["number"]) for line in office.issued()]
    twice = [charge for charge, times in Counter(charge for charge, _ in statement).items() if times > 1]
    sql = "SELECT ticket_no, charge.charge, number FROM charge JOIN attempt USING (attempt_id) WHERE state = 'issued'"
    ledger = {((row[0], row[1]), row[2]) for row in list[tuple[str, ...]](_asked(office, sql))}  # type: ignore[arg-type]
    wanted = {(line["ticket_no"], line["charge"]) for line in expected}
    for what, found in (
        ("issued twice", set(twice)),
        ("on the statement and not in the ledger", set(statement) - ledger),
        ("in the ledger and not on the statement", ledger - set(statement)),
        ("in a workbook and not issued", wanted - {charge for charge, _ in statement}),
        ("issued and in no workbook", {charge for charge, _ in statement} - wanted),
    ):
        if found:
            wrong.append(f"{len(found)} charges {what}: {sorted(found)[:3]}")  # type: ignore[type-var]
    left = {state: times for state, times in _states(office).items() if state not in ("issued", "not_sent")}
    if left:
        wrong.append(f"attempts that ended as none may: {left}")
    if office.refused:
        wrong.append(f"the carrier refused {office.refused} requests: they were for what it had issued")
    checked = office.command("ledger", "check", "--ledger", str(office.ledger))
    if checked.code:
        wrong.append(f"voucher ledger check: {checked.said}")
    return wrong


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Live the years that are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--months", type=int, default=12)
    parser.add_argument("--tickets", type=int, default=5000, help="a month")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="year-"))
    _say("month  issuing s  quiet s  closing s  attempts  ledger MB")
    at = count(1)

    def tell(m: Month) -> None:
        _say(
            f"{next(at):5}  {m.issuing:9.1f}  {m.quiet:7.1f}  {m.closing:9.1f}  {m.attempts:8}  {m.megabytes:9.1f}"
        )

    year = live(folder / "office", given.months, given.tickets, given.seed, tell)
    _say(
        f"seed {given.seed}: {year.charges} charges, {year.killed} runs killed, settled {dict(year.settled)}"
    )
    for problem in year.wrong:
        _say(f"WRONG (seed {given.seed}, {folder}): {problem}")
    if not year.wrong and given.folder is None:
        shutil.rmtree(folder)
    return 1 if year.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
