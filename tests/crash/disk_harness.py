"""A desk, a carrier and a disk that fails: one point of `disk_errors.py`, tried and checked."""

import csv
import errno
import itertools
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.crash.counting_carrier import BUSY, REFUSED, Carrier, Charge, Remembered
from tests.crash.disk_checks import Scene, after_failure, at_the_end, kept_by_hand
from tests.crash.disk_evidence import LEDGER, look
from tests.crash.failpoint import environment
from tests.crash.forked import Forks, Ran

REPOSITORY = Path(__file__).parents[2]
KEYS = {"VOUCHER_API_KEY": "canary-api-key-7f3a", "VOUCHER_ENCRYPTION_KEY": "canary-encryption-key-91bd"}
ARGUMENTS = (
    *("issue", "tickets.csv", "--profile", "carrier.toml", "--ledger", LEDGER),
    *("--as-of", "2026-11-20", "--report", "report.json"),
)
_PROFILE = """
[carrier]
base_url = "{base_url}"
agency = "AGENCY"
[codes.fee_type]
ticket_fare = "TICKET_FARE"
ancillary = "ANCILLARY_FEE"
[codes.product_type]
baggage = "Baggage"
seat = "Seat"
[submission]
concurrency = {concurrency}
connect_timeout_seconds = 20
response_timeout_seconds = 40
"""
_ROW = {
    "ticket_no": "", "passenger_name": "ZHANG/WEI MR", "charge": "ticket_fare", "product": "flight",
    "amount": "1000.00", "market": "domestic", "ticket_status": "used", "flight_date": "2026-10-01",
    "purchased_on": "2026-09-01", "voucher": "itinerary", "remarks": "", "header_type": "business",
    "header_name": "Example Trading Co.", "tax_no": "91110000600037341L", "phone": "+86 10 8520 0000",
    "email": "finance@example.com",
}  # fmt: skip
ROWS: list[dict[str, str]] = [
    *(_ROW | {"ticket_no": f"999{number:010}"} for number in range(1, 3)),
    _ROW | {"ticket_no": "9990000000011", "voucher": "invoice", "remarks": "one"},
    _ROW | {"ticket_no": "9990000000013", "charge": "ancillary", "product": "baggage", "voucher": "invoice"},
    _ROW | {"ticket_no": "9990000000013", "charge": "ancillary", "product": "seat", "voucher": "invoice"},
    _ROW | {"ticket_no": BUSY},  # answered with 429 the first time
    _ROW | {"ticket_no": REFUSED},  # answered with a no the first time
]
CHARGES: frozenset[Charge] = frozenset((row["ticket_no"], row["charge"], row["product"]) for row in ROWS)


#: What the names of the files begin with that a point's target means.
FILES = {"all": "", "ledger": LEDGER, "wal": f"{LEDGER}-", "lock": f"{LEDGER}.lock", "results": ".voucher-"}


@dataclass(frozen=True)
class Point:
    """One way for the disk to fail: which files, how, and at which call."""

    target: str
    what: str
    forever: bool
    at: int

    def __str__(self) -> str:
        if not self.what:
            return "nothing"
        return f"{self.target}/{self.what}/{'for good' if self.forever else 'once'}/{self.at}"

    def environment(self, library: Path, desk: Path, log: Path) -> dict[str, str]:
        """What the program under test gets for it."""
        files = desk / FILES[self.target]
        number = str(getattr(errno, self.what)) if self.what else ""
        return environment(library, files, self.at, number, forever=self.forever, only="changes", log=log)


@dataclass(frozen=True)
class Before:
    """What an earlier run left: its folder, what the carrier remembers, and charges that are in doubt."""

    name: str
    desk: Path | None = None
    carrier: Remembered = field(default_factory=Remembered)
    doubtful: frozenset[Charge] = frozenset()


Run = Callable[[Path, Mapping[str, str]], Ran]


class Harness:
    """A carrier, a folder, and a way to run the program in it; `view` is how we see that folder."""

    def __init__(self, folder: Path, library: Path, run: Run, carrier: Carrier, concurrency: int = 3) -> None:
        self.folder = folder
        self.desk = self.view = folder / "desk"
        self.log = folder / "calls"
        self.carrier = carrier
        self.concurrency = concurrency
        self.library = library
        self.start = run

    def prepare(self, before: Before) -> None:
        """Put the desk into the state that a point begins with."""
        self.clear()
        self.log.unlink(missing_ok=True)
        if before.desk:
            shutil.copytree(before.desk, self.view, dirs_exist_ok=True)
        with (self.view / "tickets.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(_ROW))
            writer.writeheader()
            writer.writerows(ROWS)
        (self.view / "carrier.toml").write_text(
            _PROFILE.format(base_url=self.carrier.base_url, concurrency=self.concurrency)
        )
        self.carrier.begin(before.carrier, self.log)

    def clear(self) -> None:
        """Make the desk an empty folder."""
        shutil.rmtree(self.desk, ignore_errors=True)
        self.desk.mkdir()

    def mend(self) -> None:
        """Put the disk in order; a call that fails does so only where a point says it."""

    def run(self, point: Point | None) -> Ran:
        """One run of the program, with the disk failing as the point says."""
        settings = point.environment(self.library, self.desk, self.log) if point else {}
        return self.start(self.desk, KEYS | (settings or {"FAILPOINT_FOLDER": "", "FAILPOINT_LOG": ""}))

    def calls(self) -> int:
        """How many of the calls that matter the last disturbed run made."""
        return self.log.read_bytes().count(b"\n") if self.log.exists() else 0

    def count(self, before: Before, target: str) -> int:
        """How many calls a run makes with nothing failing."""
        self.prepare(before)
        ran = self.run(Point(target, "", forever=False, at=0))
        assert ran.code in (0, 1), ran  # 1: one request is refused the first time
        return self.calls()

    def tried(self, point: Point, before: Before) -> "Tried":
        """Run with the disk failing, then again with it in order; everything that is wrong with that."""
        self.prepare(before)
        disturbed = self.run(point)
        reached = self.calls() >= point.at
        self.mend()
        wrong = list(after_failure(self._scene(disturbed, before, point.at)))
        numbers = kept_by_hand(disturbed)
        wrong += at_the_end(self._scene(self.run(None), before), numbers)
        return Tried(str(point), reached, disturbed, tuple(wrong), bool(numbers))

    def _scene(self, ran: Ran, before: Before, at: int = 0) -> Scene:
        return Scene(ran, self.carrier, self.view, CHARGES, before.doubtful, at, self.concurrency)


@dataclass(frozen=True)
class Tried:
    """A point that was tried: whether its call was reached, and what was wrong."""

    name: str
    reached: bool
    disturbed: Ran
    wrong: tuple[str, ...]
    kept_by_hand: bool


class SmallDisk(Harness):
    """The same on a small disk of its own, which is full when it is full; the parent must be `inside` UNSHARE."""

    def __init__(self, folder: Path, library: Path, forks: Forks, carrier: Carrier, kilobytes: int) -> None:
        # One request at a time: what is reserved for outcomes is then less than what the -wal grows by.
        super().__init__(folder, library, lambda desk, more: forks.run(desk, ARGUMENTS, more), carrier, 1)
        self._forks = forks
        self._kilobytes = kilobytes
        self.view = forks.seen(self.desk)

    def clear(self) -> None:
        """Mount an empty disk of that size."""
        self.desk.mkdir(exist_ok=True)
        self._forks.command("sh", "-c", f"umount {self.desk} 2>/dev/null")
        self._mount(f"size={self._kilobytes}k", "none")

    def mend(self) -> None:
        """Make room."""
        self._mount("remount,size=64m")

    def _mount(self, options: str, *what: str) -> None:
        if self._forks.command("mount", "-t", "tmpfs", "-o", options, *what, self.desk):
            raise RuntimeError("mounting is not permitted")

    def filled(self) -> Tried:
        """A run that nothing disturbs but the disk's size; then one with room."""
        tried = self.tried(Point("all", "", forever=False, at=0), Before("fresh"))
        # Unlike a broken disk a full one has the room that was reserved on it.
        wrong = ("the spill file had no room",) if tried.kept_by_hand else ()
        return replace(tried, name=f"{self._kilobytes} kB", wrong=(*tried.wrong, *wrong))


#: A namespace in which anybody may mount, where the system permits that.
UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")


def befores(harness: Harness, names: Sequence[str]) -> dict[str, Before]:
    """The states that runs begin with, made by real runs that failed or were killed."""
    made = {"fresh": Before("fresh")}
    if "spilled" in names:
        made["spilled"] = _spilled(harness)
    if "killed" in names:
        made["killed"] = _killed(harness)
    return {name: made[name] for name in names}


def _kept(harness: Harness, name: str, doubtful: frozenset[Charge] = frozenset()) -> Before:
    for written in (*harness.desk.glob("*.xlsx"), *harness.desk.glob("report.json")):
        written.unlink()  # of the earlier run: only what this one writes is looked at
    kept = harness.folder / f"before-{name}"
    shutil.copytree(harness.desk, kept)
    time.sleep(0.05)  # a request of a killed run may still be under way in the carrier
    return Before(name, kept, harness.carrier.remembered(), doubtful)


def _spilled(harness: Harness) -> Before:
    """A run whose -wal broke for good on the way, and whose spill file has answers, outcomes and a no-show."""
    total = harness.count(Before("fresh"), "wal")
    for at in itertools.chain(range(total // 2, total), range(total // 2)):
        harness.prepare(Before("fresh"))
        harness.run(Point("wal", "EIO", forever=True, at=at))
        spill = look(harness.desk).spill
        if any(entry.get("number") for entry in spill) and any("body" in entry for entry in spill):
            return _kept(harness, "spilled")
    raise AssertionError("no run filled its spill file")


def _killed(harness: Harness) -> Before:
    """A run that was killed between an answer's being on disk and its being understood."""
    total = harness.count(Before("fresh"), "all")
    for at in itertools.chain(range(total // 2, total), range(total // 2)):
        harness.prepare(Before("fresh"))
        settings = environment(harness.library, harness.desk, at, "kill", only="changes", log=harness.log)
        harness.start(harness.desk, KEYS | settings)
        found = [a for a in look(harness.desk).attempts if a.state == "sending"]
        if any(attempt.answered for attempt in found):
            doubtful = [attempt.charges for attempt in found if not attempt.answered]
            return _kept(harness, "killed", frozenset().union(*doubtful))
    raise AssertionError("no run was killed with an answer on disk")
