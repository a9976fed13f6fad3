"""What planning a month is made of: the least processor seconds of its two threads, and the seconds by the clock.

python -m tests.benchmarks.plan_parts MONTH.xlsx     # README.md says what follows from it
"""

import gc
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar
from unittest import mock

from pipeline.ledger import planning
from pipeline.model.job import Watch
from pipeline.model.profile import Secrets
from pipeline.open_ledger import ledger_to_write
from pipeline.reading.tickets import read_table
from pipeline.submission.batch import judged
from pipeline.submission.charge_details import charge_details
from pipeline.submission.recovered_answers import meaning
from tests.benchmarks.submission import job_of
from tests.benchmarks.timing import KEYS

Asked = ParamSpec("Asked")
Made = TypeVar("Made")
_ROUNDS = 3
_KEYS = Secrets(KEYS["VOUCHER_API_KEY"], KEYS["VOUCHER_ENCRYPTION_KEY"])
_WATCH = Watch(lambda _: None, lambda _: None, lambda _: True, lambda _: None)


def _timed(part: Callable[Asked, Made], took: list[float]) -> Callable[Asked, Made]:
    def timed(*args: Asked.args, **kwargs: Asked.kwargs) -> Made:
        begun = time.thread_time()
        made = part(*args, **kwargs)
        took[0] += time.thread_time() - begun
        return made

    return timed


def _planned(month: Path, folder: Path) -> dict[str, float]:
    """One plan, in a ledger of its own."""
    given = Namespace(
        address="http://127.0.0.1:1", ca_file=None, in_flight=64, rate=0.0, packed=True, month=month
    )
    job, gathered, written = job_of(given, folder), [0.0], [0.0]
    with (
        mock.patch.object(planning, "_together", _timed(planning._together, gathered)),
        mock.patch.object(planning, "_write", _timed(planning._write, written)),
        ledger_to_write(job, _WATCH, meaning(job, _KEYS)) as ledger,
    ):
        rows = judged(ledger, read_table([month]), job)
        run = ledger.begin("issue", job.terms, [month])
        of_rows = rows.verdicts.rows
        begun = time.perf_counter()
        ledger.plan(run, rows.requests, of_rows, charge_details(rows.table, of_rows))
        seconds = time.perf_counter() - begun
        ledger.end(run, 0)
    return {
        "gathered, in Python": gathered[0],
        "its statements": written[0],
        "the plan by the clock": seconds,
    }


def main() -> None:
    """Print the least of each part."""
    gc.disable()  # as `issue` has it
    rounds = []
    for _ in range(_ROUNDS):
        with tempfile.TemporaryDirectory(prefix="plan-parts-") as folder:
            rounds.append(_planned(Path(sys.argv[1]).resolve(), Path(folder)))
        gc.collect()
    for name in rounds[0]:
        sys.stdout.write(f"{min(each[name] for each in rounds):.3f}  {name}\n")


if __name__ == "__main__":
    main()
