"""A disk that is full or broken, at every write, sync and truncate of a run, once and for good.

`voucher issue` runs with the Nth such call on its files failing (ENOSPC or EIO; that call alone, or every one
from there on), against a carrier in another process that never refuses a second time what it issued and
counts everything. Then the same command runs again with the disk in order. Of each point is checked:

- every request that the carrier received has a claim of its own in the ledger, and none leaves after the
  failure but those that were claimed already;
- every answer that came back is in the ledger after the next start, with its number. The one exception:
  where not even the spill file could be written, its line must be on stderr, and the ledger says unknown;
- the exit code, the report and the message on stderr tell what is so, without a traceback;
- in the end every charge is issued once, by the number that the ledger has, and nothing is left lying about.

Runs begin with no ledger (`fresh`), over a spill file that an earlier run has filled (`spilled`), or after
an earlier run was killed with an answer that nobody had looked at (`killed`). What fails is any file of the
run (`all`), the ledger and what lies beside it (`ledger`), or its -wal and -shm alone, so that the spill file
works (`wal`).

    python -m tests.crash.disk_errors [--points A..B] [--every N] [--series fresh/all,…] [--concurrency 3]
    python -m tests.crash.disk_errors --disks 150..700

The second form has disks that are really full, small ones of their own. Where TMPDIR is a file system in
memory both are faster, and no less true: what fails is made to.

Seen to be caught, each planted in the program by hand: a commit that failed is acknowledged; a request leaves
though its claim could not be written; the run goes on after the ledger has failed; outcomes, or what was
never sent, do not go to the spill file; the spill file is removed although it was used, or before what it
holds is committed; its space is given up before it is needed; closing after a failure folds the -wal of a run
that has not ended into the file; an answer on disk is not read after a kill; a result that can't be written
leaves the exit code as it was.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.counting_carrier import Carrier
from tests.crash.disk_checks import WORDS
from tests.crash.disk_harness import UNSHARE, Before, Harness, Point, SmallDisk, Tried, beginning
from tests.crash.failpoint import compiled
from tests.crash.forked import Forks

SERIES = ("fresh/all", "fresh/wal", "spilled/ledger", "killed/ledger")


def ways(target: str) -> list[tuple[str, bool]]:
    """How a call may fail; a -wal that fails once leaves the spill file alone whatever the target."""
    return [(what, forever) for forever in (False, True)[target == "wal" :] for what in ("ENOSPC", "EIO")]


def say(line: str) -> None:
    """One line, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@dataclass
class Tally:
    """What a long run came to."""

    points: int = 0
    reached: int = 0
    by_hand: int = 0
    violations: int = 0
    ill_worded: int = 0
    codes: Counter[int] = field(default_factory=Counter)

    def add(self, begins: str, tried: Tried) -> None:
        """Count a point and say what was wrong with it."""
        self.points += 1
        self.reached += tried.reached
        self.by_hand += tried.kept_by_hand
        self.violations += any(not line.startswith(WORDS) for line in tried.wrong)
        self.ill_worded += any(line.startswith(WORDS) for line in tried.wrong)
        if tried.reached:
            self.codes[tried.disturbed.code] += 1
        for line in tried.wrong:
            say(f"{begins}/{tried.name}: {line}")


def series(harness: Harness, before: Before, target: str, calls: range, tally: Tally) -> None:
    """Every point of one beginning and one target, until no run makes so many calls any more."""
    for at in calls:
        reached = False
        for what, forever in ways(target):
            tried = harness.tried(Point(target, what, forever, at), before)
            tally.add(before.name, tried)
            reached |= tried.reached
        sys.stderr.write(f"{before.name}/{target}: {at}\n")
        if not reached:
            return


def _every_series(harness: Harness, calls: range, names: str, tally: Tally) -> None:
    wanted = [name.split("/") for name in names.split(",")]
    made = {name: beginning(harness, name) for name in {name for name, _ in wanted}}
    for name, target in wanted:
        series(harness, made[name], target, calls, tally)


def main() -> int:
    """Run the long form; 1 if anything was wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", default="1..", metavar="A..B", help="the calls to fail; default: all")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of these the first of each N")
    parser.add_argument(
        "--series", default=",".join(SERIES), help="beginnings and files; default: %(default)s"
    )
    parser.add_argument("--concurrency", type=int, default=3)
    parser.add_argument("--disks", metavar="A..B", help="instead: small disks of so many kB, 10 apart")
    given = parser.parse_args()
    begun, tally = time.monotonic(), Tally()
    with tempfile.TemporaryDirectory(prefix="disk-errors-") as folder:
        library = compiled(Path(folder))
        with Carrier() as carrier, Forks(library, UNSHARE if given.disks else ()) as forks:
            if given.disks:
                smallest, largest = map(int, given.disks.split(".."))
                for kilobytes in range(smallest, largest + 1, 10):
                    tally.add("disk", SmallDisk(Path(folder), library, forks, carrier, kilobytes).filled())
            else:
                harness = Harness(Path(folder), library, forks.run, carrier, given.concurrency)
                first, last = given.points.split("..")
                calls = range(int(first or 1), int(last or sys.maxsize - 1) + 1, given.every)
                _every_series(harness, calls, given.series, tally)
    say(
        f"{tally.points} points, {tally.reached} reached, exit codes {dict(sorted(tally.codes.items()))},"
        f" {tally.by_hand} with lines for a person, {tally.violations} with violations, {tally.ill_worded} with bad messages;"
        f" {time.monotonic() - begun:.0f} s"
    )
    return 1 if tally.violations or tally.ill_worded else 0


if __name__ == "__main__":
    sys.exit(main())
