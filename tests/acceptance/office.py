"""A desk with a profile and a ledger beside a carrier, for what is reconciled."""

import csv
import datetime
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl

from tests.acceptance.conftest import Desk, Ran, Sandbox
from tests.moved_clock import moved

LOST_AFTER = '[[fault]]\nkind = "reset"\nwhen = "after"\n'
LOST_BEFORE = '[[fault]]\nkind = "reset"\nwhen = "before"\n'
#: What is said of days is said of the carrier's today.
TODAY = datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=8))).date()
COMPLETE = f"{TODAY - datetime.timedelta(days=2)}..{TODAY}"
#: The statements are made now, where the carrier is.
MADE = f"{datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=8))):%Y-%m-%dT%H:%M}"
#: They are said to be complete, and when they were made.
ALL = ("--statement-complete", COMPLETE, "--statement-made", MADE)


def at_rest(*files: Path) -> None:
    """What nobody has written to for longer than the inbox watches."""
    for file in files:
        os.utime(file, (time.time() - 300,) * 2)


class Office:
    """A desk with a profile and a ledger, beside a carrier."""

    def __init__(
        self, desk: Desk, carrier: Sandbox, more: str = "[reconcile]\nsettle_after_hours = 0\n"
    ) -> None:
        self.desk, self.carrier = desk, carrier
        self.common = (
            "--profile",
            desk.profile(
                carrier.base_url, more=more, concurrency=1
            ),  # one after the other, so that "around" is known
            "--ledger",
            desk.folder / "o.ledger",
        )

    def issue(self, *workbooks: Path, hours_ago: float = 0) -> Ran:
        desk = (
            replace(self.desk, environment={**self.desk.environment, **moved(-hours_ago)})
            if hours_ago
            else self.desk
        )
        return desk.voucher(
            "issue", *workbooks, *self.common, "--as-of", "2026-11-20", "--report", "issue.json"
        )

    def reconcile(self, *arguments: str | Path) -> Ran:
        return self.desk.voucher(
            "reconcile", *arguments, *self.common, "--as-of", "2026-11-20", "--report", "report.json"
        )

    def statement(self, name: str = "statement.csv", lines: Sequence[dict[str, str]] | None = None) -> Path:
        """The carrier's statement of now, or of these lines."""
        path = self.desk.folder / name
        if lines is None:
            return Path(shutil.copy(self.carrier.statement, path))
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)
        return path

    def report(self) -> dict[str, Any]:
        return self.desk.report()

    def states(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for row in self.desk.report()["rows"]:
            counts[row["status"]] = counts.get(row["status"], 0) + 1
        return counts


def answered(
    result: Path, resolution: str, number: str = "", by: str = "Wang", why: str = "telephone"
) -> Path:
    """A result workbook whose every unknown request was answered."""
    book = openpyxl.load_workbook(result)
    sheet = book["Unknown"]
    at = {cell.value: cell.column for cell in sheet[1]}
    for row in range(2, sheet.max_row + 1):
        for name, text in (
            ("resolution", resolution),
            ("number", number),
            ("resolved_by", by),
            ("evidence", why),
        ):
            sheet.cell(row, at[name], text or None)
    path = result.with_name(f"{resolution}-{number}-{result.name}")
    book.save(path)
    return path
