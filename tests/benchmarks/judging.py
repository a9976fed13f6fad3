"""Where judging and splitting loop in Python: every line of ours that is run as often as there are rows, or nearly.

    python -m tests.benchmarks.judging MONTH.xlsx

Calls alone would not show a loop; so every line that is run is counted, by function. What numpy and pandas do for a
whole column is one line.
"""

import argparse
import datetime
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import pipeline
from pipeline.model.known_charges import KnownCharges
from pipeline.model.profile import Terms
from pipeline.model.table import Table
from pipeline.profile_file import load_profile
from pipeline.reading.tickets import read_table
from pipeline.rules.judge import judge
from pipeline.splitting import split
from tests.benchmarks.timing import REPOSITORY, Line

_AS_OF = datetime.date(2026, 11, 20)
_OURS = str(Path(pipeline.__file__).parent)
#: A line counts as a loop over rows that is run more than once for so many of them.
_ROWS_A_LINE = 4


def lines_run(table: Table) -> Counter[str]:
    """How many lines of each of our functions judging and splitting run."""
    terms = Terms(_AS_OF, load_profile(REPOSITORY / "sample_data" / "sandbox.toml"))
    found: Counter[str] = Counter()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        file = frame.f_code.co_filename
        if not file.startswith(_OURS):
            return None
        if event == "line":
            found[f"{Path(file).relative_to(_OURS)}: {frame.f_code.co_qualname}"] += 1
        return trace

    sys.settrace(trace)
    try:
        split(judge(table, KnownCharges(), terms), KnownCharges(), terms)
    finally:
        sys.settrace(None)
    return found


def loops(table: Table) -> dict[str, int]:
    """Our functions that loop over rows, and how many lines they run."""
    return {
        name: lines for name, lines in lines_run(table).most_common() if lines * _ROWS_A_LINE >= len(table)
    }


def measured(month: Path) -> list[Line]:
    """What loops over the rows of a month, and how many of the lines are not the packing's."""
    table = read_table([month])
    found = loops(table)
    others = [name for name in found if not name.endswith(": pack")]
    figures = ", ".join(f"{name} {lines / len(table):.1f} lines a row" for name, lines in found.items())
    what = f"judging and splitting {len(table):,} rows: functions other than the packing that loop over rows"
    return [Line(what, "a profile of all lines run", "0", len(others), not others, figures)]


def main() -> None:
    """Print what loops."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("month", type=Path)
    for line in measured(asked.parse_args().month):
        sys.stdout.write(f"{line.what}: {line.ratio:g} ({line.figures or 'none'})\n")


if __name__ == "__main__":
    main()
