"""Sending: everything on, against a bare loop that posts prepared bodies to the same carrier.

    python -m tests.benchmarks.submission ours ADDRESS MONTH.xlsx --in-flight 64
    python -m tests.benchmarks.submission bare ADDRESS MONTH.xlsx --in-flight 64

Each prints the seconds that its requests took; `--sync-ms 5` makes every sync of the ledger last that much longer. `ours` is `sending_run.send` with a real ledger, from the planned attempts
to their results: document, encryption, synced `sending`, the post, the raw answer on disk, the outcome on disk.
`bare` has its bodies ready and looks at no answer.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw

from pipeline.carrier.crypto import Cipher
from pipeline.carrier.documents import PATHS, request_body
from pipeline.ledger.session import ledger_to_write
from pipeline.model.job import Job, Watch
from pipeline.model.profile import Secrets
from pipeline.profile_file import load_profile
from pipeline.reading.tickets import read_table
from pipeline.submission.batch import judged
from pipeline.submission.charge_details import charge_details
from pipeline.submission.recovered_answers import meaning
from pipeline.submission.sending_run import Run, send
from tests.benchmarks.carrier import answering, most_in_a_second
from tests.benchmarks.months import AS_OF, write_month
from tests.benchmarks.timing import KEYS, REPOSITORY, Line, alternating, python, run

#: One charge to an invoice, so that a month of N rows is N requests.
_SINGLE = 1
_MODULE = "tests.benchmarks.submission"


class _SlowDisk(apsw.VFS):
    """The disk, but for syncs that take so many seconds longer."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__("slow disk", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> "_SlowFile":  # noqa: N802 - SQLite's name
        return _SlowFile(self.seconds, name, flags)


class _SlowFile(apsw.VFSFile):
    def __init__(self, seconds: float, name: Any, flags: list[int]) -> None:
        self.seconds = seconds
        super().__init__("unix", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802 - likewise
        time.sleep(self.seconds)
        super().xSync(flags)


def measured(folder: Path) -> list[Line]:
    """The figures of sending: against the bare loop, on a disk with slow syncs, to a slow carrier, at a bounded rate."""
    many, few = (write_month(folder / f"{rows}.xlsx", rows, 3_000) for rows in (10_000, 5_000))
    with answering(folder) as address:
        sides = {
            "bare": lambda _: _seconds("bare", address, many),
            "ours": lambda _: _seconds("ours", address, many),
            "slow disk": lambda _: _seconds("ours", address, many, "--sync-ms", "5"),
        }
        found = alternating(sides)
    lines = []
    for side, what in (
        ("ours", "submission with everything on"),
        ("slow disk", "the same, every sync 5 ms longer"),
    ):
        ratio = found["bare"].median / found[side].median
        rates = [f"{10_000 / found[name].median:,.0f}/s ({found[name].spread} s)" for name in (side, "bare")]
        lines.append(
            Line(what, "a bare aiohttp + uvloop loop", "≥ 0.65 ×", ratio, ratio >= 0.65, " : ".join(rates))
        )
    return [*lines, _to_a_slow_carrier(folder, few), _at_a_rate(folder, few)]


def _seconds(side: str, address: str, month: Path, *more: str) -> float:
    return run(python("-m", _MODULE, side, address, month, *more), month.parent).figure("seconds")


def _to_a_slow_carrier(folder: Path, month: Path) -> Line:
    """To one that answers after 200 ms; the bare loop beside it shows what can be had here."""
    with answering(folder, wait=0.2) as address:
        found = alternating(
            {
                "bare": lambda _: _seconds("bare", address, month),
                "ours": lambda _: _seconds("ours", address, month),
            }
        )
    least, ours, bare = 5_000 * 0.2 / 64, found["ours"], found["bare"]
    return Line(
        "5,000 requests to a carrier that answers after 200 ms, 64 in flight", "requests × 0.2 s / 64", "≤ 1.03 ×",
        ours.median / least, ours.median <= 1.03 * least,
        f"{ours.median:.2f} s ({ours.spread}) : {least:.2f} s; the bare loop {bare.median:.2f} s ({bare.spread})",
    )  # fmt: skip


def _at_a_rate(folder: Path, month: Path) -> Line:
    """At 100 a second: how many came in all, and the most within any one second, by the carrier's own count."""
    allowed = 100
    with answering(folder, wait=0.2) as address:
        took = _seconds("ours", address, month, "--rate", str(allowed))
    # The first leaves at once, and the last is answered 0.2 s after it left.
    ratio, most = (5_000 - 1) / (took - 0.2) / allowed, most_in_a_second(folder)
    return Line(
        "the same at `rate_per_second` 100", "the allowed rate", "0.98 to 1.00, never above", ratio,
        0.98 <= ratio <= 1.0 and most <= allowed, f"{took:.2f} s; at most {most} within any second",
    )  # fmt: skip


def _job(address: str, month: Path, folder: Path, in_flight: int, rate: float) -> Job:
    profile = load_profile(REPOSITORY / "sample_data" / "sandbox.toml")
    profile = replace(
        profile,
        carrier=replace(profile.carrier, base_url=address),
        limits=replace(profile.limits, max_charges_per_invoice=_SINGLE),
        submission=replace(profile.submission, concurrency=in_flight, rate_per_second=rate),
    )
    return Job((month,), profile, None, ledger=str(folder / "benchmark.ledger"), as_of=AS_OF)


def _ours(job: Job, month: Path) -> tuple[int, float]:
    keys = Secrets(KEYS["VOUCHER_API_KEY"], KEYS["VOUCHER_ENCRYPTION_KEY"])
    watch = Watch(lambda _: None, lambda _: None, lambda _: True, print)
    with ledger_to_write(job, watch, meaning(job, keys)) as ledger:
        rows = judged(ledger, read_table([month]), job)
        run = Run("issue", job, ledger, ledger.begin("issue", job.terms, [month]), keys, watch)
        of_rows = rows.verdicts.rows
        attempts = ledger.plan(run.number, rows.requests, of_rows, charge_details(rows.table, of_rows))
        begun = time.perf_counter()
        sent = send(run, attempts, rows.table, rows.holdings.doubts)
        seconds = time.perf_counter() - begun
        ledger.end(run.number, 0)
    states = {result.outcome.state for result in sent.results}
    if states != {"issued"}:
        raise RuntimeError(f"not all were issued: {states} {sent.stopped}")
    return len(attempts), seconds


def _bare(job: Job, month: Path) -> tuple[int, float]:
    import aiohttp  # noqa: PLC0415 - this side alone
    import uvloop  # noqa: PLC0415 - likewise

    keys = Secrets(KEYS["VOUCHER_API_KEY"], KEYS["VOUCHER_ENCRYPTION_KEY"])
    watch = Watch(lambda _: None, lambda _: None, lambda _: True, print)
    with ledger_to_write(job, watch, meaning(job, keys)) as ledger:
        requests = judged(ledger, read_table([month]), job).requests
    cipher = Cipher(keys.encryption_key)
    ready = [(PATHS[r.voucher], request_body(r, job.profile, cipher)) for r in requests]
    headers = {"Content-Type": "application/json", "agency": "SANDBOX", "APIKEY": keys.api_key}

    async def post_all() -> None:
        queue = iter(ready)
        connector = aiohttp.TCPConnector(limit=job.profile.submission.concurrency)
        async with aiohttp.ClientSession(job.profile.carrier.base_url, connector=connector) as session:

            async def work() -> None:
                for path, body in queue:
                    async with session.post(path, data=body, headers=headers) as response:
                        await response.read()

            async with asyncio.TaskGroup() as group:
                for _ in range(job.profile.submission.concurrency):
                    group.create_task(work())

    begun = time.perf_counter()
    uvloop.run(post_all())
    return len(ready), time.perf_counter() - begun


def main() -> None:
    """Send a month one way or the other, and print how long it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("side", choices=("ours", "bare"))
    parser.add_argument("address")
    parser.add_argument("month", type=Path)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--rate", type=float, default=0)
    parser.add_argument("--sync-ms", type=float, default=0)
    given = parser.parse_args()
    slow = _SlowDisk(given.sync_ms / 1000) if given.sync_ms else None
    with tempfile.TemporaryDirectory(prefix="submission-", dir=given.month.parent) as folder:
        job = _job(given.address, given.month, Path(folder), given.in_flight, given.rate)
        count, seconds = (_ours if given.side == "ours" else _bare)(job, given.month)
    if slow:
        slow.unregister()
    sys.stdout.write(f"requests={count}\nseconds={seconds:.4f}\n")


if __name__ == "__main__":
    main()
