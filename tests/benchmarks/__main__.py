"""Every benchmark, one after another: prints each part's table and writes it to RESULTS.md, with date and machine.

    python -m tests.benchmarks [--only checking submission …] [--folder FOLDER]

Each process is fresh, sides take turns, ratios are of medians (timing.py). It takes about two hours and some 30 GB of disk,
most of it for the ledger of ten million charges; a FOLDER that is named keeps that.
"""

import argparse
import datetime
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks import (
    checking,
    itinerary_reading,
    judging,
    ledger_age,
    packing,
    result_workbook,
    serving,
    shared_ledger,
    starting,
    submission,
    whole_job,
)
from tests.benchmarks.months import write_month
from tests.benchmarks.timing import Line, Load

_RESULTS = Path(__file__).with_name("RESULTS.md")
_TITLE = (
    "# Benchmarks\n\nWritten by `python -m tests.benchmarks`, a part at a time (`--only`): ratios of medians over alternating runs, each"
    " process fresh. In brackets the least and the most, and how many cores' time other processes took meanwhile."
)
_ROWS, _MILLION, _BUYERS = 100_000, 1_000_000, 3_000


def _month(folder: Path, rows: int) -> Path:
    path = folder / f"month-of-{rows}.xlsx"
    return path if path.exists() else write_month(path, rows, _BUYERS)


PARTS: dict[str, Callable[[Path], list[Line]]] = {
    "checking": lambda folder: checking.measured(_month(folder, _ROWS), _month(folder, _MILLION)),
    "judging": lambda folder: judging.measured(_month(folder, _MILLION)),
    "packing": packing.measured,
    "submission": submission.measured,
    "result_workbook": lambda folder: result_workbook.measured(_month(folder, _ROWS)),
    "whole_job": lambda folder: whole_job.measured(folder, _month(folder, _ROWS), _month(folder, _MILLION)),
    "ledger_age": ledger_age.measured,
    "serving": lambda folder: serving.measured(_month(folder, _ROWS)),
    "starting": starting.measured,
    "itinerary_reading": itinerary_reading.measured,
    "shared_workers": shared_ledger.workers,
    "shared_or_file": shared_ledger.against_file,
    "shared_age": shared_ledger.age,
}


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    found = Path("/proc/cpuinfo")
    names = (
        [line for line in found.read_text().splitlines() if line.startswith("model name")]
        if found.exists()
        else []
    )
    model = names[0].partition(":")[2].strip() if names else platform.processor()
    return f"{os.cpu_count()} × {model}, {memory:.0f} GB, {platform.system()} {platform.release()}, Python {platform.python_version()}"


def _section(name: str, lines: list[Line], others: float) -> str:
    """A part's figures, with when and where they were measured, and how many cores' time others took."""
    table = [
        f"## {name}",
        "",
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC, {_machine()}; others used {others:.2f} of its processors",
        "",
        "| what | measured against | to reach | measured | | figures |",
        "|---|---|---|---|---|---|",
    ]
    for line in lines:
        reached = "reached" if line.reached else "**not reached**"
        table.append(
            f"| {line.what} | {line.against} | {line.to_reach} | {line.ratio:.4g} | {reached} | {line.figures} |"
        )
    return "\n".join([*table, ""])


def _write(name: str, section: str) -> None:
    """Put a part's section in the place of its earlier one."""
    written = _RESULTS.read_text(encoding="utf-8") if _RESULTS.exists() else ""
    sections = {text.split("\n", 1)[0]: f"## {text}" for text in written.split("\n## ")[1:]}
    sections[name] = section
    ordered = [sections[part].rstrip() for part in PARTS if part in sections]
    _RESULTS.write_text("\n\n".join([_TITLE, *ordered]) + "\n", encoding="utf-8")


def main() -> None:
    """Measure what is asked for, a part at a time."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as temporary:
        folder = (given.folder or Path(temporary)).resolve()
        for name in given.only:
            load = Load()
            section = _section(name, PARTS[name](folder), load.cores)
            sys.stdout.write(f"{section}\n")
            sys.stdout.flush()
            _write(name, section)


if __name__ == "__main__":
    main()
