"""Power cuts at any moment of a ledger's life: nothing that was acknowledged is lost, nothing is damaged.

The product's own code works on a small ledger while its writes and syncs are recorded (`power_recorder`,
`power_life`); then the states are built that a power cut could have left at any moment (`power_disk`), and
each is opened with the product's own code and compared with what had been acknowledged (`power_checks`).

    python -m tests.crash.power_loss --seeds 0..99               # 1,000 images a seed
    python -m tests.crash.power_loss --seeds 17..17 --keep DIR   # one again, keeping the images that are wrong

Seen to be caught, in the product or in a copy that it was planted in: synchronous=NORMAL and OFF; an
acknowledgement before the COMMIT; a plan in more than one transaction; a new ledger whose file, or whose
folder, is not synced; a spill file whose entries, or whose name, are not synced, or that is removed before its
entries are committed; a -wal that is not kept while a run is on; a -wal taken into the file between the commit
that ends a run and the removal of the run from the lock file; a stale sector in the lock file; an answer in the
ledger and in the spill file that stops the next start; a folder made for the ledger and not synced into the
folder above it.

A seed's work does not depend on other seeds, so a run is resumed by its range. Exits 1 if a promise is broken.
"""

import argparse
import itertools
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from pipeline.ledger import opening
from tests.crash.power_checks import WRONGS, Promises, Wrong, as_wrong, check
from tests.crash.power_disk import KINDS, MIXED, Disk, Image
from tests.crash.power_life import lives, temporary
from tests.crash.power_recorder import Recording

IMAGES = 1000
#: One image of so many is looked at a second time: see `check`.
_THOROUGH = 10
_DRAWS = 6  # times the number of images, until a seed is taken to have no more different ones


@dataclass
class Found:
    """What was looked at, and what is wrong with it."""

    images: int = 0
    absent: int = 0  # images from before the ledger had its name
    kinds: Counter[str] = field(default_factory=Counter)
    phases: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)

    def add(self, other: "Found") -> None:
        """Take in what another seed found."""
        self.images += other.images
        self.absent += other.absent
        self.kinds += other.kinds
        self.phases += other.phases
        self.wrong += other.wrong
        self.told += other.told

    def __str__(self) -> str:
        wrong = ", ".join(f"{self.wrong[kind]} {kind}" for kind in WRONGS)
        return f"{self.images} images ({self.absent} from before there was a ledger): {wrong}"


@dataclass(frozen=True)
class Cut:
    """One power cut: of which recording, after how many events, in which phase, and what it left."""

    recording: int
    at: int
    phase: str
    kind: str
    image: Image


def cuts(recordings: list[Recording], number: int, chance: random.Random) -> Iterator[Cut]:
    """Different images of these recordings, so many or as many as there are."""
    seen: set[tuple[int, int]] = set()
    for _ in range(_DRAWS):
        drawn = Counter(_moment(recordings, chance) for _ in range(number))
        for index, group in itertools.groupby(sorted(drawn.items()), key=lambda item: item[0][0]):
            disk = Disk(recordings[index].start, recordings[index].events)
            for (_, at), times in group:
                disk.advance(at)
                for _ in range(times):
                    kind = chance.choice((*KINDS, None))
                    image = disk.lost_power(kind, chance)
                    # The same files at another moment are another image only if more was promised by then.
                    told = sum(promise.at <= at for promise in recordings[index].acknowledged)
                    key = (hash((index, told)), image.key)
                    if key in seen:
                        continue
                    seen.add(key)
                    phase = _phase(recordings[index], at)
                    yield Cut(index, at, phase, kind.name if kind else MIXED, image)
                    if len(seen) == number:
                        return


def _moment(recordings: list[Recording], chance: random.Random) -> tuple[int, int]:
    """Half of them anywhere, half in a phase of its own right, however short it is."""
    index = chance.randrange(len(recordings))
    recording = recordings[index]
    first, last = 0, len(recording.events)
    if chance.random() < 0.5:
        number = chance.randrange(len(recording.phases))
        starts = [*(at for at, _ in recording.phases), last]
        first, last = starts[number], starts[number + 1]
    return index, chance.randint(first, last)


def _phase(recording: Recording, at: int) -> str:
    return next((name for since, name in reversed(recording.phases) if since <= at), "")


def look(seed: int, number: int, *, made_folder: bool = False, keep: Path | None = None) -> Found:
    """Build and check the images of one seed."""
    found = Found()
    try:
        with as_wrong():
            recordings = lives(seed, made_folder=made_folder)
        promises = [Promises(recording) for recording in recordings]
    except Wrong as wrong:  # in its life already
        found.wrong[wrong.kind] += 1
        found.told.append(f"seed {seed}: {wrong}")
        return found
    # What kind of file system it is takes a good part of the time and is no matter of power.
    with temporary() as root, mock.patch.object(opening, "check_local"):
        looking, opened = Path(root) / "looking", Path(root) / "opened"
        looking.mkdir()
        opened.mkdir()
        for cut in cuts(recordings, number, random.Random(f"cuts {seed}")):
            found.images += 1
            found.kinds[cut.kind] += 1
            found.phases[cut.phase] += 1
            try:
                thorough = found.images % _THOROUGH == 0
                found.absent += not check(
                    promises[cut.recording], cut.at, cut.image, looking, opened, thorough=thorough
                )
            except Wrong as wrong:
                found.wrong[wrong.kind] += 1
                where = f"seed {seed} image {found.images} (recording {cut.recording}, event {cut.at}, {cut.phase}"
                found.told.append(f"{where}; {cut.kind}): {wrong}")
                if keep is not None:
                    place = keep / f"seed-{seed}-image-{found.images}"
                    place.mkdir(parents=True)
                    cut.image.put(place)
    return found


def _range(text: str) -> range:
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


def main() -> int:
    """The long form: a line for each seed that found something, a count of everything at the end."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.power_loss")
    parser.add_argument("--seeds", type=_range, required=True, metavar="A..B")
    parser.add_argument("--images", type=int, default=IMAGES, help=f"of each seed; {IMAGES} unless said")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="put images that are wrong there")
    parser.add_argument(
        "--made-folder", action="store_true", help="the product makes the ledger's folder too"
    )
    options = parser.parse_args()
    began, total = time.monotonic(), Found()
    for seed in options.seeds:
        found = look(seed, options.images, made_folder=options.made_folder, keep=options.keep)
        total.add(found)
        print(f"seed {seed}: {found}", flush=True)  # noqa: T201 - a command
        for line in found.told[:5]:
            print(f"  {line}", flush=True)  # noqa: T201
    for title, counter in (("by what arrived", total.kinds), ("by phase", total.phases)):
        told = ", ".join(f"{name}: {count}" for name, count in counter.most_common())
        print(f"{title}: {told}")  # noqa: T201
    print(f"{total}, {time.monotonic() - began:.0f} s")  # noqa: T201
    return 1 if total.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
