"""A finance office and its carrier for a simulated year: the workbooks, the faulty carrier, and the nightly call.

Everything is a process of its own: the carrier (`voucher sandbox`) lives for a month and keeps its statement over the
months; every night is a `voucher reconcile` with the little that cron gives a command to go by.
"""

import contextlib
import csv
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from random import Random, SystemRandom

from tests.moved_clock import moved

_KEYS = {"VOUCHER_API_KEY": "year-api-key", "VOUCHER_ENCRYPTION_KEY": "year-encryption-key"}
_REPOSITORY = Path(__file__).parents[2]
_PROFILE = """
[carrier]
base_url = "{base_url}"
agency = "YEAR"
[codes.fee_type]
ticket_fare = "TICKET_FARE"
ancillary = "ANCILLARY_FEE"
[codes.product_type]
baggage = "Baggage"
[codes.header_type]
individual = "PERSONAL"
[submission]
response_timeout_seconds = 20
[reconcile]
settle_after_hours = 0
"""
#: kind, when it strikes, chance; of few requests several times as many are struck
_FAULTS = (
    ("reset", "after", 0.008),
    ("reset", "before", 0.008),
    ("garbage", "after", 0.004),
    ("garbage", "before", 0.004),
    ("http", "after", 0.004),
    ("http", "before", 0.004),
    ("truncated", "after", 0.004),
    ("close", "before", 0.004),
)
_COLUMNS = (
    "ticket_no", "passenger_name", "charge", "product", "amount", "market", "ticket_status", "flight_date",
    "refund_approved_on", "purchased_on", "voucher", "header_type", "header_name", "email",
)  # fmt: skip
#: A new file is watched for a while before it is taken; these are made older than that.
_SETTLED_SECONDS = 300
_BETWEEN_NIGHTS = 2  # hours
_BUYERS = 30
#: About so many bytes of a statement are a charge.
_BYTES_OF_A_LINE = 100

Line = dict[str, str]


def day(month: int, of_month: int) -> str:
    """A day of the simulated year; what comes after its twelfth month is the next year's."""
    year, at = divmod(month - 1, 12)
    return f"{2027 + year}-{at + 1:02}-{of_month:02}"


def lines(month: int, count: int, rng: Random) -> list[Line]:
    """A month's charges: itineraries, invoices of fares, refunds and baggage; some tickets are still open."""
    return [_line(month, number, rng) for number in range(count)]


def _line(month: int, number: int, rng: Random) -> Line:
    buyer, kind = rng.randrange(_BUYERS), rng.random()
    line = {
        "ticket_no": f"999{month:02}{number:08}", "passenger_name": "ZHANG/WEI MR", "charge": "ticket_fare",
        "amount": str(rng.randrange(300, 3000)), "market": rng.choice(("domestic", "international")),
        "ticket_status": "used", "flight_date": day(month, 1), "voucher": "itinerary", "header_type": "individual",
        "header_name": f"Buyer {buyer}", "email": f"buyer{buyer}@example.com",
    }  # fmt: skip
    if kind < 0.02:
        return line | {"ticket_status": "open"}
    if kind < 0.6:
        return line
    if kind < 0.85:
        return line | {"voucher": "invoice"}
    if kind < 0.93:
        return line | {
            "charge": "ancillary",
            "product": "baggage",
            "purchased_on": day(month, 1),
            "voucher": "",
        }
    refund = {
        "charge": "refund",
        "ticket_status": "refunded",
        "refund_approved_on": day(month, 2),
        "voucher": "",
    }
    return line | refund


def around(name: str, amounts: Mapping[str, str]) -> list[Line]:
    """Of every kind of charge, voucher, market and buyer that `lines` has one, at a market's amount.

    Silence proves something of a request alone that has others like it beside it, and below and above it in every order
    (`pipeline.settlement.silence`): `name` is what their tickets begin with.
    """
    fare = {"charge": "ticket_fare", "ticket_status": "used"}
    kinds: tuple[Line, ...] = (
        fare | {"voucher": "itinerary"},
        fare | {"voucher": "invoice"},
        fare | {"charge": "ancillary", "product": "baggage", "purchased_on": day(1, 1)},
        {"charge": "refund", "ticket_status": "refunded", "refund_approved_on": day(1, 2)},
    )
    return [
        kind
        | {
            "ticket_no": f"{name}{at:08}", "passenger_name": "ZHANG/WEI MR", "amount": amounts[market], "market": market,
            "flight_date": day(1, 1), "header_type": "individual", "header_name": f"Buyer {buyer}",
            "email": f"buyer{buyer}@example.com",
        }
        for at, (kind, market, buyer) in enumerate(
            product(kinds, ("domestic", "international"), range(_BUYERS))
        )
    ]  # fmt: skip


@dataclass
class Night:
    """One nightly call: how it ended, how long it took, what it said."""

    code: int
    seconds: float
    said: str


def free_port() -> int:
    """A port for a year: none of those that the system gives to whoever asks for any."""
    while True:
        port = SystemRandom().randrange(20_000, 30_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@dataclass
class Office:
    """The folders of an office, its ledger, and its carrier's statement."""

    folder: Path
    port: int = field(default_factory=free_port)
    #: Requests that the carrier refused; every request of this year is right, so that a refused one was sent twice.
    refused: int = 0
    nights: list[Night] = field(default_factory=list)
    #: By how much the clock of what runs here is ahead.
    hours: float = 0

    def __post_init__(self) -> None:
        for path in (self.inbox, self.outbox):
            path.mkdir(parents=True)
        self.profile.write_text(_PROFILE.format(base_url=f"http://127.0.0.1:{self.port}"))

    @property
    def now(self) -> float:
        """The time of day here, in seconds."""
        return time.time() + self.hours * 3600

    @property
    def profile(self) -> Path:
        return self.folder / "carrier.toml"

    @property
    def inbox(self) -> Path:
        return self.folder / "in"

    @property
    def outbox(self) -> Path:
        return self.folder / "out"

    @property
    def ledger(self) -> Path:
        return self.folder / "year.ledger"

    @property
    def statement(self) -> Path:
        """The carrier's own books."""
        return self.folder / "carrier.csv"

    def put(self, name: str, rows: Sequence[Line]) -> None:
        """A workbook comes into the inbox, or takes the place of an earlier one."""
        path = self.inbox / name
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, _COLUMNS, restval="")
            writer.writeheader()
            writer.writerows(rows)
        then = time.time() - _SETTLED_SECONDS
        os.utime(path, (then, then))

    def issued(self) -> list[Line]:
        """What the carrier has issued so far, a line a charge."""
        with self.statement.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    @contextmanager
    def carrier(self, month: int, seed: int, *, requests: int = 0) -> Iterator[None]:
        """The carrier for a month of about so many requests; of none it does what it should."""
        faults = self.folder / "faults.toml"
        table = '[[fault]]\nkind = "{}"\nwhen = "{}"\nprobability = {}\n'
        told = "".join(
            table.format(kind, when, chance * min(5, max(1, 400 / requests)))
            + ("status = 502\n" if kind == "http" else "")
            for kind, when, chance in (_FAULTS if requests else ())
        )
        faults.write_text(f"seed = {seed}\n{told}")
        process = self._start(
            "sandbox", "--port", str(self.port), "--tickets", str(self.inbox), "--profile", str(self.profile),
            "--faults", str(faults), "--statement", str(self.statement), "--as-of", day(month, 28),
        )  # fmt: skip
        assert process.stderr is not None
        try:
            begun = process.stderr.readline()
            found = re.search(r"http://[0-9.:]+", begun)
            assert found, begun + process.stderr.read()
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            _, closing = process.communicate(timeout=60)
        counted = re.search(r"([0-9]+) refused", closing)
        assert counted, closing
        self.refused += int(counted[1])

    def _start(self, *arguments: str) -> "subprocess.Popen[str]":
        # What cron sets, and the keys from a file.
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(_REPOSITORY),
            **_KEYS,
            **moved(self.hours),
        }
        return subprocess.Popen(
            [sys.executable, "-m", "pipeline", *arguments], cwd=self.folder, env=environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def night(self, as_of: str, *more: str, kill: Callable[[float, int], bool] | None = None) -> Night:
        """One nightly call, killed when `kill` says so of the seconds since it began and the charges issued since."""
        begun, before = time.monotonic(), self._size()
        process = self._start(
            "reconcile", "--inbox", str(self.inbox), "--outbox", str(self.outbox), "--ledger", str(self.ledger),
            "--profile", str(self.profile), "--as-of", as_of, "--by", "the year", "--log-file", "log.jsonl", *more,
        )  # fmt: skip
        while kill is not None and process.poll() is None:
            if kill(time.monotonic() - begun, (self._size() - before) // _BYTES_OF_A_LINE):
                process.kill()
            time.sleep(0.005)
        _, said = process.communicate(timeout=3600)
        self.hours += _BETWEEN_NIGHTS
        night = Night(process.returncode, time.monotonic() - begun, said)
        self.nights.append(night)
        return night

    def command(self, *arguments: str) -> Night:
        """Another command of the program."""
        begun, process = time.monotonic(), self._start(*arguments)
        _, said = process.communicate(timeout=3600)
        return Night(process.returncode, time.monotonic() - begun, said)

    def _size(self) -> int:
        return self.statement.stat().st_size if self.statement.exists() else 0
