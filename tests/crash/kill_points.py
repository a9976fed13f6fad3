"""The program killed at every kind of moment, and run again until it ends: nothing twice, nothing lost.

A run of `voucher issue` is killed (SIGKILL) before the Nth of its system calls that matter - writes, syncs
and names of its files, and its traffic with the carrier - or in the middle of one ("torn"), with N over the
whole run, of the process that sends and of the one that commits, both of which die, or one of them alone; the run that puts things in order is killed too now and then, and some runs end with a ledger
that could not be written once, so that the spill file is what there is to go by. The last run is left in
peace. Then what the carrier received is held against the ledger: see kill_checks.

    python -m tests.crash.kill_points --seeds 0..500 [--points 6] [--folder FOLDER]

A seed is a workload (what is issued, with which faults of the carrier, how many at a time, on a new
ledger, a used one, or one of an earlier version, which is upgraded) and several points of it. A violation
names its seed and point and keeps its folder; `--seeds 17..17` repeats all points of seed 17.

Seen to catch, planted one at a time: a request that is sent before its claim, or whose claim is
acknowledged before its commit; an interrupted attempt that is planned again, dropped or taken for not
sent at the next start (with the database's refusal taken out, and with it in); planned attempts that stay;
a spill file that is not taken in, is left, or goes before what it held is committed; an answer that is
acted upon without being recorded, or recorded and not read at the next start; an `issued` that is never
recorded; a -wal thrown away; a result workbook or a report written under its final name. An answer that
is interpreted first and recorded together with its outcome loses nothing to a kill, only certainty: it
shows in a long sweep as no answers read at any start, which a sweep does not let pass.
"""

import argparse
import json
import random
import re
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from pipeline.ledger.spill import spill_path
from tests import next_version
from tests.crash import failpoint, kill_checks
from tests.crash.counting_carrier import KEYS, Carrier
from tests.crash.disk_evidence import look
from tests.crash.forked import Forks, Ran, Run
from tests.crash.kill_checks import Story
from tests.crash.kill_workload import Earlier, Workload, workload

Phase = Literal["before", "sending", "after"]  # of the run: the time in which it talks to the carrier
ENOSPC, EIO = "28", "5"
_SLICES = 1000  # slices of tickets that a seed may use
_ENOUGH = 50  # points, after which every way of putting things in order has come up
_TAKEN_IN = {
    "spilled": r"spill file of an earlier run: ([0-9]+)",
    "answers read": r"killed after the carrier answered: ([0-9]+)",
    "made unknown": r"killed while sending: ([0-9]+)",
}


@dataclass(frozen=True)
class Disturbance:
    """What happens to one run: `what` (a word or errno of failpoint.c) at the Nth of the calls that count."""

    at: int
    what: str
    only: str = ""


_CHANGES = ("write", "pwrite64", "pwrite", "writev", "fsync", "fdatasync", "ftruncate", "ftruncate64")
_PLACING = ("link", "rename", "fsync")  # what gives a finished result its name
UNDISTURBED = Disturbance(0, "")


@dataclass(frozen=True)
class Call:
    """A counted call of a run: when (before, while or after it talks to the carrier) and which."""

    number: int
    phase: Phase
    name: str
    target: str

    @property
    def kind(self) -> str:
        """For counting: of the traffic which call, of files which file."""
        if self.target == "socket":
            return {"connect": "connect", "read": "receive", "recv": "receive"}.get(self.name, "send")
        name = Path(self.target).name
        endings = {"office.ledger-wal": "WAL", "office.ledger.spill": "spill", "office.ledger": "ledger"}
        fresh = name.startswith((".office.ledger.", "office.ledger.version-"))
        other = "new ledger" if fresh else "result"
        what = "shm" if name.endswith("-shm") else endings.get(name, other)
        return f"{what} while sending" if self.phase == "sending" else what


@dataclass
class Totals:
    """What a sweep did."""

    points: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    requests: int = 0
    issued: int = 0
    unknown: int = 0
    taken_in: Counter[str] = field(default_factory=Counter)
    failed_writes: int = 0
    torn: int = 0
    alone: int = 0
    not_reached: int = 0
    litter: int = 0
    violations: list[str] = field(default_factory=list)

    @property
    def unseen(self) -> list[str]:
        """Ways of putting things in order that never came up."""
        return [name for name in _TAKEN_IN if not self.taken_in[name]]

    def line(self) -> str:
        """All of it in one line."""
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.kills.items()))
        recovered = ", ".join(f"{self.taken_in[name]} {name}" for name in _TAKEN_IN)
        return (
            f"{self.points} points, {self.kills.total()} kills ({kinds}; {self.torn} of them torn, {self.alone} of one process alone), {self.failed_writes} failed ledger writes,"
            f" {self.not_reached} not reached; {self.runs} runs, {self.requests} requests received, {self.issued} issued,"
            f" {self.unknown} unknown at the end; put in order: {recovered}; {self.litter} points left temporary files;"
            f" {len(self.violations)} violations"
        )


class Office:
    """Where points take place: a way to run the program, a carrier, its profile, and earlier ledgers."""

    def __init__(self, folder: Path, library: Path, run: Run, carrier: Carrier) -> None:
        self.folder = folder
        self.library = library
        self.run = run
        self.carrier = carrier
        self.profile = folder / "carrier.toml"
        self.profile.write_text(carrier.profile)
        self.totals = Totals()
        self.ledgers: dict[Earlier, Path] = {}
        before = Point(self, replace(workload(0), ledger="none").at(_SLICES * _SLICES - 1), "earlier")
        before.run(UNDISTURBED)
        self.ledgers = {"used": before.ledger, "older": before.ledger}
        self.totals.violations += [f"the earlier run: {wrong}" for wrong in before.wrong]


class Point:
    """One kill point: a workload of its own, runs that are disturbed, and one that is not."""

    def __init__(self, office: Office, work: Workload, name: str) -> None:
        self._office = office
        self._work = work
        self._place = office.folder / name
        shutil.rmtree(self._place, ignore_errors=True)
        self.desk = self._place / "desk"
        self.desk.mkdir(parents=True)
        self._calls = self._place / "calls"
        self._program = {next_version.LATER: str(int(work.ledger == "older"))}
        self.ledger = self.desk / "office.ledger"
        work.write(self.desk / "tickets.csv")
        if work.ledger != "none":
            shutil.copy(office.ledgers[work.ledger], self.ledger)
            shutil.copy(f"{office.ledgers[work.ledger]}.lock", f"{self.ledger}.lock")
            state = self.desk / "state" / "voucher-pipeline"  # the same machine: its last run is noted there
            state.mkdir(parents=True)
            note = Path(f"{self.ledger}.lock").read_text()
            (state / f"{json.loads(note)['ledger_id']}.last-run").write_text(note)
        self._found = look(self.ledger)
        self._story = Story(work.concurrency, work.charges, self._found)
        self._received = office.carrier.begin()
        self.wrong: list[str] = []

    def run(self, disturbance: Disturbance) -> Ran:
        """Run the command once and look at what it leaves."""
        self._calls.unlink(missing_ok=True)
        ran = self._office.run(
            self.desk,
            ["issue", "tickets.csv", "--profile", str(self._office.profile), "--as-of", "2026-11-20",
             "--ledger", self.ledger.name, "--report", "report.json", "--concurrency", str(self._work.concurrency)],
            {
                "HOME": str(self._place),
                "XDG_STATE_HOME": str(self.desk / "state"),  # the last run's note there counts too
                **self._program,
                **KEYS,
                **failpoint.environment(
                    self._office.library, self.desk, disturbance.at, disturbance.what,
                    only=disturbance.only, log=self._calls,
                ),
            },
        )  # fmt: skip
        self._office.carrier.settled()
        self._count(ran, disturbance)
        self._look(ran, disturbance)
        return ran

    def calls(self) -> list[Call]:
        """The counted calls of the last run."""
        return read_calls(self._calls)

    def _count(self, ran: Ran, disturbance: Disturbance) -> None:
        totals = self._office.totals
        totals.runs += 1
        for name, pattern in _TAKEN_IN.items():
            totals.taken_in[name] += sum(map(int, re.findall(pattern, ran.err)))
        if not disturbance.at:
            return
        hit = next((call for call in self.calls() if call.number == disturbance.at), None)
        if hit is None:
            totals.not_reached += 1
        elif disturbance.what.isdecimal():
            totals.failed_writes += 1
        else:
            totals.kills[hit.kind] += 1
            totals.torn += disturbance.what.startswith("torn")
            totals.alone += disturbance.what.endswith(" one")

    def _look(self, ran: Ran, disturbance: Disturbance) -> None:
        """The promise, right after a run, however it ended."""
        before, self._found = self._found, look(self.ledger)
        if ran.code == -signal.SIGKILL:
            self._story.killed |= set(self._found.runs) - set(before.runs)
        elif ran.code not in ((0, 1, 3, 4) if disturbance.at else (0, 1, 4)):
            self.wrong.append(f"a run ended with {ran.code}: {ran.err[-500:]}")
        if "Traceback" in ran.err or "defect" in ran.err:
            self.wrong.append(f"a run ended in a defect: {ran.err[-2000:]}")
        self.wrong += kill_checks.always(self._found, self._received, self._story)
        self.wrong += kill_checks.files(self.desk)

    def end(self) -> None:
        """The last run, left in peace, and what holds after it.

        A run stops at an answer that is no use if nothing was accepted in it before (a wrong key shows so): it is run again,
        each time with one request more in doubt.
        """
        while True:
            before = len(self._received)
            ran = self.run(UNDISTURBED)
            useless = any(request.answer == "unreadable" for request in self._received[before:])
            if not (useless and self._unsent()):
                break
        received, totals = self._received, self._office.totals
        self.wrong += kill_checks.at_the_end(self._found, received, self._story, ran.code)
        if spill_path(self.ledger).exists():
            self.wrong.append("the spill file is left")
        self.wrong += self._history()
        totals.points += 1
        totals.requests += len(received)
        totals.issued += sum(bool(request.number) for request in received)
        earlier = {attempt.attempt_id for attempt in self._story.earlier.attempts}
        totals.unknown += sum(
            attempt.state == "unknown" and attempt.attempt_id not in earlier
            for attempt in self._found.attempts
        )
        totals.litter += any(path.name.startswith(".") for path in self.desk.iterdir())
        if self.wrong:
            (self._place / "received").write_text("\n".join(map(str, received)))
        else:
            shutil.rmtree(self._place)

    def _unsent(self) -> bool:
        """Whether a charge that is wanted was not sent yet, or not taken."""
        states = {charge: attempt.state for attempt in self._found.attempts for charge in attempt.charges}
        return any(states.get(charge, "not_sent") == "not_sent" for charge in self._story.wanted)

    def _history(self) -> Iterator[str]:
        """The program's own account of a ticket, against what the carrier received."""
        ticket = self._work.charges[0][0]
        ran = self._office.run(self.desk, ["history", ticket, "--ledger", self.ledger.name], self._program)
        for request in self._received:
            told = request.number in ran.out or "unknown" in ran.out
            if any(charge[0] == ticket for charge in request.charges) and request.number and not told:
                yield f"history {ticket} does not tell of {request.number}: {ran.out}{ran.err}"


def read_calls(log: Path) -> list[Call]:
    """The lines of a log of counted calls, each with its phase of the run."""
    lines = [line.split(" ", 2) for line in log.read_text().splitlines()] if log.exists() else []
    calls: list[Call] = []
    phase: Phase = "before"
    for number, name, target in sorted(lines, key=lambda line: int(line[0])):
        if phase == "before" and target == "socket":
            phase = "sending"
        elif phase == "sending" and target.endswith(".spill"):
            phase = "after"  # nothing is in flight any more
        calls.append(Call(int(number), phase, name, target))
    return calls


def disturbances(calls: Sequence[Call], chance: random.Random) -> list[Disturbance]:
    """What happens at one point: to a first run that makes calls like these, and to those that follow it."""
    again = (Disturbance(_early(len(calls), chance), _kill(chance)) for _ in range(2))
    script = chance.random()
    if script < 0.15:
        # An error of the disk, not of the network: counted are the changes of files alone.
        changes = [call for call in calls if call.name in _CHANGES and call.target != "socket"]
        writes = [n for n, call in enumerate(changes, 1) if call.phase == "sending"]
        first = Disturbance(chance.choice(writes), chance.choice((ENOSPC, EIO)), "changes")
    elif script < 0.50:
        traffic = sum(call.target == "socket" for call in calls)
        first = Disturbance(chance.randint(1, traffic), _kill(chance), "traffic")
    else:
        before = [call for call in calls if call.phase == "before"]
        after = [call for call in calls if call.phase == "after"]
        ways = (
            (0.50, [call for call in calls if call.phase == "sending" and call.target != "socket"]),
            (0.09, [call for call in before if not call.target.endswith("-shm")]),
            (0.06, [call for call in before if call.name in ("link", "rename", "unlink")]),
            (0.15, [call for call in after if "office.ledger" in call.target]),
            (0.05, [call for call in after if "office.ledger" not in call.target]),
            (0.15, [call for call in after if call.name in _PLACING or "report.json" in call.target]),
        )
        (chosen,) = chance.choices([way[1] for way in ways], [way[0] for way in ways])
        first = Disturbance(chance.choice(chosen).number, _kill(chance))
    runs = chance.random()
    return (
        [first]
        if runs < (0.25 if first.only == "changes" else 0.5)
        else [first, next(again)]
        if runs < 0.9
        else [first, *again]
    )


def _kill(chance: random.Random) -> str:
    """Mostly of all processes of the run; now and then of the one that sends, or that commits, alone."""
    return ("torn" if chance.random() < 0.25 else "kill") + (" one" if chance.random() < 0.25 else "")


def _early(count: int, chance: random.Random) -> int:
    """A call of a run that puts things in order: mostly while it does so, which it begins with call 10 or so."""
    return chance.randint(*chance.choice(((10, 40), (10, 40), (10, 40), (1, 60), (1, count))))


def sweep(office: Office, seed: int, points: int) -> None:
    """All points of a seed, after an undisturbed run that says what there is to be disturbed."""
    work = workload(seed)
    counting = Point(office, work.at(seed * _SLICES), f"{seed}-counting")
    counting.run(UNDISTURBED)
    calls = counting.calls()
    counting.end()
    _note(office, counting, f"seed {seed}, undisturbed")
    for number in range(1, points + 1):
        chance = random.Random(f"{seed}/{number}")
        point = Point(office, work.at(seed * _SLICES + number), f"{seed}-{number}")
        script = disturbances(calls, chance)
        for disturbance in script:
            point.run(disturbance)
        point.end()
        told = ", ".join(f"{disturbance.what} at {disturbance.at}" for disturbance in script)
        _note(office, point, f"seed {seed}, point {number} ({told})")


def _note(office: Office, point: Point, name: str) -> None:
    office.totals.violations += [f"{name}: {wrong} [{point.desk}]" for wrong in point.wrong]


@contextmanager
def forking_office(folder: Path) -> Iterator[Office]:
    """An office whose runs are children of one process."""
    library = failpoint.compiled(folder)
    with Carrier() as carrier, Forks(library) as forks:
        yield Office(folder, library, forks.run, carrier)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """The long form."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.kill_points")
    parser.add_argument("--seeds", default="0..500", help="A..B, both included, of 0..998")
    parser.add_argument("--points", type=int, default=6, help="kill points of each seed")
    parser.add_argument("--folder", type=Path, help="where points take place; default: a temporary one")
    given = parser.parse_args()
    first, last = map(int, given.seeds.split(".."))
    if last >= _SLICES - 1:
        parser.error(f"there are tickets for seeds below {_SLICES - 1}")
    folder = given.folder or Path(tempfile.mkdtemp(prefix="kill-points-"))
    folder.mkdir(parents=True, exist_ok=True)
    with forking_office(folder) as office:
        totals, shown = office.totals, 0
        for seed in range(first, last + 1):
            sweep(office, seed, given.points)
            for violation in totals.violations[shown:]:
                _say(violation)
            shown = len(totals.violations)
            if seed % 5 == 0:
                _say(f"seed {seed}: {totals.line()}")
    if totals.points > _ENOUGH:
        totals.violations += [f"none {name}: the sweep shows less than it says" for name in totals.unseen]
    for violation in totals.violations[shown:]:
        _say(violation)
    _say(f"seeds {given.seeds}: {totals.line()}")
    return 1 if totals.violations else 0


if __name__ == "__main__":
    sys.exit(main())
