"""Whole lives of an office, end to end: whatever people honestly say, nothing is issued twice and no outcome is lost.

A life is a random month or two (workbooks of some charges of every kind, corrected and added to later), a carrier that issues
whatever it is asked for and often answers badly, SIGKILLs, evidence of every kind, ledgers that are copied and put back, and
clocks that are wrong. Every command is the real program, told by its exit code and its files alone. What people do is in
`end_to_end_life`; what the lives are about, in `end_to_end_stories`; what evidence they bring, and what is honest, in
`end_to_end_evidence`; a restored ledger is one of

- its file alone, or its folder with all that lies in it, as it was at some earlier time, put back in its place, with the
  `.lock` that lies there or without it, or put into another folder and used from there;
- a copy by `voucher ledger backup`, or the one that an upgrade has left beside the ledger, put in its place, or used elsewhere;
- a snapshot of the machine, the notes of the last run in the per-user state folder among it;

and but for a snapshot it may be on a new machine, which knows nothing of the last run. Nothing on a machine can tell a snapshot of all
of it from the past: then the notes are kept in a second place (`VOUCHER_WITNESS`), or whoever puts it back says so (`mark-gap`).

A clock is wrong by half an hour at most, or ahead by hours to years, or so far behind that the ledger's last entry is later;
`--clock-is-right` is said only where the clock is right. `mark-gap` is said where the program asks for it (that nothing is missing
only where that is so), and that a gap is closed only when the ledger holds everything that the carrier issued. The carrier takes
vouchers back, whole or in part, and people record only what it took back whole. Who was mistaken notices it and withdraws it; where
that leads to a second request, this carrier refuses it, and the one mistake may lead to one such request and no more.

After every command: no charge is on two vouchers (but for one that was reversed at the carrier in between), and, unless a ledger
was put back, the ledger holds each charge that the carrier issued as issued under its number or as unknown. A true statement settles
all that it lists. At the end, with true
statements and right answers: nothing is unknown, no gap is open, the ledger agrees with the carrier's books voucher by voucher,
every charge that can be issued is (but for what a statement with mistakes in it contradicts), `voucher ledger check` finds nothing wrong, and issuing again sends nothing.

    python -m tests.crash.end_to_end --seeds 0..500 [--folder FOLDER]

A violation names its seed and tells the life's steps; a seed repeats them, but for the microsecond of a SIGKILL.

Which bugs these lives show when they are planted, and after how many lives: `end_to_end_bugs`, and its table in README.md.
"""

import argparse
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from tests.crash import end_to_end_stories as stories
from tests.crash import failpoint
from tests.crash.end_to_end_carrier import Carrier
from tests.crash.end_to_end_life import Life, Wrong
from tests.crash.end_to_end_office import Office
from tests.crash.end_to_end_stories import STORIES
from tests.crash.forked import Forks


def about_of(seed: int) -> str:
    """What a seed's life is about."""
    return list(STORIES)[seed % len(STORIES)]


def lived(seed: int, folder: Path, forks: Forks, carrier: Carrier) -> tuple[Office, str]:
    """One life; what was wrong with it, "" for nothing."""
    rng = Random(f"end to end {seed}")
    place = folder / f"seed-{seed}"
    shutil.rmtree(place, ignore_errors=True)
    office = Office(place, forks, carrier, rng, rng.choice((0, 0, 2, 24)))
    try:
        stories.lived(Life(office), STORIES[about_of(seed)])
    except Wrong as wrong:
        return office, str(wrong)
    except Exception:  # noqa: BLE001 - a defect of the harness, or of the program, is told with its seed
        return office, traceback.format_exc()
    shutil.rmtree(place)
    return office, ""


def sweep(seeds: Sequence[int], folder: Path, tell: Callable[[str], None], most: int = 20) -> list[str]:
    """Live these lives; the violations, at most so many."""
    violations: list[str] = []
    counted: Counter[str] = Counter()
    with Forks(failpoint.compiled(folder)) as forks, Carrier() as carrier:
        for seed in seeds:
            office, wrong = lived(seed, folder, forks, carrier)
            counted["lives"] += 1
            counted["commands"] += sum(step.startswith("voucher") for step in office.done)
            counted["vouchers"] += len(carrier.vouchers)
            counted["killed"] += sum("): -9 " in step for step in office.done)
            counted["put back"] += sum("is put back" in step for step in office.done)
            counted["statements"] += sum(step.startswith("statement:") for step in office.done)
            if wrong:
                violations.append(f"seed {seed}: {wrong}")
                tell("\n  ".join([f"VIOLATION seed {seed}: {wrong}", *office.done]))
            if len(violations) >= most:
                break
    tell(f"{', '.join(f'{count} {what}' for what, count in counted.items())}; {len(violations)} violations")
    return violations


def main(arguments: Sequence[str] | None = None) -> int:
    """The long form; 1 where something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.end_to_end", description=__doc__)
    parser.add_argument("--seeds", default="0..100", help="FROM..TO, both of them too")
    parser.add_argument(
        "--folder", type=Path, help="where the lives take place; what went wrong is left there"
    )
    parser.add_argument("--about", choices=list(STORIES), help="only the lives that are about this")
    parser.add_argument("--most", type=int, default=20, help="violations, after which it ends")
    given = parser.parse_args(arguments)
    first, last = map(int, given.seeds.split(".."))
    seeds = [seed for seed in range(first, last + 1) if given.about in (None, about_of(seed))]
    folder = given.folder or Path(tempfile.mkdtemp(prefix="end-to-end-"))
    folder.mkdir(parents=True, exist_ok=True)
    return bool(sweep(seeds, folder, _told, given.most))


def _told(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - a command


if __name__ == "__main__":
    sys.exit(main())
