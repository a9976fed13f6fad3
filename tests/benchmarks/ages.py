"""Ledgers of any age: filled with so many charges that were issued in the years before.

The charges are put in by SQL, past the triggers (which ask of each change what the program asks anyway, and would take
hours for millions), in the tables' own shape; what comes out is a ledger that `voucher ledger check` finds nothing wrong
with. Tickets are of another airline's numbers than a month's (months.py), so that none is issued already.

    python -m tests.benchmarks.ages old.ledger --charges 10000000 --base-url http://127.0.0.1:8080
"""

import argparse
import datetime
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.ledger import opening, runs
from pipeline.model.profile import Owner

#: Charges of one invoice, and days over which they are spread.
_OF_ONE = 40
_DAYS = 3650
_BEGAN = datetime.datetime(2016, 11, 1, tzinfo=datetime.UTC)


def write_ledger(path: Path, base_url: str, agency: str, charges: int) -> Path:
    """A ledger of that carrier with so many issued charges."""
    owner = Owner(base_url, agency)
    connection, lock = opening.open_for_run(path, owner, opening.OpenOptions(kept=False), may_create=True)
    run = runs.begin(connection, lock, runs.RunStart("issue", "2016-11-01", ["years.xlsx"]))
    guards = list(
        connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'index') AND sql NOT NULL"
        )
    )
    kinds = dict(connection.execute("SELECT name, type FROM sqlite_master"))
    connection.execute("PRAGMA cache_size = -500000")
    connection.execute("BEGIN IMMEDIATE")
    for name, _ in guards:
        connection.execute(f'DROP {kinds[name]} "{name}"')
    attempts = -(-charges // _OF_ONE)
    connection.executemany(
        "INSERT INTO request VALUES (?, 'invoice', 'domestic', ?, 'business', ?, '', '', '', '')",
        _requests(attempts),
    )
    connection.executemany(
        "INSERT INTO attempt (attempt_id, request_id, attempt, run, epoch, state, number, trace_id, planned_at, sending_at,"
        " answered_at, ended_at, http_status, answer, retry_after) VALUES (?, ?, 1, ?, 1, 'issued', ?, ?, ?, ?, ?, ?, 200, ?, '')",
        _attempts(attempts, run),
    )
    connection.executemany(
        "INSERT INTO charge (attempt_id, ticket_no, charge, product, wire, voucher, amount, file, sheet, row, live, content)"
        " VALUES (?, ?, 'ticket_fare', 'flight', 'TICKET_FARE/Flight', 'invoice', 10000, 'years.xlsx', 'Tickets', ?, 1, '')",
        _charges(charges, attempts),
    )
    for _, sql in guards:
        connection.execute(sql)
    connection.execute("COMMIT")
    runs.end(connection, lock, run, 0)
    connection.close()
    lock.close()
    return path


def _requests(attempts: int) -> Iterator[tuple[Any, ...]]:
    for at in range(attempts):
        yield f"old{at:09}", 10000 * _OF_ONE, f"Buyer {at % 3000}"


def _attempts(attempts: int, run: int) -> Iterator[tuple[Any, ...]]:
    step = datetime.timedelta(days=_DAYS) / attempts
    answer = b'{"code":200,"message":"success","data":"' + b"A" * 172 + b'","traceId":"0000000000"}'
    for at in range(attempts):
        when = (_BEGAN + at * step).isoformat(timespec="milliseconds")
        yield at + 1, f"old{at:09}", run, f"{10**17 + at}", f"{at}", when, when, when, when, answer


def _charges(charges: int, attempts: int) -> Iterator[tuple[Any, ...]]:
    of_attempts = itertools.chain.from_iterable(itertools.repeat(at + 1, _OF_ONE) for at in range(attempts))
    # Scattered over the numbers, as a ticket's are over the years.
    for at, attempt in zip(range(charges), of_attempts, strict=False):
        yield attempt, f"998{at * 7_368_787 % 10**10:010}", at + 2


def main() -> None:
    """Write one ledger."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("--charges", type=int, default=10_000)
    parser.add_argument("--base-url", default="http://127.0.0.1:8080")
    parser.add_argument("--agency", default="SANDBOX")
    given = parser.parse_args()
    write_ledger(given.path, given.base_url, given.agency, given.charges)


if __name__ == "__main__":
    main()
