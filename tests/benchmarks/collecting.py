"""Itinerary files collected a second, beside a ledger of a million charges: found, read with their seals, kept, matched, noted.

    python -m tests.benchmarks.collecting FOLDER [--charges 1000000]

The files are those of `itinerary_reading`, sealed; each is the one of an itinerary that the ledger issued today. A folder that is kept is
good for the day on which it was made. It is run once on that ledger, then again with nothing new.
"""

import argparse
import contextlib
import datetime
import os
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from zoneinfo import ZoneInfo

from pipeline.ledger import opening, planning, runs
from pipeline.ledger.clock import utc_now
from pipeline.model.money import MINOR
from pipeline.model.profile import Owner
from pipeline.model.request import Charge, Header, Identity, Request
from tests.benchmarks.ages import write_ledger
from tests.benchmarks.timing import run, voucher
from tests.unit.itinerary_files.ofd_files import FACTS, Voucher, parts, sealed, zipped

_FILES, _FONT_BYTES, _AT_ONCE = 10_000, 100_000, 500
_OWNER = Owner("http://127.0.0.1:8080", "SANDBOX")
_TODAY = datetime.datetime.now(ZoneInfo("Asia/Shanghai")).date()


def _number(at: int) -> str:
    return f"{26 * 10**18 + at}"


def _ticket(at: int) -> str:
    return f"{999 * 10**10 + at}"


def _write(folder: Path, first: int) -> None:
    chance = random.Random(first)
    for at in range(first, first + _AT_ONCE):
        facts = {
            "ElectronicInvoiceAirTransportReceiptNumber": _number(at), "ETicketNumber": _ticket(at), "IssueDate": str(_TODAY),
        }  # fmt: skip
        made = parts(Voucher().said(**facts)) | {"Doc_0/Res/font.ttf": chance.randbytes(_FONT_BYTES)}
        (folder / f"{at}.ofd").write_bytes(zipped(sealed(made)))


def write_files(folder: Path) -> None:
    """So many files, by all processors."""
    folder.mkdir(parents=True)
    with ProcessPoolExecutor() as pool:
        list(pool.map(_write, [folder] * (_FILES // _AT_ONCE), range(0, _FILES, _AT_ONCE)))


def add_itineraries(path: Path) -> None:
    """Let the ledger have issued them, in its own ways but for the wire."""
    connection, lock = opening.open_for_run(path, _OWNER, opening.OpenOptions(unnoted=True), may_create=False)
    with contextlib.closing(lock), contextlib.closing(connection):
        number = runs.begin(connection, lock, runs.RunStart("issue", str(_TODAY), ["tickets.xlsx"]))
        header = Header(
            "business",
            FACTS["NameOfPurchaser"],
            FACTS["UnifiedSocialCreditCodeOfPurchaser"],
            "",
            "finance@example.com",
        )
        amount = round(float(FACTS["TotalAmount"]) * MINOR)
        requests = [
            Request(
                "itinerary", "domestic", header,
                (Charge(Identity(_ticket(at), "ticket_fare", "flight"), "ZHANG/WEI", amount, at, ("TICKET_FARE", "Flight")),),
            )
            for at in range(_FILES)
        ]  # fmt: skip
        places = {at: ("tickets.xlsx", "Tickets", at + 2) for at in range(_FILES)}
        with connection:
            for attempt in planning.plan(connection, number, requests, places):
                at = attempt.request.charges[0].row
                connection.execute(
                    "UPDATE attempt SET state = 'sending', sending_at = ? WHERE attempt_id = ?",
                    (utc_now(), attempt.attempt_id),
                )
                connection.execute(
                    "UPDATE attempt SET state = 'issued', number = ?, ended_at = ? WHERE attempt_id = ?",
                    (_number(at), utc_now(), attempt.attempt_id),
                )
        runs.end(connection, lock, number, 0)


def main() -> None:
    """Make what is missing, collect twice, and say how many a second."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--charges", type=int, default=1_000_000)
    parser.add_argument("--make", action="store_true", help="only make what is missing")
    given = parser.parse_args()
    folder, ledger = given.folder.resolve(), given.folder.resolve() / "old.ledger"
    if not (folder / "files").exists():
        write_files(folder / "files")
    if not ledger.exists():
        write_ledger(ledger, _OWNER.base_url, _OWNER.agency, given.charges - _FILES)
        add_itineraries(ledger)
        (folder / "carrier.toml").write_text(
            f'[carrier]\nbase_url = "{_OWNER.base_url}"\nagency = "{_OWNER.agency}"\n', encoding="utf-8"
        )
    if given.make:
        return
    command = voucher(
        "collect", "files", "--profile", "carrier.toml", "--ledger", ledger, "--month", str(_TODAY)[:7], "--report", "report.json"
    )  # fmt: skip
    for what in ("new", "again"):
        took = run(command, folder)
        sys.stdout.write(
            f"{what}: {_FILES / took.seconds:.0f} a second, {took.seconds:.1f} s, {took.processor / _FILES * 1000:.2f} ms of processor"
            f" a file; ledger {os.path.getsize(ledger) / 1e6:.0f} MB\n"  # noqa: PTH202 - one line
        )


if __name__ == "__main__":
    main()
