"""Itinerary files a second, read by the bounded processes: with a seal that is checked up to its root, and without.

    python -m tests.benchmarks.itinerary_reading FOLDER [--write]

The files are those of the unit tests, each with its own number, ticket, signature and a font of 100 KB; as real ones would be, as far
as that is known.
"""

import argparse
import random
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from pipeline.itinerary_files.reading_processes import read_itinerary_files
from pipeline.model.itinerary_file import FoundFile, SealStatus
from tests.benchmarks.timing import Line, alternating, python, run
from tests.unit.itinerary_files.ofd_files import ROOT, Voucher, parts, sealed, zipped

_FILES, _A_SECOND, _FONT_BYTES, _ROUNDS = 1_000, 200, 100_000, 3
_KINDS = {"with a seal": "sealed", "without": "bare"}


def write_files(folder: Path) -> None:
    """So many files of each kind."""
    chance = random.Random(1)
    font = {"Doc_0/Res/font.ttf": chance.randbytes(_FONT_BYTES)}
    for kind in _KINDS.values():
        (folder / kind).mkdir(parents=True)
        for at in range(_FILES):
            facts = {
                "ElectronicInvoiceAirTransportReceiptNumber": f"{26 * 10**18 + at}",
                "ETicketNumber": f"{999 * 10**10 + at}",
            }
            made = parts(Voucher().said(**facts)) | font
            content = zipped(sealed(made) if kind == "sealed" else made)
            (folder / kind / f"{at}.ofd").write_bytes(content)


def _found(folder: Path) -> Iterator[FoundFile]:
    for path in folder.iterdir():
        yield FoundFile((path.name,), path.read_bytes())


def measured(folder: Path) -> list[Line]:
    """Files a second, processes and their start included."""
    files = folder / "itinerary-files"
    if not files.exists():
        write_files(files)
    processor: dict[str, list[float]] = {what: [] for what in _KINDS}

    def rate(what: str) -> float:
        took = run(python("-m", "tests.benchmarks.itinerary_reading", files / _KINDS[what]), folder)
        processor[what].append(took.processor / _FILES * 1_000)
        return took.figure("rate")

    lines = list[Line]()
    for what, found in alternating(
        {what: lambda _, what=what: rate(what) for what in _KINDS}, _ROUNDS
    ).items():
        size = next((files / _KINDS[what]).iterdir()).stat().st_size
        figures = (
            f"{found.median:.0f} a second ({found.spread}); {statistics.median(processor[what]):.2f} ms of processor a file"
            f" ({min(processor[what]):.2f} to {max(processor[what]):.2f}); {_FILES:,} files of {size / 1000:.0f} KB"
        )
        reached = found.median >= _A_SECOND
        lines.append(
            Line(f"itinerary files a second, {what}", "-", f"≥ {_A_SECOND}", found.median, reached, figures)
        )
    return lines


def main() -> None:
    """Read all files of a folder; say how many a second."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.write:
        write_files(given.folder)
        return
    begun, count = time.perf_counter(), 0
    for _, file in read_itinerary_files(_found(given.folder), (ROOT.certificate,)):
        if file.problem or file.seal is not (
            SealStatus.VALID if given.folder.name == "sealed" else SealStatus.NONE
        ):
            raise SystemExit(str(file))
        count += 1
    sys.stdout.write(f"rate={count / (time.perf_counter() - begun):.1f}\n")


if __name__ == "__main__":
    main()
