"""The program as its users have it: commands as processes, a carrier as another process, real workbooks."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any

import openpyxl
import pytest

from tests.crash.forked import Begun, Forks, Ran

#: Tests that were started by nohup or without a terminal may ignore a closed one; what they start must not inherit it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

REPOSITORY = Path(__file__).parents[2]
KEYS = {"VOUCHER_API_KEY": "canary-api-key-7f3a", "VOUCHER_ENCRYPTION_KEY": "canary-encryption-key-91bd"}

PROFILE = """
[carrier]
base_url = "{base_url}"
agency = "AGENCY"
[codes.fee_type]
ticket_fare = "TICKET_FARE"
ancillary = "ANCILLARY_FEE"
[codes.product_type]
baggage = "Baggage"
seat = "Seat"
upgrade = "Upgrade"
meal = "Meal"
lounge = "Lounge"
[codes.header_type]
individual = "PERSONAL"
[submission]
concurrency = {concurrency}
connect_timeout_seconds = 2
response_timeout_seconds = {response_timeout}
{more}
"""


#: What is read as the interpreter starts is not seen by one that has started already.
OF_THE_INTERPRETER = ("PYTHON", "LC_", "LANG")


@cache
def forks() -> Forks:
    """Where commands are run without their start-up."""
    return Forks()


@pytest.fixture(scope="session", autouse=True)
def _forks_end() -> Iterator[None]:
    yield
    if forks.cache_info().currsize:
        forks().end()


@dataclass
class Desk:
    """A user's desk: a folder, an environment, and the command."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def environ(self) -> dict[str, str]:
        return {
            **os.environ,
            "HOME": str(self.folder),
            "XDG_DATA_HOME": "",
            "XDG_STATE_HOME": "",
            "PYTHONUNBUFFERED": "",  # as users have it
            **KEYS,
            **self.environment,
        }

    def start(self, *arguments: str | Path, stderr: IO[str] | None = None) -> "subprocess.Popen[str]":
        """A command as users start it, and as it is looked at from outside."""
        command = [sys.executable, "-m", "pipeline", *map(str, arguments)]
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environ(), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr or subprocess.PIPE,
        )  # fmt: skip

    def begin(self, *arguments: str | Path, terminal: str = "") -> Begun:
        """The same without its start-up, at a terminal if one is named: forked from a process that has imported the program."""
        return forks().begin(self.folder, [str(part) for part in arguments], self.environ(), terminal)

    def during(self, process: "subprocess.Popen[str] | Begun", reached: Callable[[], object]) -> None:
        """Wait until something is so while that command runs; never longer than it does, nor 60 seconds."""
        deadline = time.monotonic() + 60
        while not reached():
            if process.has_ended() if isinstance(process, Begun) else process.poll() is not None:
                ended = process.end() if isinstance(process, Begun) else process.communicate()
                raise AssertionError(f"it ended before that: {ended}")
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def voucher(self, *arguments: str | Path) -> Ran:
        """Run a command to its end."""
        if not any(name.startswith(OF_THE_INTERPRETER) for name in self.environment):
            return self.begin(*arguments).end()
        process = self.start(*arguments)
        out, err = process.communicate(timeout=120)
        return Ran(process.returncode, out, err)

    def profile(
        self,
        base_url: str,
        *,
        concurrency: int = 8,
        response_timeout: float = 5,
        more: str = "",
        name: str = "carrier.toml",
    ) -> Path:
        path = self.folder / name
        path.write_text(
            PROFILE.format(
                base_url=base_url, concurrency=concurrency, response_timeout=response_timeout, more=more
            )
        )
        return path

    def report(self, name: str = "report.json") -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / name).read_text(encoding="utf-8"))
        return found


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@dataclass
class Sandbox:
    """A sandbox carrier in a process of its own."""

    base_url: str
    statement: Path

    def issued(self) -> list[dict[str, str]]:
        """What the carrier itself says that it issued: a line a charge."""
        with self.statement.open(newline="", encoding="utf-8-sig") as file:
            return list(csv.DictReader(file))

    def twice(self) -> list[tuple[str, ...]]:
        """Charges that it issued more than once."""
        charges = [(line["ticket_no"], line["charge"], line["product"]) for line in self.issued()]
        return sorted({charge for charge in charges if charges.count(charge) > 1})


@contextmanager
def running_sandbox(
    desk: Desk, tickets: Path, *, faults: str = "", port: int = 0, more: Sequence[str | Path] = ()
) -> Iterator[Sandbox]:
    statement = desk.folder / "carrier.statement.csv"
    profile = desk.profile("http://127.0.0.1:1", name="sandbox-profile.toml")
    arguments: list[str | Path] = ["sandbox", "--port", str(port), "--tickets", tickets, "--profile", profile]
    arguments += ["--statement", statement, "--as-of", "2026-11-20", *more]
    if faults:
        (desk.folder / "faults.toml").write_text(faults)
        arguments += ["--faults", desk.folder / "faults.toml"]
    process = desk.begin(*arguments)
    try:
        yield Sandbox(_listening(process), statement)
    finally:
        os.kill(process.pid, signal.SIGTERM)
        process.end()


def _listening(sandbox: Begun) -> str:
    """The address that a sandbox says once it listens."""
    deadline = time.monotonic() + 60
    while not (said := sandbox.told()).endswith("\n"):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    found = re.search(r"http://[0-9.:]+", said)
    assert found, said
    return found.group()


@pytest.fixture
def sandbox(desk: Desk) -> Callable[..., Any]:
    return lambda tickets, **given: running_sandbox(desk, tickets, **given)


GOOD = {
    "ticket_no": "9991234567890",
    "passenger_name": "ZHANG/WEI MR",
    "charge": "ticket_fare",
    "amount": 1000,
    "market": "domestic",
    "ticket_status": "used",
    "flight_date": "2026-10-01",
    "refund_approved_on": "",
    "purchased_on": "",
    "product": "",
    "voucher": "itinerary",
    "buyer": "ACME",
    "remarks": "",
    "cost_centre": "CC-1",
}
BUYERS = (
    ("buyer", "header_type", "header_name", "tax_no", "phone", "email"),
    ("ACME", "business", "Acme Trading Co.", "91110000600037341L", "+86 10 8520 0000", "finance@example.com"),
    ("Li Na", "individual", "Li Na", "", "13800138000", "li.na@example.com"),
)


def write_workbook(
    path: Path, rows: Sequence[Mapping[str, Any]], buyers: Sequence[Sequence[Any]] = BUYERS
) -> Path:
    """A workbook of GOOD rows with these changes, and a Buyers sheet."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Tickets"
    names = list(dict.fromkeys([*GOOD, *(name for row in rows for name in row)]))
    sheet.append(names)
    for row in rows:
        sheet.append([{**GOOD, **row}.get(name, "") for name in names])
    if buyers:
        other = book.create_sheet("Buyers")
        for line in buyers:
            other.append(list(line))
    book.save(path)
    return path


@pytest.fixture
def workbook(desk: Desk) -> Callable[..., Path]:
    return lambda rows, name="tickets.xlsx", **given: write_workbook(desk.folder / name, rows, **given)


def tickets(count: int, **changes: Any) -> list[dict[str, Any]]:
    """So many used tickets, each with a fare."""
    return [{"ticket_no": f"999{number:010}", **changes} for number in range(1, count + 1)]


@pytest.fixture(name="tickets")
def _tickets() -> Callable[..., list[dict[str, Any]]]:
    return tickets
