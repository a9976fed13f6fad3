"""Times of fresh processes, side by side: so many rounds, in each of which every side has its turn.

What is compared is medians, so that one disturbed round does not count; what is printed beside them is the least and
the most, and how much of the machine others used meanwhile (`Load`), so that a disturbed machine shows.
"""

import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
#: Keys for carriers on this machine; they protect nothing.
KEYS = {"VOUCHER_API_KEY": "benchmark-api-key", "VOUCHER_ENCRYPTION_KEY": "benchmark-encryption-key"}
ROUNDS = 5


@dataclass(frozen=True)
class Took:
    """What one process took: seconds by the clock, seconds of processor (children's too), largest memory in MB."""

    seconds: float
    processor: float
    megabytes: float
    said: str

    def figure(self, name: str) -> float:
        """A figure that the process printed as `name=12.5`."""
        found = re.search(rf"^{name}=([0-9.e+-]+)$", self.said, re.MULTILINE)
        if found is None:
            raise ValueError(f"it did not print {name}: {self.said[-500:]}")
        return float(found[1])


def environment() -> dict[str, str]:
    """What a benchmark's processes know: this repository, and keys for carriers on this machine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VOUCHER_")}
    return {**kept, **KEYS, "PYTHONPATH": str(REPOSITORY)}


def run(command: Sequence[str | Path], folder: Path, accepted: Sequence[int] = (0,)) -> Took:
    """Run a command in a process of its own; one that ends otherwise than accepted is an error."""
    with (folder / "said.txt").open("w+b") as said:
        begun = time.perf_counter()
        process = subprocess.Popen(
            [*map(str, command)],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode(errors="replace")
    if process.returncode not in accepted:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {process.returncode}: {text[-2000:]}")
    return Took(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text)


def python(*arguments: str | Path) -> list[str]:
    """A command of this very interpreter."""
    return [sys.executable, *map(str, arguments)]


def voucher(*arguments: str | Path) -> list[str]:
    """A command of the program."""
    return python("-m", "pipeline", *arguments)


def check(month: Path, *more: str | Path) -> Took:
    """`voucher check` of a workbook by the sample profile, where nothing was issued before; `more` are options."""
    profile = REPOSITORY / "sample_data" / "sandbox.toml"
    asked = ("--profile", profile, "--as-of", "2026-11-20", "--ledger", month.with_suffix(".ledger"))
    return run(voucher("check", month, *asked, *more), month.parent)


def _processor(pid: int) -> int:
    """Ticks of processor of a process and of the children that it has waited for."""
    return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))


class Load:
    """What processes of others, and machines beside this one, take of its processors from now on, where Linux tells it."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._before = self._ticks()

    @staticmethod
    def _ticks() -> int:
        if not Path("/proc/stat").exists():
            return 0
        user, nice, system, _, _, *interrupted = Path("/proc/stat").read_text().split()[1:9]
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        busy = sum(map(int, (user, nice, system, *interrupted)))
        return busy - sum(map(_processor, (os.getpid(), *map(int, children))))

    @property
    def cores(self) -> float:
        """How many processors' time they took so far."""
        ticks = (self._ticks() - self._before) / os.sysconf("SC_CLK_TCK")
        return max(0.0, ticks / (time.monotonic() - self._begun))


@dataclass(frozen=True)
class Measured:
    """A side's figures over all rounds, and the cores that others used meanwhile."""

    figures: tuple[float, ...]
    others: float

    @property
    def median(self) -> float:
        """What is compared."""
        return statistics.median(self.figures)

    @property
    def spread(self) -> str:
        """The least and the most, and what others used."""
        least, most = (
            f"{one:,.0f}" if one >= 100 else f"{one:.3g}" for one in (min(self.figures), max(self.figures))
        )
        return f"{least} to {most}; others {self.others:.2f}"


def alternating(sides: Mapping[str, Callable[[int], float]], rounds: int = ROUNDS) -> dict[str, Measured]:
    """Give every side its turn in every round; a side is told the round's number."""
    figures: dict[str, list[float]] = {name: [] for name in sides}
    others: dict[str, list[float]] = {name: [] for name in sides}
    for at in range(rounds):
        for name, side in sides.items():
            load = Load()
            figures[name].append(side(at))
            others[name].append(load.cores)
    return {name: Measured(tuple(found), statistics.median(others[name])) for name, found in figures.items()}


@dataclass(frozen=True)
class Line:
    """One line of the results: what was measured against what, and the ratio that was to be reached."""

    what: str
    against: str
    to_reach: str
    ratio: float
    reached: bool
    figures: str
