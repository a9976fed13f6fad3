"""What it costs to look through an .xlsx before its cells are taken out, the cells alone beside it.

python -m tests.benchmarks.second_look MONTH.xlsx
"""

import sys
import time
from pathlib import Path

from pipeline.reading.formats import workbook
from pipeline.reading.formats.calamine import Workbook
from pipeline.reading.formats.zip_package import Package

_TIMES = 3


def main() -> None:
    """Print the seconds of each side, in turns."""
    content = Path(sys.argv[1]).read_bytes()
    sides = {
        "the look": lambda: workbook.looks_of_xlsx(Package(content), False),
        "the exact look": lambda: workbook.looks_of_xlsx(Package(content), True),
        "the cells": lambda: _cells(Workbook(content)),
    }
    for _ in range(_TIMES):
        for name, side in sides.items():
            before = time.perf_counter()
            side()
            sys.stdout.write(f"{name}: {time.perf_counter() - before:.2f} s\n")


def _cells(book: Workbook) -> list[object]:
    return [list(book.sheet(name).iter_rows()) for name, _ in book.worksheets]


if __name__ == "__main__":
    main()
