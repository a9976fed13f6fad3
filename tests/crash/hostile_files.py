"""Spoilt and hostile files, each given to the reader under its bounds: one clear line, or the cells.

Sound workbooks of every kind (.xlsx by two programs, .xlsb, .xls and .ods where LibreOffice is installed, texts in
three encodings) are spoilt by chance: bytes flipped and cut, parts of the archive exchanged, XML with places far
away, entities and endless tags, parts that unpack to hundreds of megabytes. Of each is checked:

- the reading process ends by itself, within SECONDS, and no larger than the bound that it has;
- there is no traceback, on its stderr neither;
- what it hands over becomes a Table, or one line that names the file and says what to do, within as many seconds.

    python -m tests.crash.hostile_files --seeds 0..10000 [--keep FOLDER]

A violation names its seed, and repeats with that seed alone; --keep keeps its file.
"""

import argparse
import os
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pipeline.model.errors import InputProblem
from pipeline.reading import bounded_child, input_files
from pipeline.reading.deserialize import loads
from pipeline.reading.formats import xls_or_encrypted  # noqa: F401 - so that each fork has it, and all that it needs
from pipeline.reading.formats.serialize import dumps
from pipeline.reading.tickets import assemble
from tests.crash.hostile_bases import bases
from tests.crash.hostile_spoiling import spoilt

SECONDS = 30


@dataclass
class Tried:
    """What came of one file: what was said of it ("" if it was read), what was wrong, and what it took."""

    said: str
    wrong: list[str]
    seconds: float
    megabytes: int


def _in_a_fork(path: Path, folder: Path, exactly: bool = False) -> tuple[int, int, float]:
    """Read as the child process does, in a fork of this one: the exit status, the memory and the time."""
    begun = time.monotonic()
    if not (pid := os.fork()):
        status = 99
        try:
            os.dup2(os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            bounded_child.set_bounds(path.stat().st_size + _data_bytes() // bounded_child.DATA_OF_A_BYTE)
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            (folder / "answer").write_bytes(b"".join(dumps(bounded_child.read(path, exactly))))
            status = 0
        finally:
            if status:
                os.write(2, traceback.format_exc().encode())
            os._exit(status)
    _, status, usage = os.wait4(pid, 0)
    return status, usage.ru_maxrss // 1024, time.monotonic() - begun


def _data_bytes() -> int:
    """What a fork has of data already, which is not the reader's: it is bound from there on."""
    return int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()


def tried(path: Path, folder: Path) -> Tried:
    """Give one file to the reader and see what comes of it."""
    (folder / "answer").unlink(missing_ok=True)
    status, megabytes, seconds = _in_a_fork(path, folder)
    if os.waitstatus_to_exitcode(status) == -signal.SIGABRT:  # as the parent does
        status, megabytes, seconds = _in_a_fork(path, folder, exactly=True)
    wrong = []
    said = (folder / "stderr").read_text(errors="replace").strip()
    if "Traceback" in said:
        wrong.append(f"on stderr: {said[-300:]}")
    if status:
        wrong.append(f"the reader ended with {os.waitstatus_to_exitcode(status)}")
    if seconds > SECONDS or megabytes > bounded_child.MEMORY_BYTES >> 20:
        wrong.append(f"it took {seconds:.0f} s and {megabytes} MB")
    line = ""
    if not status:
        line, more = _told(path, loads([(folder / "answer").read_bytes()]))
        wrong += more
    return Tried(line, wrong, seconds, megabytes)


def _told(path: Path, answer: Mapping[str, object]) -> tuple[str, list[str]]:
    """The line for the person at the keyboard, "" if there is a Table, and what is wrong with it."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        assemble([(path, input_files.sheets_of(path, answer))])
    except InputProblem as problem:
        line = str(problem)
        wrong = [] if line.startswith(f"{path}") and "\n" not in line else [f"no clear line: {line}"]
        return line.removeprefix(f"{path}"), wrong
    except Exception as error:  # noqa: BLE001 - any other is what is looked for
        return "", [f"{type(error).__name__}: {error}"]
    finally:
        signal.alarm(0)
    return "", []


def _too_long(*_: object) -> None:
    raise TimeoutError(f"it was not made a Table in {SECONDS} seconds")


def run(seeds: range, folder: Path, found: Mapping[str, bytes], keep: Path | None = None) -> list[str]:
    """Try a file for each seed; what was wrong, one line each."""
    violations, kinds, slowest, largest = [], Counter[str](), 0.0, 0
    for seed in seeds:
        chance = Random(seed)
        name = chance.choice(sorted(found))
        path = folder / f"spoilt{Path(name).suffix}"
        path.write_bytes(spoilt(chance, found[name]))
        one = tried(path, folder)
        kinds[
            re.sub(r"[“(:].*", "", one.said.removeprefix(": ").split("; ")[0])[:60] if one.said else "read"
        ] += 1
        slowest, largest = max(slowest, one.seconds), max(largest, one.megabytes)
        violations += [f"seed {seed} ({name}): {line}" for line in one.wrong]
        if one.wrong and keep:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{seed}-{name}").write_bytes(path.read_bytes())
        if seed % 500 == 499:
            sys.stderr.write(
                f"{seed + 1}: {len(violations)} wrong, at most {slowest:.1f} s and {largest} MB\n"
            )
    for kind, times in kinds.most_common():
        sys.stderr.write(f"{times:6} {kind}\n")
    return violations


def main() -> int:
    """Run the long form; 1 if anything was wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--seeds", default="0..10000", metavar="A..B", help="default: %(default)s, B left out"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the files of violations here")
    given = parser.parse_args()
    first, _, last = given.seeds.partition("..")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hostile-files-") as name:
        violations = run(range(int(first), int(last)), Path(name), bases(Path(name)), given.keep)
    sys.stdout.write("".join(f"{line}\n" for line in violations))
    sys.stdout.write(
        f"{int(last) - int(first)} files, {len(violations)} wrong, {time.monotonic() - begun:.0f} s\n"
    )
    return bool(violations)


if __name__ == "__main__":
    sys.exit(main())
