"""Claims and records on a ledger until it is killed, and says on standard output what was acknowledged, when it was.

    python -m tests.contract.acknowledged file LEDGER
    python -m tests.contract.acknowledged server URL RUN

The address is a role's, with `{role}` at its place. A line is an attempt's ID, its state, and its number if it has one.
"""

import os
import sys
from contextlib import ExitStack
from pathlib import Path

from pipeline.model.errors import LedgerProblem
from tests.contract.ledgers import Ledger, OneFile, Shared, charge, ended, invoice

REQUESTS, TOGETHER = 4000, 5


def say(*lines: str) -> None:
    os.write(1, "".join(f"{line}\n" for line in lines).encode())


def work(ledger: Ledger) -> None:
    while attempts := ledger.claim(TOGETHER):
        say(*(f"{one} sending" for one in attempts))
        ledger.record(*ended(attempts, first=attempts[0]))
        say(*(f"{one} issued N{attempts[0] + at}" for at, one in enumerate(attempts)))


def main(kind: str, place: str, run: str = "0") -> None:
    with ExitStack() as stack:
        ledger: Ledger
        if kind == "file":
            one = OneFile(Path(place))
            one.open()
            one.plan(*(invoice(charge(number)) for number in range(REQUESTS)))
            ledger = one
        else:
            several = Shared(lambda role: place.format(role=role), int(run))
            several.open()
            ledger = several
        stack.callback(ledger.close)
        try:
            work(ledger)
        except LedgerProblem:
            say("the ledger is away")


if __name__ == "__main__":
    main(*sys.argv[1:])
