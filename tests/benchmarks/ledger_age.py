"""What a ledger's age costs: `issue` of 1,000 rows, and a night in which nothing is new, on ledgers young and old.

    python -m tests.benchmarks.ledger_age --young 10000 --old 10000000 [--folder FOLDER]

A folder that is named keeps the ledgers, so that the old one (some minutes of work) is made once.
"""

import argparse
import itertools
import socket
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.ages import write_ledger
from tests.benchmarks.carrier import answering
from tests.benchmarks.months import AS_OF, buyer_rows, ticket_rows, write_book
from tests.benchmarks.timing import REPOSITORY, ROUNDS, Line, Measured, alternating, run, voucher

_ROWS, _BUYERS = 1_000, 100


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


class Office:
    """Two ledgers of one carrier, a workbook of new tickets for every round, and the nightly folders."""

    def __init__(self, folder: Path, young: int, old: int) -> None:
        self.folder = folder
        port = folder / "port.txt"
        if not port.exists():
            port.write_text(str(_free_port()))
        self.port = int(port.read_text())
        self.ledgers = {"young": folder / f"{young}.ledger", "old": folder / f"{old}.ledger"}
        for path, charges in zip(self.ledgers.values(), (young, old), strict=True):
            if not path.exists():
                write_ledger(path, f"http://127.0.0.1:{self.port}", "SANDBOX", charges)
        profile = (REPOSITORY / "sample_data" / "sandbox.toml").read_text(encoding="utf-8")
        self.profile = folder / "carrier.toml"
        self.profile.write_text(profile.replace("127.0.0.1:8080", f"127.0.0.1:{self.port}"), encoding="utf-8")
        # Ledgers that were kept have the tickets of earlier rounds already.
        first = len(list(folder.glob("month-*.xlsx")))
        lines = itertools.islice(ticket_rows(_ROWS * (first + ROUNDS), _BUYERS), _ROWS * first, None)
        self.months = [
            write_book(folder / f"month-{at}.xlsx", itertools.islice(lines, _ROWS), buyer_rows(_BUYERS))
            for at in range(first, first + ROUNDS)
        ]

    def common(self, age: str) -> tuple[str | Path, ...]:
        """What every command is told."""
        return "--profile", self.profile, "--ledger", self.ledgers[age], "--as-of", str(AS_OF)

    def issue(self, age: str, at: int) -> float:
        """Seconds for 1,000 new rows."""
        output = ("-o", self.folder / f"{age}-{at}.result.xlsx")
        return run(voucher("issue", self.months[at], *self.common(age), *output), self.folder).seconds

    def quiet_night(self, age: str) -> float:
        """Seconds for a night in which nothing is new."""
        boxes = [self.folder / name for name in ("in", "out")]
        for box in boxes:
            box.mkdir(exist_ok=True)
        asked = ("--inbox", boxes[0], "--outbox", boxes[1])
        return run(voucher("reconcile", *asked, *self.common(age)), self.folder).seconds


def measured(folder: Path, young: int = 10_000, old: int = 10_000_000) -> list[Line]:
    """Both figures, as lines of the results."""
    office = Office(folder, young, old)
    with answering(folder, port=office.port):
        issuing = alternating({age: lambda at, age=age: office.issue(age, at) for age in office.ledgers})
        quiet = alternating({age: lambda _, age=age: office.quiet_night(age) for age in office.ledgers})
    return [
        _line(f"`issue` of {_ROWS:,} rows on a ledger of {old:,} charges", young, issuing),
        _line(f"a night without anything new, a ledger of {old:,} charges", young, quiet),
    ]


def _line(what: str, young: int, found: dict[str, Measured]) -> Line:
    ratio = found["old"].median / found["young"].median
    figures = f"{found['old'].median:.2f} s ({found['old'].spread}) : {found['young'].median:.2f} s ({found['young'].spread})"
    return Line(what, f"a ledger of {young:,} charges", "≤ 1.2 ×", ratio, ratio <= 1.2, figures)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--young", type=int, default=10_000)
    parser.add_argument("--old", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ledger-age-") as folder:
        for line in measured(given.folder or Path(folder), given.young, given.old):
            sys.stdout.write(f"{line.what}: {line.ratio:.2f} × ({line.figures}), {line.to_reach}\n")


if __name__ == "__main__":
    main()
