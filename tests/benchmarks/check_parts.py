"""What `voucher check` is made of: the least processor seconds of each of its parts, one after the other.

python -m tests.benchmarks.check_parts MONTH.xlsx              # README.md adds them up
python -m tests.benchmarks.check_parts MONTH.xlsx --beside     # what its reading takes by the clock, alone and as it is

Beside the reading process the program loads itself, on the other processor: two processes at once are slower than one.
"""

import gc
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pipeline.model.known_charges import KnownCharges
from pipeline.model.profile import Terms
from pipeline.profile_file import load_profile
from pipeline.reading.deserialize import loads
from pipeline.reading.formats import workbook
from pipeline.reading.formats.columnar import Columns
from pipeline.reading.formats.prescan import Prescan
from pipeline.reading.formats.serialize import dumps
from pipeline.reading.formats.usual_workbook import UsualWorkbook
from pipeline.reading.formats.zip_package import Package
from pipeline.reading.input_files import sheets_of
from pipeline.reading.tickets import assemble
from pipeline.reporting.build_result import RunFacts, make_result
from pipeline.reporting.json_report import report, write_report
from pipeline.reporting.summary_text import summary_lines
from pipeline.rules.judge import judge
from pipeline.splitting import Judged, split
from tests.benchmarks.months import AS_OF
from tests.benchmarks.timing import REPOSITORY, ROUNDS, python, run

Made = TypeVar("Made")
_LOADED = "import pipeline.reading.bounded_child, pipeline.reading.formats.usual_workbook, pipeline.reading.formats.workbook"
#: What goes on beside the reading for as long as that takes: loading, over and over.
_LOADING = "import subprocess, sys\nwhile True: subprocess.run([sys.executable, '-c', 'import pandas, pipeline.cli.command_line'])"
_BESIDE_ROUNDS = 5


class Parts:
    """The least that each part took so far."""

    def __init__(self) -> None:
        self.least: dict[str, float] = {}

    def of(self, name: str, part: Callable[[], Made]) -> Made:
        """Do a part, and keep what it took."""
        begun = time.process_time()
        made = part()
        self.keep(name, time.process_time() - begun)
        return made

    def keep(self, name: str, took: float) -> None:
        """Keep what a part took where it is the least so far."""
        self.least[name] = min(took, self.least.get(name, took))


def processes(parts: Parts, month: Path, folder: Path) -> None:
    """What is a process of its own: calamine alone, and what both processes of a check load."""
    for name, command in {
        "python-calamine alone": ("-m", "tests.benchmarks.checking", "calamine", month.resolve()),
        "until the reading process is started": ("-c", "import pipeline.cli.main"),
        "the reading process loaded": ("-P", "-c", _LOADED),
    }.items():
        parts.keep(name, run(python(*command), folder).processor)


def _opened(content: bytes) -> UsualWorkbook:
    """A workbook whose shared texts are read."""
    book = UsualWorkbook(content)
    book._texts.made()
    return book


def _said(book: UsualWorkbook, looks: dict[str, Prescan]) -> list[bytes]:
    """All that the reading process says of a workbook that is looked through: its columns one by one, and the answer."""
    said = list[bytes]()

    def say(what: dict[str, Any]) -> int:
        said.append(b"".join(dumps(what)))
        return len(said) - 1

    Columns.hand_over = lambda columns: say({"piece": len(said), "columns": columns})
    say({"readings": [workbook.taken_out(book.workbook, looks)], "certain": True, "detail": ""})
    return said


def _heard(parts: Parts, said: list[bytes]) -> Iterator[bytes]:
    """What is said, one after the other; the program takes it apart meanwhile, all but the last while the reading process goes on."""
    begun = time.process_time()
    yield from said[:-1]
    parts.keep("pieces taken apart and read, beside", time.process_time() - begun)
    begun = time.process_time()
    yield said[-1]
    parts.keep("the answer taken apart", time.process_time() - begun)


def check(parts: Parts, month: Path, folder: Path) -> None:
    """A check with its report, in this process alone."""
    content, package = month.read_bytes(), Package(month.read_bytes())
    book = parts.of("the shared texts", lambda: _opened(content))
    looks = parts.of(
        "looked through, and taken out", lambda: workbook.looks_of_xlsx(package, False, book.cells_of)
    )
    said = parts.of("handed over by column", lambda: _said(book, looks))
    sheets = sheets_of(month, loads(_heard(parts, said)))
    table = parts.of("the Table", lambda: assemble([(month, sheets)]))
    terms = Terms(AS_OF, load_profile(REPOSITORY / "sample_data" / "sandbox.toml"))
    verdicts = parts.of("judged", lambda: judge(table, KnownCharges(), terms))
    requests = parts.of("split", lambda: split(verdicts, KnownCharges(), terms))
    judged = Judged(table, KnownCharges(), verdicts, requests)
    result = parts.of("the result", lambda: make_result(RunFacts("check", terms, "en"), judged))
    parts.of("the last lines", lambda: summary_lines(result))
    parts.of("request IDs", lambda: requests.ids)
    parts.of("the report but for its IDs", lambda: write_report(report(result, 0), folder / "report.json"))


def read(month: Path) -> None:
    """Print the seconds that a month takes by the clock until it is taken out, and then until it is handed over."""
    content = month.read_bytes()
    times = [time.perf_counter()]
    book = UsualWorkbook(content)
    looks = workbook.looks_of_xlsx(Package(content), False, book.cells_of)
    times.append(time.perf_counter())
    _said(book, looks)
    times.append(time.perf_counter())
    sys.stdout.write(f"taken_out={times[1] - times[0]:.6f}\nhanded_over={times[2] - times[1]:.6f}\n")


def beside(month: Path, folder: Path) -> None:
    """Print the least seconds of reading by itself, and of reading while another process loads, in turns."""
    least = Parts()
    reading = python("-m", "tests.benchmarks.check_parts", month.resolve(), "--read")
    for _ in range(_BESIDE_ROUNDS):
        for name in ("alone", "while another process loads"):
            loading = (
                subprocess.Popen(python("-c", _LOADING), start_new_session=True) if name != "alone" else None
            )
            try:
                took = run(reading, folder)
            finally:
                if loading:
                    os.killpg(loading.pid, signal.SIGKILL)
                    loading.wait()
            for what in ("taken_out", "handed_over"):
                least.keep(f"{what} {name}", took.figure(what))
    for name, seconds in least.least.items():
        sys.stdout.write(f"{seconds:.3f}  {name}\n")


def main() -> None:
    """Print the parts."""
    parts, month = Parts(), Path(sys.argv[1])
    if sys.argv[2:] == ["--read"]:
        gc.disable()
        read(month)
        return
    if sys.argv[2:] == ["--beside"]:
        with tempfile.TemporaryDirectory() as folder:
            beside(month, Path(folder))
        return
    gc.disable()  # as both processes of a check have it
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            processes(parts, month, Path(folder))
            check(parts, month, Path(folder))
            gc.collect()
    for name, least in parts.least.items():
        sys.stdout.write(f"{least:.3f}  {name}\n")


if __name__ == "__main__":
    main()
