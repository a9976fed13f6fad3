"""A desk, a carrier and a disk that fails: one point of `disk_errors.py`, tried and checked."""

import csv
import errno
import itertools
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.crash.counting_carrier import KEYS, Carrier, Charge, Received
from tests.crash.disk_checks import LEDGER, Scene, after_failure, at_the_end, kept_by_hand
from tests.crash.disk_evidence import Evidence, look
from tests.crash.failpoint import environment
from tests.crash.forked import Forks, Ran, Run

_ARGUMENTS = (
    *("issue", "tickets.csv", "--profile", "carrier.toml", "--ledger", LEDGER),
    *("--as-of", "2026-11-20", "--report", "report.json"),
)
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
    _ROW | {"ticket_no": "9990000000027"},  # answered with 429 the first time
    _ROW | {"ticket_no": "9990000000029"},  # answered with a no the first time
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
        what = str(getattr(errno, self.what, self.what))
        return environment(library, files, self.at, what, forever=self.forever, only="changes", log=log)


@dataclass(frozen=True)
class Before:
    """What an earlier run left: its folder, what the carrier received, and charges that are in doubt."""

    name: str
    desk: Path | None = None
    received: tuple[Received, ...] = ()
    doubtful: frozenset[Charge] = frozenset()


FRESH = Before("fresh")


class Harness:
    """A carrier, a folder, and a way to run the program in it; `view` is how we see that folder."""

    def __init__(
        self, folder: Path, library: Path, run: Run, carrier: Carrier, concurrency: int = 3, *more: str
    ) -> None:
        self.folder = folder
        self.desk = self.view = folder / "desk"
        self.log = folder / "calls"
        self.carrier = carrier
        self.concurrency = concurrency
        self.library = library
        self.received = carrier.begin()
        self.program = run
        self._arguments = (*_ARGUMENTS, "--concurrency", str(concurrency), *more)

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
        (self.view / "carrier.toml").write_text(self.carrier.profile)
        self.received = self.carrier.begin(before.received, self.log)

    def clear(self) -> None:
        """Make the desk an empty folder."""
        shutil.rmtree(self.desk, ignore_errors=True)
        self.desk.mkdir()

    def mend(self) -> None:
        """Put the disk in order; a call that fails does so only where a point says it."""

    def run(self, point: Point | None) -> Ran:
        """One run of the program, with the disk failing as the point says."""
        settings = point.environment(self.library, self.desk, self.log) if point else {}
        state = {"XDG_STATE_HOME": str(self.desk / "state")}  # where the last run is noted, on that disk too
        ran = self.program(self.desk, self._arguments, KEYS | state | settings)
        self.carrier.settled()
        return ran

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
        # Without the note of who uses the ledger a run goes on: it only says to others who that is.
        stops = (
            reached and point.at and not self.log.read_text().splitlines()[point.at - 1].endswith(".in-use")
        )
        self.mend()
        wrong = list(after_failure(self._scene(disturbed, before, point.at if stops else 0)))
        numbers = kept_by_hand(disturbed)
        wrong += at_the_end(self._scene(self.run(None), before), numbers)
        return Tried(str(point), reached, disturbed, tuple(wrong), bool(numbers))

    def _scene(self, ran: Ran, before: Before, at: int = 0) -> Scene:
        now = self.received[len(before.received) :]
        return Scene(
            ran, tuple(self.received), now, self.view, CHARGES, before.doubtful, at, self.concurrency
        )


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
        super().__init__(folder, library, forks.run, carrier, 1)
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
        tried = self.tried(Point("all", "", forever=False, at=0), FRESH)
        # Unlike a broken disk a full one has the room that was reserved on it.
        wrong = ("the spill file had no room",) if tried.kept_by_hand else ()
        return replace(tried, name=f"{self._kilobytes} kB", wrong=(*tried.wrong, *wrong))


#: A namespace in which anybody may mount, where the system permits that.
UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")


#: What runs may leave: which files failed and how, and what is to be found then.
_LEFT: dict[str, tuple[str, str, Callable[[Evidence], bool]]] = {
    # The -wal broke for good on the way, and the spill file has an answer and an outcome.
    "spilled": (
        "wal",
        "EIO",
        lambda found: any(e.get("number") for e in found.spill) and any("body" in e for e in found.spill),
    ),
    # It was killed between an answer's being on disk and its being understood.
    "killed": ("all", "kill", lambda found: any(a.state == "sending" and a.answered for a in found.attempts)),
}


def beginning(harness: Harness, name: str) -> Before:
    """A state that runs begin with, left by a real run that failed or was killed, from the middle on."""
    if name == "fresh":
        return FRESH
    target, what, wanted = _LEFT[name]
    total = harness.count(FRESH, target)
    for at in itertools.chain(range(total // 2, total), range(total // 2)):
        harness.prepare(FRESH)
        harness.run(Point(target, what, forever=True, at=at))
        found = look(harness.desk / LEDGER)
        if wanted(found):
            break
    else:
        raise AssertionError(f"no run left what is {name}")
    for written in (*harness.desk.glob("*.xlsx"), *harness.desk.glob("report.json")):
        written.unlink()  # of the earlier run: only what the next one writes is looked at
    kept = harness.folder / f"before-{name}"
    shutil.copytree(harness.desk, kept)
    silent = [a.charges for a in found.attempts if a.state == "sending" and not a.answered]
    doubtful = silent if name == "killed" else []  # a failed run has spilled what became of them
    return Before(name, kept, tuple(harness.received), frozenset().union(*doubtful))
